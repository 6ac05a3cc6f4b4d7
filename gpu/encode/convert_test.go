package encode

import (
	"bytes"
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

func noise(size image.Point, seed uint64) pixels {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := pixels{size: size, stride: 4*size.X + 12}
	p.pix = make([]byte, p.stride*size.Y)
	for i := range p.pix {
		p.pix[i] = byte(rng.Uint32())
	}
	return p
}

func newPlanes(size image.Point) planes {
	size = CodedSize(size)
	stride := size.X + 16
	return planes{size: size, luma: make([]byte, stride*size.Y), chroma: make([]byte, stride*size.Y/2),
		lumaStride: stride, chromaStride: stride}
}

// exactYUV is the definition of BT.709, 3.2 to 3.5, in floating point.
func exactYUV(r, g, b float64) (y, cb, cr float64) {
	luma := 0.2126*r + 0.7152*g + 0.0722*b
	return 16 + 219*luma/255, 128 + 224*(b-luma)/1.8556/255, 128 + 224*(r-luma)/1.5748/255
}

// Every color of a coarse cube, as flat 2x2 blocks, is within half a step and
// rounding of the definition.
func TestConvertFollowsBT709(t *testing.T) {
	src := pixels{size: image.Pt(2, 2), stride: 8, pix: make([]byte, 16)}
	dst := newPlanes(src.size)
	for i := range 18 * 18 * 18 {
		b, g, r := i%18*15, i/18%18*15, i/18/18*15
		for p := range 4 {
			copy(src.pix[4*p:], []byte{byte(b), byte(g), byte(r), 77})
		}
		convert(dst, src, image.Rectangle{Max: src.size})
		y, cb, cr := exactYUV(float64(r), float64(g), float64(b))
		got := [3]float64{float64(dst.luma[0]), float64(dst.chroma[0]), float64(dst.chroma[1])}
		for c, want := range [3]float64{y, cb, cr} {
			if math.Abs(got[c]-want) > 0.53 {
				t.Fatalf("r %d g %d b %d: component %d is %v, want %.2f", r, g, b, c, got[c], want)
			}
		}
	}
}

func TestConvertMatchesGo(t *testing.T) {
	for i, size := range []image.Point{{1, 1}, {2, 2}, {3, 5}, {15, 7}, {16, 2}, {17, 3}, {33, 9}, {64, 48}, {101, 37}} {
		src := noise(size, uint64(i))
		want, got := newPlanes(size), newPlanes(size)
		whole := evenCover(image.Rectangle{Max: size}, size)
		convertGo(want, src, whole)
		convert(got, src, whole)
		if !bytes.Equal(got.luma, want.luma) || !bytes.Equal(got.chroma, want.chroma) {
			t.Errorf("%v: %s differs from Go", size, converterName)
		}
	}
}

// Converting a rectangle writes it and nothing else.
func TestConvertRectangle(t *testing.T) {
	size := image.Pt(101, 61)
	src := noise(size, 4)
	whole := newPlanes(size)
	convert(whole, src, evenCover(image.Rectangle{Max: size}, size))
	for _, r := range []image.Rectangle{image.Rect(7, 3, 55, 20), image.Rect(90, 50, 400, 400), image.Rect(0, 0, 1, 1), image.Rect(100, 60, 101, 61), image.Rect(-5, -5, 0, 9), {}} {
		even := evenCover(r, size)
		part := newPlanes(size)
		convert(part, src, even)
		for y := range part.size.Y {
			for x := range part.size.X {
				at, c := y*part.lumaStride+x, y/2*part.chromaStride+x
				inside := image.Pt(x, y).In(even)
				if inside && (part.luma[at] != whole.luma[at] || part.chroma[c] != whole.chroma[c]) {
					t.Fatalf("%v: %d,%d was not converted", r, x, y)
				}
				if !inside && part.luma[at] != 0 {
					t.Fatalf("%v: %d,%d was touched", r, x, y)
				}
			}
		}
		if clipped := r.Intersect(image.Rectangle{Max: size}); !clipped.Empty() && !clipped.In(even) {
			t.Errorf("%v is not inside %v", clipped, even)
		}
	}
}

func BenchmarkConvert1080p(b *testing.B) {
	size := image.Pt(1920, 1080)
	src, dst := noise(size, 1), newPlanes(size)
	all := image.Rectangle{Max: size}
	b.Run("Go", func(b *testing.B) {
		for b.Loop() {
			convertGo(dst, src, all)
		}
	})
	b.Run("built", func(b *testing.B) {
		for b.Loop() {
			convert(dst, src, all)
		}
	})
}
