package h264

import (
	"bytes"
	"fmt"
)

// widestFrameNum is the largest log2_max_frame_num_minus4 (H.264 7.4.2.1.1).
const widestFrameNum = 12

// MaxFrameNums is how many values frame_num has after AllowGaps.
const MaxFrameNums = 1 << (widestFrameNum + 4)

// AllowGaps has a decoder expect that pictures are missing which no later one
// needs (gaps_in_frame_num_value_allowed_flag), and makes frame_num as wide as it
// gets: where a gap goes beyond its end, decoders that derive the order of
// pictures from it (pic_order_cnt_type 2) take the next ones for older ones and
// show none of them until it wraps again. Widen puts slices into the new form.
func (s *SPS) AllowGaps() {
	s.GapsInFrameNum = true
	s.Log2MaxFrameNumMinus4 = widestFrameNum
}

// FrameNums is how many values frame_num has.
func (s *SPS) FrameNums() uint64 { return 1 << (s.Log2MaxFrameNumMinus4 + 4) }

// Widen gives a slice, a NAL unit of type 1 or 5 without start code that refers
// to the sets from and pps, as one that refers to the set to, which differs from
// the first in the width of frame_num. frameNum is the slice's own in the new
// width; it is an error when it does not end in the bits of the old one.
func Widen(nal []byte, from, to *SPS, pps *PPS, frameNum uint32) ([]byte, error) {
	h, err := ParseSliceHeader(nal, from, pps)
	if err != nil {
		return nil, err
	}
	if uint64(frameNum) >= to.FrameNums() || frameNum&uint32(from.FrameNums()-1) != h.FrameNum {
		return nil, fmt.Errorf("slice: a frame_num of %d does not become %d: %w", h.FrameNum, frameNum, errRange)
	}
	rbsp := Unescape(nal[1:])
	in := &parser{BitReader: NewBitReader(rbsp)}
	again := SliceHeader{RefIDC: h.RefIDC, Unit: h.Unit}
	again.walk(in, from, pps)
	h.FrameNum = frameNum
	out := &composer{}
	out.rbsp = make([]byte, 0, len(rbsp)+4)
	h.walk(out, to, pps)
	if pps.CABAC {
		in.align()
		for out.used != 0 {
			out.Bit(1) // cabac_alignment_one_bit
		}
	}
	header := len(out.rbsp)
	out.rest(in.BitReader)
	out.rbsp = bytes.TrimRight(out.rbsp, "\x00")
	if len(out.rbsp) < header {
		return nil, fmt.Errorf("slice: it has no stop bit: %w", errShort)
	}
	return Escape(append(make([]byte, 0, len(nal)+16), nal[0]), out.rbsp), nil
}

// align goes on to the next whole byte.
func (r *BitReader) align() { r.pos = (r.pos + 7) &^ 7 }

// rest writes all that r has not read yet, zeros behind its stop bit included.
func (w *BitWriter) rest(r *BitReader) {
	for r.pos&7 != 0 {
		w.Bit(r.Bit())
	}
	left := r.rbsp[r.pos>>3:]
	r.pos = len(r.rbsp) * 8
	if w.used == 0 {
		w.rbsp = append(w.rbsp, left...)
		return
	}
	for _, b := range left {
		w.rbsp[len(w.rbsp)-1] |= b >> w.used
		w.rbsp = append(w.rbsp, b<<(8-w.used))
	}
}
