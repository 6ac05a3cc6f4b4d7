package desk

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// EventKind is what a window was told.
type EventKind string

// The kinds of events that a Window records.
const (
	ButtonPress   EventKind = "button press"
	ButtonRelease EventKind = "button release"
	Motion        EventKind = "motion"
	KeyPress      EventKind = "key press"
	KeyRelease    EventKind = "key release"
)

// Event is something that a window was told.
type Event struct {
	Kind   EventKind
	At     image.Point // in the window
	Root   image.Point // on the screen
	Detail int         // X button 1 to 9 (4 to 7 are the wheel) or keycode
	State  uint16      // buttons and modifiers before the event, as X counts them
}

// Window is a window of plain colors that remembers what happens to it. Its
// methods are safe for concurrent use.
type Window struct {
	ID   uint32
	conn *xgb.Conn
	gc   xproto.Gcontext

	mu      sync.Mutex
	patches []patch
	events  []Event
	heard   chan struct{} // closed and replaced at each event
}

type patch struct {
	rect  image.Rectangle
	color color.RGBA
}

// OpenWindow shows a black window at a place on the screen. With a window
// manager the frame moves it, so ask Place.
func OpenWindow(display string, place image.Rectangle, title string) (*Window, error) {
	conn, err := xgb.NewConnDisplay(display)
	if err != nil {
		return nil, fmt.Errorf("open display %s: %w", display, err)
	}
	w := &Window{conn: conn, heard: make(chan struct{})}
	if err := w.create(place, title); err != nil {
		conn.Close()
		return nil, fmt.Errorf("open window %q: %w", title, err)
	}
	go w.listen()
	return w, nil
}

func (w *Window) create(r image.Rectangle, title string) error {
	id, err := xproto.NewWindowId(w.conn)
	if err != nil {
		return err
	}
	gc, err := xproto.NewGcontextId(w.conn)
	if err != nil {
		return err
	}
	w.ID, w.gc = uint32(id), gc
	screen := xproto.Setup(w.conn).DefaultScreen(w.conn)
	mask := xproto.EventMaskExposure | xproto.EventMaskButtonPress | xproto.EventMaskButtonRelease |
		xproto.EventMaskPointerMotion | xproto.EventMaskKeyPress | xproto.EventMaskKeyRelease
	err = xproto.CreateWindowChecked(w.conn, screen.RootDepth, id, screen.Root, int16(r.Min.X), int16(r.Min.Y),
		uint16(r.Dx()), uint16(r.Dy()), 0, xproto.WindowClassInputOutput, screen.RootVisual,
		xproto.CwBackPixel|xproto.CwEventMask, []uint32{0, uint32(mask)}).Check()
	if err != nil {
		return err
	}
	xproto.CreateGC(w.conn, gc, xproto.Drawable(id), 0, nil)
	w.property(xproto.AtomWmName, title)
	w.property(xproto.AtomWmClass, "desk\x00Desk\x00")
	return xproto.MapWindowChecked(w.conn, id).Check()
}

func (w *Window) property(name xproto.Atom, value string) {
	xproto.ChangeProperty(w.conn, xproto.PropModeReplace, xproto.Window(w.ID), name, xproto.AtomString, 8, uint32(len(value)), []byte(value))
}

// listen records events and repaints until the connection ends.
func (w *Window) listen() {
	for {
		ev, err := w.conn.WaitForEvent()
		if ev == nil && err == nil {
			return
		}
		switch e := ev.(type) {
		case xproto.ExposeEvent:
			w.repaint()
		case xproto.ButtonPressEvent:
			w.record(Event{ButtonPress, pt(e.EventX, e.EventY), pt(e.RootX, e.RootY), int(e.Detail), e.State})
		case xproto.ButtonReleaseEvent:
			w.record(Event{ButtonRelease, pt(e.EventX, e.EventY), pt(e.RootX, e.RootY), int(e.Detail), e.State})
		case xproto.MotionNotifyEvent:
			w.record(Event{Motion, pt(e.EventX, e.EventY), pt(e.RootX, e.RootY), 0, e.State})
		case xproto.KeyPressEvent:
			w.record(Event{KeyPress, pt(e.EventX, e.EventY), pt(e.RootX, e.RootY), int(e.Detail), e.State})
		case xproto.KeyReleaseEvent:
			w.record(Event{KeyRelease, pt(e.EventX, e.EventY), pt(e.RootX, e.RootY), int(e.Detail), e.State})
		}
	}
}

func pt(x, y int16) image.Point { return image.Pt(int(x), int(y)) }

func (w *Window) record(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	close(w.heard)
	w.heard = make(chan struct{})
}

// Events gives all that was recorded so far, oldest first.
func (w *Window) Events() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Event(nil), w.events...)
}

// Forget drops what was recorded so far.
func (w *Window) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = nil
}

// Wait waits for a recorded event that match says yes to, past ones included.
func (w *Window) Wait(ctx context.Context, match func(Event) bool) (Event, error) {
	for {
		w.mu.Lock()
		heard := w.heard
		for _, e := range w.events {
			if match(e) {
				w.mu.Unlock()
				return e, nil
			}
		}
		w.mu.Unlock()
		select {
		case <-heard:
		case <-ctx.Done():
			return Event{}, fmt.Errorf("wait for an event of the window: %w; it heard %v", context.Cause(ctx), w.Events())
		}
	}
}

// Fill paints a part of the window and keeps it painted.
func (w *Window) Fill(r image.Rectangle, c color.RGBA) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.patches = append(w.patches, patch{r, c})
	w.paint(w.patches[len(w.patches)-1])
	w.flush()
}

func (w *Window) repaint() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.patches {
		w.paint(p)
	}
}

func (w *Window) paint(p patch) {
	pixel := uint32(p.color.R)<<16 | uint32(p.color.G)<<8 | uint32(p.color.B)
	xproto.ChangeGC(w.conn, w.gc, xproto.GcForeground, []uint32{pixel})
	xproto.PolyFillRectangle(w.conn, xproto.Drawable(w.ID), w.gc, []xproto.Rectangle{{
		X: int16(p.rect.Min.X), Y: int16(p.rect.Min.Y), Width: uint16(p.rect.Dx()), Height: uint16(p.rect.Dy())}})
}

// flush waits until the server has done what was asked.
func (w *Window) flush() { _, _ = xproto.GetInputFocus(w.conn).Reply() }

// shown says whether the window and its parents are mapped.
func (w *Window) shown() bool {
	a, err := xproto.GetWindowAttributes(w.conn, xproto.Window(w.ID)).Reply()
	return err == nil && a.MapState == xproto.MapStateViewable
}

// Place gives where the window's content is on the screen now.
func (w *Window) Place() (image.Rectangle, error) {
	id := xproto.Window(w.ID)
	g, err := xproto.GetGeometry(w.conn, xproto.Drawable(id)).Reply()
	if err != nil {
		return image.Rectangle{}, fmt.Errorf("ask for the window's size: %w", err)
	}
	at, err := xproto.TranslateCoordinates(w.conn, id, xproto.Setup(w.conn).DefaultScreen(w.conn).Root, 0, 0).Reply()
	if err != nil {
		return image.Rectangle{}, fmt.Errorf("ask for the window's place: %w", err)
	}
	origin := pt(at.DstX, at.DstY)
	return image.Rectangle{Min: origin, Max: origin.Add(image.Pt(int(g.Width), int(g.Height)))}, nil
}

// Set moves and resizes the window.
func (w *Window) Set(r image.Rectangle) error {
	return xproto.ConfigureWindowChecked(w.conn, xproto.Window(w.ID),
		xproto.ConfigWindowX|xproto.ConfigWindowY|xproto.ConfigWindowWidth|xproto.ConfigWindowHeight,
		[]uint32{uint32(r.Min.X), uint32(r.Min.Y), uint32(r.Dx()), uint32(r.Dy())}).Check()
}

// Raise puts the window above its siblings.
func (w *Window) Raise() error {
	return xproto.ConfigureWindowChecked(w.conn, xproto.Window(w.ID), xproto.ConfigWindowStackMode, []uint32{xproto.StackModeAbove}).Check()
}

// Focus gives the window the keyboard.
func (w *Window) Focus() error {
	return xproto.SetInputFocusChecked(w.conn, xproto.InputFocusParent, xproto.Window(w.ID), xproto.TimeCurrentTime).Check()
}

// Close takes the window away.
func (w *Window) Close() { w.conn.Close() }
