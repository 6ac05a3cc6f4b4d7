package encodelab

import (
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
)

// newTyping is a terminal full of text in which somebody types; lines end, and
// programs answer.
func newTyping(size image.Point, seed uint64) func() content {
	ground := written(terminal, size, seed)
	return func() content {
		return &typing{ground: ground, pen: newPen(terminal, seed+1), at: image.Pt(12, size.Y-6)}
	}
}

type typing struct {
	ground *canvas
	pen    *pen
	at     image.Point // where the next letter stands
	next   int         // the picture of the next letter
}

// paint types a letter every 70 to 170 ms.
func (t *typing) paint(c *canvas, n int) []image.Rectangle {
	if n == 0 {
		copy(c.pix, t.ground.pix)
		return all(c)
	}
	if n < t.next {
		return nil
	}
	t.next = n + 4 + t.pen.rng.IntN(7)
	if t.at.X > c.size.X/3 || t.pen.rng.IntN(40) == 0 {
		t.answer(c)
		return all(c)
	}
	end := t.pen.write(paper{c}, t.at, terminal.inks[0], t.pen.word()[:1])
	r := image.Rect(t.at.X, t.at.Y-t.pen.linePixels+4, end, t.at.Y+5).Intersect(c.bounds())
	t.at.X = end
	return []image.Rectangle{r}
}

// answer scrolls by one to four lines and writes what a program might say.
func (t *typing) answer(c *canvas) {
	lines := 1 + t.pen.rng.IntN(4)
	up := lines * t.pen.linePixels
	copy(c.pix, c.pix[up*c.stride:])
	r := image.Rect(0, c.size.Y-up, c.size.X, c.size.Y)
	c.fill(r, [3]byte{terminal.paper.B, terminal.paper.G, terminal.paper.R})
	for i := range lines - 1 {
		y, ink := r.Min.Y+(i+1)*t.pen.linePixels-6, t.pen.ink()
		for x := 12; x < c.size.X/2; {
			x = t.pen.write(paper{c}, image.Pt(x, y), ink, t.pen.word()+" ")
		}
	}
	t.at.X = 12
}

// paper lets text be drawn on a canvas.
type paper struct{ c *canvas }

var _ draw.Image = paper{}

// ColorModel implements image.Image.
func (p paper) ColorModel() color.Model { return color.RGBAModel }

// Bounds implements image.Image.
func (p paper) Bounds() image.Rectangle { return p.c.bounds() }

// At implements image.Image.
func (p paper) At(x, y int) color.Color {
	b := p.c.row(y, x, x+1)
	return color.RGBA{b[2], b[1], b[0], 0xff}
}

// Set implements draw.Image.
func (p paper) Set(x, y int, to color.Color) {
	r, g, b, _ := to.RGBA()
	row := p.c.row(y, x, x+1)
	row[0], row[1], row[2], row[3] = byte(b>>8), byte(g>>8), byte(r>>8), 0xff
}

// newSpinner is a desktop on which a bar of 240 by 40 pixels moves.
func newSpinner(size image.Point, seed uint64) func() content {
	ground := written(document, size, seed)
	r := image.Rectangle{Min: size.Div(2), Max: size.Div(2).Add(image.Pt(240, 40))}
	return func() content {
		return paint(func(c *canvas, n int) []image.Rectangle {
			if n == 0 {
				copy(c.pix, ground.pix)
			}
			c.fill(r, [3]byte{230, 230, 230})
			x := r.Min.X + bounce(3*n, 180)
			for i := range 60 {
				c.fill(image.Rect(x+i, r.Min.Y+6, x+i+1, r.Max.Y-6), [3]byte{200, byte(60 + 2*i), byte(30 + 3*i)})
			}
			if n == 0 {
				return all(c)
			}
			return []image.Rectangle{r}
		})
	}
}

// stopAfter is when the screen of newStop comes to rest.
const stopAfter = 2 * FPS

// newStop is a page that scrolls for two seconds, then gives way to another one
// and stands still.
func newStop(size image.Point, seed uint64) func() content {
	page := browserPage(size.X, 3*size.Y, seed)
	last := written(document, size, seed+1)
	rng := rand.New(rand.NewPCG(seed, 23))
	step := 5 + rng.IntN(5)
	return func() content {
		return paint(func(c *canvas, n int) []image.Rectangle {
			switch {
			case n < stopAfter:
				c.blit(c.bounds(), page, image.Pt(0, n*step))
			case n == stopAfter:
				copy(c.pix, last.pix)
			default:
				return nil
			}
			return all(c)
		})
	}
}
