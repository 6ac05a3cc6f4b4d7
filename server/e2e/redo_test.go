package e2e

import (
	"image"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// reception is what the browser counts of pictures that came by WebRTC.
type reception struct {
	Received, Decoded, Dropped, Keys int
	PLIs, Nacks                      int
	Freezes                          int
	FrozenSeconds                    float64
	Descriptors                      bool // the answer has them
}

const receptionScript = `newestPeer.getStats().then(all => {
	const v = [...all.values()].find(s => s.type === "inbound-rtp" && s.kind === "video");
	return { Received: v.framesReceived, Decoded: v.framesDecoded, Dropped: v.framesDropped ?? 0, Keys: v.keyFramesDecoded,
		PLIs: v.pliCount + v.firCount, Nacks: v.nackCount, Freezes: v.freezeCount ?? 0, FrozenSeconds: v.totalFreezesDuration ?? 0,
		Descriptors: newestPeer.currentRemoteDescription.sdp.includes("dependency-descriptor") };
})`

func (v *viewer) reception(t *testing.T) reception {
	t.Helper()
	r, err := desk.Eval[reception](v.Page, receptionScript)
	must(t, err)
	return r
}

// since is what was counted after before.
func (r reception) since(before reception) reception {
	r.Received -= before.Received
	r.Decoded -= before.Decoded
	r.Dropped -= before.Dropped
	r.Keys -= before.Keys
	r.PLIs -= before.PLIs
	r.Nacks -= before.Nacks
	r.Freezes -= before.Freezes
	r.FrozenSeconds -= before.FrozenSeconds
	return r
}

// mostFreezes are those that a busy machine may cause by itself, here of 0.2 s. A decoder
// that does not take to placeholders freezes until it gets a key frame, at each of them.
const mostFreezes = 3

// figuresLag is how many pictures the host's figures may be behind: a second.
const figuresLag = 60

// withoutDescriptors makes the page one that cannot ask for dependency descriptors, so
// that a placeholder has to be sent for each picture that is dropped.
const withoutDescriptors = `delete RTCRtpTransceiver.prototype.getHeaderExtensionsToNegotiate`

// TestRedoneThroughWebRTC: every picture in motion is dropped once and encoded again,
// seven hundred of them. The browser's own receiver decodes every unit, placeholders
// included, asks for nothing, and shows the right picture in the end; and so it does
// where it takes references from the packets, and no placeholder is sent.
func TestRedoneThroughWebRTC(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		redone int
		units  int // that arrive for each of them
	}{
		"with placeholders":    {withoutDescriptors, 700, 2},
		"without placeholders": {"", 150, 1},
	} {
		t.Run(name, func(t *testing.T) {
			testRedone(t, tt.script, tt.redone, tt.units)
		})
	}
}

func testRedone(t *testing.T, script string, redone, units int) {
	size := image.Pt(400, 304)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	w := fillScreen(t, x, size)
	h := startHost(t, desk.HostOptions{Display: x.Name(), Args: []string{"--redo-every", "1", "--bitrate", "20M", "--full-size"}})
	v := &viewer{Page: newPage(t, size), x: x, host: h}
	pair(t, v.Page, h.PairURL)
	must(t, v.Run(rememberPeers))
	must(t, v.Run(script))
	watch(t, v.Page, "desktop")
	v.waitRight(t, image.Rectangle{})
	end := keepChanging(t, w)
	before := v.waitDecoded(t, v.reception(t).Decoded+60) // a freeze is judged by the pictures before it
	hostBefore := v.stats(t)
	seen := v.waitDecoded(t, before.Decoded+units*redone).since(before)
	host := v.stats(t)
	end()
	v.waitRight(t, image.Rectangle{})
	dropped := host.Redone - hostBefore.Redone
	t.Logf("%d pictures dropped; %+v", dropped, seen)
	if seen.Descriptors != (script == "") {
		t.Errorf("dependency descriptors: %v", seen.Descriptors)
	}
	if seen.PLIs > 0 || seen.Keys > 0 || host.KeyFrames != hostBefore.KeyFrames {
		t.Errorf("%d key frames were asked for, %d decoded", seen.PLIs, seen.Keys)
	}
	if lost := seen.Received - seen.Decoded; lost > 2 { // of those that it has just received
		t.Errorf("%d units were received and not decoded", lost)
	}
	if dropped < redone-figuresLag {
		t.Errorf("the host dropped %d pictures: this shows nothing", dropped)
	}
	if seen.Freezes > mostFreezes {
		t.Errorf("the picture froze %d times", seen.Freezes)
	}
}

// keepChanging changes a place of the window sixty times a second until it is ended.
func keepChanging(t *testing.T, w *desk.Window) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		random := rand.New(rand.NewPCG(60, 9))
		tick := time.NewTicker(time.Second / 60)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if err := w.Draw(image.Pt(random.IntN(340), random.IntN(250)), confetti(random, image.Pt(60, 52))); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	end = sync.OnceFunc(func() { close(stop); <-done })
	t.Cleanup(end)
	return end
}

// waitDecoded waits until the browser has decoded so many units.
func (v *viewer) waitDecoded(t *testing.T, units int) (seen reception) {
	t.Helper()
	must(t, desk.Poll(within(t, 2*patience), "units to be decoded", func() (bool, error) {
		time.Sleep(200 * time.Millisecond) // asking costs the browser time, too
		seen = v.reception(t)
		return seen.Decoded >= units, nil
	}))
	return seen
}
