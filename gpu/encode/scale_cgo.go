//go:build cgo

package encode

/*
#include "scale.h"
*/
import "C"

import (
	"image"
	"runtime"
	"unsafe"
)

// scaleRect scales a rectangle of the smaller picture that is not empty.
func scaleRect(s *Scaler, src pixels, r image.Rectangle) {
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&src.pix[0])
	pin.Pin(&s.out.Pix[0])
	pin.Pin(&s.sums[0])
	C.ng_scale(C.ng_scaling{
		src: (*C.uint8_t)(unsafe.Pointer(&src.pix[0])), src_stride: C.ptrdiff_t(src.stride), width: C.int(src.size.X),
		dst: (*C.uint8_t)(unsafe.Pointer(&s.out.Pix[0])), dst_stride: C.ptrdiff_t(s.out.Stride),
		across: s.across.inC(&pin), down: s.down.inC(&pin),
		sums: (*C.int16_t)(unsafe.Pointer(&s.sums[0])),
	}, C.int(r.Min.X), C.int(r.Min.Y), C.int(r.Max.X), C.int(r.Max.Y))
}

func (t taps) inC(pin *runtime.Pinner) C.ng_taps {
	pin.Pin(&t.first[0])
	pin.Pin(&t.weight[0])
	return C.ng_taps{
		first:  (*C.int32_t)(unsafe.Pointer(&t.first[0])),
		weight: (*C.int16_t)(unsafe.Pointer(&t.weight[0])),
		most:   C.int(t.most),
	}
}
