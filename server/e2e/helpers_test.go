package e2e

import (
	"context"
	"fmt"
	"image"
	"net/url"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// patience bounds the wait for anything that works. It is long because the
// machine may be busy; a test that fails may take it.
const patience = 30 * time.Second

// sharpDB is the luma PSNR from which a picture counts as right.
const sharpDB = 45

// within gives a context with this limit.
func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, fmt.Errorf("not within %v", limit))
	t.Cleanup(cancel)
	return ctx
}

// must fails the test at once for an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// startX starts an X server that ends with the test.
func startX(t *testing.T, s desk.Screen) *desk.X {
	t.Helper()
	x, err := desk.StartXvfb(shared.ctx, s)
	must(t, err)
	t.Cleanup(x.Close)
	return x
}

// openWindow shows a plain window that ends with the test.
func openWindow(t *testing.T, x *desk.X, place image.Rectangle, title string) *desk.Window {
	t.Helper()
	w, err := desk.OpenWindow(x.Name(), place, title)
	must(t, err)
	t.Cleanup(w.Close)
	return w
}

// startHost starts a host that ends with the test; what it wrote is shown when
// the test fails.
func startHost(t *testing.T, o desk.HostOptions) *desk.Host {
	t.Helper()
	o.Binary = shared.binary
	h, err := desk.StartHost(shared.ctx, o)
	must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the host wrote last:\n%s", h.Process.Output.Tail(40))
		}
		h.Close()
	})
	return h
}

// newPage opens a page with cookies of its own and room for a picture of this
// size, drawn 1:1.
func newPage(t *testing.T, size image.Point) *desk.Page {
	t.Helper()
	return newPageIn(t, browser(t), size)
}

// newPageIn is newPage in a browser of its own.
func newPageIn(t *testing.T, b *desk.Chromium, size image.Point) *desk.Page {
	t.Helper()
	p, err := b.NewPage()
	must(t, err)
	t.Cleanup(p.Close)
	must(t, p.Viewport(desk.Viewport{Width: size.X, Height: size.Y}))
	return p
}

// pair pairs a page by a link with a code, such as Host.PairURL, and waits for
// the list of sources.
func pair(t *testing.T, p *desk.Page, link string) {
	t.Helper()
	must(t, p.Open(link))
	must(t, p.WaitFor("window.nearglass?.state == 'sources'", patience))
}

// watch opens a source on a paired page and waits until its pictures are shown.
func watch(t *testing.T, p *desk.Page, source string) {
	t.Helper()
	must(t, p.Run("location.hash = '#/watch/"+url.PathEscape(source)+"'"))
	waitLive(t, p)
}

// waitLive waits until the page shows pictures of a connected source.
func waitLive(t *testing.T, p *desk.Page) {
	t.Helper()
	if err := p.WaitFor("nearglass.state == 'live' && nearglass.frames > 0", patience); err != nil {
		state, _ := desk.Eval[string](p, "nearglass.state + ' ' + (document.querySelector('[data-testid=verdict]')?.innerText ?? '')")
		t.Fatalf("%v; the page's state is %s", err, state)
	}
}

// viewer is a page that watches a source of a host on a display.
type viewer struct {
	*desk.Page
	x    *desk.X
	host *desk.Host
}

// watchDesktop starts a host on the display and watches its whole desktop.
func watchDesktop(t *testing.T, x *desk.X) *viewer {
	t.Helper()
	return watchSource(t, x, "desktop")
}

// watchSource starts a host on the display, with more flags of serve, and
// watches one source.
func watchSource(t *testing.T, x *desk.X, source string, flags ...string) *viewer {
	t.Helper()
	shot, err := x.Grab()
	must(t, err)
	h := startHost(t, desk.HostOptions{Display: x.Name(), Args: flags})
	p := newPage(t, shot.Rect.Size())
	pair(t, p, h.PairURL)
	watch(t, p, source)
	return &viewer{Page: p, x: x, host: h}
}

// grab is a part of the X server's screen, an empty rectangle meaning all of it.
func (v *viewer) grab(t *testing.T, r image.Rectangle) *image.RGBA {
	t.Helper()
	img, err := v.x.Grab()
	must(t, err)
	if r.Empty() {
		return img
	}
	return img.SubImage(r).(*image.RGBA)
}

// waitRight waits until the viewer's picture is the X server's part r (empty:
// the whole screen), which must be still, and gives the PSNR in decibels.
func (v *viewer) waitRight(t *testing.T, r image.Rectangle) float64 {
	t.Helper()
	var last string
	var db float64
	err := desk.Poll(within(t, patience), "the right picture", func() (bool, error) {
		want := v.grab(t, r)
		got, err := v.luma()
		if err != nil {
			last = err.Error() // no picture yet
			return false, nil
		}
		if got.size == even(want.Rect.Size()) {
			got = got.part(image.Rectangle{Max: want.Rect.Size()})
		}
		if got.size != want.Rect.Size() {
			last = fmt.Sprintf("the picture is %v, the screen %v", got.size, want.Rect.Size())
			return false, nil
		}
		db, last = got.psnr(want), got.differences(want)
		return db >= sharpDB, nil
	})
	if err != nil {
		t.Fatalf("%v; last: %s", err, last)
	}
	return db
}

// toPage gives the place in the page, in CSS pixels, of the middle of a pixel
// of the source's picture.
func (v *viewer) toPage(t *testing.T, at image.Point) (x, y float64) {
	t.Helper()
	type spot struct{ X, Y float64 }
	s, err := desk.Eval[spot](v.Page, fmt.Sprintf(`(() => {
		const p = nearglass.view, v = document.querySelector("video");
		return { X: p.left + (%d + 0.5) * p.width / v.videoWidth, Y: p.top + (%d + 0.5) * p.height / v.videoHeight };
	})()`, at.X, at.Y))
	must(t, err)
	return s.X, s.Y
}

// hostStats are the host's own figures, as the stats overlay has them.
type hostStats struct {
	Encoded    int
	KeyFrames  int
	Repaired   int
	Redone     int
	Resends    int
	TargetKbps float64
	QP         float64
	Width      int
	Height     int
}

// stats asks the host for its figures of now: the answer is at most a little
// over a second old, so what they count is compared over longer times.
func (v *viewer) stats(t *testing.T) hostStats {
	t.Helper()
	var s hostStats
	must(t, desk.Poll(within(t, patience), "the host's figures", func() (bool, error) {
		got, err := desk.Eval[*hostStats](v.Page, `nearglass.stats().then(s => s?.host ? {
			Encoded: s.host.encoded, KeyFrames: s.host.keyFrames, Repaired: s.host.repaired, Redone: s.host.redone, Resends: s.host.resends,
			TargetKbps: s.host.targetKbps, QP: s.host.qp, Width: s.host.width, Height: s.host.height } : null)`)
		if err != nil || got == nil {
			return false, err
		}
		s = *got
		return true, nil
	}))
	return s
}

// pageState is the page's own word for what it shows, and the text of its
// notice or verdict.
func pageState(p *desk.Page) string {
	s, err := desk.Eval[string](p, `nearglass.state + ": " + ["notice", "verdict"].map(n => document.querySelector("[data-testid=" + n + "]"))
		.filter(e => e && !e.hidden).map(e => e.innerText).join(" ")`)
	if err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(s), " ")
}

// waitState waits until pageState contains every one of these words.
func waitState(t *testing.T, p *desk.Page, words ...string) {
	t.Helper()
	var last string
	err := desk.Poll(within(t, patience), "the page to say "+strings.Join(words, ", "), func() (bool, error) {
		last = pageState(p)
		for _, w := range words {
			if !strings.Contains(last, w) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("%v; it says %q", err, last)
	}
}
