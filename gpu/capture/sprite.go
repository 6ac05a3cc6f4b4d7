package capture

import "image"

// sprite is a picture of the pointer: BGRA with the colors premultiplied.
type sprite struct {
	pix  []byte
	size image.Point
	hot  image.Point
}

// rect is what the sprite covers when the pointer is at p.
func (s *sprite) rect(p image.Point) image.Rectangle {
	if s == nil {
		return image.Rectangle{}
	}
	at := p.Sub(s.hot)
	return image.Rectangle{Min: at, Max: at.Add(s.size)}
}

// draw blends the sprite over a BGRA picture with the pointer at p.
func (s *sprite) draw(pix []byte, stride int, bounds image.Rectangle, p image.Point) {
	full := s.rect(p)
	r := full.Intersect(bounds)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		src := s.pix[4*((y-full.Min.Y)*s.size.X+r.Min.X-full.Min.X):]
		dst := pix[y*stride+4*r.Min.X : y*stride+4*r.Max.X]
		for i := 0; i < len(dst); i += 4 {
			rest := 255 - int(src[i+3])
			for j := i; j < i+3; j++ {
				dst[j] = uint8(min(int(src[j])+(int(dst[j])*rest+127)/255, 255))
			}
		}
	}
}
