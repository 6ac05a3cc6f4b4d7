package desk

import (
	"image"
	"image/color"
	"math"
	"testing"
)

func flat(c color.RGBA, r image.Rectangle) *image.RGBA {
	img := image.NewRGBA(r)
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = c.R, c.G, c.B, c.A
	}
	return img
}

var grey = color.RGBA{100, 100, 100, 255}

func TestLumaPSNR(t *testing.T) {
	a := flat(grey, image.Rect(0, 0, 20, 10))
	cases := []struct {
		name string
		b    *image.RGBA
		want float64
	}{
		{"equal", flat(grey, image.Rect(0, 0, 20, 10)), math.Inf(1)},
		{"equal at other coordinates", flat(grey, image.Rect(5, 7, 25, 17)), math.Inf(1)},
		{"all off by 1", flat(color.RGBA{101, 101, 101, 255}, a.Rect), 20 * math.Log10(255)},
		{"black against grey", flat(color.RGBA{0, 0, 0, 255}, a.Rect), 20 * math.Log10(2.55)},
		{"blue counts little", flat(color.RGBA{100, 100, 110, 255}, a.Rect), 20 * math.Log10(255/0.722)},
	}
	for _, c := range cases {
		if got := LumaPSNR(a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v dB, want %v", c.name, got, c.want)
		}
	}
}

func TestLumaPSNRRefusesOtherSizes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("pictures of different sizes were compared")
		}
	}()
	LumaPSNR(flat(grey, image.Rect(0, 0, 2, 2)), flat(grey, image.Rect(0, 0, 2, 3)))
}

func TestDifferent(t *testing.T) {
	a, b := flat(grey, image.Rect(0, 0, 20, 10)), flat(grey, image.Rect(3, 3, 23, 13))
	b.SetRGBA(3+4, 3+5, color.RGBA{100, 104, 100, 255})
	b.SetRGBA(3+9, 3+6, color.RGBA{100, 100, 97, 255})
	if n, where := Different(a, b, 3); n != 1 || where != image.Rect(4, 5, 5, 6) {
		t.Errorf("tolerance 3: %d in %v", n, where)
	}
	if n, where := Different(a, b, 2); n != 2 || where != image.Rect(4, 5, 10, 7) {
		t.Errorf("tolerance 2: %d in %v", n, where)
	}
}

func TestMean(t *testing.T) {
	img := flat(grey, image.Rect(10, 10, 14, 14))
	img.SetRGBA(10, 10, color.RGBA{0, 255, 100, 255})
	got := Mean(img, image.Rect(0, 0, 11, 12))
	if got != (color.RGBA{50, 178, 100, 255}) {
		t.Errorf("mean %v", got)
	}
	if d := Apart(got, grey); d != 78 {
		t.Errorf("apart %d", d)
	}
}
