package main

import (
	"image"
	"math/rand/v2"

	"nearglass/gpu/capture"
)

// patchAt is where the number patch lies: clear of every viewer's toolbars, on
// a multiple of 16.
var patchAt = image.Pt(960, 560)

// patchRect is the part of the picture that the patch covers.
func patchRect() image.Rectangle { return capture.PatchBounds.Add(patchAt) }

// roam is how far, in pixels, the texture moves before it turns back.
const roam = 512

// moving is a picture that moves as a whole: a page of lines like text on a
// soft ground that slides over a larger texture, and boxes that wander against
// it. Its state depends on its number alone, so that what a viewer shows can be
// compared with what was painted.
type moving struct {
	size    image.Point
	step    image.Point // pixels a picture
	texture []byte      // B, G, R, X
	stride  int
}

func newMoving(size, step image.Point) *moving {
	m := &moving{size: size, step: step, stride: 4 * (size.X + roam)}
	height := size.Y + roam
	m.texture = make([]byte, m.stride*height)
	random := rand.New(rand.NewPCG(7, 33))
	m.ground(height)
	for y := 12; y+10 < height; y += 18 {
		m.line(random, y)
	}
	return m
}

// ground fills the texture with soft hills, light enough for dark text.
func (m *moving) ground(height int) {
	for y := range height {
		row := m.texture[y*m.stride : (y+1)*m.stride]
		for x := range m.stride / 4 {
			h := hill(x, 97) + hill(y, 71) + hill(x+y, 131)
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = byte(190+h/3), byte(180+h/4), byte(170+h/5), 0xff
		}
	}
}

// hill is a triangle wave from 0 to 64.
func hill(x, period int) int {
	p := x % (2 * period)
	if p > period {
		p = 2*period - p
	}
	return 64 * p / period
}

// line draws one line of strokes with gaps where words end.
func (m *moving) line(random *rand.Rand, y int) {
	width := m.stride / 4
	for x := 8; x < width-8; {
		if random.IntN(7) == 0 {
			x += 8
			continue
		}
		top, bottom := random.IntN(4), 9-random.IntN(3)
		m.fill(m.texture, m.stride, image.Rect(x, y+top, x+1+random.IntN(2), y+bottom), [3]byte{40, 36, 32})
		if random.IntN(2) == 0 {
			m.fill(m.texture, m.stride, image.Rect(x, y+4, x+5, y+5), [3]byte{60, 50, 48})
		}
		x += 3 + random.IntN(4)
	}
}

func (m *moving) fill(pix []byte, stride int, r image.Rectangle, c [3]byte) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := pix[y*stride+4*r.Min.X : y*stride+4*r.Max.X]
		for i := 0; i < len(row); i += 4 {
			row[i], row[i+1], row[i+2] = c[0], c[1], c[2]
		}
	}
}

// draw paints state n of the picture.
func (m *moving) draw(pix []byte, stride, n int) {
	x, y := bounce(m.step.X*n, roam), bounce(m.step.Y*n, roam)
	for row := range m.size.Y {
		copy(pix[row*stride:row*stride+4*m.size.X], m.texture[(row+y)*m.stride+4*x:])
	}
	for i, c := range [][3]byte{{200, 90, 40}, {60, 160, 60}, {70, 70, 210}} {
		at := image.Pt(bounce(5*n+400*i, m.size.X-160), bounce(3*n+170*i, m.size.Y-120))
		m.fill(pix, stride, image.Rectangle{Min: at, Max: at.Add(image.Pt(160, 120))}, c)
	}
}

// bounce runs from 0 to span and back.
func bounce(n, span int) int {
	n %= 2 * span
	if n > span {
		return 2*span - n
	}
	return n
}

// number writes the patch into the picture.
func number(pix []byte, stride int, n uint32) {
	capture.DrawPatch(pix[patchAt.Y*stride+4*patchAt.X:], stride, n)
}

// rgba is state n of the picture with its number, as a viewer should show it.
func (m *moving) rgba(state int, n uint32) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: m.size})
	m.draw(img.Pix, img.Stride, state)
	number(img.Pix, img.Stride, n)
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+2], img.Pix[i+3] = img.Pix[i+2], img.Pix[i], 0xff
	}
	return img
}
