package main

import (
	"fmt"
	"image"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// keyA is the keycode of the letter a on every PC keyboard under X.
const keyA = 38

// fingers press keys and buttons on a display, as its own devices would.
type fingers struct {
	conn *xgb.Conn
	root xproto.Window
}

func newFingers(display string) (*fingers, error) {
	conn, err := xgb.NewConnDisplay(display)
	if err != nil {
		return nil, fmt.Errorf("open display %s: %w", display, err)
	}
	if err := xtest.Init(conn); err != nil {
		conn.Close()
		return nil, fmt.Errorf("press keys on %s: %w", display, err)
	}
	return &fingers{conn, xproto.Setup(conn).DefaultScreen(conn).Root}, nil
}

func (f *fingers) close() { f.conn.Close() }

// do makes one event and waits until the server has it.
func (f *fingers) do(kind, detail byte, at image.Point) {
	xtest.FakeInput(f.conn, kind, detail, 0, f.root, int16(at.X), int16(at.Y), 0)
	_, _ = xproto.GetInputFocus(f.conn).Reply()
}

func (f *fingers) moveTo(at image.Point) { f.do(xproto.MotionNotify, 0, at) }

func (f *fingers) key(down bool) {
	f.do(map[bool]byte{true: xproto.KeyPress, false: xproto.KeyRelease}[down], keyA, image.Point{})
}

func (f *fingers) button(down bool) {
	f.do(map[bool]byte{true: xproto.ButtonPress, false: xproto.ButtonRelease}[down], 1, image.Point{})
}
