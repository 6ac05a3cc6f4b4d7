package encode

import "image"

// Color conversion is BGRA to NV12, BT.709 in the limited range (16 to 235
// and 16 to 240). NV12 because x264 keeps its pictures so and then copies rows
// whole. Chroma is the mean of a 2x2 block.
//
// The coefficients are ITU-R BT.709-6, 3.2 to 3.5, scaled by 219/255 and
// 224/255 and by 1<<15; each row of chroma sums to zero, so that a gray has no
// color.
const (
	lumaB, lumaG, lumaR = 2032, 20127, 5983
	cbB, cbG, cbR       = 14392, -11094, -3298
	crB, crG, crR       = -1320, -13072, 14392

	lumaShift   = 15
	chromaShift = 17 // of the sum of four pixels
	lumaBias    = 16<<lumaShift + 1<<(lumaShift-1)
	chromaBias  = 128<<chromaShift + 1<<(chromaShift-1)
)

// planes is an NV12 picture of an even size. Its memory is lent.
type planes struct {
	size         image.Point // even
	luma, chroma []byte
	lumaStride   int
	chromaStride int
}

// pixels is a BGRA picture of any size.
type pixels struct {
	size   image.Point
	stride int
	pix    []byte
}

// CodedSize is the size of the pictures that a decoder shows: size rounded up
// to even numbers, because 4:2:0 video has no odd ones (H.264 crops in steps
// of two). The added column or row repeats its neighbor.
func CodedSize(size image.Point) image.Point {
	return image.Pt((size.X+1)&^1, (size.Y+1)&^1)
}

// evenCover is the smallest rectangle with even corners around the part of r
// inside a picture of the given size; it may reach one past an odd edge.
func evenCover(r image.Rectangle, size image.Point) image.Rectangle {
	r = r.Intersect(image.Rectangle{Max: size})
	if r.Empty() {
		return image.Rectangle{}
	}
	return image.Rectangle{Min: image.Pt(r.Min.X&^1, r.Min.Y&^1), Max: CodedSize(r.Max)}
}

// convertGo converts a rectangle with even corners. It is the reference of
// the C converter and serves builds without cgo.
func convertGo(dst planes, src pixels, r image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y += 2 {
		below := min(y+1, src.size.Y-1)
		two := rowPair{
			top:    src.pix[y*src.stride:][:4*src.size.X],
			bottom: src.pix[below*src.stride:][:4*src.size.X],
			luma0:  dst.luma[y*dst.lumaStride:][:dst.size.X],
			luma1:  dst.luma[(y+1)*dst.lumaStride:][:dst.size.X],
			chroma: dst.chroma[y/2*dst.chromaStride:][:dst.size.X],
		}
		two.convert(r.Min.X, r.Max.X, src.size.X)
	}
}

type rowPair struct{ top, bottom, luma0, luma1, chroma []byte }

func (t rowPair) convert(x, end, width int) {
	for ; x < end; x += 2 {
		left, right := 4*x, 4*min(x+1, width-1)
		a, b := t.top[left:left+4], t.top[right:right+4]
		c, d := t.bottom[left:left+4], t.bottom[right:right+4]
		t.luma0[x], t.luma0[x+1] = luma(a), luma(b)
		t.luma1[x], t.luma1[x+1] = luma(c), luma(d)
		blue := int32(a[0]) + int32(b[0]) + int32(c[0]) + int32(d[0])
		green := int32(a[1]) + int32(b[1]) + int32(c[1]) + int32(d[1])
		red := int32(a[2]) + int32(b[2]) + int32(c[2]) + int32(d[2])
		t.chroma[x] = byte((cbB*blue + cbG*green + cbR*red + chromaBias) >> chromaShift)
		t.chroma[x+1] = byte((crB*blue + crG*green + crR*red + chromaBias) >> chromaShift)
	}
}

func luma(p []byte) byte {
	return byte((lumaB*int32(p[0]) + lumaG*int32(p[1]) + lumaR*int32(p[2]) + lumaBias) >> lumaShift)
}
