//go:build cgo

package encode

/*
#cgo CFLAGS: -O3
#include "convert.h"
*/
import "C"

import (
	"image"
	"runtime"
	"unsafe"
)

var vectors = C.ng_convert_simd() != 0

var converterName = func() string {
	if vectors {
		return "C with AVX2"
	}
	return "C"
}()

// convert converts a rectangle with even corners.
func convert(dst planes, src pixels, r image.Rectangle) {
	convertC(dst, src, r, vectors)
}

func convertC(dst planes, src pixels, r image.Rectangle, vectors bool) {
	if r.Empty() {
		return
	}
	simd := C.int(0)
	if vectors {
		simd = 1
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&src.pix[0])
	pin.Pin(&dst.luma[0])
	pin.Pin(&dst.chroma[0])
	C.ng_convert(C.ng_planes{
		src:        (*C.uint8_t)(unsafe.Pointer(&src.pix[0])),
		src_stride: C.ptrdiff_t(src.stride),
		width:      C.int(src.size.X), height: C.int(src.size.Y),
		y:         (*C.uint8_t)(unsafe.Pointer(&dst.luma[0])),
		y_stride:  C.ptrdiff_t(dst.lumaStride),
		uv:        (*C.uint8_t)(unsafe.Pointer(&dst.chroma[0])),
		uv_stride: C.ptrdiff_t(dst.chromaStride),
	}, C.int(r.Min.X), C.int(r.Min.Y), C.int(r.Max.X), C.int(r.Max.Y), simd)
}
