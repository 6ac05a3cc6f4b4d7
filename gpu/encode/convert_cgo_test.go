//go:build cgo

package encode

import (
	"bytes"
	"image"
	"testing"
)

func TestScalarMatchesVectors(t *testing.T) {
	if !vectors {
		t.Skip("this CPU has no vectors that the converter uses")
	}
	size := image.Pt(199, 51)
	src := noise(size, 9)
	a, b := newPlanes(size), newPlanes(size)
	whole := evenCover(image.Rectangle{Max: size}, size)
	convertC(a, src, whole, false)
	convertC(b, src, whole, true)
	if !bytes.Equal(a.luma, b.luma) || !bytes.Equal(a.chroma, b.chroma) {
		t.Error("scalar and vector rows differ")
	}
}

func BenchmarkConvertScalar1080p(b *testing.B) {
	size := image.Pt(1920, 1080)
	src, dst := noise(size, 1), newPlanes(size)
	for b.Loop() {
		convertC(dst, src, image.Rectangle{Max: size}, false)
	}
}
