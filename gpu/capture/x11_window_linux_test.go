package capture

import (
	"context"
	"fmt"
	"image"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// sourceOf finds a window in the list.
func sourceOf(t testing.TB, b Backend, w xproto.Window) (Source, bool) {
	t.Helper()
	list, err := b.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.ID == fmt.Sprintf("window:0x%x", uint32(w)) {
			return s, true
		}
	}
	return Source{}, false
}

func TestWindow(t *testing.T) {
	startX(t, 115, "800x600")
	c := newClient(t, 115)
	b := openX(t, 115)
	area := image.Rect(40, 30, 240, 180)
	w := c.window("First", area, 0x336699)
	inside := area.Add(image.Pt(2, 2)) // the border is two pixels wide
	src, ok := sourceOf(t, b, w)
	if !ok || src.Title != "First" || src.App != "Tester" || src.Bounds != inside || src.Unavailable != "" {
		t.Fatalf("listed as %+v", src)
	}
	v := watch(t, b, src.ID, Options{})
	size := area.Size()
	v.shows("the window is right", func() []byte { return plain(size, 0x336699) })

	cover := c.window("Cover", image.Rect(100, 0, 400, 300), 0xffffff)
	c.fill(w, image.Rect(0, 0, 200, 150), 0x991133)
	v.shows("the covered window is right", func() []byte { return plain(size, 0x991133) })

	at := image.Pt(-30, 350)
	c.configure(w, image.Rectangle{Min: at, Max: at.Add(size)})
	eventually(t, "the place follows", func() bool { return v.capture.Place().Origin == at.Add(image.Pt(2, 2)) })
	c.fill(w, image.Rect(0, 0, 200, 150), 0x445566)
	v.shows("the window is right where it leaves the screen", func() []byte { return plain(size, 0x445566) })
	if p := v.capture.Place(); p.Window != uint32(w) || p.Size != size {
		t.Errorf("place %+v", p)
	}

	for _, size := range []image.Point{{300, 220}, {90, 64}, {501, 333}} {
		c.configure(w, image.Rectangle{Min: at, Max: at.Add(size)})
		c.fill(w, image.Rectangle{Max: size}, uint32(size.X))
		v.shows("the resized window is right", func() []byte { return plain(size, uint32(size.X)) })
	}

	c.property(w, xproto.AtomWmName, "Renamed")
	eventually(t, "the title follows", func() bool { return v.capture.Source().Title == "Renamed" })

	c.must(xproto.UnmapWindowChecked(c.conn, w).Check())
	eventually(t, "the window is paused", func() bool { return v.reader.State().Paused })
	c.must(xproto.MapWindowChecked(c.conn, w).Check())
	eventually(t, "the window is back", func() bool { return !v.reader.State().Paused })
	c.fill(w, image.Rect(0, 0, 501, 333), 0xabcdef)
	v.shows("the window is right again", func() []byte { return plain(image.Pt(501, 333), 0xabcdef) })

	c.must(xproto.DestroyWindowChecked(c.conn, w).Check())
	wantError(t, v.end(), ErrClosed)
	_, err := b.Open(context.Background(), src.ID, Options{})
	wantError(t, err, ErrNotFound)
	if _, ok := sourceOf(t, b, cover); !ok {
		t.Error("the other window is not listed")
	}
}

// TestWindowCoveredFromTheStart opens a window of which no pixel can be seen. A
// real program paints it anew when its pixels get a place of their own.
func TestWindowCoveredFromTheStart(t *testing.T) {
	startX(t, 115, "800x600")
	c := newClient(t, 115)
	w := c.window("Below", image.Rect(50, 50, 250, 200), 0x123123)
	c.window("Above", image.Rect(0, 0, 500, 500), 0xffffff)
	v := watch(t, openX(t, 115), fmt.Sprintf("window:0x%x", uint32(w)), Options{})
	v.shows("the covered window is right", func() []byte { return plain(image.Pt(200, 150), 0x123123) })
}

// TestNothingIsLeftBehind opens and ends captures in every way and counts the
// goroutines.
func TestNothingIsLeftBehind(t *testing.T) {
	cmd := startX(t, 115, "800x600")
	c := newClient(t, 115)
	w := c.window("Short", image.Rect(50, 50, 250, 200), 0x123123)
	before := runtime.NumGoroutine()
	b := openX(t, 115)
	for range 3 {
		for _, id := range []string{"desktop", fmt.Sprintf("window:0x%x", uint32(w))} {
			v := watch(t, b, id, Options{Pointer: true})
			eventually(t, "a picture came", v.take)
			v.cancel()
			if err := v.end(); err != nil {
				t.Errorf("%s ended with %v", id, err)
			}
		}
	}
	eventually(t, "only the list's connection is left", func() bool { return runtime.NumGoroutine() <= before+6 })
	v := watch(t, b, "desktop", Options{})
	eventually(t, "a picture came", v.take)
	c.conn.Close()
	_ = cmd.Process.Kill()
	wantError(t, v.end(), ErrGone)
	eventually(t, "every goroutine has ended", func() bool { return runtime.NumGoroutine() <= before })
}

// TestWindowResizedWhileGrabbed changes a window's size as fast as it can,
// which must never end the capture.
func TestWindowResizedWhileGrabbed(t *testing.T) {
	startX(t, 115, "800x600")
	c := newClient(t, 115)
	w := c.window("Restless", image.Rect(0, 0, 100, 100), 0)
	v := watch(t, openX(t, 115), fmt.Sprintf("window:0x%x", uint32(w)), Options{FPS: 500})
	size := image.Point{}
	for i := range 150 {
		size = image.Pt(100+i%97*3, 90+i%53*5)
		c.configure(w, image.Rectangle{Max: size})
		c.fill(w, image.Rectangle{Max: size}, uint32(i))
		v.take()
	}
	c.fill(w, image.Rectangle{Max: size}, 0x778899)
	v.shows("the last size is right", func() []byte { return plain(size, 0x778899) })
}

// TestManagedWindow uses a real window manager, which puts the window into a
// frame, moves that, and minimises it.
func TestManagedWindow(t *testing.T) {
	for _, name := range []string{"openbox", "xdotool"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed (apt-get install openbox xdotool)", name)
		}
	}
	startX(t, 116, "800x600")
	wm := exec.Command("openbox")
	wm.Env = append(os.Environ(), "DISPLAY=:116", "HOME="+t.TempDir())
	if err := wm.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = wm.Process.Kill(); _ = wm.Wait() })
	b := openX(t, 116)
	c := newClient(t, 116)
	eventually(t, "openbox runs", func() bool { return b.(*x11Backend).server.managed() })
	// Requests that come while openbox still starts stay in its queue until
	// the next event, so that one is sent until it looks.
	c.wake = func() {
		at := int16(time.Now().UnixMilli() % 500)
		c.must(xtest.FakeInputChecked(c.conn, xproto.MotionNotify, 0, 0, c.root, at, at, 0).Check())
		xproto.ChangeProperty(c.conn, xproto.PropModeReplace, c.root, xproto.AtomWmName, xproto.AtomString, 8, 1, []byte("x"))
	}
	size := image.Pt(300, 200)
	w := c.window("Framed", image.Rectangle{Max: size}, 0x22aa44)
	eventually(t, "the window is listed", func() bool { _, ok := sourceOf(t, b, w); return ok })
	src, _ := sourceOf(t, b, w)
	v := watch(t, b, src.ID, Options{})
	v.shows("the inside of the frame is right", func() []byte { return plain(size, 0x22aa44) })

	id := fmt.Sprint(uint32(w))
	run(t, 116, "xdotool", "windowmove", id, "200", "150")
	eventually(t, "the place follows the frame", func() bool {
		area, err := b.(*x11Backend).server.windowArea(w)
		return err == nil && area.Min.X > 150 && v.capture.Place().Origin == area.Min
	})
	v.shows("the moved window is right", func() []byte { return plain(size, 0x22aa44) })

	run(t, 116, "xdotool", "windowminimize", id)
	eventually(t, "the viewer is told", func() bool {
		st := v.reader.State()
		return st.Paused && st.Reason == "the window is minimised"
	})
	_, err := Snapshot(context.Background(), b, src.ID, image.Point{})
	if err == nil || err.Error() != "the window is minimised" {
		t.Errorf("a snapshot of a minimised window gives %v", err)
	}
	if src, ok := sourceOf(t, b, w); !ok || src.Unavailable != "the window is minimised" {
		t.Errorf("listed as %+v", src)
	}
	run(t, 116, "xdotool", "windowmap", id)
	eventually(t, "the window is back", func() bool { return !v.reader.State().Paused })
	c.fill(w, image.Rectangle{Max: size}, 0x010203)
	v.shows("the window is right again", func() []byte { return plain(size, 0x010203) })
}

func TestSnapshot(t *testing.T) {
	startX(t, 115, "800x600")
	c := newClient(t, 115)
	c.fill(c.root, image.Rect(0, 0, 800, 600), 0x102030)
	w := c.window("Small", image.Rect(0, 0, 400, 300), 0xff0000)
	b := openX(t, 115)
	for _, test := range []struct {
		id         string
		most, want image.Point
		at         image.Point
		r, g, b    uint8
	}{
		{"desktop", image.Pt(200, 200), image.Pt(200, 150), image.Pt(190, 140), 0x10, 0x20, 0x30},
		{"desktop", image.Point{}, image.Pt(800, 600), image.Pt(100, 100), 0xff, 0, 0},
		{fmt.Sprintf("window:0x%x", uint32(w)), image.Pt(480, 100), image.Pt(133, 100), image.Pt(50, 50), 0xff, 0, 0},
	} {
		start := time.Now()
		got, err := Snapshot(context.Background(), b, test.id, test.most)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s in %v", test.id, time.Since(start))
		p := got.RGBAAt(test.at.X, test.at.Y)
		if got.Rect.Size() != test.want || p.R != test.r || p.G != test.g || p.B != test.b {
			t.Errorf("%s: size %v color %v, want %v and %x %x %x", test.id, got.Rect.Size(), p, test.want, test.r, test.g, test.b)
		}
	}
}

// TestRealProgram lets xterm scroll through text while its window and the
// desktop are captured, and compares both with the screen once it is done.
func TestRealProgram(t *testing.T) {
	if _, err := exec.LookPath("xterm"); err != nil {
		t.Skip("xterm is not installed (apt-get install xterm)")
	}
	startX(t, 115, "800x600")
	c := newClient(t, 115)
	term := exec.Command("xterm", "-display", ":115", "-geometry", "100x30+20+10", "-e", "sh", "-c", "for n in 1 2 3 4 5 6; do seq 1 300; sleep 0.1; done; printf done; sleep 100")
	if err := term.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = term.Process.Kill(); _ = term.Wait() })
	b := openX(t, 115)
	var src Source
	eventually(t, "xterm is listed", func() bool {
		list, err := b.List(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.App == "XTerm" {
				src = s
			}
		}
		return src.ID != ""
	})
	window, all := watch(t, b, src.ID, Options{}), watch(t, b, "desktop", Options{})
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		select {
		case <-window.reader.Ready():
		case <-all.reader.Ready():
		case <-time.After(time.Until(end)):
		}
		window.take()
		all.take()
	}
	window.shows("the window is what the screen shows", func() []byte { return c.screen(window.capture.Place().area()) })
	all.shows("the desktop is what the screen shows", func() []byte { return c.screen(image.Rect(0, 0, 800, 600)) })
	if window.frames < 5 || all.frames < 5 {
		t.Errorf("%d pictures of the window, %d of the desktop", window.frames, all.frames)
	}
}

func (p Place) area() image.Rectangle {
	return image.Rectangle{Min: p.Origin, Max: p.Origin.Add(p.Size)}
}
