package e2e

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// A board is a wall of tiles of which one after the other is painted anew, each in a
// texture of some gray. A picture of it is right only if it is the board after one of
// these steps: one that lacks a change, or was decoded against another picture than
// it was coded against, is not.
type board struct {
	w      *desk.Window
	size   image.Point
	random *rand.Rand

	mu    sync.Mutex
	means []float64 // of the gray of each step so far; step n paints tile n modulo the tiles
}

const (
	tileSide = 200 // some packets each
	// Grays are so far apart that no coarse picture takes one for another.
	grayStep  = 44
	grayApart = 18
	grain     = 60 // of the texture
	blank     = 20 // luma of what lies outside, or is not painted again yet: a screen that is resized goes black
)

// newBoard shows a board that fills a screen.
func newBoard(t *testing.T, x *desk.X, size image.Point) *board {
	t.Helper()
	b := &board{w: openWindow(t, x, image.Rectangle{Max: size}, "board"), size: size, random: rand.New(rand.NewPCG(4, 2))}
	for range b.tiles() {
		must(t, b.step())
	}
	return b
}

func (b *board) columns() int { return b.size.X / tileSide }

func (b *board) tiles() int { return b.columns() * (b.size.Y / tileSide) }

// step paints the next tile in another gray than it had.
func (b *board) step() error {
	n := len(b.means)
	gray := 40 + grayStep*b.random.IntN(5)
	if n >= b.tiles() && math.Abs(b.means[n-b.tiles()]-float64(gray)) < grayStep/2 {
		gray = 40 + (gray-40+grayStep)%(5*grayStep)
	}
	img := image.NewRGBA(image.Rect(0, 0, tileSide, tileSide))
	sum, count := 0.0, 0.0
	const dot = 4
	for y := range tileSide {
		for x := range tileSide {
			c := img.RGBAAt(x-x%dot, y-y%dot)
			if x%dot == 0 && y%dot == 0 {
				g := uint8(gray + b.random.IntN(grain) - grain/2)
				c = color.RGBA{g, g, g, 255}
			}
			img.SetRGBA(x, y, c)
			if middle(x) && middle(y) {
				sum, count = sum+float64(c.R), count+1
			}
		}
	}
	b.mu.Lock()
	b.means = append(b.means, sum/count)
	b.mu.Unlock()
	tile := n % b.tiles()
	return b.w.Draw(image.Pt(tile%b.columns()*tileSide, tile/b.columns()*tileSide), img)
}

// middle says whether a row or column of a tile is in the part that is looked at.
func middle(at int) bool { return at >= tileSide*3/10 && at < tileSide*7/10 }

// play paints thirty tiles a second until it is stopped.
func (b *board) play(t *testing.T) (stop func()) {
	t.Helper()
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second / 30)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if err := b.step(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(ended); <-done })
}

// look has the page note what it presents of the board from now on: the mean luma of
// the middle of each tile that lies within the picture. A picture is the board's left
// top, or if scaled all of it made smaller.
func (b *board) look(t *testing.T, v *viewer, scaled bool) {
	t.Helper()
	must(t, v.Run(fmt.Sprintf(lumaScript+`
		const video = document.querySelector("video"), scaled = %v, full = { width: %d, height: %d }, side = %d;
		const looks = window.looks = [];
		const mean = (l, left, top, right, bottom) => {
			let sum = 0;
			for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) sum += l.y[y * l.width + x];
			return sum / ((right - left) * (bottom - top));
		};
		const next = () => video.requestVideoFrameCallback(async () => {
			next();
			const look = { width: 0, tiles: null };
			looks.push(look);
			const l = await takeLuma(video), sx = scaled ? l.width / full.width : 1, sy = scaled ? l.height / full.height : 1;
			const tiles = [];
			for (let top = 0; top + side <= full.height; top += side) for (let left = 0; left + side <= full.width; left += side) {
				const inside = (left + side) * sx <= l.width && (top + side) * sy <= l.height;
				tiles.push(inside ? mean(l, Math.round((left + side * 0.3) * sx), Math.round((top + side * 0.3) * sy),
					Math.round((left + side * 0.7) * sx), Math.round((top + side * 0.7) * sy)) : -1);
			}
			look.width = l.width;
			look.tiles = tiles;
		});
		next()`, scaled, b.size.X, b.size.Y, tileSide)))
}

// look is what the page noted of one picture.
type look struct {
	Width int
	Tiles []float64 // luma of limited range; -1 for one outside the picture
}

// shows says whether a picture is the board after step n.
func (b *board) shows(l look, n int) bool {
	for tile, y := range l.Tiles {
		if y <= blank {
			continue
		}
		painted := n - (n-tile)%b.tiles()
		if math.Abs((y-16)*255/219-b.means[painted]) > grayApart {
			return false
		}
	}
	return true
}

// seen is what became of the pictures that a viewer presented.
type seen struct {
	pictures, wrong int
	widths          int // how often the width changed
	newest          bool
	example         string // of a wrong one
}

func (s seen) String() string {
	return fmt.Sprintf("%d pictures presented, %d of them wrong, %d changes of size", s.pictures, s.wrong, s.widths)
}

// judge looks at all pictures that a viewer presented.
func (b *board) judge(t *testing.T, v *viewer) (s seen) {
	t.Helper()
	list, err := desk.Eval[[]look](v.Page, "looks.filter(l => l.tiles).map(l => ({ Width: l.width, Tiles: l.tiles }))")
	must(t, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.tiles() - 1 // all are painted
	for i, l := range list {
		if i > 0 && l.Width != list[i-1].Width {
			s.widths++
		}
		n := at
		for n < len(b.means) && !b.shows(l, n) {
			n++
		}
		if n == len(b.means) {
			s.wrong++
			s.example = fmt.Sprintf("picture %d, which is the board after no step from %d on: %s", i, at, b.differs(l, at))
			continue
		}
		at = n
	}
	s.pictures = len(list)
	s.newest = s.pictures > 0 && b.shows(list[s.pictures-1], len(b.means)-1)
	return s
}

// differs tells how a picture differs from the board after a step.
func (b *board) differs(l look, n int) string {
	var words []string
	for tile, y := range l.Tiles {
		if want, got := b.means[n-(n-tile)%b.tiles()], (y-16)*255/219; y > blank && math.Abs(want-got) > grayApart {
			words = append(words, fmt.Sprintf("tile %d is %.0f and not %.0f", tile, got, want))
		}
	}
	return strings.Join(words, ", ")
}
