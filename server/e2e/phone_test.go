package e2e

import (
	"fmt"
	"image"
	"math"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// upright and lying are a small phone in both orientations.
var (
	upright = desk.Phone
	lying   = desk.Viewport{Width: 740, Height: 360, Scale: 3, Mobile: true, Touch: true, Landscape: true}
)

// phoneOn pairs a phone with a host on a display and watches the desktop.
func phoneOn(t *testing.T, x *desk.X, port desk.Viewport) *viewer {
	t.Helper()
	h := startHost(t, desk.HostOptions{Display: x.Name()})
	p, err := browser(t).NewPage()
	must(t, err)
	t.Cleanup(p.Close)
	must(t, p.Viewport(port))
	pair(t, p, h.PairURL)
	watch(t, p, "desktop")
	v := &viewer{Page: p, x: x, host: h}
	v.settleLayout(t)
	return v
}

// TestPhoneFingers: what fingers do lands where they touch, in both
// orientations, also in a zoomed picture.
func TestPhoneFingers(t *testing.T) {
	x := startX(t, desk.Screen{Width: 1280, Height: 720})
	ground := openWindow(t, x, image.Rect(0, 0, 1280, 720), "ground")
	v := phoneOn(t, x, upright)
	for _, c := range []struct {
		name string
		port desk.Viewport
	}{{"upright", upright}, {"lying", lying}} {
		t.Run(c.name, func(t *testing.T) {
			v.fit(t, c.port)
			v.testTaps(t, ground)
			v.testLongPress(t, ground)
			v.testTwoFingers(t, ground)
			v.testTapDrag(t, ground)
			v.testZoom(t, ground)
			v.testStays(t)
		})
	}
	waitNothingHeld(t, x)
}

// tap touches the middle of a pixel of the picture.
func (v *viewer) tap(t *testing.T, spot image.Point) {
	t.Helper()
	px, py := v.toPage(t, spot)
	must(t, v.Tap(px, py))
}

// apartTaps waits until another tap cannot be the second of a double tap.
func apartTaps() { time.Sleep(350 * time.Millisecond) }

func (v *viewer) testTaps(t *testing.T, ground *desk.Window) {
	t.Helper()
	for _, spot := range []image.Point{{3, 400}, {641, 361}, {1277, 650}} {
		ground.Forget()
		v.tap(t, spot)
		up := waitEvent(t, ground, fmt.Sprintf("the tap on %v", spot), isRelease(1))
		down := waitEvent(t, ground, "the tap", isPress(1))
		if down.Root != spot || up.Root != spot {
			t.Errorf("a tap on %v came as %v to %v", spot, down.Root, up.Root)
		}
		apartTaps()
	}
}

func (v *viewer) testLongPress(t *testing.T, ground *desk.Window) {
	t.Helper()
	ground.Forget()
	spot := at(700, 300)
	px, py := v.toPage(t, spot)
	must(t, v.TouchStart(desk.Finger{X: px, Y: py}))
	must(t, v.WaitFor("document.querySelector('.touch-ring.on')", patience))
	must(t, v.TouchEnd())
	if e := waitEvent(t, ground, "the long press", isPress(3)); e.Root != spot {
		t.Errorf("a long press on %v clicked %v", spot, e.Root)
	}
	waitEvent(t, ground, "its end", isRelease(3))
	for _, e := range ground.Events() {
		if e.Detail == 1 {
			t.Errorf("a long press also gave %+v", e)
		}
	}
}

// testTwoFingers scrolls by two fingers: the content follows them.
func (v *viewer) testTwoFingers(t *testing.T, ground *desk.Window) {
	t.Helper()
	for _, c := range []struct {
		name   string
		dx, dy float64
		button int
	}{{"up", 0, -1, 5}, {"down", 0, 1, 4}, {"left", -1, 0, 7}, {"right", 1, 0, 6}} {
		ground.Forget()
		px, py := v.toPage(t, at(640, 360))
		a, b := desk.Finger{X: px - 40, Y: py}, desk.Finger{X: px + 40, Y: py}
		must(t, v.TouchStart(a, b))
		const steps, way = 12, 132.0 // CSS pixels; 40 are a notch
		for i := 1; i <= steps; i++ {
			d := way * float64(i) / steps
			must(t, v.TouchMove(desk.Finger{X: a.X + c.dx*d, Y: a.Y + c.dy*d}, desk.Finger{X: b.X + c.dx*d, Y: b.Y + c.dy*d}))
		}
		must(t, v.TouchEnd())
		waitEvent(t, ground, "two fingers "+c.name, isRelease(c.button))
		v.tap(t, at(100, 600))
		waitEvent(t, ground, "the tap after it", isRelease(1))
		n := 0
		for _, e := range ground.Events() {
			switch {
			case isPress(c.button)(e):
				n++
			case e.Kind == desk.ButtonPress && e.Detail != 1:
				t.Errorf("two fingers %s gave %+v", c.name, e)
			}
		}
		if n < 2 || n > 3 {
			t.Errorf("two fingers %s turned the wheel by %d", c.name, n)
		}
		apartTaps()
	}
}

// testTapDrag taps, touches again at once and moves: a drag.
func (v *viewer) testTapDrag(t *testing.T, ground *desk.Window) {
	t.Helper()
	ground.Forget()
	fx, fy := v.toPage(t, at(500, 300))
	tx, ty := v.toPage(t, at(800, 420))
	must(t, v.Tap(fx, fy))
	must(t, v.TouchStart(desk.Finger{X: fx, Y: fy}))
	for i := range 5 {
		f := float64(i+1) / 5
		must(t, v.TouchMove(desk.Finger{X: fx + (tx-fx)*f, Y: fy + (ty-fy)*f}))
	}
	must(t, v.TouchEnd())
	e := waitEvent(t, ground, "the drag's end", func(e desk.Event) bool { return isRelease(1)(e) && e.Root == at(800, 420) })
	if e.State&button1Mask == 0 {
		t.Error("the button was not held to the end")
	}
	apartTaps()
}

// testZoom pinches, taps, pans, taps again, and pinches back.
func (v *viewer) testZoom(t *testing.T, ground *desk.Window) {
	t.Helper()
	before := v.place(t)
	px, py := v.toPage(t, at(640, 360))
	v.pinch(t, px, py, 30, 90)
	zoomed := v.place(t)
	if ratio := zoomed.Width / before.Width; ratio < 2 || ratio > 3.5 {
		t.Errorf("fingers that part to three times their distance zoom by %.2f", ratio)
	}
	v.testTaps3(t, ground, image.Pt(640, 360), image.Pt(601, 333))

	v.swipe(t, px, py, -70, 0)
	panned := v.place(t)
	if moved := panned.Left - zoomed.Left; math.Abs(moved+70) > 2 {
		t.Errorf("a swipe by -70 moved the picture by %.1f", moved)
	}
	if panned.Width != zoomed.Width {
		t.Errorf("a swipe zoomed from %.1f to %.1f", zoomed.Width, panned.Width)
	}
	v.testTaps3(t, ground, image.Pt(690, 371), image.Pt(720, 350))

	// The smallest is the whole picture, or its own pixels where it was enlarged.
	v.pinch(t, px, py, 150, 10)
	least := min(before.Width, 1280/upright.Scale)
	if after := v.place(t); math.Abs(after.Width-least) > 1 {
		t.Errorf("pinched back the picture is %.1f wide, at first it was %.1f", after.Width, before.Width)
	}
}

// testTaps3 taps pixels of a zoomed picture.
func (v *viewer) testTaps3(t *testing.T, ground *desk.Window, spots ...image.Point) {
	t.Helper()
	for _, spot := range spots {
		apartTaps()
		ground.Forget()
		v.tap(t, spot)
		if e := waitEvent(t, ground, "a tap in the zoomed picture", isPress(1)); e.Root != spot {
			t.Errorf("zoomed: a tap on %v came as %v", spot, e.Root)
		}
	}
}

type place struct{ Left, Top, Width, Height float64 }

func (v *viewer) place(t *testing.T) place {
	t.Helper()
	p, err := desk.Eval[place](v.Page, "(({left, top, width, height}) => ({Left: left, Top: top, Width: width, Height: height}))(nearglass.view)")
	must(t, err)
	return p
}

// pinch moves two fingers, level with each other, from one distance from their
// middle to another.
func (v *viewer) pinch(t *testing.T, x, y, from, to float64) {
	t.Helper()
	fingers := func(d float64) []desk.Finger { return []desk.Finger{{X: x - d, Y: y}, {X: x + d, Y: y}} }
	must(t, v.TouchStart(fingers(from)...))
	const steps = 10
	for i := 1; i <= steps; i++ {
		must(t, v.TouchMove(fingers(from+(to-from)*float64(i)/steps)...))
	}
	must(t, v.TouchEnd())
}

// swipe moves one finger.
func (v *viewer) swipe(t *testing.T, x, y, dx, dy float64) {
	t.Helper()
	must(t, v.TouchStart(desk.Finger{X: x, Y: y}))
	const steps = 7
	for i := 1; i <= steps; i++ {
		f := float64(i) / steps
		must(t, v.TouchMove(desk.Finger{X: x + dx*f, Y: y + dy*f}))
	}
	must(t, v.TouchEnd())
}

// testStays checks that the page itself has not moved or grown under the
// fingers, by a swipe along its whole height too.
func (v *viewer) testStays(t *testing.T) {
	t.Helper()
	port, err := desk.Eval[place](v.Page, "({ Width: innerWidth, Height: innerHeight })")
	must(t, err)
	v.swipe(t, port.Width/2, port.Height*0.8, 0, -port.Height*0.7)
	v.swipe(t, port.Width/2, port.Height*0.3, 0, port.Height*0.6)
	testUnmoved(t, v.Page)
}

func testUnmoved(t *testing.T, p *desk.Page) {
	t.Helper()
	type state struct {
		X, Y, Scale, Left, Top float64
		Width, Height          float64 // how far the content reaches beyond the window
	}
	s, err := desk.Eval[state](p, `(() => {
		const d = document.scrollingElement, v = visualViewport;
		return { X: scrollX, Y: scrollY, Scale: v.scale - 1, Left: v.offsetLeft, Top: v.offsetTop,
			Width: d.scrollWidth - innerWidth, Height: d.scrollHeight - innerHeight };
	})()`)
	must(t, err)
	if s != (state{}) {
		t.Errorf("the page has moved or does not fit: %+v", s)
	}
}
