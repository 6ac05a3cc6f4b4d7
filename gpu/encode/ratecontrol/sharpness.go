package ratecontrol

import (
	"image"
	"math"
	"time"
)

// mbSide is the side of a macroblock, in pixels, and mbPixels what it covers.
const (
	mbSide   = 16
	mbPixels = mbSide * mbSide
)

// levels counts macroblocks by the QP that the viewer has them at.
type levels [endOfScale + 1]int

// worst is the coarsest QP of any; 0 where there is none.
func (l *levels) worst() int {
	for qp := endOfScale; qp > 0; qp-- {
		if l[qp] > 0 {
			return qp
		}
	}
	return 0
}

// coarser is how many are coarser than a QP.
func (l *levels) coarser(qp int) (sum int) {
	for _, n := range l[min(max(qp, 0), endOfScale)+1:] {
		sum += n
	}
	return sum
}

// units is what bringing all that are coarser to a QP counts in the model.
func (l *levels) units(qp int) (sum float64) {
	for from := qp + 1; from <= endOfScale; from++ {
		sum += float64(l[from]) * unitsOf(from, qp)
	}
	return sum
}

// unitsOf is the same of one macroblock.
func unitsOf(from, to int) float64 { return mbPixels * lostScale(from, to) }

// sharpness is what the viewer has, macroblock by macroblock.
type sharpness struct {
	size    image.Point // of the picture, in pixels
	width   int         // macroblocks in a row
	blocks  []block
	levels  levels
	counted uint32 // pictures so far, the one at hand included
	begin   time.Time
	chosen  []bool
}

// block is one macroblock.
type block struct {
	qp      uint8
	coded   uint32        // number of the picture that coded it last
	changed time.Duration // when its source did, after begin
}

// fit makes room for pictures of a size. It is true where that is another one, of
// which the viewer has nothing yet.
func (s *sharpness) fit(now time.Time, size image.Point) bool {
	size = image.Pt(max(size.X, 0), max(size.Y, 0))
	if s.size == size && s.blocks != nil {
		return false
	}
	width, height := (size.X+mbSide-1)/mbSide, (size.Y+mbSide-1)/mbSide
	*s = sharpness{begin: now, size: size, width: width, blocks: make([]block, width*height), chosen: make([]bool, width*height)}
	for i := range s.blocks {
		s.blocks[i] = block{qp: endOfScale, changed: math.MinInt64}
	}
	s.levels[endOfScale] = len(s.blocks)
	return true
}

// within appends the numbers of the macroblocks that a part of the picture touches.
func (s *sharpness) within(dst []int, r image.Rectangle) []int {
	r = r.Intersect(image.Rectangle{Max: s.size})
	if r.Empty() {
		return dst
	}
	for y := r.Min.Y / mbSide; y <= (r.Max.Y-1)/mbSide; y++ {
		for x := r.Min.X / mbSide; x <= (r.Max.X-1)/mbSide; x++ {
			dst = append(dst, y*s.width+x)
		}
	}
	return dst
}

// all is the whole picture.
func (s *sharpness) all() image.Rectangle { return image.Rectangle{Max: s.size} }

// note lays a macroblock to the picture at hand, coded at qp.
func (s *sharpness) note(i, qp int) {
	b := &s.blocks[i]
	s.levels[b.qp]--
	b.qp, b.coded = uint8(qp), s.counted
	s.levels[qp]++
}

// since appends the macroblocks that the last so many pictures coded.
func (s *sharpness) since(dst []int, pictures int) []int {
	for i := range s.blocks {
		if int64(s.blocks[i].coded) > int64(s.counted)-int64(pictures) {
			dst = append(dst, i)
		}
	}
	return dst
}

// still counts the macroblocks that have not changed since a time.
func (s *sharpness) still(since time.Time) (l levels) {
	at := since.Sub(s.begin)
	for i := range s.blocks {
		if b := &s.blocks[i]; b.changed <= at {
			l[b.qp]++
		}
	}
	return l
}

// choose marks those of the macroblocks that have not changed since a time and are
// coarser than qp, at most so many, the coarsest first.
func (s *sharpness) choose(since time.Time, qp, most int) []bool {
	l, edge := s.still(since), endOfScale
	for ; edge > qp+1 && most > l[edge]; edge-- {
		most -= l[edge]
	}
	clear(s.chosen)
	last := since.Sub(s.begin)
	for i := range s.blocks {
		b := &s.blocks[i]
		at := int(b.qp)
		if b.changed > last || at < edge || at <= qp {
			continue
		}
		if at == edge {
			if most <= 0 {
				continue
			}
			most--
		}
		s.chosen[i] = true
	}
	return s.chosen
}
