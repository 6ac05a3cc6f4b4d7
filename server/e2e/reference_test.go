package e2e

import (
	"image"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// scribble changes a place of the window thirty times a second until stop is closed.
func scribble(t *testing.T, w *desk.Window, stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(30, 7))
	tick := time.NewTicker(time.Second / 30)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		at := image.Pt(random.IntN(500), random.IntN(400))
		if err := w.Draw(at, confetti(random, image.Pt(160, 120))); err != nil {
			t.Error(err)
			return
		}
	}
}

// behindLosses watches a moving screen over a path of which all is lost for a tenth
// of a second, eight times and then on until it was enough, forty times at most, and
// gives what browser and host counted meanwhile. What is shown in the end is right.
func behindLosses(t *testing.T, flags map[string]any, enough func(*desk.Host) bool) (seen reception, host hostStats, h *desk.Host) {
	t.Helper()
	path := newLossy(t)
	size := image.Pt(800, 600)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	w := fillScreen(t, x, size)
	v := path.watch(t, path.browser(t, flags), x, size, "--full-size") // another size would begin with a key frame
	h = v.host
	v.waitRight(t, image.Rectangle{})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); scribble(t, w, stop) }()
	time.Sleep(time.Second)
	before, hostBefore := v.reception(t), v.stats(t)
	for n := 0; n < 8 || n < 40 && !enough(h); n++ {
		path.burst(t, 100*time.Millisecond)
		time.Sleep(900 * time.Millisecond)
	}
	close(stop)
	<-done
	v.waitRight(t, image.Rectangle{})
	seen, host = v.reception(t).since(before), v.stats(t)
	host.KeyFrames -= hostBefore.KeyFrames
	host.Repaired -= hostBefore.Repaired
	t.Logf("%d pictures decoded, %d of them key frames, %d packets and %d key frames asked for; the host repaired %d",
		seen.Decoded, seen.Keys, seen.Nacks, seen.PLIs, host.Repaired)
	if !seen.Descriptors {
		t.Error("the browser did not negotiate dependency descriptors")
	}
	if host.Repaired == 0 {
		t.Error("nothing was repaired by reference: this shows nothing")
	}
	return seen, host, h
}

// TestLossCostsNoKeyFrame: the browser goes on with a picture that refers to an older
// one, as the packets say, asks for no key frame and gets none. It fails when the
// browser stops to honor what the packets say.
func TestLossCostsNoKeyFrame(t *testing.T) {
	seen, host, _ := behindLosses(t, nil, func(*desk.Host) bool { return true })
	if seen.PLIs > 0 || seen.Keys > 0 || host.KeyFrames > 0 {
		t.Errorf("the browser asked for %d key frames, the host sent %d, and the browser decoded %d", seen.PLIs, host.KeyFrames, seen.Keys)
	}
}

// TestBrowserThatIgnoresReferences: libwebrtc's other packet buffer waits for every
// packet, whatever they say. The host notices, says so, and goes on with key frames.
func TestBrowserThatIgnoresReferences(t *testing.T) {
	says := func(h *desk.Host) bool {
		return strings.Contains(h.Process.Output.String(), "ignores what packets say of references")
	}
	_, host, h := behindLosses(t, map[string]any{"force-fieldtrials": "WebRTC-Video-H26xPacketBuffer/Enabled/"}, says)
	if host.KeyFrames == 0 {
		t.Error("no key frame was sent")
	}
	if !says(h) {
		t.Error("the log does not say why")
	}
}
