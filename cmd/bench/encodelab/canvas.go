package encodelab

import (
	"encoding/binary"
	"image"
)

// canvas is a picture of BGRA pixels.
type canvas struct {
	size   image.Point
	stride int
	pix    []byte
}

func newCanvas(size image.Point) *canvas {
	return &canvas{size: size, stride: 4 * size.X, pix: make([]byte, 4*size.X*size.Y)}
}

func (c *canvas) bounds() image.Rectangle { return image.Rectangle{Max: c.size} }

// row gives the bytes of the pixels x to end in row y.
func (c *canvas) row(y, x, end int) []byte {
	return c.pix[y*c.stride+4*x : y*c.stride+4*end]
}

// fill paints a rectangle in one color, given as blue, green, red.
func (c *canvas) fill(r image.Rectangle, color [3]byte) {
	r = r.Intersect(c.bounds())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.row(y, r.Min.X, r.Max.X)
		for i := 0; i < len(row); i += 4 {
			row[i], row[i+1], row[i+2], row[i+3] = color[0], color[1], color[2], 0xff
		}
	}
}

// blit copies the part of src that begins at from into r.
func (c *canvas) blit(r image.Rectangle, src *canvas, from image.Point) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		at := from.Y + y - r.Min.Y
		copy(c.row(y, r.Min.X, r.Max.X), src.row(at, from.X, from.X+r.Dx()))
	}
}

// grain adds noise to r, eight bytes at once: the picture leaves room for the
// noise's values, so that nothing overflows into the next byte. The rectangle
// has an even width.
func (c *canvas) grain(r image.Rectangle, noise *canvas, from image.Point) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.row(y, r.Min.X, r.Max.X)
		add := noise.row(from.Y+y-r.Min.Y, from.X, from.X+r.Dx())
		for i := 0; i+8 <= len(row); i += 8 {
			sum := binary.NativeEndian.Uint64(row[i:]) + binary.NativeEndian.Uint64(add[i:])
			binary.NativeEndian.PutUint64(row[i:], sum)
		}
	}
}
