package h264

import (
	"bytes"
	"iter"
)

// UnitType is nal_unit_type (H.264 table 7-1).
type UnitType uint8

// The unit types that a WebRTC sender meets.
const (
	TypeSlice UnitType = 1
	TypeIDR   UnitType = 5
	TypeSEI   UnitType = 6
	TypeSPS   UnitType = 7
	TypePPS   UnitType = 8
	TypeAUD   UnitType = 9
)

// TypeOf gives the type of a NAL unit without its start code, 0 (unspecified)
// when it is empty.
func TypeOf(nal []byte) UnitType {
	if len(nal) == 0 {
		return 0
	}
	return UnitType(nal[0] & 0x1f)
}

// NALs iterates over the units of an Annex B byte stream, without start codes
// and without the zero bytes that may follow a unit. The units alias stream.
// Bytes before the first start code are not a unit.
func NALs(stream []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		_, rest, ok := cutStartCode(stream)
		for ok {
			var nal []byte
			nal, rest, ok = cutStartCode(rest)
			nal = bytes.TrimRight(nal, "\x00")
			if len(nal) > 0 && !yield(nal) {
				return
			}
		}
	}
}

// cutStartCode splits at the first 00 00 01; a fourth zero before it stays in
// the first part, where the caller trims it.
func cutStartCode(stream []byte) (before, after []byte, found bool) {
	return bytes.Cut(stream, []byte{0, 0, 1})
}

// Unescape removes emulation prevention bytes (H.264 7.3.1) from the bytes of
// a NAL unit and gives its RBSP in new memory.
func Unescape(payload []byte) []byte {
	rbsp := make([]byte, 0, len(payload))
	zeros := 0
	for _, b := range payload {
		if zeros >= 2 && b == 3 {
			zeros = 0
			continue
		}
		if b == 0 {
			zeros++
		} else {
			zeros = 0
		}
		rbsp = append(rbsp, b)
	}
	return rbsp
}

// Escape appends rbsp to dst with emulation prevention bytes, so that no
// start code appears inside a unit. rbsp must not end in a zero byte, and one
// that BitWriter finished does not.
func Escape(dst, rbsp []byte) []byte {
	zeros := 0
	for _, b := range rbsp {
		if zeros >= 2 && b <= 3 {
			dst = append(dst, 3)
			zeros = 0
		}
		if b == 0 {
			zeros++
		} else {
			zeros = 0
		}
		dst = append(dst, b)
	}
	return dst
}
