package input

import (
	"fmt"
	"sync/atomic"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"nearglass/gpu/xconn"
)

// x11 injects through the XTEST extension of an X server, on a connection of
// its own. Its methods are called by one goroutine at a time.
type x11 struct {
	conn *xgb.Conn
	name string // of the display
	root xproto.Window
	gone chan struct{} // closed when the connection has ended
	size atomic.Uint64 // of the root window: width<<32 | height
	keyb *keymap
	wm   *windows
}

func open(display string) (*Injector, error) {
	conn, has, err := xconn.Open(display, xconn.XTest)
	if err != nil {
		return nil, fmt.Errorf("opening display %q for input: %w", display, err)
	}
	if !has[xconn.XTest] {
		conn.Close()
		return nil, fmt.Errorf("opening display %q for input: the X server lacks the XTEST extension", display)
	}
	x, err := newX11(conn, display)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("opening display %q for input: %w", display, err)
	}
	return newInjector(x.keyb, x), nil
}

func newX11(conn *xgb.Conn, name string) (*x11, error) {
	screen := xproto.Setup(conn).DefaultScreen(conn)
	x := &x11{conn: conn, name: name, root: screen.Root, gone: make(chan struct{})}
	x.setSize(screen.WidthInPixels, screen.HeightInPixels)
	x.wm = newWindows(conn, screen.Root)
	// Input must go on while another client has grabbed the server.
	xtest.GrabControl(conn, true)
	// The root window tells when the desktop changes its size.
	xproto.ChangeWindowAttributes(conn, x.root, xproto.CwEventMask, []uint32{xproto.EventMaskStructureNotify})
	var err error
	if x.keyb, err = newKeymap(x); err != nil {
		return nil, err
	}
	go x.listen()
	return x, nil
}

// listen takes the server's events until the connection ends.
func (x *x11) listen() {
	defer close(x.gone)
	for {
		ev, xerr := x.conn.WaitForEvent()
		if ev == nil && xerr == nil {
			return
		}
		switch ev := ev.(type) {
		case xproto.MappingNotifyEvent:
			if ev.Request != xproto.MappingPointer {
				x.keyb.stale.Store(true)
			}
		case xproto.ConfigureNotifyEvent:
			if ev.Window == x.root {
				x.setSize(ev.Width, ev.Height)
			}
		}
	}
}

func (x *x11) setSize(width, height uint16) {
	x.size.Store(uint64(width)<<32 | uint64(height))
}

// clamp moves a point to the nearest one on the desktop.
func (x *x11) clamp(px, py int) (int16, int16) {
	size := x.size.Load()
	w, h := int(size>>32), int(uint32(size))
	return int16(max(0, min(px, w-1))), int16(max(0, min(py, h-1)))
}

// send injects the steps in their order. It does not wait for the server.
func (x *x11) send(steps ...step) error {
	if err := x.alive(); err != nil {
		return err
	}
	for _, s := range steps {
		x.fake(s)
	}
	return nil
}

func (x *x11) fake(s step) {
	var px, py int16
	kind, detail := fakeKind(s)
	if s.move {
		px, py = x.clamp(s.x, s.y)
	}
	xtest.FakeInput(x.conn, kind, detail, 0, x.root, px, py, 0)
}

// fakeKind gives the event type and detail of XTEST. A motion's detail 0 makes
// it absolute.
func fakeKind(s step) (kind, detail byte) {
	switch {
	case s.move:
		return xproto.MotionNotify, 0
	case s.button && s.down:
		return xproto.ButtonPress, s.code
	case s.button:
		return xproto.ButtonRelease, s.code
	case s.down:
		return xproto.KeyPress, s.code
	default:
		return xproto.KeyRelease, s.code
	}
}

func (x *x11) alive() error {
	select {
	case <-x.gone:
		return fmt.Errorf("injecting input: %w", ErrGone)
	default:
		return nil
	}
}

// sync waits until the server has done all that was asked of it.
func (x *x11) sync() error { return <-x.settled() }

// settled asks for an answer behind all requests so far, without waiting for it.
func (x *x11) settled() <-chan error {
	answer := make(chan error, 1)
	if err := x.alive(); err != nil {
		answer <- err
		return answer
	}
	cookie := xproto.GetInputFocus(x.conn)
	go func() {
		_, err := cookie.Reply()
		if err != nil {
			err = x.fault("waiting for the X server", err)
		}
		answer <- err
	}()
	return answer
}

// fault names what failed. An answer that never came means that the server is
// gone: xgb then says io.EOF, and errors of the server are xgb.Error.
func (x *x11) fault(what string, err error) error {
	if _, ok := err.(xgb.Error); ok {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, ErrGone)
}

func (x *x11) activate(window uint32) error {
	if err := x.alive(); err != nil {
		return err
	}
	if err := x.wm.activate(xproto.Window(window)); err != nil {
		return x.fault(fmt.Sprintf("activating window 0x%x", window), err)
	}
	return nil
}

func (x *x11) done() <-chan struct{} { return x.gone }

func (x *x11) close() error {
	if x.alive() == nil {
		x.keyb.restore()
	}
	x.conn.Close()
	<-x.gone
	return nil
}
