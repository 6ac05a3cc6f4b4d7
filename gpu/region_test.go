package gpu

import (
	"image"
	"math/rand/v2"
	"testing"
)

// TestRegionCovers adds random rectangles and checks that everything stays
// covered, that the list stays short, and that a few are kept exactly.
func TestRegionCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for round := range 200 {
		var g Region
		var added []image.Rectangle
		for range random.IntN(120) {
			min := image.Pt(random.IntN(300), random.IntN(300))
			r := image.Rectangle{Min: min, Max: min.Add(image.Pt(random.IntN(20), random.IntN(20)))}
			g.Add(r)
			added = append(added, r)
			if len(g.Rects()) > maxRects {
				t.Fatalf("round %d: %d rectangles", round, len(g.Rects()))
			}
		}
		for _, r := range added {
			if !covered(r, g.Rects()) {
				t.Fatalf("round %d: %v is not covered by %v", round, r, g.Rects())
			}
		}
	}
}

func covered(r image.Rectangle, by []image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			in := false
			for _, b := range by {
				in = in || image.Pt(x, y).In(b)
			}
			if !in {
				return false
			}
		}
	}
	return true
}

func TestRegionSimplifies(t *testing.T) {
	for _, test := range []struct {
		name string
		add  []image.Rectangle
		want []image.Rectangle
	}{
		{"empty", []image.Rectangle{{}, image.Rect(4, 4, 4, 9)}, nil},
		{"inside another", []image.Rectangle{image.Rect(0, 0, 9, 9), image.Rect(1, 1, 2, 2)}, []image.Rectangle{image.Rect(0, 0, 9, 9)}},
		{"around another", []image.Rectangle{image.Rect(1, 1, 2, 2), image.Rect(0, 0, 9, 9)}, []image.Rectangle{image.Rect(0, 0, 9, 9)}},
		{"side by side", []image.Rectangle{image.Rect(0, 0, 4, 4), image.Rect(8, 0, 12, 4), image.Rect(4, 0, 8, 4)}, []image.Rectangle{image.Rect(0, 0, 12, 4)}},
		{"apart", []image.Rectangle{image.Rect(0, 0, 4, 4), image.Rect(5, 5, 6, 6)}, []image.Rectangle{image.Rect(0, 0, 4, 4), image.Rect(5, 5, 6, 6)}},
	} {
		var g Region
		for _, r := range test.add {
			g.Add(r)
		}
		if len(g.Rects()) != len(test.want) {
			t.Errorf("%s: %v, want %v", test.name, g.Rects(), test.want)
			continue
		}
		for i, r := range g.Rects() {
			if r != test.want[i] {
				t.Errorf("%s: %v, want %v", test.name, g.Rects(), test.want)
			}
		}
	}
}
