package encode

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"nearglass/gpu"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// theme is what a window full of text looks like.
type theme struct {
	ttf        []byte
	sizePixels float64
	paper      color.RGBA
	inks       []color.RGBA
	linePixels int
}

var (
	document = theme{goregular.TTF, 14, color.RGBA{255, 255, 255, 255},
		[]color.RGBA{{20, 20, 20, 255}, {20, 20, 20, 255}, {0, 80, 200, 255}}, 20}
	terminal = theme{gomono.TTF, 13, color.RGBA{30, 30, 46, 255},
		[]color.RGBA{{205, 214, 244, 255}, {166, 227, 161, 255}, {243, 139, 168, 255}, {137, 180, 250, 255}, {249, 226, 175, 255}}, 17}
)

// photo stands for a photograph: smooth areas, edges and grain.
func photo(size image.Point) *image.RGBA {
	rng := rand.New(rand.NewPCG(3, 3))
	img := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			fx, fy := float64(x)/97, float64(y)/61
			v := 128 + 60*math.Sin(fx)*math.Cos(fy) + 40*math.Sin(fx*fy/9) + 1.5*rng.NormFloat64()
			c := uint8(min(max(v, 0), 255))
			img.SetRGBA(x, y, color.RGBA{c, c - c/8, c/2 + 40, 255})
		}
	}
	return img
}

// page draws a tall column of text, seeded, in its own toolbar and side bar.
func (t theme) page(size image.Point, seed uint64) *image.RGBA {
	rng := rand.New(rand.NewPCG(seed, 7))
	img := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(img, img.Bounds(), image.NewUniform(t.paper), image.Point{}, draw.Src)
	parsed, err := opentype.Parse(t.ttf)
	if err != nil {
		panic(err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: t.sizePixels, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		panic(err)
	}
	for y := t.linePixels; y < size.Y; y += t.linePixels {
		if rng.IntN(8) == 0 {
			continue // an empty line
		}
		ink := t.inks[rng.IntN(len(t.inks))]
		d := font.Drawer{Dst: img, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(12+rng.IntN(3)*30, y)}
		length := size.X - rng.IntN(size.X)
		for d.Dot.X.Round() < length {
			d.DrawString(word(rng) + " ")
		}
	}
	return img
}

func word(rng *rand.Rand) string {
	const letters = "etaoinshrdlucmfwypvbgkjqxz,.(){};=ETAOIN0123456789"
	var b strings.Builder
	for range 1 + rng.IntN(9) {
		b.WriteByte(letters[min(rng.IntN(len(letters)), rng.IntN(len(letters)))])
	}
	return b.String()
}

// bgra makes a frame of the part of img that starts at row top.
func bgra(img *image.RGBA, top int, size image.Point) *gpu.Frame {
	f := &gpu.Frame{Size: size, Stride: 4 * size.X, Format: gpu.BGRA, Captured: time.Now()}
	f.Pix = make([]byte, f.Stride*size.Y)
	for y := range size.Y {
		row := img.Pix[(top+y)*img.Stride:]
		for x := range size.X {
			at := y*f.Stride + 4*x
			f.Pix[at], f.Pix[at+1], f.Pix[at+2] = row[4*x+2], row[4*x+1], row[4*x]
		}
	}
	return f
}
