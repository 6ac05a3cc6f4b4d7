package e2e

import (
	"image"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// fillScreen opens a window with a photo at one corner and patches of color at
// others, which hears clicks.
func fillScreen(t *testing.T, x *desk.X, size image.Point) *desk.Window {
	t.Helper()
	w := openWindow(t, x, image.Rectangle{Max: size}, "screen")
	for i, c := range colors {
		at := image.Pt(i*97%(size.X-80), i*61%(size.Y-80))
		w.Fill(image.Rectangle{Min: at, Max: at.Add(image.Pt(70, 60))}, c)
	}
	return w
}

// clickLands clicks on a pixel of the viewer's picture and expects the window
// to hear of it at a place of the screen.
func (v *viewer) clickLands(t *testing.T, w *desk.Window, pixel, screen image.Point) {
	t.Helper()
	w.Forget()
	x, y := v.toPage(t, pixel)
	must(t, v.Click(desk.Left, x, y))
	e, err := w.Wait(within(t, patience), func(e desk.Event) bool { return e.Kind == desk.ButtonPress })
	must(t, err)
	if e.Root != screen {
		t.Errorf("a click on %v of the picture landed on %v, not on %v", pixel, e.Root, screen)
	}
	// A host that is killed in the middle of a click leaves the button held.
	_, err = w.Wait(within(t, patience), func(e desk.Event) bool { return e.Kind == desk.ButtonRelease })
	must(t, err)
}

// sessions is how many streams the host has answered.
func (v *viewer) sessions() int {
	return strings.Count(v.host.Process.Output.String(), "viewer answered")
}

// TestResize: the screen's size changes while it is watched.
func TestResize(t *testing.T) {
	full := image.Pt(1280, 800)
	x := startX(t, desk.Screen{Width: full.X, Height: full.Y})
	w := fillScreen(t, x, full)
	v := watchDesktop(t, x)
	v.waitRight(t, image.Rectangle{})
	for _, size := range []image.Point{{1024, 600}, {801, 601}, {1280, 800}} {
		begin := time.Now()
		must(t, x.Resize(size.X, size.Y))
		db := v.waitRight(t, image.Rectangle{})
		t.Logf("%v: %.1f dB, seen right %v after the change began", size, db, time.Since(begin).Round(time.Millisecond))
		for _, at := range []image.Point{{}, {333, 222}, size.Sub(image.Pt(1, 1))} {
			v.clickLands(t, w, at, at)
		}
	}
	if n := v.sessions(); n != 1 {
		t.Errorf("the viewer needed %d streams, not 1", n)
	}
}

// TestMonitors: two monitors of different size and place are two sources.
func TestMonitors(t *testing.T) {
	left, right := image.Rect(0, 0, 800, 600), image.Rect(800, 120, 1280, 480)
	x := startX(t, desk.Screen{Width: 1280, Height: 600})
	must(t, x.SetMonitors(desk.Monitor{Name: "LEFT", Rect: left}, desk.Monitor{Name: "RIGHT", Rect: right}))
	w := fillScreen(t, x, image.Pt(1280, 600))
	v := watchSource(t, x, "display:LEFT")
	second := &viewer{Page: newPage(t, right.Size()), x: x, host: v.host}
	link, err := v.host.Pair(t.Context(), "control")
	must(t, err)
	pair(t, second.Page, link)
	ids, err := desk.Eval[[]string](second.Page, "fetch('/api/sources').then(r => r.json()).then(l => l.filter(s => s.kind == 'display').map(s => [s.id, s.x, s.y, s.width, s.height].join(' ')))")
	must(t, err)
	if got := strings.Join(ids, ", "); got != "display:LEFT 0 0 800 600, display:RIGHT 800 120 480 360" {
		t.Errorf("the sources are %s", got)
	}
	watch(t, second.Page, "display:RIGHT")
	t.Logf("left %.1f dB, right %.1f dB", v.waitRight(t, left), second.waitRight(t, right))
	second.clickLands(t, w, image.Pt(17, 31), right.Min.Add(image.Pt(17, 31)))
	v.clickLands(t, w, image.Pt(17, 31), image.Pt(17, 31))
	v.testUnplug(t, second, right)
}

// testUnplug takes the second monitor away and brings it back.
func (v *viewer) testUnplug(t *testing.T, second *viewer, place image.Rectangle) {
	must(t, v.x.RemoveMonitor("RIGHT"))
	waitState(t, second.Page, "paused", "RIGHT")
	t.Logf("unplugged: %s", pageState(second.Page))
	must(t, v.x.SetMonitors(desk.Monitor{Name: "LEFT", Rect: image.Rect(0, 0, 800, 600)}, desk.Monitor{Name: "RIGHT", Rect: place}))
	waitLive(t, second.Page)
	second.waitRight(t, place)
	v.waitRight(t, image.Rect(0, 0, 800, 600))
}
