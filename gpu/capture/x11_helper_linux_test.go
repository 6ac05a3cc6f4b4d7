package capture

import (
	"fmt"
	"image"
	"math"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"nearglass/gpu/xconn"
)

// startX runs an Xvfb and returns it once it answers.
func startX(t testing.TB, number int, size string, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath("Xvfb"); err != nil {
		t.Skip("Xvfb is not installed (apt-get install xvfb), so X11 capture cannot be tested")
	}
	cmd := exec.Command("Xvfb", append([]string{fmt.Sprintf(":%d", number), "-screen", "0", size + "x24", "-nolisten", "tcp", "-noreset"}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() })
	eventually(t, "Xvfb answers", func() bool {
		c, err := net.Dial("unix", fmt.Sprintf("/tmp/.X11-unix/X%d", number))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return cmd
}

// xclient is a program that draws.
type xclient struct {
	t    testing.TB
	conn *xgb.Conn
	root xproto.Window
	gc   xproto.Gcontext
	wake func() // stirs the window manager; may be nil
}

func newClient(t testing.TB, number int) *xclient {
	t.Helper()
	conn, _, err := xconn.Open(fmt.Sprintf(":%d", number), xconn.RandR, xconn.XTest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	c := &xclient{t: t, conn: conn, root: xproto.Setup(conn).DefaultScreen(conn).Root}
	c.gc, _ = xproto.NewGcontextId(conn)
	c.must(xproto.CreateGCChecked(conn, c.gc, xproto.Drawable(c.root), xproto.GcSubwindowMode, []uint32{xproto.SubwindowModeIncludeInferiors}).Check())
	return c
}

func (c *xclient) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// fill paints a rectangle and waits until the server has done so.
func (c *xclient) fill(w xproto.Window, r image.Rectangle, color uint32) {
	c.t.Helper()
	xproto.ChangeGC(c.conn, c.gc, xproto.GcForeground, []uint32{color})
	c.must(xproto.PolyFillRectangleChecked(c.conn, xproto.Drawable(w), c.gc, []xproto.Rectangle{
		{X: int16(r.Min.X), Y: int16(r.Min.Y), Width: uint16(r.Dx()), Height: uint16(r.Dy())},
	}).Check())
}

// window creates and maps a titled window and waits until it can be seen.
func (c *xclient) window(title string, r image.Rectangle, color uint32) xproto.Window {
	c.t.Helper()
	id, _ := xproto.NewWindowId(c.conn)
	screen := xproto.Setup(c.conn).DefaultScreen(c.conn)
	c.must(xproto.CreateWindowChecked(c.conn, screen.RootDepth, id, c.root, int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), 2,
		xproto.WindowClassInputOutput, screen.RootVisual, xproto.CwBackPixel, []uint32{color}).Check())
	c.property(id, xproto.AtomWmName, title)
	c.property(id, xproto.AtomWmClass, "test\x00Tester\x00")
	c.must(xproto.MapWindowChecked(c.conn, id).Check())
	eventually(c.t, "the window is mapped", func() bool {
		if c.wake != nil {
			c.wake()
		}
		attr, err := xproto.GetWindowAttributes(c.conn, id).Reply()
		return err == nil && attr.MapState == xproto.MapStateViewable
	})
	return id
}

func (c *xclient) property(w xproto.Window, name xproto.Atom, value string) {
	c.t.Helper()
	c.must(xproto.ChangePropertyChecked(c.conn, xproto.PropModeReplace, w, name, xproto.AtomString, 8, uint32(len(value)), []byte(value)).Check())
}

// configure moves and resizes a window.
func (c *xclient) configure(w xproto.Window, r image.Rectangle) {
	c.t.Helper()
	mask := uint16(xproto.ConfigWindowX | xproto.ConfigWindowY | xproto.ConfigWindowWidth | xproto.ConfigWindowHeight)
	c.must(xproto.ConfigureWindowChecked(c.conn, w, mask, []uint32{uint32(int32(r.Min.X)), uint32(int32(r.Min.Y)), uint32(r.Dx()), uint32(r.Dy())}).Check())
}

// screen reads a part of the screen as the server shows it.
func (c *xclient) screen(r image.Rectangle) []byte {
	c.t.Helper()
	reply, err := xproto.GetImage(c.conn, xproto.ImageFormatZPixmap, xproto.Drawable(c.root), int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), math.MaxUint32).Reply()
	c.must(err)
	return reply.Data
}

func openX(t testing.TB, number int) Backend {
	t.Helper()
	b, err := OpenX11(fmt.Sprintf(":%d", number))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// run runs a program of the X utilities and skips the test without it.
func run(t testing.TB, number int, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed (apt-get install x11-xserver-utils)", name)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("DISPLAY=:%d", number))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
