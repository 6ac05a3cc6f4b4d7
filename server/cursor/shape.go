package cursor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"image"
	"image/png"
)

// picture is a pointer's shape as X servers give it: 32 bits a pixel, alpha in
// the top byte, colors multiplied by it.
type picture struct {
	size, hot image.Point
	argb      []uint32
}

// id names the picture by its content (FNV-1a, 64 bits).
func (p picture) id() string {
	h := fnv.New64a()
	var word [4]byte
	add := func(v uint32) {
		binary.LittleEndian.PutUint32(word[:], v)
		h.Write(word[:])
	}
	for _, v := range []int{p.size.X, p.size.Y, p.hot.X, p.hot.Y} {
		add(uint32(v))
	}
	for _, v := range p.argb {
		add(v)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// blank reports whether no pixel shows: so programs hide the pointer.
func (p picture) blank() bool {
	if p.size.X <= 1 && p.size.Y <= 1 {
		return true
	}
	for _, v := range p.argb {
		if v>>24 != 0 {
			return false
		}
	}
	return true
}

// shape turns the picture into a PNG with straight alpha.
func (p picture) shape() (Shape, error) {
	if len(p.argb) < p.size.X*p.size.Y {
		return Shape{}, fmt.Errorf("pointer shape of %dx%d has %d pixels", p.size.X, p.size.Y, len(p.argb))
	}
	// PNG knows no empty pictures.
	img := image.NewNRGBA(image.Rect(0, 0, max(1, p.size.X), max(1, p.size.Y)))
	for i, v := range p.argb[:p.size.X*p.size.Y] {
		a := v >> 24
		pix := img.Pix[4*i : 4*i+4]
		pix[0], pix[1], pix[2], pix[3] = straight(v>>16&255, a), straight(v>>8&255, a), straight(v&255, a), byte(a)
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return Shape{}, fmt.Errorf("encoding the pointer shape: %w", err)
	}
	return Shape{Size: img.Rect.Size(), Hot: p.hot, PNG: buf.Bytes()}, nil
}

// straight undoes the multiplication of a color by its alpha.
func straight(c, alpha uint32) byte {
	if alpha == 0 {
		return 0
	}
	return byte(min(255, (c*255+alpha/2)/alpha))
}

// maxShapes is how many shapes are kept: some 2 KB each, and desktops use a
// few dozen.
const maxShapes = 64

// shapeCache keeps the shapes that were used last.
type shapeCache struct {
	shapes map[string]Shape
	order  []string // least recently put first
}

func newShapeCache() *shapeCache { return &shapeCache{shapes: make(map[string]Shape)} }

func (c *shapeCache) get(id string) (Shape, bool) {
	s, ok := c.shapes[id]
	return s, ok
}

func (c *shapeCache) put(id string, s Shape) {
	if len(c.order) == maxShapes {
		delete(c.shapes, c.order[0])
		c.order = c.order[1:]
	}
	c.shapes[id] = s
	c.order = append(c.order, id)
}
