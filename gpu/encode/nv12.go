package encode

import (
	"image"

	"nearglass/gpu"
)

// NV12 is a picture as encoders take it: a plane of luma, and one of chroma in
// pairs with half the rows. Size is even, see CodedSize.
type NV12 struct {
	Size                     image.Point
	Luma, Chroma             []byte
	LumaStride, ChromaStride int
}

// NewNV12 makes a picture for frames of the given size, its rows one after the
// other.
func NewNV12(size image.Point) NV12 {
	size = CodedSize(size)
	return NV12{
		Size: size, LumaStride: size.X, ChromaStride: size.X,
		Luma: make([]byte, size.X*size.Y), Chroma: make([]byte, size.X*size.Y/2),
	}
}

// Convert brings what a frame says has changed into the picture, or all of it
// when Damage is nil: BT.709, limited range, the same bytes that the encoders of
// this package get.
func (n NV12) Convert(f *gpu.Frame) {
	dst := planes{size: n.Size, luma: n.Luma, chroma: n.Chroma, lumaStride: n.LumaStride, chromaStride: n.ChromaStride}
	src := pixels{size: f.Size, stride: f.Stride, pix: f.Pix}
	converters.convert(dst, src, cut(nil, changedRects(nil, f, false), f.Size))
}
