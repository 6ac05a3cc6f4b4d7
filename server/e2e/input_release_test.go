package e2e

import (
	"image"
	"os"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
)

// Masks of X11's state: modifiers and buttons.
const (
	shiftMask   = 1 << 0
	controlMask = 1 << 2
	button1Mask = 1 << 8
)

// TestInputReleased: what a viewer holds is let go of on the host when the
// viewer goes out of sight or away, however it goes.
func TestInputReleased(t *testing.T) {
	x := startX(t, desk.Screen{Width: 640, Height: 480})
	h := startHost(t, desk.HostOptions{Display: x.Name()})
	for _, c := range []struct {
		name string
		away func(t *testing.T, v *viewer)
	}{
		{"tab hidden", hideTab},
		{"window blurred", func(t *testing.T, v *viewer) { must(t, v.Run("window.dispatchEvent(new Event('blur'))")) }},
		{"back to the list", func(t *testing.T, v *viewer) { must(t, v.Run("location.hash = '#/'")) }},
		{"page left", func(t *testing.T, v *viewer) { must(t, v.Open("about:blank")) }},
		{"page closed", func(_ *testing.T, v *viewer) { v.Close() }},
		{"connection ended", func(t *testing.T, v *viewer) { must(t, v.Run("window.peers.forEach(p => p.close())")) }},
		{"device revoked", func(t *testing.T, v *viewer) { revoke(t, v.host, newestDevice(t, v.host).ID) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPage(t, image.Pt(640, 480))
			onLoad(t, p, keepPeers)
			pair(t, p, newLink(t, h, "control"))
			watch(t, p, "desktop")
			v := &viewer{Page: p, x: x, host: h}
			v.holdThings(t)
			c.away(t, v)
			waitNothingHeld(t, x)
		})
	}
}

// keepPeers lets a test reach the page's connections.
const keepPeers = `window.peers = [];
	window.RTCPeerConnection = class extends RTCPeerConnection { constructor(...a) { super(...a); peers.push(this); } };`

// holdThings presses modifiers, a key and a button and leaves them so.
func (v *viewer) holdThings(t *testing.T) {
	t.Helper()
	v.settlePicture(t)
	px, py := v.toPage(t, at(320, 300))
	must(t, v.Move(px, py))
	must(t, v.Press(desk.Left, px, py))
	must(t, v.KeyDown("ControlLeft", "Control"))
	must(t, v.KeyDown("ShiftLeft", "Shift"))
	must(t, v.KeyDown("KeyK", "K"))
	waitHeld(t, v.x, "all to be held", func(p pressed) bool {
		return p.Mask == shiftMask|controlMask|button1Mask && len(p.Keys) == 3
	})
}

func hideTab(t *testing.T, v *viewer) {
	t.Helper()
	s, err := v.Sibling()
	must(t, err)
	t.Cleanup(s.Close)
	must(t, s.ToFront())
	must(t, v.WaitFor("document.visibilityState == 'hidden'", patience))
}

// TestInputReleasedWhenTheBrowserDies: also a viewer that can say nothing more
// holds nothing for long.
func TestInputReleasedWhenTheBrowserDies(t *testing.T) {
	x := startX(t, desk.Screen{Width: 640, Height: 480})
	h := startHost(t, desk.HostOptions{Display: x.Name()})
	b, err := desk.StartChromium(shared.ctx, desk.BrowserOptions{})
	must(t, err)
	t.Cleanup(b.Close)
	p := b.FirstPage()
	must(t, p.Viewport(desk.Viewport{Width: 640, Height: 480}))
	pair(t, p, h.PairURL)
	watch(t, p, "desktop")
	v := &viewer{Page: p, x: x, host: h}
	v.holdThings(t)
	must(t, chromedp.FromContext(p.Context()).Browser.Process().Signal(syscall.SIGKILL))
	waitNothingHeld(t, x)
}

// TestInputReleasedWhenTheHostEnds: whatever ends the host in order, a closed
// terminal included, leaves no key down on the desktop.
func TestInputReleasedWhenTheHostEnds(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			x := startX(t, desk.Screen{Width: 640, Height: 480})
			v := watchDesktop(t, x)
			v.holdThings(t)
			host, err := os.FindProcess(v.host.Process.Pid())
			must(t, err)
			must(t, host.Signal(sig))
			waitNothingHeld(t, x)
			select {
			case <-v.host.Process.Done():
			case <-within(t, patience).Done():
				t.Error("the host goes on")
			}
			must(t, v.host.Process.Err())
		})
	}
}

// TestInputHeldByTwo: a key or button that two viewers hold stays down until
// the second lets go, and neither lets go of what only the other holds.
func TestInputHeldByTwo(t *testing.T) {
	x := startX(t, desk.Screen{Width: 640, Height: 480})
	a := watchDesktop(t, x)
	b := join(t, a.host, x, "control", "desktop", image.Pt(640, 480))
	for _, v := range []*viewer{a, b} {
		must(t, v.ToFront())
		v.settlePicture(t)
		px, py := v.toPage(t, at(300, 300))
		must(t, v.Click(desk.Left, px, py)) // gives it the keyboard
		must(t, v.KeyDown("ShiftLeft", "Shift"))
		must(t, v.Press(desk.Left, px, py))
		waitHeld(t, x, "shift and button", holding(shiftMask|button1Mask))
	}
	must(t, b.KeyDown("ControlLeft", "Control"))
	waitHeld(t, x, "control too", holding(shiftMask|button1Mask|controlMask))

	px, py := a.toPage(t, at(200, 310))
	must(t, a.KeyUp("ShiftLeft", "Shift"))
	must(t, a.Release(desk.Left, px, py))
	must(t, desk.Poll(within(t, patience), "the first viewer's last event", func() (bool, error) {
		got, err := x.Pointer()
		return got == at(200, 310), err
	}))
	if p := held(t, x); p.Mask != shiftMask|button1Mask|controlMask {
		t.Errorf("the first let go, the second did not: mask %#x", p.Mask)
	}
	must(t, a.Run("window.dispatchEvent(new Event('blur'))"))
	must(t, a.KeyDown("AltLeft", "Alt"))
	waitHeld(t, x, "alt", holding(shiftMask|button1Mask|controlMask|1<<3))
	a.Close()
	waitHeld(t, x, "alt to be let go of alone", holding(shiftMask|button1Mask|controlMask))
	must(t, b.KeyUp("ShiftLeft", "Shift"))
	waitHeld(t, x, "shift to be let go of", holding(button1Mask|controlMask))
	b.Close()
	waitNothingHeld(t, x)
}
