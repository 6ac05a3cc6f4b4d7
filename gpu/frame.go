package gpu

import (
	"image"
	"sync/atomic"
	"time"
)

// Frame is one picture as a reader took it. Its memory is lent: Pix must not
// be written, nor read after Release.
type Frame struct {
	Number     uint64    // counts the pictures of this ring from 1
	Generation uint32    // changes when size, stride, format or memory change
	Captured   time.Time // when the copy began, with the monotonic clock
	Size       image.Point
	Stride     int // bytes from one row to the next
	Format     Format
	Pix        []byte
	// Damage is what may differ from the picture that this reader took
	// before, in picture coordinates. Nil means all of it; empty but not nil
	// means nothing.
	Damage []image.Rectangle
	Mark   uint64 // number of the newest input applied before the copy; 0: none

	ring     *Ring
	slot     *Slot
	released atomic.Bool
}

// Release lets the slot be used again. It may be called more than once and
// from any goroutine.
func (f *Frame) Release() {
	if f == nil || f.slot == nil || !f.released.CompareAndSwap(false, true) {
		return
	}
	f.ring.release(f.slot)
}

// Bounds returns the rectangle of the whole picture.
func (f *Frame) Bounds() image.Rectangle { return image.Rectangle{Max: f.Size} }

// State says whether a source delivers pictures now.
type State struct {
	Paused bool
	Reason string // why it is paused, in words for the viewer
}
