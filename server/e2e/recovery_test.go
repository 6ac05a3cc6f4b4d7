package e2e

import (
	"image"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// backWithin is how soon after what was missing is there again the viewer must
// show it: the host looks every 250 ms, and a browser that reconnects may have
// reached pauses of some seconds.
const backWithin = 10 * time.Second

// logged says whether the host wrote this.
func (v *viewer) logged(words string) bool {
	return strings.Contains(v.host.Process.Output.String(), words)
}

// TestDisplayServerDies: the viewer waits calmly, and goes on with the next one.
func TestDisplayServerDies(t *testing.T) {
	size := image.Pt(1024, 640)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	fillScreen(t, x, size)
	v := watchDesktop(t, x)
	v.waitRight(t, image.Rectangle{})
	for range 2 {
		x.Kill()
		waitState(t, v.Page, "paused", "display")
		t.Log(pageState(v.Page))
		must(t, x.Restart())
		begin := time.Now()
		w := openWindow(t, x, image.Rectangle{Max: size}, "after")
		must(t, w.Draw(image.Point{}, photo(size, 0)))
		waitLive(t, v.Page)
		v.waitRight(t, image.Rectangle{})
		took := time.Since(begin)
		t.Logf("right %v after the restart", took.Round(time.Millisecond))
		if took > backWithin {
			t.Errorf("the picture was right %v after the restart of the display server, not within %v", took, backWithin)
		}
		v.clickLands(t, w, image.Pt(777, 333), image.Pt(777, 333))
	}
	if n := v.sessions(); n != 1 {
		t.Errorf("the viewer needed %d streams, not 1", n)
	}
}

// TestHostRestarts: a paired viewer comes back by itself.
func TestHostRestarts(t *testing.T) {
	size := image.Pt(1024, 640)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	w := fillScreen(t, x, size)
	state := t.TempDir()
	h := startHost(t, desk.HostOptions{Display: x.Name(), StateDir: state})
	v := &viewer{Page: newPage(t, size), x: x, host: h}
	pair(t, v.Page, h.PairURL)
	watch(t, v.Page, "desktop")
	v.waitRight(t, image.Rectangle{})
	address, err := url.Parse(h.URL)
	must(t, err)
	ends := []struct {
		name string
		end  func()
	}{{"stopped", h.Process.Stop}, {"killed", func() { v.host.Process.Kill() }}}
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			e.end()
			waitState(t, v.Page, "reconnecting", "Reconnecting")
			t.Log(pageState(v.Page))
			v.host = restart(t, desk.HostOptions{Display: x.Name(), StateDir: state, Listen: address.Host})
			begin := time.Now()
			waitLive(t, v.Page)
			v.waitRight(t, image.Rectangle{})
			took := time.Since(begin)
			t.Logf("right %v after the restart", took.Round(time.Millisecond))
			if took > backWithin {
				t.Errorf("the viewer was back %v after the host, not within %v", took, backWithin)
			}
			v.clickLands(t, w, image.Pt(500, 300), image.Pt(500, 300))
		})
	}
}

// TestReturnKnowsItsPath: a viewer that comes back over the same route begins with
// what its last stream has learned of it.
func TestReturnKnowsItsPath(t *testing.T) {
	size := image.Pt(800, 600)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	defer fillScreen(t, x, size).Close()
	h := startHost(t, desk.HostOptions{Display: x.Name(), Args: []string{"--log-level", "debug"}})
	v := &viewer{Page: newPage(t, size), x: x, host: h}
	pair(t, v.Page, h.PairURL)
	watch(t, v.Page, "desktop")
	v.waitRight(t, image.Rectangle{})
	expectLog(t, h, 0, "a stream that has found its path", "msg=rate .*state=steady")
	mark := logMark(h)
	must(t, v.Open("about:blank"))
	must(t, v.Open(h.URL))
	watch(t, v.Page, "desktop")
	v.waitRight(t, image.Rectangle{})
	expectLog(t, h, mark, "a stream that knows its path", "msg=rate .*state=starting reason=.*this route carried more before")
}

// restart starts a host on an address that another one has just left; it lives
// as long as the parent test's display.
func restart(t *testing.T, o desk.HostOptions) *desk.Host {
	t.Helper()
	must(t, desk.Poll(within(t, patience), "the address to be free", func() (bool, error) {
		l, err := net.Listen("tcp", o.Listen)
		if err == nil {
			l.Close()
		}
		return err == nil, nil
	}))
	o.Binary = shared.binary
	h, err := desk.StartHost(shared.ctx, o)
	must(t, err)
	return h
}
