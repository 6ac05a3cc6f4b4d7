package e2e

import (
	"image"
	"strconv"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// TestAccessRevokedMidStream: revoking a device ends its stream at once, says
// so to the person, and leaves the others alone.
func TestAccessRevokedMidStream(t *testing.T) {
	x := startX(t, desk.Screen{Width: 640, Height: 480})
	startClock(t, x)
	stays := watchDesktop(t, x)
	goes := join(t, stays.host, x, "control", "desktop", image.Pt(640, 480))
	id := newestDevice(t, stays.host).ID
	mark := logMark(stays.host)
	begin := time.Now()
	revoke(t, stays.host, id)
	expectLog(t, stays.host, mark, "the end of the stream", `msg="viewer ended" device=`+id+` .*reason="this device may no longer watch`)
	t.Logf("ended within %v of the command's start", time.Since(begin).Round(time.Millisecond))
	waitState(t, goes.Page, "ended", "may no longer watch")
	// A picture that came before the end may still be on its way to the screen.
	morePictures(t, stays, 1)
	shown, err := desk.Eval[int](goes.Page, "nearglass.frames")
	must(t, err)
	morePictures(t, stays, 3)
	if now, err := desk.Eval[int](goes.Page, "nearglass.frames"); now != shown || err != nil {
		t.Errorf("the revoked viewer still got %d pictures, %v", now-shown, err)
	}
	// Both ways on from there lead to pairing.
	must(t, goes.Run("document.querySelector('[data-testid=verdict-retry]').click()"))
	waitState(t, goes.Page, "pairing")
	must(t, goes.Open(stays.host.URL))
	waitState(t, goes.Page, "pairing")
	if !strings.HasPrefix(pageState(stays.Page), "live") {
		t.Errorf("the other viewer's page says %s", pageState(stays.Page))
	}
}

// morePictures waits until a viewer has shown more pictures than now.
func morePictures(t *testing.T, v *viewer, more int) {
	t.Helper()
	before, err := desk.Eval[int](v.Page, "nearglass.frames")
	must(t, err)
	must(t, v.WaitFor("nearglass.frames > "+strconv.Itoa(before+more), patience))
}

// TestAccessRevokedOnTheList: a page that shows the sources turns to pairing by
// itself when its device is revoked.
func TestAccessRevokedOnTheList(t *testing.T) {
	h := startDemo(t)
	p := newPage(t, image.Pt(640, 480))
	pair(t, p, h.PairURL)
	revoke(t, h, newestDevice(t, h).ID)
	waitState(t, p, "pairing")
}

// startClock shows a clock that ticks each second.
func startClock(t *testing.T, x *desk.X) {
	t.Helper()
	p, err := desk.StartOn(shared.ctx, x.Name(), "xclock", "-digital", "-update", "1", "-geometry", "300x60+20+20")
	must(t, err)
	t.Cleanup(p.Stop)
}
