package cursor

import (
	"fmt"
	"image"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"

	"nearglass/gpu/xconn"
)

// x11 is the pointer of an X server.
type x11 struct {
	conn   *xgb.Conn
	root   xproto.Window
	motion *motionConn // nil where the server does not tell of motion
	sig    *signals
}

func open(display string, sig *signals) (source, error) {
	conn, has, err := xconn.Open(display, xconn.XFixes)
	if err != nil {
		return nil, fmt.Errorf("opening display %q for the pointer: %w", display, err)
	}
	if !has[xconn.XFixes] {
		conn.Close()
		return nil, fmt.Errorf("opening display %q for the pointer: the X server lacks the XFIXES extension", display)
	}
	x := &x11{conn: conn, root: xproto.Setup(conn).DefaultScreen(conn).Root, sig: sig}
	if err := x.prepare(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("opening display %q for the pointer: %w", display, err)
	}
	// Without XInput 2 the tracker looks often instead.
	if m, err := dialMotion(display, uint32(x.root)); err == nil {
		x.motion = m
		sig.told.Store(true)
		go x.follow()
	}
	go x.listenShapes()
	return x, nil
}

// prepare asks for XFixes 4: the cursor image came with 1, its changes too.
func (x *x11) prepare() error {
	if _, err := xfixes.QueryVersion(x.conn, 4, 0).Reply(); err != nil {
		return fmt.Errorf("asking for the version of XFIXES: %w", err)
	}
	return nil
}

// follow passes on what the motion connection tells, and says so when it ends.
func (x *x11) follow() {
	_ = x.motion.follow(func() { notify(x.sig.moved) })
	x.sig.told.Store(false)
}

// listenShapes takes the server's events until the connection ends.
func (x *x11) listenShapes() {
	defer close(x.sig.gone)
	for {
		ev, xerr := x.conn.WaitForEvent()
		if ev == nil && xerr == nil {
			return
		}
		if _, ok := ev.(xfixes.CursorNotifyEvent); ok {
			notify(x.sig.changed)
		}
	}
}

func (x *x11) listen(on bool) {
	var mask uint32
	if on {
		mask = xfixes.CursorNotifyMaskDisplayCursor
	}
	xfixes.SelectCursorInput(x.conn, x.root, mask)
	if x.motion != nil {
		// When this fails the connection is lost, which follow notices.
		_ = x.motion.listen(on)
	}
}

func (x *x11) point() (at image.Point, ok bool, err error) {
	p, err := xproto.QueryPointer(x.conn, x.root).Reply()
	if err != nil {
		return at, false, fmt.Errorf("reading the pointer's position: %w", ErrGone)
	}
	return image.Pt(int(p.RootX), int(p.RootY)), p.SameScreen, nil
}

func (x *x11) picture() (picture, error) {
	c, err := xfixes.GetCursorImage(x.conn).Reply()
	if _, refused := err.(xgb.Error); refused {
		// The server shows no cursor at all.
		return picture{}, nil
	}
	if err != nil {
		return picture{}, fmt.Errorf("reading the pointer's shape: %w", ErrGone)
	}
	return picture{
		size: image.Pt(int(c.Width), int(c.Height)), hot: image.Pt(int(c.Xhot), int(c.Yhot)), argb: c.CursorImage,
	}, nil
}

func (x *x11) close() {
	if x.motion != nil {
		x.motion.close()
	}
	x.conn.Close()
	<-x.sig.gone
}
