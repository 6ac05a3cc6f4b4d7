package encode

import (
	"image"
	"runtime"
	"sync"
	"sync/atomic"
)

// crew is goroutines that wait to help with converting large pictures. Whoever
// asks does not wait for them to wake up: it converts band after band itself, and
// one that comes takes bands too. So a crew costs nothing where every core is busy.
// It is safe for concurrent use; a goroutine helps one at a time.
type crew struct {
	size  int
	start sync.Once
	work  chan *conversion // without room: only one that waits can be given work
}

// converters is for all encoders of the process. Its goroutines never end.
var converters = newCrew(min(runtime.NumCPU(), 4) - 1)

func newCrew(size int) *crew { return &crew{size: size, work: make(chan *conversion)} }

// conversion is the bands of one picture. Where two overlap, both write the same.
type conversion struct {
	dst   planes
	src   pixels
	bands []image.Rectangle

	next, left atomic.Int32
	done       chan struct{} // closed with the last band
}

const (
	// sharedPixels is the least that others are woken for. BenchmarkConvertCrew on two
	// cores that did other work too: at 640x360 and 960x540 a conversion took 1.00 to
	// 1.26 of the time that it takes alone, at 1280x720 0.93 to 1.08, at 1920x1080 0.88
	// to 1.00.
	sharedPixels = 1 << 20
	// bandPixels is what is converted in one piece: 30 us of an idle core.
	bandPixels = 1 << 16
)

// convert converts bands as cut makes them, and returns when all are done.
func (w *crew) convert(dst planes, src pixels, bands []image.Rectangle) {
	if w.size < 1 || len(bands) < 2 || areaOf(bands) < sharedPixels {
		for _, r := range bands {
			convert(dst, src, r)
		}
		return
	}
	w.start.Do(w.hire)
	c := &conversion{dst: dst, src: src, bands: bands, done: make(chan struct{})}
	c.left.Store(int32(len(bands)))
	for range w.size {
		select {
		case w.work <- c:
		default:
		}
	}
	c.run()
	<-c.done
}

func (w *crew) hire() {
	for range w.size {
		go func() {
			for c := range w.work {
				c.run()
			}
		}()
	}
}

// run converts what nobody has begun. One that comes late finds nothing, and
// touches no memory of a picture that may be gone.
func (c *conversion) run() {
	for {
		i := int(c.next.Add(1)) - 1
		if i >= len(c.bands) {
			return
		}
		convert(c.dst, c.src, c.bands[i])
		if c.left.Add(-1) == 0 {
			close(c.done)
		}
	}
}

// cut widens rectangles with even corners to whole columns of macroblocks, where
// the converter's vectors have no remainder, and cuts large ones into bands. The
// pixels around them are what they were, and so are their colors.
func cut(dst, rects []image.Rectangle, size image.Point) []image.Rectangle {
	right := CodedSize(size).X
	for _, r := range rects {
		r.Min.X, r.Max.X = r.Min.X&^(mbSide-1), min((r.Max.X+mbSide-1)&^(mbSide-1), right)
		rows := max(bandPixels/max(r.Dx(), 1)&^(mbSide-1), mbSide)
		for ; r.Dy() > rows+rows/2; r.Min.Y += rows {
			dst = append(dst, image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+rows))
		}
		dst = append(dst, r)
	}
	return dst
}

func areaOf(rects []image.Rectangle) int {
	n := 0
	for _, r := range rects {
		n += r.Dx() * r.Dy()
	}
	return n
}
