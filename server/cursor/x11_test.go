//go:build linux

package cursor

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// The display numbers that these tests try, in turn.
const (
	firstDisplay = 125
	displays     = 5
)

var nextDisplay = 0

// startX runs an X server until the test ends, and returns its display name
// and a function that kills it.
func startX(t testing.TB) (display string, kill func()) {
	t.Helper()
	if _, err := exec.LookPath("Xvfb"); err != nil {
		t.Skip("Xvfb is not installed")
	}
	for range displays {
		display = fmt.Sprintf(":%d", firstDisplay+nextDisplay)
		nextDisplay = (nextDisplay + 1) % displays
		if kill, ok := tryX(t, display); ok {
			return display, kill
		}
	}
	t.Fatalf("Xvfb starts on none of the displays :%d to :%d", firstDisplay, firstDisplay+displays-1)
	return "", nil
}

// tryX starts an X server; it says its display number when it is ready.
func tryX(t testing.TB, display string) (kill func(), ok bool) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command("Xvfb", display, "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{write}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	kill = func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }
	// The server dies when nobody reads the whole line.
	if _, err := bufio.NewReader(read).ReadString('\n'); err != nil {
		kill()
		return nil, false
	}
	t.Cleanup(kill)
	return kill, true
}

// hand is a client that moves the pointer and changes its shape.
type hand struct {
	*xgb.Conn
	root xproto.Window
}

func newHand(t testing.TB, display string) hand {
	t.Helper()
	conn, err := xgb.NewConnDisplay(display)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for _, start := range []func(*xgb.Conn) error{xtest.Init, xfixes.Init} {
		if err := start(conn); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := xfixes.QueryVersion(conn, 4, 0).Reply(); err != nil {
		t.Fatal(err)
	}
	return hand{conn, xproto.Setup(conn).DefaultScreen(conn).Root}
}

func (h hand) move(x, y int) {
	xtest.FakeInput(h.Conn, xproto.MotionNotify, 0, 0, h.root, int16(x), int16(y), 0)
}

// cursor gives the root window a cursor: a glyph of the cursor font, or an
// empty one when glyph is negative.
func (h hand) cursor(t testing.TB, glyph int) {
	t.Helper()
	cursor, err := xproto.NewCursorId(h.Conn)
	if err != nil {
		t.Fatal(err)
	}
	if glyph < 0 {
		pixmap, _ := xproto.NewPixmapId(h.Conn)
		xproto.CreatePixmap(h.Conn, 1, pixmap, xproto.Drawable(h.root), 16, 16)
		gc, _ := xproto.NewGcontextId(h.Conn)
		xproto.CreateGC(h.Conn, gc, xproto.Drawable(pixmap), xproto.GcForeground, []uint32{0})
		xproto.PolyFillRectangle(h.Conn, xproto.Drawable(pixmap), gc, []xproto.Rectangle{{Width: 16, Height: 16}})
		xproto.CreateCursor(h.Conn, cursor, pixmap, pixmap, 0, 0, 0, 0, 0, 0, 0, 0)
	} else {
		font, _ := xproto.NewFontId(h.Conn)
		xproto.OpenFont(h.Conn, font, uint16(len("cursor")), "cursor")
		xproto.CreateGlyphCursor(h.Conn, cursor, font, font, uint16(glyph), uint16(glyph+1), 0, 0, 0, 0xffff, 0xffff, 0xffff)
	}
	err = xproto.ChangeWindowAttributesChecked(h.Conn, h.root, xproto.CwCursor, []uint32{uint32(cursor)}).Check()
	if err != nil {
		t.Fatal(err)
	}
}

func openTracker(t testing.TB, display string) *Tracker {
	t.Helper()
	tr, err := Open(display)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return tr
}

// until waits for signals until ok is true, at most 5 s.
func until(t testing.TB, s *Subscription, what string, ok func(x, y int, visible bool, id string) bool) {
	t.Helper()
	limit := time.After(5 * time.Second)
	for !ok(s.Pointer()) {
		select {
		case <-s.Ready():
		case <-limit:
			x, y, visible, id := s.Pointer()
			t.Fatalf("%s: not within 5 s; pointer at %d,%d visible %v shape %s", what, x, y, visible, id)
		}
	}
}

func TestFollowsARealPointer(t *testing.T) {
	for _, told := range []bool{true, false} {
		t.Run(fmt.Sprintf("told %v", told), func(t *testing.T) {
			display, _ := startX(t)
			tr, h := openTracker(t, display), newHand(t, display)
			if !tr.sig.told.Load() {
				t.Fatal("XInput 2 is not used")
			}
			if !told {
				tr.src.(*x11).motion.close()
			}
			s := tr.Subscribe()
			until(t, s, "start", func(_, _ int, _ bool, id string) bool { return id != "" })
			for _, p := range [][2]int{{10, 20}, {799, 599}, {0, 0}, {300, 301}} {
				h.move(p[0], p[1])
				until(t, s, "motion", func(x, y int, _ bool, _ string) bool { return x == p[0] && y == p[1] })
			}
			xproto.WarpPointer(h.Conn, 0, h.root, 0, 0, 0, 0, 55, 66)
			until(t, s, "warp", func(x, y int, _ bool, _ string) bool { return x == 55 && y == 66 })
		})
	}
}

func TestFollowsTheShape(t *testing.T) {
	display, _ := startX(t)
	tr, h := openTracker(t, display), newHand(t, display)
	s := tr.Subscribe()
	var ids []string
	until(t, s, "start", func(_, _ int, _ bool, id string) bool {
		ids = []string{id}
		return id != ""
	})
	// xterm's glyph, the arrow, and the first again.
	for _, glyph := range []int{152, 68, 152} {
		h.cursor(t, glyph)
		var known string
		until(t, s, "shape", func(_, _ int, visible bool, id string) bool {
			known = id
			shape, ok := s.Shape(id)
			return visible && ok && shape.Size.X > 1 && id != ids[len(ids)-1]
		})
		ids = append(ids, known)
	}
	if ids[1] != ids[3] {
		t.Errorf("the same shape has the ids %s and %s", ids[1], ids[3])
	}
	h.cursor(t, -1)
	until(t, s, "hidden", func(_, _ int, visible bool, _ string) bool { return !visible })
}

func TestServerDies(t *testing.T) {
	display, kill := startX(t)
	tr := openTracker(t, display)
	s := tr.Subscribe()
	until(t, s, "start", func(_, _ int, _ bool, id string) bool { return id != "" })
	kill()
	<-tr.Done()
	if !errors.Is(tr.Err(), ErrGone) {
		t.Errorf("err %v, want ErrGone", tr.Err())
	}
	if _, _, visible, _ := s.Pointer(); visible {
		t.Error("the pointer still shows")
	}
	if _, err := Open(display); err == nil {
		t.Error("a dead display opened")
	}
}

// BenchmarkMotionToReady measures from an XTEST motion to the signal of the
// subscription.
func BenchmarkMotionToReady(b *testing.B) {
	display, _ := startX(b)
	tr, h := openTracker(b, display), newHand(b, display)
	s := tr.Subscribe()
	until(b, s, "start", func(_, _ int, _ bool, id string) bool { return id != "" })
	n := 0
	for b.Loop() {
		// Not faster than the tracker looks.
		b.StopTimer()
		time.Sleep(2 * spacing)
		b.StartTimer()
		n++
		h.move(10+n%700, 10)
		until(b, s, "motion", func(x, _ int, _ bool, _ string) bool { return x == 10+n%700 })
	}
}

// BenchmarkAtRest reports the processor time that a watched pointer at rest
// takes, in parts of a core.
func BenchmarkAtRest(b *testing.B) {
	display, _ := startX(b)
	for _, mode := range []string{"unwatched", "told", "not told"} {
		b.Run(mode, func(b *testing.B) {
			tr := openTracker(b, display)
			if mode == "not told" {
				tr.src.(*x11).motion.close()
			}
			if mode != "unwatched" {
				tr.Subscribe()
			}
			time.Sleep(sleepsAfter + time.Second)
			const rest = 5 * time.Second
			before := processorTime()
			for b.Loop() {
				time.Sleep(rest)
			}
			used := processorTime() - before
			b.ReportMetric(100*float64(used)/float64(rest*time.Duration(b.N)), "%core")
		})
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
