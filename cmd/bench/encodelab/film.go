package encodelab

import (
	"image"
	"math"
	"math/rand/v2"
)

const (
	// roam is how far, in pixels, a film's camera moves before it turns back.
	roam = 448
	// phases are the positions between two pixels that motion takes.
	phases = 4
	// grainMost is the most that grain adds to a channel; its standard deviation
	// is 2.5, a clean film's.
	grainMost = 15
	// grainSide is the side of the noise that grain is cut out of.
	grainSide = 256
)

// film is a picture as from a camera: it pans over a landscape by fractions of
// a pixel, at a speed that changes, something passes in front, and every picture
// has grain of its own.
type film struct {
	size   image.Point
	scenes [phases]*canvas
	front  *canvas
	noise  *canvas
	seed   uint64
}

func newFilm(size image.Point, seed uint64) *film {
	f := &film{size: size, seed: seed, noise: noise(size.Add(image.Pt(grainSide, grainSide)), seed)}
	ground := newLandscape(seed, 1)
	for i := range f.scenes {
		f.scenes[i] = ground.draw(size.Add(image.Pt(roam, roam)), float64(i)/phases)
	}
	f.front = newLandscape(seed+1, 2).draw(image.Pt(size.X/5&^1, size.Y/3), 0)
	return f
}

// noise is grain: the sum of three dice in each channel, which is near enough
// to normal.
func noise(size image.Point, seed uint64) *canvas {
	rng := rand.New(rand.NewPCG(seed, 11))
	c := newCanvas(size)
	for i := 0; i < len(c.pix); i += 4 {
		v := rng.Uint64()
		gray := byte(v&3 + v>>2&3 + v>>4&3 + v>>6&3) // 0 to 12
		c.pix[i] = gray + byte(v>>8&3)
		c.pix[i+1] = gray + byte(v>>10&3)
		c.pix[i+2] = gray + byte(v>>12&3)
	}
	return c
}

// draw paints picture n into r of a canvas, which has the film's size.
func (f *film) draw(c *canvas, r image.Rectangle, n int) {
	x := bounce(f.way(n), roam*phases)
	y := bounce(f.way(n)/3, roam*phases) / phases
	c.blit(r, f.scenes[x%phases], image.Pt(x/phases, y))
	span := f.size.Sub(f.front.size)
	at := r.Min.Add(image.Pt(bounce(7*n/2, span.X), bounce(5*n/4, span.Y)))
	c.blit(image.Rectangle{Min: at, Max: at.Add(f.front.size)}, f.front, image.Point{})
	h := hash(uint64(n) + f.seed<<32)
	c.grain(r, f.noise, image.Pt(int(h%grainSide), int(h>>32%grainSide)))
}

// way is how far the camera has come at picture n, in phases of a pixel: it
// slows down to a rest and speeds up to 2.5 pixels a picture, in four seconds.
func (f *film) way(n int) int {
	const period = 240
	t := float64(n)
	return int(phases * 1.25 * (t - period/(2*math.Pi)*math.Sin(2*math.Pi*t/period)))
}

// bounce runs from 0 to span and back.
func bounce(n, span int) int {
	n %= 2 * span
	if n > span {
		n = 2*span - n
	}
	return min(n, span-1)
}

// landscape is value noise of several octaves: soft hills whose detail differs
// from place to place, as focus does in a photograph.
type landscape struct {
	lattice [256]float32
	detail  float64
}

func newLandscape(seed uint64, detail float64) *landscape {
	l := &landscape{detail: detail}
	rng := rand.New(rand.NewPCG(seed, 13))
	for i := range l.lattice {
		l.lattice[i] = rng.Float32()*2 - 1
	}
	return l
}

// draw paints the landscape, shifted to the left by a part of a pixel.
func (l *landscape) draw(size image.Point, shift float64) *canvas {
	c := newCanvas(size)
	for y := range size.Y {
		row := c.row(y, 0, size.X)
		for x := range size.X {
			fx, fy := float64(x)+shift, float64(y)
			soft := l.octave(fx, fy, 180, 0) + 0.5*l.octave(fx, fy, 70, 1)
			focus := 0.5 + 0.5*l.octave(fx, fy, 300, 2)
			fine := l.detail * focus * (0.6*l.octave(fx, fy, 17, 3) + 0.35*l.octave(fx, fy, 5, 4))
			v := 118 + 55*soft + 34*fine
			row[4*x] = tone(v*0.9 + 22*l.octave(fx, fy, 240, 5))
			row[4*x+1] = tone(v)
			row[4*x+2] = tone(v*1.05 - 14*soft)
			row[4*x+3] = 0xf0
		}
	}
	return c
}

// tone leaves room for grain above.
func tone(v float64) byte { return byte(min(max(v, 8), 255-grainMost-1)) }

// octave is smooth noise from -1 to 1 whose hills are so many pixels wide.
func (l *landscape) octave(x, y, width float64, salt int) float64 {
	x, y = x/width, y/width
	x0, y0 := math.Floor(x), math.Floor(y)
	fx, fy := smooth(x-x0), smooth(y-y0)
	ix, iy := int(x0), int(y0)
	top := mix(l.at(ix, iy, salt), l.at(ix+1, iy, salt), fx)
	bottom := mix(l.at(ix, iy+1, salt), l.at(ix+1, iy+1, salt), fx)
	return mix(top, bottom, fy)
}

func (l *landscape) at(x, y, salt int) float64 {
	return float64(l.lattice[hash(uint64(x)<<40^uint64(y)<<16^uint64(salt))&255])
}

func smooth(t float64) float64    { return t * t * (3 - 2*t) }
func mix(a, b, t float64) float64 { return a + (b-a)*t }

// hash is the finalizer of MurmurHash3.
func hash(v uint64) uint64 {
	v = (v ^ v>>33) * 0xff51afd7ed558ccd
	v = (v ^ v>>33) * 0xc4ceb9fe1a85ec53
	return v ^ v>>33
}
