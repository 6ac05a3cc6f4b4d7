package capture

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The demo's canvas is an image.RGBA whose red and blue are exchanged, so that
// its bytes are already gpu.BGRA; rgb makes colors for it.
func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex), G: uint8(hex >> 8), B: uint8(hex >> 16), A: 0xff}
}

// The demo's palette: a calm dusk behind light paper.
var (
	colorSkyTop    = rgb(0x1f3a5f)
	colorSkyMiddle = rgb(0x4d7ea8)
	colorSkyBottom = rgb(0xe8b298)
	colorPaper     = rgb(0xfbfaf7)
	colorLine      = rgb(0xe4e1da)
	colorInk       = rgb(0x22303c)
	colorQuiet     = rgb(0x76828d)
	colorAccent    = rgb(0x2f7f79)
	colorAccentLow = rgb(0xdcecea)
	colorWarm      = rgb(0xd9694a)
	colorBar       = rgb(0x16263a)
)

type demoFonts struct{ small, body, title, large font.Face }

// fonts loads the Go fonts once; they are part of the binary and cannot fail.
var fonts = sync.OnceValue(func() demoFonts {
	return demoFonts{
		small: mustFace(goregular.TTF, 12),
		body:  mustFace(goregular.TTF, 15),
		title: mustFace(gobold.TTF, 13),
		large: mustFace(gobold.TTF, 24),
	}
})

func mustFace(ttf []byte, sizePixels float64) font.Face {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(err)
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: sizePixels, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		panic(err)
	}
	return face
}

// painter draws shapes with soft edges into the part of the canvas that is
// being painted again; what lies outside is left alone.
type painter struct{ dst *image.RGBA }

func newPainter(canvas *image.RGBA, clip image.Rectangle) painter {
	return painter{canvas.SubImage(clip).(*image.RGBA)}
}

func (p painter) fill(r image.Rectangle, c color.RGBA) {
	draw.Draw(p.dst, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// shade mixes c into r by the signed distance of each pixel's middle from a
// shape: inside it is negative. Soft is the width of the edge in pixels.
func (p painter) shade(r image.Rectangle, c color.RGBA, opacity, soft float64, distance func(x, y float64) float64) {
	r = r.Intersect(p.dst.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		line := p.dst.Pix[p.dst.PixOffset(r.Min.X, y):]
		for x := r.Min.X; x < r.Max.X; x++ {
			a := min(max(0.5-distance(float64(x)+0.5, float64(y)+0.5)/soft, 0), 1) * opacity
			if a > 0 {
				mix(line[4*(x-r.Min.X):], c, int(a*256))
			}
		}
	}
}

func mix(d []byte, c color.RGBA, a int) {
	d[0] += uint8((int(c.R) - int(d[0])) * a / 256)
	d[1] += uint8((int(c.G) - int(d[1])) * a / 256)
	d[2] += uint8((int(c.B) - int(d[2])) * a / 256)
}

func (p painter) round(r image.Rectangle, radius float64, c color.RGBA) {
	p.shade(r, c, 1, 1, roundDistance(r, radius))
}

// shadow is a soft dark edge around a rounded rectangle, a little below it.
func (p painter) shadow(r image.Rectangle, radius float64) {
	r = r.Add(image.Pt(0, 6))
	p.shade(r.Inset(-24), colorBar, 0.35, 36, roundDistance(r, radius))
}

func roundDistance(r image.Rectangle, radius float64) func(x, y float64) float64 {
	cx, cy := float64(r.Min.X+r.Max.X)/2, float64(r.Min.Y+r.Max.Y)/2
	hx, hy := float64(r.Dx())/2-radius, float64(r.Dy())/2-radius
	return func(x, y float64) float64 {
		dx, dy := math.Abs(x-cx)-hx, math.Abs(y-cy)-hy
		return math.Hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - radius
	}
}

func (p painter) disc(cx, cy, radius float64, c color.RGBA) {
	r := image.Rect(int(cx-radius)-1, int(cy-radius)-1, int(cx+radius)+2, int(cy+radius)+2)
	p.shade(r, c, 1, 1, func(x, y float64) float64 { return math.Hypot(x-cx, y-cy) - radius })
}

// line is a stroke with round ends.
func (p painter) line(x0, y0, x1, y1, width float64, c color.RGBA) {
	p.shade(lineBounds(x0, y0, x1, y1, width), c, 1, 1, func(x, y float64) float64 {
		dx, dy := x1-x0, y1-y0
		t := 0.0
		if l := dx*dx + dy*dy; l > 0 {
			t = min(max(((x-x0)*dx+(y-y0)*dy)/l, 0), 1)
		}
		return math.Hypot(x-x0-t*dx, y-y0-t*dy) - width/2
	})
}

func lineBounds(x0, y0, x1, y1, width float64) image.Rectangle {
	w := width/2 + 1
	return image.Rect(int(min(x0, x1)-w), int(min(y0, y1)-w), int(max(x0, x1)+w)+1, int(max(y0, y1)+w)+1)
}

// text writes s with its baseline at y.
func (p painter) text(face font.Face, x, y int, c color.RGBA, s string) {
	d := font.Drawer{Dst: p.dst, Src: image.NewUniform(c), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// textMiddle writes s centered around x.
func (p painter) textMiddle(face font.Face, x, y int, c color.RGBA, s string) {
	p.text(face, x-textWidth(face, s)/2, y, c, s)
}

func textWidth(face font.Face, s string) int { return font.MeasureString(face, s).Ceil() }

// sky fills the picture from top to bottom, with a faint grain in the rounding
// so that the steps between shades do not show.
func (p painter) sky() {
	r := p.dst.Rect
	for y := r.Min.Y; y < r.Max.Y; y++ {
		line := p.dst.Pix[p.dst.PixOffset(r.Min.X, y):]
		for x := range r.Dx() {
			t := (float64(y)*0.85 + float64(x)*0.15*float64(r.Dy())/float64(r.Dx())) / float64(r.Dy())
			a, b, u := colorSkyTop, colorSkyMiddle, t/0.55
			if t > 0.55 {
				a, b, u = colorSkyMiddle, colorSkyBottom, (t-0.55)/0.45
			}
			grain := float64((x*7+y*13)&15) / 16
			d := line[4*x:]
			d[0], d[1], d[2], d[3] = between(a.R, b.R, u, grain), between(a.G, b.G, u, grain), between(a.B, b.B, u, grain), 0xff
		}
	}
}

func between(a, b uint8, t, grain float64) uint8 {
	return uint8(min(float64(a)+(float64(b)-float64(a))*t+grain, 255))
}
