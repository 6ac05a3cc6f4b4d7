package h264

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// wide is the set with the widest frame_num.
func wide(s SPS) SPS {
	s.AllowGaps()
	return s
}

// Widening and narrowing again gives the slice back, whatever follows its header.
func TestWidenAndBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for i, s := range sets() {
		sps, pps := s.sps, s.pps
		sps.Log2MaxFrameNumMinus4 = 1
		to := wide(sps)
		for n := range 400 {
			h := SliceHeader{RefIDC: 2, Unit: TypeSlice, FrameNum: uint32(n) & 31, QPDelta: int32(n%50) - 25}
			c := &composer{}
			h.walk(c, &sps, &pps)
			if pps.CABAC {
				for c.used != 0 {
					c.Bit(1)
				}
			}
			for range rng.IntN(200) {
				c.Bits(8, rng.Uint32()&7>>rng.IntN(4)) // mostly zeros, which are escaped
			}
			c.Bits(rng.IntN(8), 1)
			nal := Escape([]byte{h.RefIDC<<5 | byte(h.Unit)}, c.Finish())
			widened, err := Widen(nal, &sps, &to, &pps, uint32(n))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := ParseSliceHeader(widened, &to, &pps); err != nil || got.FrameNum != uint32(n) {
				t.Fatalf("sets %d: frame_num %d came as %d (%v)", i, n, got.FrameNum, err)
			}
			back, err := Widen(widened, &to, &sps, &pps, uint32(n))
			if !errors.Is(err, errRange) && n > 31 {
				t.Fatalf("a frame_num of %d fits in 5 bits: %v", n, err)
			}
			if n <= 31 && !bytes.Equal(back, nal) {
				t.Fatalf("sets %d, frame_num %d: %x came back as %x (%v)", i, n, nal, back, err)
			}
		}
	}
}

func TestWidenRefuses(t *testing.T) {
	s := sets()[0]
	to := wide(s.sps)
	h := SliceHeader{RefIDC: 2, Unit: TypeSlice, FrameNum: 5}
	nal := h.nal(&s.sps, &s.pps)
	if _, err := Widen(nal, &s.sps, &to, &s.pps, 16+6); err == nil {
		t.Error("a frame_num that does not end like the old one was taken")
	}
	if _, err := Widen(nal[:1], &s.sps, &to, &s.pps, 5); err == nil {
		t.Error("a slice without header was taken")
	}
}

func FuzzWiden(f *testing.F) {
	for i, s := range sets() {
		h := SliceHeader{RefIDC: 2, Unit: TypeSlice, FrameNum: 3}
		f.Add(h.nal(&s.sps, &s.pps), uint32(3), i)
	}
	f.Fuzz(func(t *testing.T, nal []byte, frameNum uint32, set int) {
		s := sets()[uint(set)%3]
		s.sps.Log2MaxFrameNumMinus4 = 0
		to := wide(s.sps)
		out, err := Widen(nal, &s.sps, &to, &s.pps, frameNum&0xffff)
		if err != nil {
			return
		}
		if h, err := ParseSliceHeader(out, &to, &s.pps); err != nil || h.FrameNum != frameNum&0xffff {
			t.Errorf("%x became %x, with frame_num %d (%v)", nal, out, h.FrameNum, err)
		}
	})
}
