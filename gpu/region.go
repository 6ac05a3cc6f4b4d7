package gpu

import (
	"image"
	"slices"
)

// maxRects bounds the rectangles that a Region keeps. More are merged into
// bands of rows: copying and converting go row by row, so that a band costs
// little more than its parts, and lists stay short however busy the screen is.
const maxRects = 32

// Region is a short list of rectangles that covers at least everything that
// was added to it. The zero value is empty. It keeps its memory when it is
// reset. It is not safe for concurrent use.
type Region struct {
	rects []image.Rectangle
}

// Rects returns the rectangles; they are valid until the next change of the
// region. An empty region gives an empty slice.
func (g *Region) Rects() []image.Rectangle { return g.rects }

// Empty reports whether the region covers nothing.
func (g *Region) Empty() bool { return len(g.rects) == 0 }

// Reset makes the region empty.
func (g *Region) Reset() { g.rects = g.rects[:0] }

// Set makes the region cover r alone.
func (g *Region) Set(r image.Rectangle) {
	g.Reset()
	g.Add(r)
}

// AddAll adds every rectangle, clipped to bounds.
func (g *Region) AddAll(rects []image.Rectangle, bounds image.Rectangle) {
	for _, r := range rects {
		g.Add(r.Intersect(bounds))
	}
}

// Add makes the region cover r too. A rectangle that lies inside another is
// dropped, and two that together make a rectangle become one.
func (g *Region) Add(r image.Rectangle) {
	if r.Empty() {
		return
	}
	for i := 0; i < len(g.rects); {
		switch o := g.rects[i]; {
		case r.In(o):
			return
		case o.In(r):
			g.remove(i)
		case joins(r, o):
			r = r.Union(o)
			g.remove(i)
			i = 0 // the larger rectangle may swallow or join earlier ones
		default:
			i++
		}
	}
	if len(g.rects) == maxRects {
		g.rects = Bands(g.rects)
		g.rects = halve(g.rects)
		g.Add(r)
		return
	}
	g.rects = append(g.rects, r)
}

func (g *Region) remove(i int) {
	last := len(g.rects) - 1
	g.rects[i] = g.rects[last]
	g.rects = g.rects[:last]
}

// joins reports whether the union of two rectangles is exactly a rectangle.
func joins(a, b image.Rectangle) bool {
	if a.Min.X == b.Min.X && a.Max.X == b.Max.X {
		return a.Min.Y <= b.Max.Y && b.Min.Y <= a.Max.Y
	}
	if a.Min.Y == b.Min.Y && a.Max.Y == b.Max.Y {
		return a.Min.X <= b.Max.X && b.Min.X <= a.Max.X
	}
	return false
}

// Bands sorts the rectangles from top to bottom and replaces those that share
// rows, or touch, by the rectangle around them. It works in place.
func Bands(rects []image.Rectangle) []image.Rectangle {
	if len(rects) < 2 {
		return rects
	}
	slices.SortFunc(rects, func(a, b image.Rectangle) int { return a.Min.Y - b.Min.Y })
	n := 0
	for _, r := range rects[1:] {
		if r.Min.Y <= rects[n].Max.Y {
			rects[n] = rects[n].Union(r)
			continue
		}
		n++
		rects[n] = r
	}
	return rects[:n+1]
}

// halve joins neighbours in pairs when the list is still more than half full,
// so that the cost of merging is spread over many additions.
func halve(rects []image.Rectangle) []image.Rectangle {
	if len(rects) <= maxRects/2 {
		return rects
	}
	n := 0
	for i := 0; i < len(rects); i += 2 {
		r := rects[i]
		if i+1 < len(rects) {
			r = r.Union(rects[i+1])
		}
		rects[n] = r
		n++
	}
	return rects[:n]
}
