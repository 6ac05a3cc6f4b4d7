package e2e

import (
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// A change is as it should be when no part of it is missing, which shows in
// whole decibels; sharpness comes after.
const thereDB = 30

// Limits of the loss tests. What a single loss may add is one round trip, here
// under a millisecond of path, and 100 ms; the machine may add to that. Where
// the repair is lost too, the browser asks again after 100 ms: it does not know
// the round trip of a stream that it only receives. A repair may also be a new
// picture, which is lost as easily as the first was: then it takes both.
const (
	lossAdds    = 200 * time.Millisecond
	lossMargin  = 60 * time.Millisecond
	lossMostAny = 2 * time.Second
	// outageAdds: the guard's next step comes after as long as it lasted
	// already, and a browser that got nothing for 3 s asks by itself.
	outageAdds = time.Second
)

// change is a single change of a still screen, made again and again.
type change struct {
	name string
	size image.Point
}

var changes = []change{
	{"of one packet", image.Pt(32, 24)},
	{"of many packets", image.Pt(240, 180)},
}

// rememberPeers lets the test ask the page's peer connection; it must run
// before there is one.
const rememberPeers = `window.RTCPeerConnection = class extends RTCPeerConnection {
	constructor(...a) { super(...a); window.newestPeer = this; }
}`

// mediaType gives the RTP payload type of the video itself.
const mediaType = `newestPeer.getStats().then(all => {
	const video = [...all.values()].find(s => s.type === "inbound-rtp" && s.kind === "video");
	return all.get(video.codecId).payloadType;
})`

// TestLastPictureSurvivesLoss: the last picture before stillness is never left
// wrong, whatever of it is lost.
func TestLastPictureSurvivesLoss(t *testing.T) {
	path := newLossy(t)
	size := image.Pt(800, 600)
	x := startX(t, desk.Screen{Width: size.X, Height: size.Y})
	w := fillScreen(t, x, size)
	h := startHost(t, desk.HostOptions{Display: x.Name(), Listen: lossyHost, Prefix: path.prefix()})
	b, err := desk.StartChromium(shared.ctx, desk.BrowserOptions{Flags: map[string]any{"unsafely-treat-insecure-origin-as-secure": "http://" + lossyHost}})
	must(t, err)
	t.Cleanup(b.Close)
	v := &viewer{Page: newPageIn(t, b, size), x: x, host: h}
	pair(t, v.Page, h.PairURL)
	must(t, v.Run(rememberPeers))
	watch(t, v.Page, "desktop")
	v.waitRight(t, image.Rectangle{})
	media, err := desk.Eval[int](v.Page, mediaType)
	must(t, err)
	losses := []loss{{5, media}, {20, media}, {20, 0}}
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			must(t, path.lose(loss{}))
			base := v.changeTimes(t, w, c, 7)
			for _, l := range losses {
				must(t, path.lose(l))
				judgeLoss(t, l, base, v.changeTimes(t, w, c, 12))
			}
			must(t, path.lose(loss{}))
		})
	}
	for _, d := range []time.Duration{200 * time.Millisecond, 2 * time.Second} {
		t.Run("while the path is gone for "+d.String(), func(t *testing.T) { v.testOutage(t, path, w, d) })
	}
	t.Logf("the host resent %d packets", v.stats(t).Resends)
	if v.stats(t).Resends == 0 {
		t.Error("nothing was lost: this shows nothing")
	}
}

// judgeLoss holds the times of changes against those without loss.
func judgeLoss(t *testing.T, l loss, base, got []time.Duration) {
	t.Helper()
	t.Logf("%v: right after %v (median), %v (90 %%), %v (most); without loss %v, %v, %v", l,
		quantile(got, 0.5), quantile(got, 0.9), quantile(got, 1), quantile(base, 0.5), quantile(base, 0.9), quantile(base, 1))
	if limit := quantile(base, 0.5) + lossAdds + lossMargin; l.media != 0 && quantile(got, 0.9) > limit {
		t.Errorf("%v: of 10 changes 9 were right within %v, not within %v", l, quantile(got, 0.9), limit)
	}
	if quantile(got, 1) > lossMostAny {
		t.Errorf("%v: a change was right after %v only", l, quantile(got, 1))
	}
}

// testOutage makes a change while nothing gets through, its first repairs and
// guards included. It must be seen soon after the path is back.
func (v *viewer) testOutage(t *testing.T, path *lossy, w *desk.Window, d time.Duration) {
	want := confetti(rand.New(rand.NewPCG(uint64(d), 7)), image.Pt(32, 24))
	place := image.Rectangle{Min: image.Pt(200, 150), Max: image.Pt(232, 174)}
	v.record(t, place, 40)
	must(t, path.lose(loss{percent: 100}))
	begin := time.Now()
	must(t, w.Draw(place.Min, want))
	time.Sleep(d)
	must(t, path.lose(loss{}))
	back := time.Now()
	done, _ := v.rightSince(t, want, sharpDB, begin)
	took := done.Sub(back)
	t.Logf("right %v after the path was back", took.Round(time.Millisecond))
	if limit := outageAdds + d; took > limit {
		t.Errorf("right %v after the path was back, not within %v", took, limit)
	}
}

// quantile gives one, in whole milliseconds.
func quantile(list []time.Duration, q float64) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[int(q*float64(len(list)-1)+0.5)].Round(time.Millisecond)
}

// changeTimes makes single changes on a still screen, one after another, and
// gives how long each took to be seen right. Each must get sharp, too.
func (v *viewer) changeTimes(t *testing.T, w *desk.Window, c change, n int) []time.Duration {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(c.size.X), 7))
	place := image.Rectangle{Min: image.Pt(200, 150), Max: image.Pt(200, 150).Add(c.size)}
	took := make([]time.Duration, n)
	for i := range took {
		want := confetti(random, c.size)
		v.record(t, place, 40)
		begin := time.Now()
		must(t, w.Draw(place.Min, want))
		done, _ := v.rightSince(t, want, thereDB, begin)
		took[i] = done.Sub(begin)
		v.rightSince(t, want, sharpDB, begin)
		// The picture is refined, and the guard behind it is over.
		time.Sleep(250 * time.Millisecond)
	}
	return took
}

// confetti is a picture that no other resembles.
func confetti(random *rand.Rand, size image.Point) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: size})
	const dot = 4
	for y := range size.Y {
		for x := range size.X {
			if x%dot == 0 && y%dot == 0 {
				g := uint8(random.IntN(256))
				img.SetRGBA(x, y, color.RGBA{g, g, g, 255})
				continue
			}
			img.SetRGBA(x, y, img.RGBAAt(x-x%dot, y-y%dot))
		}
	}
	return img
}
