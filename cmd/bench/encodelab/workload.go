package encodelab

import (
	"image"
	"math/rand/v2"
	"sync"
)

// FPS is how many pictures a second every workload has.
const FPS = 60

// Workload is a screen whose pictures depend on seeds alone.
type Workload struct {
	Name string
	Size image.Point
	// open begins it anew; what costs time to draw is drawn once.
	open func() content
}

// content is a screen that changes.
type content interface {
	// paint draws picture n, which follows the one painted before, and gives
	// what changed: nothing where nothing did. The first picture is all new.
	paint(c *canvas, n int) []image.Rectangle
}

// paint is a content that is a function.
type paint func(c *canvas, n int) []image.Rectangle

func (p paint) paint(c *canvas, n int) []image.Rectangle { return p(c, n) }

// Workloads are all there are, for a screen of this size. The desktop that is
// larger than its moving region has a third more pixels each way.
func Workloads(size image.Point) []Workload {
	desk := image.Pt(size.X*4/3&^1, size.Y*4/3&^1)
	return []Workload{
		{"scroll", size, once(func() func() content { return newScroll(size, 1) })},
		{"typing", size, once(func() func() content { return newTyping(size, 2) })},
		{"animation", size, once(func() func() content { return newAnimation(size, 3) })},
		{"region", desk, once(func() func() content { return newRegion(desk, size, 4) })},
		{"small update", size, once(func() func() content { return newSpinner(size, 5) })},
		{"scene changes", size, once(func() func() content { return newSlides(size, 6) })},
		{"half idle", size, once(func() func() content {
			return newRegion(size, image.Pt(size.X/2&^1, size.Y), 7)
		})},
		{"stops", size, once(func() func() content { return newStop(size, 8) })},
	}
}

// once puts off what costs time until it is needed.
func once(build func() func() content) func() content {
	f := sync.OnceValue(build)
	return func() content { return f()() }
}

// all is the damage of a picture that changed as a whole.
func all(c *canvas) []image.Rectangle { return []image.Rectangle{c.bounds()} }

// barPixels is the height of the toolbar over a page.
const barPixels = 72

// browserPage is a long page of paragraphs and pictures.
func browserPage(width, height int, seed uint64) *canvas {
	page := written(document, image.Pt(width, height), seed)
	rng := rand.New(rand.NewPCG(seed, 17))
	for y := 150; y+400 < height; y += 500 + rng.IntN(300) {
		size := image.Pt(width/4+rng.IntN(width/4), 250+rng.IntN(120))
		picture := newLandscape(seed+uint64(y), 1.5).draw(size, 0)
		at := image.Pt(40+rng.IntN(width-size.X-80), y)
		page.blit(image.Rectangle{Min: at, Max: at.Add(size)}, picture, image.Point{})
	}
	return page
}

// newScroll is a browser's window: a toolbar that stays, and a page that is
// flung up and down by a wheel, with rests in which it is read.
func newScroll(size image.Point, seed uint64) func() content {
	view := image.Rect(0, barPixels, size.X, size.Y)
	page := browserPage(size.X, 8*size.Y, seed)
	bar := written(document, image.Pt(size.X, barPixels), seed+1)
	return func() content {
		w := &wheel{span: page.size.Y - view.Dy(), rng: rand.New(rand.NewPCG(seed, 19))}
		return paint(func(c *canvas, n int) []image.Rectangle {
			moved := w.turn()
			if n > 0 && !moved {
				return nil
			}
			c.blit(view, page, image.Pt(0, w.top))
			if n == 0 {
				c.blit(image.Rect(0, 0, size.X, barPixels), bar, image.Point{})
				return all(c)
			}
			return []image.Rectangle{view}
		})
	}
}

// wheel scrolls: each fling lasts 40 to 90 pictures, begins with 10 to 70
// pixels a picture and slows down, and is followed by a rest of up to half a
// second.
type wheel struct {
	span, top   int
	rng         *rand.Rand
	fling, rest int
	speed, left float64
}

// turn goes on by one picture and says whether the page moved.
func (w *wheel) turn() bool {
	if w.rest > 0 {
		w.rest--
		return false
	}
	if w.fling == 0 {
		w.fling, w.speed = 40+w.rng.IntN(50), 10+60*w.rng.Float64()
		if w.rng.IntN(3) == 0 {
			w.speed = -w.speed
		}
	}
	w.left += w.speed
	w.speed *= 0.96
	step := int(w.left)
	w.left -= float64(step)
	if to := w.top + step; to < 0 || to > w.span {
		w.speed, step = -w.speed, 0
	}
	w.top += step
	if w.fling--; w.fling == 0 {
		w.rest = w.rng.IntN(30)
	}
	return step != 0
}

// newAnimation is a film on the whole screen.
func newAnimation(size image.Point, seed uint64) func() content {
	f := newFilm(size, seed)
	return func() content {
		return paint(func(c *canvas, n int) []image.Rectangle {
			f.draw(c, c.bounds(), n)
			return all(c)
		})
	}
}

// newRegion is a desktop full of text that stands still, with a film in a part
// of it.
func newRegion(desk, size image.Point, seed uint64) func() content {
	f, ground := newFilm(size, seed), written(document, desk, seed)
	at := image.Pt((desk.X-size.X)/2&^1, (desk.Y-size.Y)/2)
	r := image.Rectangle{Min: at, Max: at.Add(size)}
	return func() content {
		return paint(func(c *canvas, n int) []image.Rectangle {
			if n == 0 {
				copy(c.pix, ground.pix)
			}
			f.draw(c, r, n)
			if n == 0 {
				return all(c)
			}
			return []image.Rectangle{r}
		})
	}
}

// newSlides shows another page of text or a photograph every two seconds, while
// a small film goes on in a corner.
func newSlides(size image.Point, seed uint64) func() content {
	const every, different = 2 * FPS, 4
	slides := [different]*canvas{}
	for i := range slides {
		if i%2 == 0 {
			slides[i] = written([]theme{document, terminal}[i/2], size, seed+uint64(i))
			continue
		}
		slides[i] = newLandscape(seed+uint64(i), 2).draw(size, 0)
	}
	f := newFilm(image.Pt(size.X/4&^1, size.Y/4&^1), seed)
	r := image.Rectangle{Min: size.Sub(f.size).Sub(image.Pt(40, 40)), Max: size.Sub(image.Pt(40, 40))}
	return func() content {
		return paint(func(c *canvas, n int) []image.Rectangle {
			if n%every == 0 {
				copy(c.pix, slides[n/every%different].pix)
			}
			f.draw(c, r, n)
			if n%every == 0 {
				return all(c)
			}
			return []image.Rectangle{r}
		})
	}
}
