package encode

import (
	"bytes"
	"image"
	"math"
	"testing"
	"time"

	"nearglass/gpu"
)

// scalings are sizes of a source and of its smaller picture: exact ratios,
// odd sides, ratios that are not quite even, and the bounds.
var scalings = []struct{ from, to image.Point }{
	{image.Pt(64, 48), image.Pt(48, 36)},
	{image.Pt(64, 48), image.Pt(32, 24)},
	{image.Pt(101, 61), image.Pt(76, 46)},
	{image.Pt(101, 61), image.Pt(52, 32)},
	{image.Pt(137, 77), image.Pt(102, 58)},
	{image.Pt(199, 3), image.Pt(100, 2)},
	{image.Pt(33, 17), image.Pt(34, 18)},
	{image.Pt(3, 2), image.Pt(2, 2)},
	{image.Pt(1, 1), image.Pt(2, 2)},
}

func newScaler(tb testing.TB, from, to image.Point) *Scaler {
	tb.Helper()
	s, err := NewScaler(from, to)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func frameOf(p pixels, damage []image.Rectangle) *gpu.Frame {
	return &gpu.Frame{Number: 7, Captured: time.Unix(5, 0), Size: p.size, Stride: p.stride, Format: gpu.BGRA, Pix: p.pix, Damage: damage}
}

func scaled(tb testing.TB, s *Scaler, f *gpu.Frame) *gpu.Frame {
	tb.Helper()
	out, err := s.Scale(f)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// areaMean is the mean of one color over the area of a pixel, by its
// definition.
func areaMean(src pixels, from, to image.Point, x, y, color int) float64 {
	sum, whole := 0.0, float64(from.X)/float64(to.X)*float64(from.Y)/float64(to.Y)
	for sy := y * from.Y / to.Y; sy*to.Y < (y+1)*from.Y; sy++ {
		for sx := x * from.X / to.X; sx*to.X < (x+1)*from.X; sx++ {
			part := shared(sx, x, from.X, to.X) * shared(sy, y, from.Y, to.Y)
			at := min(sy, src.size.Y-1)*src.stride + 4*min(sx, src.size.X-1)
			sum += part * float64(src.pix[at+color])
		}
	}
	return sum / whole
}

// shared is how much of the source's pixel i lies in pixel o.
func shared(i, o, from, to int) float64 {
	ratio := float64(from) / float64(to)
	return max(0, min(float64(i+1), float64(o+1)*ratio)-max(float64(i), float64(o)*ratio))
}

// Every pixel is the mean of its area: within rounding where the weights are
// exact, and within what a weight's rounding makes of the harshest contrast.
func TestScaleIsTheMeanOfTheArea(t *testing.T) {
	for i, c := range scalings {
		s := newScaler(t, c.from, c.to)
		src := noise(c.from, uint64(i))
		out := scaled(t, s, frameOf(src, nil))
		worst := 0.0
		for y := range s.to.Y {
			for x := range s.to.X {
				for color := range 3 {
					want := areaMean(src, CodedSize(c.from), s.to, x, y, color)
					worst = max(worst, math.Abs(want-float64(out.Pix[y*out.Stride+4*x+color])))
				}
			}
		}
		exact := 4*s.to.X == 3*c.from.X || 2*s.to.X == c.from.X
		if worst > 3 || exact && worst > 0.51 {
			t.Errorf("%v to %v: off by up to %.2f", c.from, s.to, worst)
		}
	}
}

func TestScaleKeepsPlainAreas(t *testing.T) {
	for _, c := range scalings {
		s := newScaler(t, c.from, c.to)
		src := pixels{size: c.from, stride: 4 * c.from.X, pix: bytes.Repeat([]byte{1, 128, 255, 0}, c.from.X*c.from.Y)}
		out := scaled(t, s, frameOf(src, nil))
		if want := bytes.Repeat([]byte{1, 128, 255, 0}, s.to.X*s.to.Y); !bytes.Equal(out.Pix, want) {
			t.Errorf("%v to %v: a plain picture did not stay one", c.from, s.to)
		}
	}
}

func TestScaleMatchesGo(t *testing.T) {
	for i, c := range scalings {
		a, b := newScaler(t, c.from, c.to), newScaler(t, c.from, c.to)
		src := noise(c.from, uint64(i))
		whole := image.Rectangle{Max: a.to}
		scaleRect(a, src, whole)
		scaleGo(b, src, whole)
		if !bytes.Equal(a.out.Pix, b.out.Pix) {
			t.Errorf("%v to %v: what is built differs from Go", c.from, a.to)
		}
	}
}

// Scaling what changed gives the picture that scaling all of it would, and
// says where: nothing else differs.
func TestScaleOfWhatChanged(t *testing.T) {
	for i, c := range scalings {
		old, src := noise(c.from, uint64(i)), noise(c.from, uint64(i)+100)
		for _, r := range []image.Rectangle{image.Rect(7, 3, 55, 20), image.Rect(90, 40, 400, 400), image.Rect(0, 0, 1, 1), image.Rect(c.from.X-1, c.from.Y-1, c.from.X, c.from.Y), image.Rect(-5, -5, 0, 9), {}} {
			now := pixels{size: old.size, stride: old.stride, pix: bytes.Clone(old.pix)}
			inside := r.Intersect(image.Rectangle{Max: c.from})
			for y := inside.Min.Y; y < inside.Max.Y; y++ {
				copy(now.pix[y*now.stride+4*inside.Min.X:y*now.stride+4*inside.Max.X], src.pix[y*src.stride+4*inside.Min.X:])
			}
			testScaleChange(t, newScaler(t, c.from, c.to), old, now, r)
		}
	}
}

func testScaleChange(t *testing.T, s *Scaler, old, now pixels, r image.Rectangle) {
	t.Helper()
	before := bytes.Clone(scaled(t, s, frameOf(old, nil)).Pix)
	part := scaled(t, s, frameOf(now, []image.Rectangle{r}))
	whole := scaled(t, newScaler(t, s.from, s.to), frameOf(now, nil))
	if !bytes.Equal(part.Pix, whole.Pix) {
		t.Fatalf("%v to %v: the change in %v was not scaled as the whole is", s.from, s.to, r)
	}
	if part.Damage == nil || part.Size != s.to || part.Number != 7 || !part.Captured.Equal(time.Unix(5, 0)) {
		t.Fatalf("%v to %v: the smaller picture says %v of itself", s.from, s.to, part)
	}
	for y := range s.to.Y {
		for x := range s.to.X {
			at := y*part.Stride + 4*x
			if !bytes.Equal(part.Pix[at:at+4], before[at:at+4]) && !covered(part.Damage, image.Pt(x, y)) {
				t.Fatalf("%v to %v: %d,%d changed and is not in the damage %v", s.from, s.to, x, y, part.Damage)
			}
		}
	}
}

func covered(rects []image.Rectangle, p image.Point) bool {
	for _, r := range rects {
		if p.In(r) {
			return true
		}
	}
	return false
}

func TestScalerRefusesWhatItCannotDo(t *testing.T) {
	for _, c := range [][2]image.Point{
		{{}, {2, 2}}, {{64, 48}, {0, 0}}, {{64, 48}, {33, 24}}, {{64, 48}, {30, 24}}, {{64, 48}, {66, 48}}, {{64, 48}, {48, 22}},
	} {
		if _, err := NewScaler(c[0], c[1]); err == nil {
			t.Errorf("%v to %v was taken", c[0], c[1])
		}
	}
	s := newScaler(t, image.Pt(64, 48), image.Pt(32, 24))
	odd := noise(image.Pt(64, 48), 1)
	short := frameOf(odd, nil)
	short.Pix = short.Pix[:100]
	for name, f := range map[string]*gpu.Frame{"size": frameOf(noise(image.Pt(62, 48), 1), nil), "short": short} {
		if _, err := s.Scale(f); err == nil {
			t.Errorf("%s: a frame that does not fit was taken", name)
		}
	}
}

// BenchmarkScale1080p is all of a picture, at both steps of the ladder.
func BenchmarkScale1080p(b *testing.B) {
	from := image.Pt(1920, 1080)
	src := noise(from, 1)
	for name, to := range map[string]image.Point{"75": image.Pt(1440, 810), "50": image.Pt(960, 540)} {
		s := newScaler(b, from, to)
		whole := image.Rectangle{Max: to}
		b.Run(name+" Go", func(b *testing.B) {
			for b.Loop() {
				scaleGo(s, src, whole)
			}
		})
		b.Run(name+" built", func(b *testing.B) {
			for b.Loop() {
				scaleRect(s, src, whole)
			}
		})
	}
}
