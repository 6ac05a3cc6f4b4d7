package encode

import (
	"bytes"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// Bands are whole rows of macroblocks, and cover what they are cut from.
func TestCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		size := image.Pt(1+rng.IntN(2500), 1+rng.IntN(1500))
		var rects []image.Rectangle
		for range 1 + rng.IntN(5) {
			r := image.Rect(rng.IntN(size.X), rng.IntN(size.Y), rng.IntN(size.X+1), rng.IntN(size.Y+1))
			if r = evenCover(r, size); !r.Empty() {
				rects = append(rects, r)
			}
		}
		bands := cut(nil, rects, size)
		coded := image.Rectangle{Max: CodedSize(size)}
		for i, b := range bands {
			if b.Empty() || !b.In(coded) || b.Min.X%mbSide != 0 || (b.Max.X%mbSide != 0 && b.Max.X != coded.Max.X) || b.Min.Y%2 != 0 || b.Max.Y%2 != 0 {
				t.Fatalf("%v: band %d of %v is %v", size, i, rects, b)
			}
		}
		for _, r := range rects {
			if covered := overlap(r, bands); covered < r.Dx()*r.Dy() {
				t.Fatalf("%v: of %v only %d pixels are in %v", size, r, covered, bands)
			}
		}
	}
}

// overlap sums up what the bands have of r.
func overlap(r image.Rectangle, bands []image.Rectangle) int {
	n := 0
	for _, b := range bands {
		b = b.Intersect(r)
		n += b.Dx() * b.Dy()
	}
	return n
}

// Pictures that several threads convert, for several encoders at a time, are those
// that one thread converts.
func TestCrewConvertsTheSame(t *testing.T) {
	size := image.Pt(1283, 727)
	src := noise(size, 3)
	want := newPlanes(size)
	whole := []image.Rectangle{evenCover(image.Rectangle{Max: size}, size)}
	convert(want, src, whole[0])
	for _, hands := range []int{0, 1, 3} {
		w := newCrew(hands)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for range 20 {
					got := newPlanes(size)
					w.convert(got, src, cut(nil, whole, size))
					if !bytes.Equal(got.luma, want.luma) || !bytes.Equal(got.chroma, want.chroma) {
						t.Errorf("with %d to help the picture is another", hands)
					}
				}
			})
		}
		all.Wait()
		close(w.work)
	}
}

// BenchmarkConvertCrew converts with others to help and alone, in turn, so that
// what else the machine does meets both alike, and reports medians.
func BenchmarkConvertCrew(b *testing.B) {
	for _, size := range []image.Point{{256, 256}, {640, 360}, {960, 540}, {1280, 720}, {1920, 1080}, {3840, 2160}} {
		b.Run(fmt.Sprintf("%dx%d", size.X, size.Y), func(b *testing.B) {
			src, dst := noise(size, 1), newPlanes(size)
			bands := cut(nil, []image.Rectangle{{Max: size}}, size)
			alone := newCrew(0)
			var took [2][]float64
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				for k := range 2 {
					k = (k + i) % 2
					start := time.Now()
					[]*crew{converters, alone}[k].convert(dst, src, bands)
					took[k] = append(took[k], time.Since(start).Seconds()*1e6)
				}
			}
			for k, name := range []string{"crew-us", "alone-us"} {
				slices.Sort(took[k])
				b.ReportMetric(took[k][b.N/2], name)
			}
			b.ReportMetric(took[0][b.N/2]/took[1][b.N/2], "crew/alone")
		})
	}
}

// BenchmarkConvertColumns converts what a typed letter changes, and the whole
// columns of macroblocks around it.
func BenchmarkConvertColumns(b *testing.B) {
	size := image.Pt(1920, 1080)
	src, dst := noise(size, 1), newPlanes(size)
	letter := image.Rect(404, 400, 416, 418)
	b.ReportAllocs()
	b.Run("exact", func(b *testing.B) {
		for b.Loop() {
			convert(dst, src, letter)
		}
	})
	b.Run("widened", func(b *testing.B) {
		bands := cut(nil, []image.Rectangle{letter}, size)
		for b.Loop() {
			converters.convert(dst, src, bands)
		}
	})
}
