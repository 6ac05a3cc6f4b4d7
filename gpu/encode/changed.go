package encode

import (
	"image"

	"nearglass/gpu"
)

// mbSide is the side of a macroblock in pixels.
const mbSide = 16

// constantMB is X264_MBINFO_CONSTANT: the source of this macroblock is what
// it was in the picture before.
const constantMB = 1

// marks says of each macroblock whether its source changed since the picture
// that was encoded last. The encoder then need not look at it again, unless
// it was coded coarser than it should be now.
type marks struct {
	mbs   []byte
	width int // macroblocks in a row
}

func newMarks(mbs []byte, size image.Point) marks {
	return marks{mbs: mbs, width: macroblocks(size).X}
}

func macroblocks(size image.Point) image.Point {
	return image.Pt((size.X+mbSide-1)/mbSide, (size.Y+mbSide-1)/mbSide)
}

// settle marks everything constant, after a picture was encoded.
func (m marks) settle() {
	for i := range m.mbs {
		m.mbs[i] = constantMB
	}
}

// touch marks what lies in r, which is inside the picture, as changed.
func (m marks) touch(r image.Rectangle) {
	if r.Empty() {
		return
	}
	from, to := r.Min.X/mbSide, (r.Max.X-1)/mbSide
	for y := r.Min.Y / mbSide; y <= (r.Max.Y-1)/mbSide; y++ {
		clear(m.mbs[y*m.width+from : y*m.width+to+1])
	}
}

// changedRects is the damage of a frame as rectangles with even corners. All
// of the picture when the frame does not say or when the encoder holds none.
func changedRects(dst []image.Rectangle, f *gpu.Frame, all bool) []image.Rectangle {
	if all || f.Damage == nil {
		return append(dst, evenCover(image.Rectangle{Max: f.Size}, f.Size))
	}
	for _, r := range f.Damage {
		if even := evenCover(r, f.Size); !even.Empty() {
			dst = append(dst, even)
		}
	}
	return dst
}
