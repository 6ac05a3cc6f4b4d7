package h264

import (
	"errors"
	"math/bits"
)

var (
	errShort  = errors.New("the bitstream ends inside a value")
	errGolomb = errors.New("an Exp-Golomb code is longer than 32 bits")
)

// BitReader reads an RBSP, most significant bit first. The first failure
// sticks: later reads give 0, so that a caller checks Err once at the end.
type BitReader struct {
	rbsp []byte
	pos  int // in bits
	err  error
}

// NewBitReader reads rbsp, which it does not change.
func NewBitReader(rbsp []byte) *BitReader { return &BitReader{rbsp: rbsp} }

// Err is the first failure, or nil.
func (r *BitReader) Err() error { return r.err }

// Left is the number of bits not read yet.
func (r *BitReader) Left() int { return len(r.rbsp)*8 - r.pos }

// Bit reads one bit, u(1).
func (r *BitReader) Bit() uint32 {
	if r.err != nil || r.Left() < 1 {
		r.fail(errShort)
		return 0
	}
	b := r.rbsp[r.pos>>3] >> (7 - r.pos&7) & 1
	r.pos++
	return uint32(b)
}

// Bits reads n bits, u(n), n from 0 to 32.
func (r *BitReader) Bits(n int) uint32 {
	var v uint32
	for range n {
		v = v<<1 | r.Bit()
	}
	return v
}

// UE reads an unsigned Exp-Golomb code, ue(v) (H.264 9.1).
func (r *BitReader) UE() uint32 {
	zeros := 0
	for r.err == nil && r.Bit() == 0 {
		zeros++
	}
	if zeros > 31 {
		r.fail(errGolomb)
	}
	if r.err != nil {
		return 0
	}
	return 1<<zeros - 1 + r.Bits(zeros)
}

// SE reads a signed Exp-Golomb code, se(v) (H.264 9.1.1).
func (r *BitReader) SE() int32 {
	k := r.UE()
	if k&1 == 1 {
		return int32(k/2 + 1)
	}
	return -int32(k / 2)
}

func (r *BitReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// BitWriter writes an RBSP, most significant bit first. The zero value is
// ready to use.
type BitWriter struct {
	rbsp []byte
	used int // bits of the last byte, 0 when it is full
}

// Bit writes one bit, u(1).
func (w *BitWriter) Bit(b uint32) {
	if w.used == 0 {
		w.rbsp = append(w.rbsp, 0)
	}
	w.rbsp[len(w.rbsp)-1] |= byte(b&1) << (7 - w.used)
	w.used = (w.used + 1) & 7
}

// Bits writes the low n bits of v, u(n), n from 0 to 32.
func (w *BitWriter) Bits(n int, v uint32) {
	for i := n - 1; i >= 0; i-- {
		w.Bit(v >> i)
	}
}

// UE writes an unsigned Exp-Golomb code. The largest value is 1<<32 - 2.
func (w *BitWriter) UE(v uint32) {
	code := uint64(v) + 1
	n := bits.Len64(code)
	w.Bits(n-1, 0)
	for i := n - 1; i >= 0; i-- {
		w.Bit(uint32(code >> i))
	}
}

// SE writes a signed Exp-Golomb code, from -(1<<31 - 1) to 1<<31 - 1.
func (w *BitWriter) SE(v int32) {
	if v > 0 {
		w.UE(uint32(v)*2 - 1)
		return
	}
	w.UE(uint32(-v) * 2)
}

// Finish writes the stop bit and the alignment (rbsp_trailing_bits) and gives
// the RBSP.
func (w *BitWriter) Finish() []byte {
	w.Bit(1)
	w.used = 0
	return w.rbsp
}
