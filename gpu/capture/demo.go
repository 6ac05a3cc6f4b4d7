package capture

import (
	"context"
	"fmt"
	"image"
	"sync"
	"time"

	"nearglass/gpu"
)

// demoFPS bounds the demo's own animation; input is answered at once, up to
// the rate of the capture.
const demoFPS = 30

// smallestDemo is the size below which its windows would be too small to use.
var smallestDemo = image.Pt(960, 540)

// Demo is a desktop drawn in Go that answers to pointer and typing, for
// machines without a display and for trying things out. There is one desktop
// however many captures are open. All methods are safe for concurrent use.
type Demo struct {
	mu       sync.Mutex
	desktop  *desktop
	captures map[*demoCapture]struct{} // those that run
	inputs   uint64                    // inputs applied so far: the Mark of pictures
}

// NewDemo returns the demo desktop, 1280 by 720 pixels until it is opened at
// another size.
func NewDemo() *Demo {
	return &Demo{desktop: newDesktop(defaultSize), captures: map[*demoCapture]struct{}{}}
}

// Name returns "demo".
func (d *Demo) Name() string { return "demo" }

// Close does nothing: captures end by their contexts.
func (d *Demo) Close() error { return nil }

// List returns the one source.
func (d *Demo) List(context.Context) ([]Source, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return []Source{d.source()}, nil
}

func (d *Demo) source() Source {
	return Source{ID: "demo", Kind: KindDemo, Title: "Demo desktop", Bounds: image.Rectangle{Max: d.desktop.size}, Scale: 1}
}

// Open opens the demo. Options.Size starts the desktop anew at that size
// unless it is being watched.
func (d *Demo) Open(_ context.Context, id string, o Options) (Capture, error) {
	if id != "demo" {
		return nil, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	size := o.sizeOr(d.desktop.size)
	size = image.Pt(max(size.X, smallestDemo.X), max(size.Y, smallestDemo.Y))
	if size != d.desktop.size && len(d.captures) == 0 {
		d.desktop = newDesktop(size)
	}
	return &demoCapture{demo: d, every: interval(o.fpsOr(60)), pointer: o.Pointer, wake: make(chan struct{}, 1)}, nil
}

// Pointer moves the pointer, in pixels of the desktop.
func (d *Demo) Pointer(x, y int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	size := d.desktop.size
	d.desktop.pointer = image.Pt(min(max(x, 0), size.X-1), min(max(y, 0), size.Y-1))
	d.apply(demoEvent{kind: eventMove})
}

// Button presses or releases a button, in DOM numbering: 0 is the first.
func (d *Demo) Button(n int, down bool) {
	d.locked(demoEvent{kind: eventButton, button: n, down: down})
}

// Wheel scrolls by notches; positive dy scrolls down, as in the DOM.
func (d *Demo) Wheel(_, dy float64) { d.locked(demoEvent{kind: eventWheel, dy: dy}) }

// Key presses or releases the key with this DOM code, such as "KeyA".
func (d *Demo) Key(code string, down bool) {
	d.locked(demoEvent{kind: eventKey, code: code, down: down})
}

// Text types a text.
func (d *Demo) Text(s string) { d.locked(demoEvent{kind: eventText, text: s}) }

// Cursor returns where the pointer is, whether it is to be shown, and the CSS
// name of its shape: "default", "text", "pointer" or "crosshair".
func (d *Demo) Cursor() (x, y int, visible bool, shape string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.desktop.pointer
	return p.X, p.Y, true, d.desktop.shape()
}

// Inputs counts the inputs so far: the Mark of a picture that shows them all.
func (d *Demo) Inputs() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inputs
}

func (d *Demo) locked(e demoEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.apply(e)
}

// apply runs an event at the pointer and wakes the captures.
func (d *Demo) apply(e demoEvent) {
	e.at = d.desktop.pointer
	d.desktop.input(e)
	d.inputs++
	for c := range d.captures {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// demoCapture copies the demo's canvas into a ring.
type demoCapture struct {
	demo    *Demo
	every   time.Duration
	pointer bool
	wake    chan struct{} // an input came

	damage gpu.Region      // not yet published; guarded by the demo's lock
	shown  image.Rectangle // what the pointer covers
	drawn  *sprite         // the pointer as it was drawn last
	at     image.Point
}

func (c *demoCapture) Source() Source {
	c.demo.mu.Lock()
	defer c.demo.mu.Unlock()
	return c.demo.source()
}

func (c *demoCapture) Place() Place { return Place{Size: c.Source().Bounds.Size()} }

func (c *demoCapture) Run(ctx context.Context, ring *gpu.Ring) error {
	size := c.start()
	defer c.stop()
	stride := size.X * gpu.BGRA.BytesPerPixel()
	ring.Configure(size, stride, gpu.BGRA, gpu.HostMemory(slots, stride*size.Y))
	tick := time.NewTicker(max(c.every, interval(demoFPS)))
	defer tick.Stop()
	var last time.Time
	for {
		if ring.Readers() == 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-ring.Wake():
				continue
			}
		}
		if wait := c.every - time.Since(last); wait > 0 && !pause(ctx, wait) {
			return nil
		}
		last = time.Now()
		c.publish(ring, last)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-c.wake:
		case <-ring.Wake():
		}
	}
}

// pause waits and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (c *demoCapture) start() image.Point {
	c.demo.mu.Lock()
	defer c.demo.mu.Unlock()
	c.demo.captures[c] = struct{}{}
	c.damage.Set(image.Rectangle{Max: c.demo.desktop.size})
	return c.demo.desktop.size
}

func (c *demoCapture) stop() {
	c.demo.mu.Lock()
	defer c.demo.mu.Unlock()
	delete(c.demo.captures, c)
}

// publish paints what changed and passes it on, unless nothing did or no slot
// is free; then the damage stays for the next time.
func (c *demoCapture) publish(ring *gpu.Ring, now time.Time) {
	c.demo.mu.Lock()
	defer c.demo.mu.Unlock()
	d := c.demo.desktop
	d.tick(now)
	d.repaint(c.demo.captures)
	c.movePointer(d)
	if c.damage.Empty() {
		return
	}
	s, ok := ring.Acquire()
	if !ok {
		return
	}
	whole := image.Rectangle{Max: s.Size}
	c.copy(s, s.Stale)
	c.copy(s, c.damage.Rects())
	if c.pointer {
		c.copy(s, []image.Rectangle{c.shown.Intersect(whole)})
		c.drawn.draw(s.Pix, s.Stride, whole, c.at)
	}
	ring.Publish(s, now, c.damage.Rects(), c.demo.inputs)
	c.damage.Reset()
}

// movePointer notes what the pointer covered and covers now when it moved.
func (c *demoCapture) movePointer(d *desktop) {
	if !c.pointer || c.at == d.pointer && c.drawn != nil {
		return
	}
	whole := image.Rectangle{Max: d.size}
	c.damage.Add(c.shown.Intersect(whole))
	c.at = d.pointer
	c.drawn = demoShapes()[d.shape()]
	c.shown = c.drawn.rect(c.at)
	c.damage.Add(c.shown.Intersect(whole))
}

func (c *demoCapture) copy(s *gpu.Slot, rects []image.Rectangle) {
	canvas := c.demo.desktop.canvas
	for _, r := range rects {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			copy(s.Pix[y*s.Stride+4*r.Min.X:y*s.Stride+4*r.Max.X], canvas.Pix[canvas.PixOffset(r.Min.X, y):])
		}
	}
}
