package capture

import (
	"context"
	"errors"
	"image"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"nearglass/gpu"
)

func TestDisplayIsExact(t *testing.T) {
	startX(t, 110, "640x480")
	c := newClient(t, 110)
	c.fill(c.root, image.Rect(0, 0, 640, 480), 0x204060)
	c.fill(c.root, image.Rect(100, 50, 300, 200), 0xff8001)
	for _, shm := range []bool{true, false} {
		b := openX(t, 110)
		v := watchChanged(t, b, "desktop", Options{}, func(c Capture) { c.(*x11Capture).remote = !shm })
		all := image.Rect(0, 0, 640, 480)
		v.shows("the first picture is right", func() []byte { return c.screen(all) })

		c.fill(c.root, image.Rect(10, 20, 18, 36), 0x00ff00)
		v.shows("the changed part is right", func() []byte { return c.screen(all) })
		if len(v.last) != 1 || v.last[0] != image.Rect(10, 20, 18, 36) {
			t.Errorf("damage %v, want the changed rectangle alone", v.last)
		}
		c.fill(c.root, image.Rect(10, 20, 18, 36), 0x204060)

		random := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			at := image.Pt(random.IntN(600), random.IntN(440))
			c.fill(c.root, image.Rectangle{Min: at, Max: at.Add(image.Pt(1+random.IntN(40), 1+random.IntN(40)))}, random.Uint32())
			v.take()
		}
		v.shows("the picture is right after 300 changes", func() []byte { return c.screen(all) })
		v.stop()
		v.done = make(chan error, 1)
		v.done <- nil
	}
}

// TestStillScreenIsFree checks that nothing is grabbed while nothing changes,
// and that the process hardly runs.
func TestStillScreenIsFree(t *testing.T) {
	startX(t, 110, "1920x1080")
	c := newClient(t, 110)
	v := watch(t, openX(t, 110), "desktop", Options{})
	v.shows("the first picture is there", func() []byte { return c.screen(image.Rect(0, 0, 1920, 1080)) })
	before, frames := cpuTime(t), v.frames
	time.Sleep(1500 * time.Millisecond)
	for v.take() {
	}
	if v.frames != frames {
		t.Errorf("%d pictures of a still screen", v.frames-frames)
	}
	used := cpuTime(t) - before
	t.Logf("CPU used in 1.5 s of stillness: %v", used)
	if used > 30*time.Millisecond {
		t.Errorf("%v of CPU used in 1.5 s of stillness", used)
	}
	for i := range 50 {
		c.must(xtest.FakeInputChecked(c.conn, xproto.MotionNotify, 0, 0, c.root, int16(20*i), int16(10*i), 0).Check())
		time.Sleep(5 * time.Millisecond)
		v.take()
	}
	if v.frames != frames {
		t.Errorf("%d pictures because the pointer moved", v.frames-frames)
	}
}

// TestPictureNamesItsInputs: a picture carries the newest input before what is in
// it was drawn, and not one that was applied while it was copied.
func TestPictureNamesItsInputs(t *testing.T) {
	startX(t, 110, "640x480")
	c := newClient(t, 110)
	var newest atomic.Uint64
	newest.Store(7)
	v := watch(t, openX(t, 110), "desktop", Options{Mark: newest.Load})
	all := image.Rect(0, 0, 640, 480)
	v.shows("the first picture is there", func() []byte { return c.screen(all) })
	for n := uint64(8); n < 20; n++ {
		newest.Store(n)
		c.fill(c.root, image.Rect(10, 10, 30, 30), uint32(n)*0x0a0b0c)
		v.shows("the picture is right", func() []byte { return c.screen(all) })
		if v.mark != n {
			t.Errorf("the picture after input %d names %d", n, v.mark)
		}
	}
}

func cpuTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestMonitors(t *testing.T) {
	startX(t, 110, "1280x800")
	c := newClient(t, 110)
	run(t, 110, "xrandr", "--setmonitor", "left", "800/200x800/200+0+0", "screen")
	run(t, 110, "xrandr", "--setmonitor", "right", "480/120x640/160+800+100", "none")
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		at := image.Pt(random.IntN(1200), random.IntN(700))
		c.fill(c.root, image.Rectangle{Min: at, Max: at.Add(image.Pt(100, 80))}, random.Uint32())
	}
	b := openX(t, 110)
	list, err := b.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(list)
	areas := map[string]image.Rectangle{}
	for _, s := range list {
		areas[s.ID] = s.Bounds
	}
	for id, area := range map[string]image.Rectangle{
		"display:left": image.Rect(0, 0, 800, 800), "display:right": image.Rect(800, 100, 1280, 740), "desktop": image.Rect(0, 0, 1280, 800),
	} {
		if areas[id] != area {
			t.Errorf("%s lies at %v, want %v", id, areas[id], area)
		}
		v := watch(t, b, id, Options{})
		v.shows(id+" is right", func() []byte { return c.screen(area) })
		c.fill(c.root, image.Rect(780, 300, 840, 340), random.Uint32())
		v.shows(id+" is right after a change across the border", func() []byte { return c.screen(area) })
		if p := v.capture.Place(); p.Origin != area.Min || p.Size != area.Size() {
			t.Errorf("%s: place %v, want %v", id, p, area)
		}
	}

	v := watch(t, b, "display:right", Options{})
	v.shows("the monitor is right", func() []byte { return c.screen(areas["display:right"]) })
	run(t, 110, "xrandr", "--delmonitor", "right")
	err = v.end()
	wantError(t, err, ErrGone)
	if !strings.Contains(err.Error(), "right") {
		t.Errorf("the error %q does not name the monitor", err)
	}
	_, err = b.Open(context.Background(), "display:right", Options{})
	wantError(t, err, ErrNotFound)

	run(t, 110, "xrandr", "--delmonitor", "left")
	old := b.(*x11Backend).server
	for _, version := range []int{5, 4, 0} {
		old.randr = version // what an older server has
		if list, err := old.monitors(); err != nil || len(list) != 1 || list[0] != (monitor{"screen", image.Rect(0, 0, 1280, 800)}) {
			t.Errorf("with RandR 1.%d: %v, %v", version, list, err)
		}
	}
}

func TestResolutionChange(t *testing.T) {
	startX(t, 111, "1280x800")
	c := newClient(t, 111)
	v := watch(t, openX(t, 111), "desktop", Options{})
	v.shows("the first picture is there", func() []byte { return c.screen(image.Rect(0, 0, 1280, 800)) })
	run(t, 111, "xrandr", "--newmode", "small", "38.25", "800", "832", "912", "1024", "600", "603", "607", "624")
	run(t, 111, "xrandr", "--addmode", "screen", "small")
	run(t, 111, "xrandr", "--output", "screen", "--mode", "small")
	c.fill(c.root, image.Rect(0, 0, 800, 600), 0x123456)
	v.shows("the smaller picture is right", func() []byte { return c.screen(image.Rect(0, 0, 800, 600)) })
	run(t, 111, "xrandr", "--output", "screen", "--mode", "1280x800")
	v.shows("the larger picture is right", func() []byte { return c.screen(image.Rect(0, 0, 1280, 800)) })
	if size := v.capture.Place().Size; size != image.Pt(1280, 800) {
		t.Errorf("place has size %v", size)
	}
}

func TestServerKilled(t *testing.T) {
	cmd := startX(t, 112, "640x480")
	c := newClient(t, 112)
	b := openX(t, 112)
	v := watch(t, b, "desktop", Options{})
	v.shows("the first picture is there", func() []byte { return c.screen(image.Rect(0, 0, 640, 480)) })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wantError(t, v.end(), ErrGone)
	eventually(t, "the list says that the server is gone", func() bool {
		_, err := b.List(context.Background())
		return errors.Is(err, ErrGone)
	})
	_, err := b.Open(context.Background(), "desktop", Options{})
	wantError(t, err, ErrGone)
	_, err = OpenX11(":112")
	wantError(t, err, ErrGone)

	_ = cmd.Wait()
	startX(t, 112, "640x480")
	if _, err := openX(t, 112).List(context.Background()); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// TestServerHangs stops the server, which then answers nothing and closes
// nothing: whoever waits must still be able to leave.
func TestServerHangs(t *testing.T) {
	cmd := startX(t, 114, "640x480")
	c := newClient(t, 114)
	b := openX(t, 114)
	v := watch(t, b, "desktop", Options{Pointer: true})
	eventually(t, "the first picture came", v.take)
	c.fill(c.root, image.Rect(0, 0, 640, 480), 0x204060)
	c.must(cmd.Process.Signal(syscall.SIGSTOP))
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGCONT) })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := b.List(ctx)
	wantError(t, err, context.DeadlineExceeded)
	_, err = b.Open(ctx, "desktop", Options{})
	wantError(t, err, context.DeadlineExceeded)
	time.Sleep(100 * time.Millisecond) // the capture now waits for the server
	v.cancel()
	if err := v.end(); err != nil {
		t.Errorf("the capture ended with %v", err)
	}
}

// TestSilenceIsTold: a server that hangs while nothing on the screen changes is
// told from one that has nothing to say.
func TestSilenceIsTold(t *testing.T) {
	cmd := startX(t, 114, "640x480")
	c := newClient(t, 114)
	v := watch(t, openX(t, 114), "desktop", Options{})
	eventually(t, "the first picture came", v.take)
	c.must(cmd.Process.Signal(syscall.SIGSTOP))
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGCONT) })
	waits := func() time.Duration {
		if _, asking := v.reader.Published(time.Now()); !asking.IsZero() {
			return time.Since(asking)
		}
		return 0
	}
	eventually(t, "the server owes an answer for half a second", func() bool { return waits() > 500*time.Millisecond })
	c.must(cmd.Process.Signal(syscall.SIGCONT))
	eventually(t, "the server has answered", func() bool { return waits() == 0 })
}

// TestPointerInPicture compares the picture with the pointer to one made by
// hand from what the server says.
func TestPointerInPicture(t *testing.T) {
	startX(t, 110, "640x480")
	c := newClient(t, 110)
	all := image.Rect(0, 0, 640, 480)
	w := c.window("cross", image.Rect(300, 0, 640, 480), 0xd0d0d0)
	c.must(xproto.ChangeWindowAttributesChecked(c.conn, w, xproto.CwCursor, []uint32{uint32(glyphCursor(c, 34))}).Check())
	c.must(xproto.ChangeWindowAttributesChecked(c.conn, c.root, xproto.CwCursor, []uint32{uint32(glyphCursor(c, 68))}).Check())
	v := watch(t, openX(t, 110), "desktop", Options{Pointer: true})
	s, err := dialX(":110")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	want := func() []byte {
		p, err := newPointer(s)
		c.must(err)
		c.must(p.fetch())
		at, err := xproto.QueryPointer(c.conn, c.root).Reply()
		c.must(err)
		pix := c.screen(all)
		p.shape.draw(pix, 4*640, all, image.Pt(int(at.RootX), int(at.RootY)))
		return pix
	}
	for i, at := range []image.Point{{50, 50}, {52, 51}, {400, 50}, {410, 300}, {0, 0}, {639, 479}, {100, 100}} {
		c.must(xtest.FakeInputChecked(c.conn, xproto.MotionNotify, 0, 0, c.root, int16(at.X), int16(at.Y), 0).Check())
		v.shows("the pointer is in the picture", want)
		c.fill(c.root, image.Rect(at.X-20, at.Y-3, at.X+5, at.Y+3), uint32(i)*0x102030)
		v.shows("what lies below the pointer is right", want)
	}
	for v.take() {
	}
	frames := v.frames
	time.Sleep(300 * time.Millisecond)
	v.take()
	if v.frames != frames {
		t.Error("pictures came while the pointer rested")
	}
}

// glyphCursor makes a cursor from the server's cursor font.
func glyphCursor(c *xclient, glyph uint16) xproto.Cursor {
	font, _ := xproto.NewFontId(c.conn)
	c.must(xproto.OpenFontChecked(c.conn, font, 6, "cursor").Check())
	id, _ := xproto.NewCursorId(c.conn)
	c.must(xproto.CreateGlyphCursorChecked(c.conn, id, font, font, glyph, glyph+1, 0, 0, 0, 0xffff, 0xffff, 0xffff).Check())
	return id
}

func BenchmarkFullGrab1080p(b *testing.B) {
	startX(b, 113, "1920x1080")
	s, err := dialX(":113")
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	size := image.Pt(1920, 1080)
	memory, mem := newMemory(s, size)
	ring := gpu.NewRing()
	ring.Configure(size, memory.stride, gpu.BGRA, mem)
	defer ring.Close(nil)
	slot, _ := ring.Acquire()
	b.ReportAllocs()
	for b.Loop() {
		if err := memory.grab(xproto.Drawable(s.root), image.Point{}, slot, []image.Rectangle{{Max: size}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChangeToPicture is the time from a small change on a 1080p screen
// until a reader has the picture of it, on a capture that was at rest.
func BenchmarkChangeToPicture(b *testing.B) {
	startX(b, 113, "1920x1080")
	c := newClient(b, 113)
	v := watch(b, openX(b, 113), "desktop", Options{FPS: 10000})
	eventually(b, "the first picture came", v.take)
	color := uint32(0)
	for b.Loop() {
		color += 0x010203
		xproto.ChangeGC(c.conn, c.gc, xproto.GcForeground, []uint32{color})
		xproto.PolyFillRectangle(c.conn, xproto.Drawable(c.root), c.gc, []xproto.Rectangle{{X: 100, Y: 100, Width: 20, Height: 20}})
		for {
			<-v.reader.Ready()
			if v.take() {
				break
			}
		}
	}
}

// BenchmarkScroll1080p changes the whole screen all the time and reports how
// many pictures a second come at the default rate.
func BenchmarkScroll1080p(b *testing.B) {
	startX(b, 113, "1920x1080")
	c := newClient(b, 113)
	v := watch(b, openX(b, 113), "desktop", Options{})
	eventually(b, "the first picture came", v.take)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(4 * time.Millisecond)
		defer tick.Stop()
		for i := uint32(0); ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
				xproto.CopyArea(c.conn, xproto.Drawable(c.root), xproto.Drawable(c.root), c.gc, 0, 8, 0, 0, 1920, 1072)
				xproto.ChangeGC(c.conn, c.gc, xproto.GcForeground, []uint32{i * 0x10305})
				xproto.PolyFillRectangle(c.conn, xproto.Drawable(c.root), c.gc, []xproto.Rectangle{{Y: 1072, Width: 1920, Height: 8}})
			}
		}
	}()
	start, frames := time.Now(), 0
	for b.Loop() {
		for {
			<-v.reader.Ready()
			if f, _ := v.reader.Take(); f != nil {
				f.Release()
				frames++
				break
			}
		}
	}
	b.ReportMetric(float64(frames)/time.Since(start).Seconds(), "pictures/s")
	close(stop)
	<-stopped
}

func TestNextDue(t *testing.T) {
	const every = 16 * time.Millisecond
	start := time.Unix(1000, 0)
	for _, test := range []struct {
		name      string
		late, due time.Duration // of the picture before, and of the next one
	}{
		{"on time", 0, every},
		{"a little late", 3 * time.Millisecond, every},
		{"much too late", 10 * time.Millisecond, 10*time.Millisecond + every/2},
		{"after a rest", time.Second, time.Second + every/2},
	} {
		if got := nextDue(start, start.Add(test.late), every).Sub(start); got != test.due {
			t.Errorf("%s: due after %v, want %v", test.name, got, test.due)
		}
	}
}
