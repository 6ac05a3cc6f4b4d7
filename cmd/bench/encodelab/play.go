package encodelab

import "image"

// Play begins the workload anew for somebody else's screen. The function that it gives
// paints one picture after the other into a whole screen of BGRA pixels, whose rows
// take stride bytes, and says what changed.
func (w Workload) Play() func(pix []byte, stride int) []image.Rectangle {
	c, screen, n := newCanvas(w.Size), w.open(), 0
	return func(pix []byte, stride int) []image.Rectangle {
		changed := screen.paint(c, n)
		n++
		for _, r := range changed {
			for y := r.Min.Y; y < r.Max.Y; y++ {
				copy(pix[y*stride+4*r.Min.X:], c.row(y, r.Min.X, r.Max.X))
			}
		}
		return changed
	}
}
