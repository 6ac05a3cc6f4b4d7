package h264

import (
	"bytes"
	"errors"
	"image"
	"math/rand/v2"
	"os/exec"
	"testing"
)

// decodePictures lets ffmpeg decode units and fails when it complains.
func decodePictures(t *testing.T, nals [][]byte, size image.Point) [][]byte {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	var stream, complaints bytes.Buffer
	for _, nal := range nals {
		stream.Write([]byte{0, 0, 0, 1})
		stream.Write(nal)
	}
	cmd := exec.Command("ffmpeg", "-v", "error", "-xerror", "-f", "h264", "-i", "-", "-vsync", "passthrough", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-")
	cmd.Stdin, cmd.Stderr = &stream, &complaints
	raw, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("ffmpeg does not decode the stream: %v %s", err, complaints.String())
	}
	var pictures [][]byte
	for one := size.X * size.Y * 3 / 2; len(raw) >= one; raw = raw[one:] {
		pictures = append(pictures, raw[:one])
	}
	return pictures
}

// noise is an IDR picture whose samples are random and coded as they are
// (I_PCM), as a slice.
func noise(sps *SPS, pps *PPS, rng *rand.Rand, idr uint32) []byte {
	c := &composer{}
	h := SliceHeader{RefIDC: 3, Unit: TypeIDR, Type: 7, IDRPicID: idr, DisableDeblocking: 1}
	h.walk(c, sps, pps)
	for range sps.macroblocks() {
		c.UE(25) // mb_type I_PCM
		for c.used != 0 {
			c.Bit(0) // pcm_alignment_zero_bit
		}
		for range 384 {
			c.Bits(8, uint32(rng.IntN(256)))
		}
	}
	return Escape([]byte{3<<5 | byte(TypeIDR)}, c.Finish())
}

// A placeholder decodes to the picture before, in CAVLC and in CABAC with each
// table of initial contexts, in one slice and in several, at any QP; also to an
// older picture where the unsent one was predicted from that.
func TestPlaceholderIsACopy(t *testing.T) {
	sps := SPS{RefIDC: 3, ProfileIDC: 77, LevelIDC: 30, ChromaFormatIDC: 1, PicOrderCntType: 2, MaxNumRefFrames: 2,
		WidthInMBsMinus1: 19, HeightInMapsMinus1: 11, FrameMBsOnly: true, Direct8x8Inference: true}
	plain, cabac := PPS{DeblockingControlPresent: true}, PPS{ID: 1, CABAC: true, PicInitQPMinus26: 4}
	rng := rand.New(rand.NewPCG(8, 1))
	nals := [][]byte{sps.NAL(), ppsNAL(plain, 0), ppsNAL(cabac, 0)}
	pictures := 0
	for n, firsts := range [][]uint32{{0}, {0, 239}, {0, 1, 2, 77, 140}} {
		nals, pictures = append(nals, noise(&sps, &plain, rng, uint32(n%2))), pictures+1
		for frame := uint32(1); frame < 20; frame++ {
			pps := []*PPS{&plain, &cabac}[min(frame%4, 1)]
			h := SliceHeader{RefIDC: 2, Unit: TypeSlice, Type: 5, PPSID: pps.ID, FrameNum: frame % 16, QPDelta: int32(frame) - 12}
			if pps.CABAC {
				h.CABACInitIDC = frame%4 - 1
			}
			if frame > 1 && frame%3 == 0 {
				h.ListModified, h.Modifications = true, []ListModification{{0, 1}, {IDC: endOfModifications}}
			}
			nals, pictures = append(nals, placeholder(t, &sps, pps, h, firsts)...), pictures+1
		}
	}
	got := decodePictures(t, nals, sps.Size())
	if len(got) != pictures {
		t.Fatalf("%d pictures came of %d", len(got), pictures)
	}
	for i, picture := range got {
		if key := got[i/20*20]; !bytes.Equal(picture, key) {
			t.Errorf("picture %d is no copy", i)
		}
	}
}

// placeholder stands for a picture with this header and slices that begin so.
func placeholder(t *testing.T, sps *SPS, pps *PPS, h SliceHeader, firsts []uint32) [][]byte {
	t.Helper()
	var slices [][]byte
	for _, h.FirstMB = range firsts {
		slices = append(slices, h.nal(sps, pps))
	}
	out, err := Placeholder(sps, pps, slices)
	if err != nil {
		t.Fatal(err)
	}
	for i, nal := range out {
		got, err := ParseSliceHeader(nal, sps, pps)
		if err != nil || got.FirstMB != firsts[i] || got.FrameNum != h.FrameNum {
			t.Errorf("%v, header %+v", err, got)
		}
	}
	return out
}

func TestPlaceholderRefuses(t *testing.T) {
	sps, pps := sets()[0].sps, sets()[0].pps
	slice := func(h SliceHeader) []byte { return h.nal(&sps, &pps) }
	p := SliceHeader{RefIDC: 2, Unit: TypeSlice}
	late, outside := p, p
	late.FirstMB, outside.FirstMB = 3, 240
	for name, slices := range map[string][][]byte{
		"a key frame":      {slice(SliceHeader{RefIDC: 3, Unit: TypeIDR, Type: 7})},
		"an I slice":       {slice(SliceHeader{RefIDC: 2, Unit: TypeSlice, Type: 2})},
		"no first slice":   {slice(late)},
		"the wrong order":  {slice(late), slice(p)},
		"a slice twice":    {slice(p), slice(late), slice(late)},
		"a slice too far":  {slice(p), slice(outside)},
		"a parameter set":  {{0x68, 1}},
		"a slice cut off":  {{0x41}},
		"no slices at all": {},
	} {
		if out, err := Placeholder(&sps, &pps, slices); err == nil {
			t.Errorf("%s gave %x", name, out)
		}
	}
	if _, err := Placeholder(&sps, &pps, [][]byte{slice(SliceHeader{RefIDC: 2, Unit: TypeSlice, Type: 2})}); !errors.Is(err, errNoPlaceholder) {
		t.Errorf("an I slice: %v", err)
	}
}

// Whatever slices there are: a placeholder keeps their headers, or is refused.
func FuzzPlaceholder(f *testing.F) {
	f.Add([]byte{0x41, 0x9a, 0x02}, []byte{0x41, 0x0a}, 0)
	f.Fuzz(func(t *testing.T, a, b []byte, set int) {
		s := sets()[uint(set)%3]
		sps, pps := s.sps, s.pps
		out, err := Placeholder(&sps, &pps, [][]byte{a, b})
		if err != nil {
			return
		}
		for i, nal := range [][]byte{a, b} {
			want, _ := ParseSliceHeader(nal, &sps, &pps)
			got, err := ParseSliceHeader(out[i], &sps, &pps)
			if err != nil || got.FirstMB != want.FirstMB || got.FrameNum != want.FrameNum {
				t.Errorf("%v: %+v became %+v", err, want, got)
			}
		}
	})
}

// Any series of values comes back, whatever their lengths.
func FuzzBits(f *testing.F) {
	f.Add([]byte{1, 0, 2, 7, 3, 200, 35, 9})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var w BitWriter
		for i := 0; i+1 < len(ops); i += 2 {
			switch n, v := ops[i], uint32(ops[i+1])*0x01010101>>(ops[i]%32); n % 3 {
			case 0:
				w.Bits(int(n%33), v)
			case 1:
				w.UE(v >> 1)
			case 2:
				w.SE(int32(v>>2) - 1<<28)
			}
		}
		r := NewBitReader(Unescape(Escape(nil, w.Finish())))
		for i := 0; i+1 < len(ops); i += 2 {
			var got, want uint32
			switch n, v := ops[i], uint32(ops[i+1])*0x01010101>>(ops[i]%32); n % 3 {
			case 0:
				got, want = r.Bits(int(n%33)), uint32(uint64(v)&(1<<(n%33)-1))
			case 1:
				got, want = r.UE(), v>>1
			case 2:
				got, want = uint32(r.SE()), uint32(int32(v>>2)-1<<28)
			}
			if got != want {
				t.Fatalf("value %d is %d, want %d", i/2, got, want)
			}
		}
		if r.Err() != nil || r.Bit() != 1 {
			t.Errorf("no stop bit, %v", r.Err())
		}
	})
}
