package h264

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// handmade covers syntax that no encoder here writes.
func handmade() []SPS {
	base := SPS{RefIDC: 3, ProfileIDC: 66, Constraints: 0xc0, LevelIDC: 31, ChromaFormatIDC: 1,
		PicOrderCntType: 2, MaxNumRefFrames: 1, WidthInMBsMinus1: 79, HeightInMapsMinus1: 44, FrameMBsOnly: true}
	high := base
	high.ProfileIDC, high.Constraints = 100, 0
	high.ScalingMatrixPresent = true
	high.ScalingLists[0] = ScalingList{Present: true, Deltas: []int32{8, 0, 0, -16}}
	high.ScalingLists[6] = ScalingList{Present: true, Deltas: []int32{-8}}
	poc := base
	poc.PicOrderCntType, poc.NumRefFramesInPOCCycle = 1, 2
	poc.OffsetForNonRefPic, poc.OffsetForRefFrame = -2, []int32{4, -7}
	poc.Cropping, poc.CropRight, poc.CropBottom = true, 3, 4
	full := base
	full.VUIPresent = true
	full.VUI = VUI{AspectRatioPresent: true, AspectRatioIDC: sarExtended, SARWidth: 4, SARHeight: 3,
		OverscanPresent: true, SignalTypePresent: true, VideoFormat: 2, FullRange: true,
		ChromaLocPresent: true, ChromaLocTop: 1, ChromaLocBottom: 1,
		TimingPresent: true, NumUnitsInTick: 1, TimeScale: 120, NALHRDPresent: true, VCLHRDPresent: true,
		NALHRD: HRD{CountMinus1: 1, BitRateMinus1: [32]uint32{7, noLimit}}, PicStructPresent: true,
		BitstreamRestricted: true, MaxNumReorder: 2, MaxDecFrameBuffering: 4}
	field := base
	field.FrameMBsOnly, field.MBAdaptiveField = false, true
	field.HeightInMapsMinus1 = 21
	return []SPS{base, high, poc, full, field}
}

func TestSPSRoundTrip(t *testing.T) {
	for i, want := range handmade() {
		got, err := ParseSPS(want.NAL())
		if err != nil {
			t.Errorf("set %d: %v", i, err)
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("set %d came back as\n%+v, want\n%+v", i, got, want)
		}
	}
}

func TestSPSSize(t *testing.T) {
	want := []image.Point{{X: 1280, Y: 720}, {X: 1280, Y: 720}, {X: 1274, Y: 712}, {X: 1280, Y: 720}, {X: 1280, Y: 704}}
	for i, s := range handmade() {
		if s.Size() != want[i] {
			t.Errorf("set %d: %v, want %v", i, s.Size(), want[i])
		}
	}
}

func TestRewriteSPS(t *testing.T) {
	for i, s := range handmade() {
		profile := ConstrainedBaseline
		if s.ProfileIDC == 100 {
			profile = High
		}
		out, err := RewriteSPS(s.NAL(), profile, false)
		if err != nil {
			t.Fatalf("set %d: %v", i, err)
		}
		got, err := ParseSPS(out)
		if err != nil {
			t.Fatalf("set %d, rewritten: %v", i, err)
		}
		v := got.VUI
		if !v.BitstreamRestricted || v.MaxNumReorder != 0 || v.MaxDecFrameBuffering != got.MaxNumRefFrames {
			t.Errorf("set %d may still reorder: %+v", i, v)
		}
		if v.FullRange || v.ColourPrimaries != 1 || v.TransferCharacter != 1 || v.MatrixCoefficients != 1 {
			t.Errorf("set %d is not BT.709 limited: %+v", i, v)
		}
		if got.Size() != s.Size() {
			t.Errorf("set %d changed its size to %v", i, got.Size())
		}
		if got.GapsInFrameNum {
			t.Errorf("set %d allows gaps unasked", i)
		}
		if gaps, err := RewriteSPS(out, profile, true); err != nil || !mustParse(t, gaps).GapsInFrameNum {
			t.Errorf("set %d does not allow gaps (%v)", i, err)
		}
		again, err := RewriteSPS(out, profile, false)
		if err != nil || &again[0] != &out[0] {
			t.Errorf("set %d: a second rewriting changed something (%v)", i, err)
		}
	}
}

func mustParse(t *testing.T, nal []byte) SPS {
	t.Helper()
	s, err := ParseSPS(nal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRewriteSPSRefuses(t *testing.T) {
	good := handmade()[0].NAL()
	for name, nal := range map[string][]byte{
		"empty": nil, "a PPS": {0x68, 1}, "cut": good[:5], "no body": good[:1],
	} {
		if _, err := RewriteSPS(nal, ConstrainedBaseline, false); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := RewriteSPS(good, High, false); err == nil {
		t.Error("a baseline set was rewritten as high")
	}
}

// TestGolden holds the bytes of the rewritten sets.
func TestGolden(t *testing.T) {
	var lines []string
	for _, s := range handmade() {
		profile := ConstrainedBaseline
		if s.ProfileIDC == 100 {
			profile = High
		}
		nal := s.NAL()
		out, err := RewriteSPS(nal, profile, false)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, hex.EncodeToString(nal)+" "+hex.EncodeToString(out))
	}
	got := strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", "sps.golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestFFprobeReadsRewritten gives real streams of another encoder set-up
// through the rewriting and lets ffprobe and ffmpeg read the result.
func TestFFprobeReadsRewritten(t *testing.T) {
	for _, tool := range []string{"ffmpeg", "ffprobe"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	for _, c := range []struct {
		profile Profile
		name    string
		args    string
	}{
		{ConstrainedBaseline, "Constrained Baseline", "-profile:v baseline -preset ultrafast"},
		{High, "High", "-profile:v high -preset superfast -bf 0 -refs 3"},
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.h264"), filepath.Join(dir, "out.h264")
		make := exec.Command("ffmpeg", append(strings.Fields("-v error -f lavfi -i testsrc=s=322x242:r=10 -frames:v 5 -c:v libx264 -pix_fmt yuv420p "+c.args), in)...)
		if msg, err := make.CombinedOutput(); err != nil {
			t.Skipf("ffmpeg cannot encode H.264 here: %s", msg)
		}
		stream, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(out, rewriteStream(t, stream, c.profile), 0o600); err != nil {
			t.Fatal(err)
		}
		if a, b := decoded(t, in), decoded(t, out); !bytes.Equal(a, b) {
			t.Errorf("%s: rewriting the SPS changed the pictures", c.profile)
		}
		checkProbe(t, out, c.name)
	}
}

func rewriteStream(t *testing.T, stream []byte, profile Profile) []byte {
	t.Helper()
	var out []byte
	for nal := range NALs(stream) {
		if TypeOf(nal) == TypeSPS {
			var err error
			if nal, err = RewriteSPS(nal, profile, false); err != nil {
				t.Fatal(err)
			}
		}
		out = append(append(out, 0, 0, 0, 1), nal...)
	}
	return out
}

func decoded(t *testing.T, path string) []byte {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "error", "-xerror", "-i", path, "-f", "md5", "-").Output()
	if err != nil {
		t.Fatalf("ffmpeg does not decode %s: %v", path, err)
	}
	return out
}

func checkProbe(t *testing.T, path, profile string) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-of", "json", "-show_streams", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var probe struct {
		Streams []map[string]any `json:"streams"`
	}
	if err := json.Unmarshal(out, &probe); err != nil || len(probe.Streams) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	want := map[string]any{"profile": profile, "width": 322.0, "height": 242.0, "has_b_frames": 0.0,
		"color_range": "tv", "color_space": "bt709", "color_transfer": "bt709", "color_primaries": "bt709"}
	for key, value := range want {
		if probe.Streams[0][key] != value {
			t.Errorf("ffprobe says %s is %v, want %v", key, probe.Streams[0][key], value)
		}
	}
}

func FuzzParseSPS(f *testing.F) {
	for _, s := range handmade() {
		f.Add(s.NAL())
	}
	f.Fuzz(func(t *testing.T, nal []byte) {
		s, err := ParseSPS(nal)
		if err != nil {
			return
		}
		again, err := ParseSPS(s.NAL())
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%x came back as %+v (%v), want %+v", nal, again, err, s)
		}
	})
}

func TestProfiles(t *testing.T) {
	if got := ConstrainedBaseline.LevelID(31); got != "42e01f" {
		t.Errorf("got %s, want 42e01f", got)
	}
	if got := High.LevelID(31); got != "640c1f" {
		t.Errorf("got %s, want 640c1f", got)
	}
	for id, want := range map[string]Profile{"42e01f": ConstrainedBaseline, "42001f": ConstrainedBaseline, "4d801f": ConstrainedBaseline, "640c2a": High, "64001F": High} {
		if got, _, err := ParseLevelID(id); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", id, got, err, want)
		}
	}
	for _, id := range []string{"", "42e0", "4d001f", "f4001f", "zzzzzz", "42e01f00"} {
		if _, _, err := ParseLevelID(id); err == nil {
			t.Errorf("%q was accepted", id)
		}
	}
	if s := ConstrainedBaseline.String() + "," + High.String() + "," + Profile(9).String(); s != "constrained baseline,high,profile 9" {
		t.Error(s)
	}
}
