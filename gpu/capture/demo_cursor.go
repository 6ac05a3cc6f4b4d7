package capture

import (
	"image"
	"image/color"
	"strings"
	"sync"
)

// The demo's pointers: x is black, o is white, anything else is clear; hot is
// the pixel that points.
var demoPointers = map[string]struct {
	hot   image.Point
	lines string
}{
	"default": {image.Pt(0, 0), `
x
xx
xox
xoox
xooox
xoooox
xooooox
xoooooox
xooooooox
xoooooooox
xooooooooox
xoooooooooox
xooooooxxxxxx
xoooxooox
xooxxooox
xox  xooox
xx   xooox
x     xooox
      xooox
       xxx
`},
	"text": {image.Pt(3, 8), `
xxx xxx
xooxoox
xxxoxxx
  xox
  xox
  xox
  xox
  xox
  xox
  xox
  xox
  xox
  xox
  xox
xxxoxxx
xooxoox
xxx xxx
`},
	"crosshair": {image.Pt(8, 8), `
       xxx
       xox
       xox
       xox
       xox
       xox
       xox
xxxxxxxxoxxxxxxxx
xooooooooooooooox
xxxxxxxxoxxxxxxxx
       xox
       xox
       xox
       xox
       xox
       xox
       xxx
`},
	"pointer": {image.Pt(4, 0), `
   xxx
  xooox
  xooox
  xooox
  xooox
  xoooxxx
  xoooxooxxx
  xoooxooxooxx
xxxoooxooxooxox
xooxoooooooooox
xooooooooooooox
 xooooooooooooox
 xooooooooooooox
  xoooooooooooox
  xooooooooooox
   xoooooooooox
    xooooooooox
    xxxxxxxxxxx
`},
}

// demoShapes are the pointers as sprites, by the names that Demo.Cursor gives.
var demoShapes = sync.OnceValue(func() map[string]*sprite {
	all := map[string]*sprite{}
	for name, p := range demoPointers {
		all[name] = drawPointer(p.lines, p.hot)
	}
	return all
})

func drawPointer(art string, hot image.Point) *sprite {
	lines := strings.Split(strings.Trim(art, "\n"), "\n")
	size := image.Pt(0, len(lines))
	for _, line := range lines {
		size.X = max(size.X, len(line))
	}
	s := &sprite{pix: make([]byte, 4*size.X*size.Y), size: size, hot: hot}
	for y, line := range lines {
		for x, c := range line {
			switch c {
			case 'x':
				s.pix[4*(y*size.X+x)+3] = 0xff
			case 'o':
				copy(s.pix[4*(y*size.X+x):], []byte{0xff, 0xff, 0xff, 0xff})
			}
		}
	}
	return s
}

// Shape returns the picture of a pointer that Cursor named, and the pixel of it
// that points; false for a name that the demo does not have.
func (d *Demo) Shape(name string) (picture *image.NRGBA, hot image.Point, ok bool) {
	s := demoShapes()[name]
	if s == nil {
		return nil, image.Point{}, false
	}
	picture = image.NewNRGBA(image.Rectangle{Max: s.size})
	for i := 0; i < len(s.pix); i += 4 {
		v := s.pix[i]
		picture.SetNRGBA(i/4%s.size.X, i/4/s.size.X, color.NRGBA{R: v, G: v, B: v, A: s.pix[i+3]})
	}
	return picture, s.hot, true
}
