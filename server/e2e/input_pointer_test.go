package e2e

import (
	"context"
	"fmt"
	"image"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
)

func at(x, y int) image.Point { return image.Pt(x, y) }

// TestInputClicksOnTwoMonitors: on each of two monitors of different size and
// place a click lands on the pixel that was meant, at every scale.
func TestInputClicksOnTwoMonitors(t *testing.T) {
	x := startX(t, desk.Screen{Width: 1600, Height: 900})
	monitors := []desk.Monitor{{Name: "LEFT", Rect: image.Rect(0, 0, 960, 720)}, {Name: "RIGHT", Rect: image.Rect(960, 130, 1600, 611)}}
	must(t, x.SetMonitors(monitors...))
	ground := openWindow(t, x, image.Rect(0, 0, 1600, 900), "ground")
	v := watchSource(t, x, "display:LEFT")
	for _, m := range monitors {
		v.turnTo(t, "display:"+m.Name)
		for _, port := range portsFor(m.Rect.Size()) {
			t.Run(fmt.Sprintf("%s in %dx%d at %g", m.Name, port.Width, port.Height, port.Scale), func(t *testing.T) {
				v.fit(t, port)
				for _, spot := range spotsOf(m.Rect.Size()) {
					v.testLands(t, ground, spot, spot.Add(m.Rect.Min))
				}
			})
		}
	}
}

// portsFor are viewports that show a picture 1:1, framed, shrunk with bars on
// either side, on a denser screen, and enlarged.
func portsFor(s image.Point) []desk.Viewport {
	return []desk.Viewport{
		{Width: s.X, Height: s.Y, Scale: 1},
		{Width: s.X + 101, Height: s.Y + 33, Scale: 1},
		{Width: s.X * 3 / 5, Height: s.Y, Scale: 1},
		{Width: s.X, Height: s.Y * 3 / 5, Scale: 1},
		{Width: s.X * 4 / 5, Height: s.Y * 4 / 5, Scale: 1.5},
		{Width: s.X * 2, Height: s.Y * 2, Scale: 1},
	}
}

// spotsOf are the corners of a picture and pixels inside it, none of them
// under the toolbar's tab.
func spotsOf(s image.Point) []image.Point {
	return []image.Point{{}, {s.X - 1, 0}, {0, s.Y - 1}, {s.X - 1, s.Y - 1}, s.Div(2), {s.X / 3, s.Y*2/3 + 1}, {s.X*5/7 + 1, s.Y * 3 / 7}}
}

// testLands clicks a pixel of the picture and expects the click at a place on
// the screen.
func (v *viewer) testLands(t *testing.T, ground *desk.Window, spot, want image.Point) {
	t.Helper()
	ground.Forget()
	v.clickAt(t, desk.Left, spot)
	up := waitEvent(t, ground, "the click", isRelease(1))
	down := waitEvent(t, ground, "the click", isPress(1))
	if down.Root != want || up.Root != want {
		t.Errorf("a click on %v was pressed at %v and let go of at %v; it belongs to %v", spot, down.Root, up.Root, want)
	}
}

// TestInputClicksInMovedWindow: in the picture of a window a click lands on its
// pixel, also after the window has moved, and behind another one.
func TestInputClicksInMovedWindow(t *testing.T) {
	x := startX(t, desk.Screen{Width: 1000, Height: 700})
	w := openWindow(t, x, image.Rect(100, 80, 460, 340), "moving")
	v := watchSource(t, x, windowID(w.ID))
	v.fit(t, desk.Viewport{Width: 360, Height: 260})
	spots := []image.Point{{3, 4}, {359, 259}, {181, 200}}
	v.testLandsIn(t, w, at(100, 80), spots)
	for _, origin := range []image.Point{{533, 401}, {-40, 20}} {
		must(t, w.Set(image.Rectangle{origin, origin.Add(at(360, 260))}))
		v.waitPlace(t, origin, at(90, 100))
		v.testLandsIn(t, w, origin, spots[1:])
	}
	cover := openWindow(t, x, image.Rect(0, 0, 1000, 700), "cover")
	must(t, cover.Raise())
	v.testLandsIn(t, w, at(-40, 20), spots[1:])
	if n := len(cover.Events()); n > 0 {
		t.Logf("the covering window saw %d events on the way", n)
	}
}

func (v *viewer) testLandsIn(t *testing.T, w *desk.Window, origin image.Point, spots []image.Point) {
	t.Helper()
	for _, spot := range spots {
		v.testLands(t, w, spot, spot.Add(origin))
		if e := waitEvent(t, w, "the click", isPress(1)); e.At != spot {
			t.Errorf("a click on %v came as %v of the window", spot, e.At)
		}
	}
}

// waitPlace waits until the host knows that the window lies at origin: until
// the pointer comes out there.
func (v *viewer) waitPlace(t *testing.T, origin, spot image.Point) {
	t.Helper()
	px, py := v.toPage(t, spot)
	must(t, desk.Poll(within(t, patience), "the window's new place", func() (bool, error) {
		for _, d := range []float64{5, 0} {
			if err := v.Move(px+d, py); err != nil {
				return false, err
			}
		}
		got, err := v.x.Pointer()
		return got == spot.Add(origin), err
	}))
}

// TestInputButtonsAndDrag: every button arrives as itself, and a drag goes on
// outside the picture, held at its edge.
func TestInputButtonsAndDrag(t *testing.T) {
	x := startX(t, desk.Screen{Width: 800, Height: 600})
	ground := openWindow(t, x, image.Rect(0, 0, 800, 600), "ground")
	v := watchDesktop(t, x)
	v.fit(t, desk.Viewport{Width: 820, Height: 620})
	for b, want := range map[desk.Button]int{desk.Left: 1, desk.Middle: 2, desk.Right: 3, desk.Back: 8, desk.Forward: 9} {
		ground.Forget()
		v.clickAt(t, b, at(300, 311))
		waitEvent(t, ground, string(b), isRelease(want))
		if e := waitEvent(t, ground, string(b), isPress(want)); e.Root != at(300, 311) {
			t.Errorf("%s was pressed at %v", b, e.Root)
		}
	}
	t.Run("drag", func(t *testing.T) { v.testDrag(t, ground) })
	t.Run("chord", func(t *testing.T) { v.testChord(t, ground) })
	waitNothingHeld(t, x)
}

func (v *viewer) testDrag(t *testing.T, ground *desk.Window) {
	ground.Forget()
	fx, fy := v.toPage(t, at(400, 300))
	must(t, v.Move(fx, fy))
	must(t, v.Press(desk.Left, fx, fy))
	for _, way := range []struct{ x, y, wantX, wantY int }{
		{500, 350, 500, 350}, {640, 90, 640, 90}, // within the picture
		{807, 90, 799, 90}, {-8, 500, 0, 500}, {500, 607, 500, 599}, // over the bars around it
		{405, 2, 405, 2},                       // under the toolbar's tab
		{500, -60, 500, 0}, {-90, 200, 0, 200}, // outside the window
	} {
		must(t, v.Move(fx+float64(way.x-400), fy+float64(way.y-300)))
		want := at(way.wantX, way.wantY)
		e := waitEvent(t, ground, fmt.Sprintf("the drag to %v", want), func(e desk.Event) bool { return e.Kind == desk.Motion && e.Root == want })
		if e.State&0x100 == 0 {
			t.Errorf("the button was not held at %v", want)
		}
	}
	must(t, v.Release(desk.Left, fx+100, fy-360))
	if e := waitEvent(t, ground, "the end of the drag", isRelease(1)); e.Root != at(500, 0) {
		t.Errorf("the drag ended at %v", e.Root)
	}
}

// testChord holds one button while another is pressed and let go of.
func (v *viewer) testChord(t *testing.T, ground *desk.Window) {
	ground.Forget()
	px, py := v.toPage(t, at(100, 100))
	must(t, v.Move(px, py))
	must(t, v.Press(desk.Left, px, py))
	must(t, v.Press(desk.Right, px, py))
	waitHeld(t, v.x, "both buttons", holding(0x500))
	must(t, v.Release(desk.Left, px, py))
	waitHeld(t, v.x, "the right button", holding(0x400))
	must(t, v.Release(desk.Right, px, py))
	waitEvent(t, ground, "the right button", isRelease(3))
}

// TestInputWheel: notches arrive as such on both axes, and what is finer adds
// up to them; a turn the other way starts afresh.
func TestInputWheel(t *testing.T) {
	x := startX(t, desk.Screen{Width: 800, Height: 600})
	ground := openWindow(t, x, image.Rect(0, 0, 800, 600), "ground")
	v := watchDesktop(t, x)
	v.settlePicture(t)
	const notch = 120
	for _, c := range []struct {
		name   string
		turn   func(t *testing.T, px, py float64)
		button int
		clicks int
	}{
		{"down", v.notches(0, notch, 1), 5, 1},
		{"up", v.notches(0, -notch, 2), 4, 2},
		{"right", v.notches(notch, 0, 1), 7, 1},
		{"left", v.notches(-notch, 0, 3), 6, 3},
		{"fine down", v.glide(0, 2*notch+60), 5, 2},
		{"fine up", v.glide(0, -notch-50), 4, 1},
		{"fine right", v.glide(notch+10, 0), 7, 1},
		{"fine left", v.glide(-2*notch-10, 0), 6, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			ground.Forget()
			px, py := v.toPage(t, at(210, 305))
			c.turn(t, px, py)
			// A click of the mouse marks the end of what the wheel did.
			v.clickAt(t, desk.Left, at(210, 305))
			waitEvent(t, ground, "the click after it", isRelease(1))
			got := map[int]int{}
			for _, e := range ground.Events() {
				if e.Kind != desk.ButtonPress || e.Detail == 1 {
					continue
				}
				got[e.Detail]++
				if e.Root != at(210, 305) {
					t.Errorf("the wheel turned at %v", e.Root)
				}
			}
			if got[c.button] != c.clicks || len(got) != 1 {
				t.Errorf("clicks by button: %v; want %d of button %d", got, c.clicks, c.button)
			}
		})
	}
}

// notches turns the wheel by whole notches, as an ordinary mouse does.
func (v *viewer) notches(dx, dy float64, times int) func(t *testing.T, px, py float64) {
	return func(t *testing.T, px, py float64) {
		t.Helper()
		for range times {
			must(t, v.Wheel(px, py, dx, dy))
		}
	}
}

// glide turns the wheel in many steps of a few pixels, as a touchpad does;
// positive is down and right, 120 are a notch.
func (v *viewer) glide(dx, dy float64) func(t *testing.T, px, py float64) {
	return func(t *testing.T, px, py float64) {
		t.Helper()
		ctx, cancel := context.WithTimeout(v.Context(), patience)
		defer cancel()
		_, err := chromedp.Call(ctx, input.SynthesizeScrollGesture, input.SynthesizeScrollGestureParams{
			X: px, Y: py, XDistance: -dx, YDistance: -dy, Speed: 800, GestureSourceType: "mouse"})
		must(t, err)
	}
}
