//go:build cgo

package encode

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nearglass/gpu"
	"nearglass/gpu/encode/h264"
)

func open(t testing.TB, c Config) *x264Encoder {
	t.Helper()
	e, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e.(*x264Encoder)
}

func load(t testing.TB, e Encoder, f *gpu.Frame) {
	t.Helper()
	if err := e.Load(f); err != nil {
		t.Fatal(err)
	}
}

func encode(t testing.TB, e Encoder, o Order) AccessUnit {
	t.Helper()
	u, err := e.Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// everything names all macroblocks of a picture.
func everything(e *x264Encoder) []bool { return slices.Repeat([]bool{true}, len(e.parts.blocks)) }

// scroll gives frames of a text that moves up by step pixels.
func scroll(th theme, size image.Point, frames, step int) []*gpu.Frame {
	img := th.page(image.Pt(size.X, size.Y+frames*step), 1)
	out := make([]*gpu.Frame, frames)
	for i := range out {
		out[i] = bgra(img, i*step, size)
	}
	return out
}

// One frame in is one unit out, an IDR picture comes when ordered and only
// then, with its parameter sets in front, and every QP is the ordered one.
func TestOneFrameOneUnit(t *testing.T) {
	for _, c := range []Config{
		{Size: image.Pt(320, 240)},
		{Size: image.Pt(320, 240), Profile: h264.High},
		{Size: image.Pt(322, 242), Threads: 1},
		{Size: image.Pt(320, 240), Preset: "superfast", Threads: 4},
	} {
		e := open(t, c)
		frames := scroll(document, c.Size, 30, 3)
		var units []AccessUnit
		for i, f := range frames {
			qp := MinQP + i*(MaxQP-MinQP)/(len(frames)-1)
			load(t, e, f)
			u := encode(t, e, Order{QP: qp, Key: i == 12})
			if u.Key != (i == 0 || i == 12) {
				t.Errorf("%+v: picture %d: key is %v", c, i, u.Key)
			}
			if got := int(e.out.IQpplus1) - 1; got != qp || u.QP != qp {
				t.Errorf("%+v: picture %d has qp %d, reported %d, ordered %d", c, i, got, u.QP, qp)
			}
			if e.out.IPts != int64(i) {
				t.Errorf("%+v: picture %d has pts %d", c, i, e.out.IPts)
			}
			checkUnit(t, u, c.Profile)
			units = append(units, u)
		}
		decodeAll(t, units, c.Size)
	}
}

func checkUnit(t *testing.T, u AccessUnit, profile h264.Profile) {
	t.Helper()
	var types []h264.UnitType
	size := 0
	for _, nal := range u.NALs {
		types = append(types, h264.TypeOf(nal))
		size += len(nal)
	}
	if size != u.SizeBytes {
		t.Errorf("units of %d bytes, reported %d", size, u.SizeBytes)
	}
	slice := h264.TypeSlice
	if u.Key {
		slice = h264.TypeIDR
		if len(types) < 3 || types[0] != h264.TypeSPS || types[1] != h264.TypePPS {
			t.Fatalf("an IDR picture begins with %v", types)
		}
		checkSPS(t, u.NALs[0], profile)
		types = types[2:]
	}
	for _, got := range types {
		if got != slice {
			t.Errorf("unit of type %d, want %d", got, slice)
		}
	}
}

func checkSPS(t *testing.T, nal []byte, profile h264.Profile) {
	t.Helper()
	sps, err := h264.ParseSPS(nal)
	if err != nil {
		t.Fatal(err)
	}
	v := sps.VUI
	if !v.BitstreamRestricted || v.MaxNumReorder != 0 || v.MaxDecFrameBuffering != DefaultReferences || v.FixedFrameRate {
		t.Errorf("the SPS lets a decoder wait: %+v", v)
	}
	if v.ColourPrimaries != 1 || v.TransferCharacter != 1 || v.MatrixCoefficients != 1 || v.FullRange {
		t.Errorf("the SPS does not say BT.709 limited: %+v", v)
	}
	want := map[h264.Profile][2]uint32{h264.ConstrainedBaseline: {66, 0x40}, h264.High: {100, 0x0c}}[profile]
	if sps.ProfileIDC != want[0] || sps.Constraints&want[1] != want[1] {
		t.Errorf("profile_idc %d with constraints %#x, want %s", sps.ProfileIDC, sps.Constraints, profile)
	}
}

func TestOddSizes(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {17, 33}, {639, 361}} {
		e := open(t, Config{Size: size, Threads: 4})
		f := bgra(document.page(size, 3), 0, size)
		load(t, e, f)
		got := decodeAll(t, []AccessUnit{encode(t, e, Order{QP: 16})}, size)
		if db := lumaPSNR(got[0], f); db < 40 {
			t.Errorf("%v: %.1f dB", size, db)
		}
	}
}

// patches draws squares of many colors.
func patches(size image.Point) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: size})
	levels := []uint8{0, 51, 128, 204, 255}
	for i := range 125 {
		c := color.RGBA{levels[i%5], levels[i/5%5], levels[i/25], 255}
		at := image.Pt(i%16*40, i/16*40)
		draw.Draw(img, image.Rectangle{at, at.Add(image.Pt(40, 40))}, image.NewUniform(c), image.Point{}, draw.Src)
	}
	return img
}

func TestColorsSurvive(t *testing.T) {
	size := image.Pt(640, 320)
	img := patches(size)
	for _, profile := range []h264.Profile{h264.ConstrainedBaseline, h264.High} {
		e := open(t, Config{Size: size, Profile: profile})
		load(t, e, bgra(img, 0, size))
		units := []AccessUnit{encode(t, e, Order{QP: 30})}
		for _, qp := range []int{20, 16} {
			units = append(units, encode(t, e, Order{QP: qp, Sharpen: everything(e)}))
		}
		got := decodeAll(t, units, size)
		worst := [3]float64{}
		for n, picture := range got {
			for i := range 125 {
				x, y := i%16*40+20, i/16*40+20
				c := img.RGBAAt(x, y)
				rgb := rgbAt(picture, x, y)
				for k, want := range [3]uint8{c.R, c.G, c.B} {
					worst[n] = max(worst[n], math.Abs(rgb[k]-float64(want)))
				}
			}
		}
		t.Logf("%s: worst error at qp 30, 20, 16: %.1f %.1f %.1f", profile, worst[0], worst[1], worst[2])
		if worst[1] > 3 || worst[2] > 3 {
			t.Errorf("%s: colors are off by %.1f at qp 20 and %.1f at qp 16", profile, worst[1], worst[2])
		}
	}
}

// Converting and encoding only what the damage names gives the same picture
// as encoding all of it.
func TestDamageIsEnough(t *testing.T) {
	size := image.Pt(401, 301)
	img := document.page(size, 5)
	e, whole := open(t, Config{Size: size}), open(t, Config{Size: size})
	load(t, e, bgra(img, 0, size))
	load(t, whole, bgra(img, 0, size))
	units := []AccessUnit{encode(t, e, Order{QP: 24})}
	var last *gpu.Frame
	for i := range 12 {
		r := image.Rect(i*30+1, i*20+3, i*30+60, i*20+44)
		draw.Draw(img, r, image.NewUniform(color.RGBA{uint8(i * 20), 90, 200, 255}), image.Point{}, draw.Src)
		last = bgra(img, 0, size)
		last.Damage = []image.Rectangle{r, image.Rect(395, 295, 999, 999)}
		load(t, e, last)
		if i%3 == 2 { // three frames, one picture: their damage adds up
			units = append(units, encode(t, e, Order{QP: 24}))
		}
	}
	last.Damage = nil
	load(t, whole, last)
	e.parts.releaseAll()
	if !bytes.Equal(e.parts.picture.luma, whole.parts.picture.luma) || !bytes.Equal(e.parts.picture.chroma, whole.parts.picture.chroma) {
		t.Error("converting the damage differs from converting the picture")
	}
	still := encode(t, e, Order{QP: 24})
	if still.SizeBytes > 200 || still.Convert != 0 {
		t.Errorf("an unchanged picture took %d bytes and %v", still.SizeBytes, still.Convert)
	}
	units = append(units, still, encode(t, e, Order{QP: 14, Sharpen: everything(e)}))
	got := decodeAll(t, units, size)
	coarse, sharp := lumaPSNR(got[len(got)-2], last), lumaPSNR(got[len(got)-1], last)
	if coarse < 40 || sharp < coarse+2 {
		t.Errorf("%.1f dB at qp 24, %.1f dB when refined to 14", coarse, sharp)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []Config{{}, {Size: image.Pt(0, 9)}, {Size: image.Pt(20000, 9)}, {Size: image.Pt(9, 9), Preset: "warp"}} {
		if e, err := Open(c); err == nil {
			e.Close()
			t.Errorf("%+v was accepted", c)
		}
	}
	size := image.Pt(64, 48)
	e := open(t, Config{Size: size})
	if _, err := e.Encode(Order{QP: 20}); !errors.Is(err, ErrNotLoaded) {
		t.Errorf("encoding nothing: %v", err)
	}
	good := bgra(document.page(size, 1), 0, size)
	for name, change := range map[string]func(*gpu.Frame){
		"size": func(f *gpu.Frame) { f.Size.X = 62 }, "format": func(f *gpu.Frame) { f.Format = 99 },
		"stride": func(f *gpu.Frame) { f.Stride = 60 }, "short": func(f *gpu.Frame) { f.Pix = f.Pix[:100] },
	} {
		bad := &gpu.Frame{Size: good.Size, Stride: good.Stride, Format: good.Format, Pix: good.Pix}
		change(bad)
		if e.Load(bad) == nil {
			t.Errorf("a frame with a wrong %s was loaded", name)
		}
	}
	load(t, e, good)
	for _, qp := range []int{-1, 0, 52} {
		if _, err := e.Encode(Order{QP: qp}); err == nil {
			t.Errorf("qp %d was accepted", qp)
		}
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	if _, err := e.Encode(Order{QP: 20}); !errors.Is(err, ErrClosed) || !errors.Is(e.Load(good), ErrClosed) {
		t.Error("a closed encoder still works")
	}
}

func TestProbe(t *testing.T) {
	c := Probe()
	if !strings.Contains(c.Encoder, "x264 core 164") || c.Converter == "" {
		t.Errorf("%+v", c)
	}
	if (c.Assembly == "") != (c.Warning != "") {
		t.Errorf("assembly %q, warning %q", c.Assembly, c.Warning)
	}
	t.Log(Describe())
}

// residentBytes is the memory of this process that is in RAM.
func residentBytes(t *testing.T) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc/self/statm on this system")
	}
	pages, err := strconv.Atoi(strings.Fields(string(stat))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

func TestMemoryStaysFlat(t *testing.T) {
	size := image.Pt(320, 240)
	frames := scroll(document, size, 20, 7)
	e := open(t, Config{Size: size})
	run := func(n int) {
		for i := range n {
			load(t, e, frames[i%len(frames)])
			encode(t, e, Order{QP: 30, Key: i%100 == 0})
		}
	}
	run(300)
	before := residentBytes(t)
	run(2000)
	cycle := func(n int) {
		for range n {
			other := open(t, Config{Size: image.Pt(640, 480)})
			other.Close()
		}
	}
	cycle(10)
	middle := residentBytes(t)
	cycle(100)
	after := residentBytes(t)
	if grown := middle - before; grown > 30<<20 {
		t.Errorf("2000 pictures grew the memory by %d KiB", grown>>10)
	}
	// One 640x480 encoder holds several MB: a hundred lost ones would show.
	if grown := after - middle; grown > 30<<20 {
		t.Errorf("100 encoders opened and closed grew the memory by %d KiB", grown>>10)
	}
}

// The encoder itself settles on the search that fits: a page that creeps is
// searched narrowly, and one that scrolls by more than a narrow search reaches,
// widely.
func TestSearchFollowsThePage(t *testing.T) {
	size := image.Pt(640, 368)
	e := open(t, Config{Size: size})
	for _, c := range []struct {
		step int
		wide bool
	}{{1, false}, {51, true}} {
		for _, f := range scroll(terminal, size, 60, c.step) {
			load(t, e, f)
			encode(t, e, Order{QP: 20})
		}
		if far := e.reach == wide; far != c.wide {
			t.Errorf("after 60 pictures that scroll by %d, a wide search is %v", c.step, far)
		}
	}
}
