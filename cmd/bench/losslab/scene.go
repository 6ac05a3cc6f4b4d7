package losslab

import (
	"image"
	"math/rand/v2"

	"nearglass/gpu/capture"
)

// Size of the pictures: small enough that two browsers and an encoder find room on
// two cores at 60 pictures a second.
var Size = image.Pt(640, 360)

// numberAt is where the squares with a picture's number lie.
var numberAt = image.Pt(32, 32)

const (
	// roam is how far the page scrolls before it turns back, in pixels, and scroll
	// by how many it does between two pictures.
	roam   = 480
	scroll = 3
	// Tiles are squares that are black or white as the number's hash has it: a
	// picture that is right in part only has wrong ones.
	tileColumns, tileRows, tileSide = 8, 6, 16
)

// Scene is a page of text that scrolls. Its picture depends on its number alone,
// and says it.
type Scene struct {
	page   []byte // B, G, R, X; Size.X wide and roam higher than a picture
	stride int
}

// NewScene paints the page.
func NewScene() *Scene {
	s := &Scene{stride: 4 * Size.X}
	height := Size.Y + roam
	s.page = make([]byte, s.stride*height)
	for y := range height {
		for x := range Size.X {
			ground := byte(200 + (x/5+y/7)%40)
			copy(s.page[y*s.stride+4*x:], []byte{ground, ground, ground - 8, 0xff})
		}
	}
	random := rand.New(rand.NewPCG(7, 33))
	for y := 8; y+10 < height; y += 14 {
		s.line(random, y)
	}
	return s
}

// line writes one line of strokes with gaps where words end.
func (s *Scene) line(random *rand.Rand, y int) {
	for x := 6; x < Size.X-10; {
		if random.IntN(7) == 0 {
			x += 7
			continue
		}
		top, bottom := random.IntN(3), 9-random.IntN(3)
		fill(s.page, s.stride, image.Rect(x, y+top, x+1+random.IntN(2), y+bottom), 36)
		if random.IntN(2) == 0 {
			fill(s.page, s.stride, image.Rect(x, y+4, x+4, y+5), 52)
		}
		x += 3 + random.IntN(4)
	}
}

func fill(pix []byte, stride int, r image.Rectangle, v byte) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := pix[y*stride+4*r.Min.X : y*stride+4*r.Max.X]
		for i := 0; i < len(row); i += 4 {
			row[i], row[i+1], row[i+2] = v, v, v
		}
	}
}

// Page is the page as a picture of its own, for whoever paints the scene elsewhere.
func (s *Scene) Page() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, Size.X, Size.Y+roam))
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = s.page[i+2], s.page[i+1], s.page[i], 0xff
	}
	return img
}

// Draw paints picture n into memory of B, G, R, X.
func (s *Scene) Draw(pix []byte, stride, n int) {
	top := turning(scroll*n, roam)
	for y := range Size.Y {
		copy(pix[y*stride:y*stride+s.stride], s.page[(top+y)*s.stride:])
	}
	capture.DrawPatch(pix[numberAt.Y*stride+4*numberAt.X:], stride, uint32(n))
	for i, at := range tiles() {
		v := byte(0)
		if hash(uint32(n))>>i&1 == 1 {
			v = 255
		}
		fill(pix, stride, image.Rectangle{Min: at, Max: at.Add(image.Pt(tileSide, tileSide))}, v)
	}
}

// turning runs from 0 to span and back.
func turning(n, span int) int {
	if n %= 2 * span; n > span {
		n = 2*span - n
	}
	return n
}

// tiles are the top left corners of the tiles, spread over the picture and clear of
// the number.
func tiles() []image.Point {
	var list []image.Point
	for row := range tileRows {
		for column := range tileColumns {
			at := image.Pt(16+column*80, 16+row*60)
			if at.Y < numberAt.Y+96 {
				at.X = 176 + column*56
			}
			list = append(list, at)
		}
	}
	return list
}

// hash gives the bits of the tiles. It scatters as lowbias32 of Chris Wellons'
// hash prospector does, once for either half.
func hash(n uint32) uint64 { return uint64(scatter(n)) | uint64(scatter(^n))<<32 }

func scatter(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// Layout is what reads the squares, or paints the scene, elsewhere: places in
// pixels.
type Layout struct {
	Width, Height, Roam, Scroll int
	NumberX, NumberY, Side      int
	Tiles                       [][2]int // of the hash's bits, the lowest first
}

// NewLayout gives it.
func NewLayout() Layout {
	l := Layout{Width: Size.X, Height: Size.Y, Roam: roam, Scroll: scroll, NumberX: numberAt.X, NumberY: numberAt.Y, Side: tileSide}
	for _, at := range tiles() {
		l.Tiles = append(l.Tiles, [2]int{at.X, at.Y})
	}
	return l
}

// Sum adds up the red of picture n, to compare with another painter's.
func (s *Scene) Sum(n int) (sum int) {
	pix := make([]byte, s.stride*Size.Y)
	s.Draw(pix, s.stride, n)
	for i := 2; i < len(pix); i += 4 {
		sum += int(pix[i])
	}
	return sum
}
