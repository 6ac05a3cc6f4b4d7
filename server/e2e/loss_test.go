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
// the round trip of a stream that it only receives.
const (
	lossAdds    = 100 * time.Millisecond
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
	v := path.watch(t, path.browser(t, nil), x, size)
	v.waitRight(t, image.Rectangle{})
	media, err := desk.Eval[int](v.Page, mediaType)
	must(t, err)
	losses := []loss{{5, media}, {20, media}, {20, 0}}
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			for _, l := range losses {
				v.testLoss(t, path, w, c, l)
			}
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

// lossTries is how often a time that is too long is taken again: the machine may be
// busy with more.
const lossTries = 3

// testLoss makes changes, some of them without loss for comparison.
func (v *viewer) testLoss(t *testing.T, path *lossy, w *desk.Window, c change, l loss) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(c.size.X), uint64(l.percent+l.media)))
	for n := 1; ; n++ {
		var base, got []time.Duration
		for range 4 {
			must(t, path.lose(loss{}))
			base = append(base, v.changeTook(t, w, confetti(random, c.size)))
			must(t, path.lose(l))
			for range 3 {
				got = append(got, v.changeTook(t, w, confetti(random, c.size)))
			}
		}
		must(t, path.lose(loss{}))
		t.Logf("%v: right after %v (median), %v (90 %%), %v (most); without loss %v, %v, %v", l,
			quantile(got, 0.5), quantile(got, 0.9), quantile(got, 1), quantile(base, 0.5), quantile(base, 0.9), quantile(base, 1))
		if quantile(got, 1) > lossMostAny {
			t.Errorf("%v: a change was right after %v only", l, quantile(got, 1))
		}
		limit := quantile(base, 0.5) + lossAdds + lossMargin
		if l.media == 0 || quantile(got, 0.9) <= limit {
			return
		}
		if n == lossTries {
			t.Errorf("%v: of 10 changes 9 were right within %v, not within %v", l, quantile(got, 0.9), limit)
			return
		}
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

// changeTook makes a single change on a still screen and gives how long it took to be
// seen right. It must get sharp, too.
func (v *viewer) changeTook(t *testing.T, w *desk.Window, want *image.RGBA) time.Duration {
	t.Helper()
	place := want.Rect.Add(image.Pt(200, 150))
	v.record(t, place, 40)
	begin := time.Now()
	must(t, w.Draw(place.Min, want))
	done, _ := v.rightSince(t, want, thereDB, begin)
	v.rightSince(t, want, sharpDB, begin)
	// The picture is refined, and the guard behind it is over.
	time.Sleep(250 * time.Millisecond)
	return done.Sub(begin)
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
