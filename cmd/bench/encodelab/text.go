package encodelab

import (
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"strings"

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
	linePixels int
	paper      color.RGBA
	inks       []color.RGBA
}

var (
	document = theme{goregular.TTF, 15, 22, color.RGBA{255, 255, 255, 255},
		[]color.RGBA{{20, 20, 20, 255}, {20, 20, 20, 255}, {20, 20, 20, 255}, {0, 80, 200, 255}}}
	terminal = theme{gomono.TTF, 14, 18, color.RGBA{30, 30, 46, 255},
		[]color.RGBA{{205, 214, 244, 255}, {166, 227, 161, 255}, {243, 139, 168, 255}, {137, 180, 250, 255}, {249, 226, 175, 255}}}
)

// pen writes text of one theme.
type pen struct {
	theme
	face font.Face
	rng  *rand.Rand
}

func newPen(t theme, seed uint64) *pen {
	parsed, err := opentype.Parse(t.ttf)
	if err != nil {
		panic(err) // the font is part of the program
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: t.sizePixels, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		panic(err)
	}
	return &pen{theme: t, face: face, rng: rand.New(rand.NewPCG(seed, 7))}
}

// ink is the color of the next line.
func (p *pen) ink() color.RGBA { return p.inks[p.rng.IntN(len(p.inks))] }

// word is a made-up word; letters come about as often as in English.
func (p *pen) word() string {
	const letters = "etaoinshrdlucmfwypvbgkjqxz,.(){};=ETAOIN0123456789"
	var b strings.Builder
	for range 1 + p.rng.IntN(9) {
		b.WriteByte(letters[min(p.rng.IntN(len(letters)), p.rng.IntN(len(letters)))])
	}
	return b.String()
}

// write puts one string at a base line and gives where it ends.
func (p *pen) write(img draw.Image, at image.Point, ink color.RGBA, s string) int {
	d := font.Drawer{Dst: img, Src: image.NewUniform(ink), Face: p.face, Dot: fixed.P(at.X, at.Y)}
	d.DrawString(s)
	return d.Dot.X.Ceil()
}

// page fills r of an image with lines of text.
func (p *pen) page(img draw.Image, r image.Rectangle) {
	draw.Draw(img, r, image.NewUniform(p.paper), image.Point{}, draw.Src)
	for y := r.Min.Y + p.linePixels; y < r.Max.Y; y += p.linePixels {
		if p.rng.IntN(8) == 0 {
			continue // an empty line
		}
		ink, end := p.ink(), r.Max.X-p.rng.IntN(r.Dx())
		for x := r.Min.X + 12 + 30*p.rng.IntN(3); x < end; {
			x = p.write(img, image.Pt(x, y), ink, p.word()+" ")
		}
	}
}

// bgra copies an image into a canvas.
func bgra(img *image.RGBA) *canvas {
	c := newCanvas(img.Rect.Size())
	for i := 0; i < len(c.pix); i += 4 {
		c.pix[i], c.pix[i+1], c.pix[i+2], c.pix[i+3] = img.Pix[i+2], img.Pix[i+1], img.Pix[i], 0xff
	}
	return c
}

// written is a canvas full of text.
func written(t theme, size image.Point, seed uint64) *canvas {
	img := image.NewRGBA(image.Rectangle{Max: size})
	newPen(t, seed).page(img, img.Rect)
	return bgra(img)
}
