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
)

// change is a single change of a still screen.
type change struct {
	name string
	size image.Point
	// percent of the packets are lost, one try after the other. Up to once of
	// them a repair is rarely lost in its turn.
	percent []int
	once    int
}

var changes = []change{
	{"of one packet", image.Pt(32, 24), []int{5, 20}, 20},
	{"of many packets", image.Pt(240, 180), []int{5, 10, 20}, 10},
}

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
	watch(t, v.Page, "desktop")
	v.waitRight(t, image.Rectangle{})
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			must(t, path.lose(0))
			base := v.changeTimes(t, w, c, 7)
			for _, percent := range c.percent {
				must(t, path.lose(percent))
				judgeLoss(t, percent, percent <= c.once, base, v.changeTimes(t, w, c, 12))
			}
			must(t, path.lose(0))
		})
	}
	t.Logf("the host resent %d packets", v.stats(t).Resends)
	if v.stats(t).Resends == 0 {
		t.Error("nothing was lost: this shows nothing")
	}
}

// judgeLoss holds the times of changes against those without loss. Once says
// that few of them needed more than one repair.
func judgeLoss(t *testing.T, percent int, once bool, base, got []time.Duration) {
	t.Helper()
	t.Logf("%d %% lost: right after %v (median), %v (80 %%), %v (most); without loss %v, %v, %v", percent,
		quantile(got, 0.5), quantile(got, 0.8), quantile(got, 1), quantile(base, 0.5), quantile(base, 0.8), quantile(base, 1))
	if limit := quantile(base, 0.5) + lossAdds + lossMargin; once && quantile(got, 0.8) > limit {
		t.Errorf("%d %% lost: of 10 changes 8 were right within %v, not within %v", percent, quantile(got, 0.8), limit)
	}
	if quantile(got, 1) > lossMostAny {
		t.Errorf("%d %% lost: a change was right after %v only", percent, quantile(got, 1))
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
