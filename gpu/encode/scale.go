package encode

import (
	"fmt"
	"image"

	"nearglass/gpu"
)

// A Scaler makes smaller pictures of a source's. Each pixel of the smaller
// picture is the mean of the area that it covers, so that a thin line grows
// fainter and does not vanish, and nothing moves: the point at a share of the
// width is at the same share of it in either size.
//
// It works as the converter does: only what changed is done again, in fixed
// point, and the same sums in Go and in C. It is used by one goroutine.
type Scaler struct {
	from, to image.Point
	across   taps
	down     taps
	sums     []int16 // a row of the source's width: the sum of a few rows
	out      gpu.Frame
	damage   []image.Rectangle
	done     bool // the whole picture was scaled once
}

// Weights of one axis sum to 1<<scaleBits: the products of two axes and a
// color then fit 22 bits, a row's sums the 16 bits that vectors multiply.
const (
	scaleBits  = 7
	scaleWhole = 1 << scaleBits
	scaleShift = 2 * scaleBits
	scaleRound = 1 << (scaleShift - 1)
	// scaleTaps is how many pixels of the source one of the smaller picture
	// covers at most; the last is there so that vectors take them in pairs.
	scaleTaps = 4
)

// taps says of each pixel along one axis of the smaller picture which pixels
// of the source it is made of: from first on, by weights.
type taps struct {
	first  []int32
	weight []int16 // scaleTaps each
	most   int     // how many of them are ever in use
}

// NewScaler makes one for sources of one size. The smaller picture has even
// sides, of at most the source's coded size and at least half of it.
func NewScaler(from, to image.Point) (*Scaler, error) {
	coded := CodedSize(from)
	if from.X < 1 || from.Y < 1 || to != CodedSize(to) || to.X < 2 || to.Y < 2 ||
		to.X > coded.X || to.Y > coded.Y || 2*to.X < coded.X || 2*to.Y < coded.Y {
		return nil, fmt.Errorf("encode: a picture of %dx%d is not scaled to %dx%d", from.X, from.Y, to.X, to.Y)
	}
	s := &Scaler{from: from, to: to, across: newTaps(coded.X, to.X, from.X), down: newTaps(coded.Y, to.Y, from.Y)}
	s.sums = make([]int16, 4*(from.X+scaleTaps))
	s.out = gpu.Frame{Size: to, Stride: 4 * to.X, Format: gpu.BGRA, Pix: make([]byte, 4*to.X*to.Y)}
	return s, nil
}

// newTaps covers an axis of from pixels by to; of them real ones exist, the
// last of which is repeated.
func newTaps(from, to, real int) taps {
	t := taps{first: make([]int32, to), weight: make([]int16, scaleTaps*to)}
	for i := range to {
		// In units of 1/to of a source's pixel, the area begins at i*from.
		begin, end := i*from, (i+1)*from
		first := begin / to
		t.first[i] = int32(min(first, real-1))
		rest := scaleWhole
		for k := 0; rest > 0; k++ {
			covered := min((first+k+1)*to, end) - begin
			weight := rest - (scaleWhole - (covered*scaleWhole+from/2)/from)
			at := min(first+k, real-1) - int(t.first[i])
			t.weight[scaleTaps*i+at] += int16(weight)
			rest -= weight
			if weight > 0 {
				t.most = max(t.most, at+1)
			}
		}
	}
	return t
}

// Size of the smaller pictures.
func (s *Scaler) Size() image.Point { return s.to }

// Scale gives the smaller picture of a frame, with what changed of it. It is
// lent until the next call. The frame may be released when it returns.
func (s *Scaler) Scale(f *gpu.Frame) (*gpu.Frame, error) {
	if f.Size != s.from || f.Format != gpu.BGRA || f.Stride < 4*f.Size.X || len(f.Pix) < f.Stride*(f.Size.Y-1)+4*f.Size.X {
		return nil, fmt.Errorf("encode: frame of %dx%d, format %d, with stride %d in %d bytes for a scaler of %dx%d",
			f.Size.X, f.Size.Y, f.Format, f.Stride, len(f.Pix), s.from.X, s.from.Y)
	}
	s.out.Number, s.out.Generation, s.out.Captured, s.out.Mark = f.Number, f.Generation, f.Captured, f.Mark
	s.damage = s.damage[:0]
	source := pixels{size: f.Size, stride: f.Stride, pix: f.Pix}
	if f.Damage == nil || !s.done {
		s.damage = append(s.damage, image.Rectangle{Max: s.to})
	} else {
		for _, r := range f.Damage {
			if r = s.outward(r); !r.Empty() {
				s.damage = append(s.damage, r)
			}
		}
	}
	for _, r := range s.damage {
		scaleRect(s, source, r)
	}
	s.done = true
	s.out.Damage = s.damage
	return &s.out, nil
}

// outward is the part of the smaller picture that r of the source has any
// share in.
func (s *Scaler) outward(r image.Rectangle) image.Rectangle {
	r = r.Intersect(image.Rectangle{Max: s.from})
	if r.Empty() {
		return image.Rectangle{}
	}
	coded := CodedSize(s.from)
	if r.Max.X == s.from.X {
		r.Max.X = coded.X
	}
	if r.Max.Y == s.from.Y {
		r.Max.Y = coded.Y
	}
	return image.Rect(r.Min.X*s.to.X/coded.X, r.Min.Y*s.to.Y/coded.Y,
		(r.Max.X*s.to.X+coded.X-1)/coded.X, (r.Max.Y*s.to.Y+coded.Y-1)/coded.Y)
}

// span is the columns of the source that columns of the smaller picture are
// made of.
func (t taps) span(from, to, real int) (first, end int) {
	return int(t.first[from]), min(int(t.first[to-1])+t.most, real)
}

// scaleGo scales a rectangle of the smaller picture. It is the reference of
// the C scaler and serves builds without cgo.
func scaleGo(s *Scaler, src pixels, r image.Rectangle) {
	first, end := s.across.span(r.Min.X, r.Max.X, src.size.X)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		s.sumRows(src, y, 4*first, 4*end)
		out := s.out.Pix[y*s.out.Stride:]
		for x := r.Min.X; x < r.Max.X; x++ {
			s.across.pixel(out[4*x:4*x+4], s.sums, x)
		}
	}
}

// sumRows sums the rows of the source that row y of the smaller picture
// covers.
func (s *Scaler) sumRows(src pixels, y, from, end int) {
	sums := s.sums[from:end]
	clear(sums)
	for k := range s.down.most {
		weight := s.down.weight[scaleTaps*y+k]
		if weight == 0 {
			continue
		}
		row := src.pix[(int(s.down.first[y])+k)*src.stride:][from:end]
		for i, v := range row {
			sums[i] += weight * int16(v)
		}
	}
}

func (t taps) pixel(out []byte, sums []int16, x int) {
	first := 4 * int(t.first[x])
	for c := range out {
		sum := int32(scaleRound)
		for k := range t.most {
			sum += int32(t.weight[scaleTaps*x+k]) * int32(sums[first+4*k+c])
		}
		out[c] = byte(sum >> scaleShift)
	}
}
