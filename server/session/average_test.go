package session

import (
	"image"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/cc/rate"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/ratecontrol"
)

// TestAverageIsKept: pictures that are too large at any QP become fewer, so that the
// average since the begin stays under its bound on a path that carries far more. What
// a still screen leaves is used afterwards.
func TestAverageIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 400 * rate.Kbps
		s := newStandWith(t, 10*rate.Mbps, func(c *Config) { c.MaxAverage, c.FullSize = most, true })
		defer s.end(t)
		s.size(wideSource.X, wideSource.Y)
		begin := time.Now()
		s.move(12*time.Second, wideSource)
		r := s.peer.videoRate(begin, time.Now())
		if r < most*9/10 || r > most {
			t.Errorf("%v of video were sent where %v are allowed on the average", r, most)
		}
		f := s.session.c.Meter.Snapshot(time.Now())
		if f.AverageKbps < 0.9*kbps(most) || f.AverageKbps > kbps(most) || f.BudgetKbps > 1.2*kbps(most) || f.BudgetReason == "" {
			t.Errorf("the figures: an average of %.0f kbit/s, pictures planned with %.0f (%s)", f.AverageKbps, f.BudgetKbps, f.BudgetReason)
		}
		settle(4 * time.Second)
		rested := time.Now()
		s.move(2*time.Second, wideSource)
		if r := s.peer.videoRate(rested, time.Now()); r <= most { // refining has used some of what was saved
			t.Errorf("after a rest %v were sent", r)
		}
	})
}

// TestPeakBoundsTheSearch: nothing is looked for of the path that the bound on the
// average would never let be used.
func TestPeakBoundsTheSearch(t *testing.T) {
	for name, tt := range map[string]struct {
		max, average, want rate.Rate
	}{
		"the bound is narrower": {50 * rate.Mbps, 2 * rate.Mbps, ratecontrol.Peak(2 * rate.Mbps)},
		"the maximum is":        {3 * rate.Mbps, 2 * rate.Mbps, 3 * rate.Mbps},
	} {
		s := atRest(t)
		s.c.MaxBitrate, s.c.MaxAverage = tt.max, tt.average
		if got := s.mostTarget(); got != tt.want {
			t.Errorf("%s: up to %v, want %v", name, got, tt.want)
		}
	}
}

// TestEncoderThatHoldsItsRate: each order names the rate, and no picture is dropped
// for its size.
func TestEncoderThatHoldsItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := overshooter{droppable: true, large: map[int]int{20: 200_000}, coarse: 52}
		s := newStandWith(t, 3*rate.Mbps, func(c *Config) {
			c.ByEncoder = true
			c.Encoder = func(image.Point) (encode.Encoder, error) { return &e, nil }
		})
		defer s.end(t)
		s.size(wideSource.X, wideSource.Y)
		s.move(2*time.Second, wideSource)
		if e.dropped != 0 || len(e.orders) < 30 {
			t.Errorf("%d of %d pictures were dropped", e.dropped, len(e.orders))
		}
		for i, o := range e.orders {
			if o.Bitrate != 3*rate.Mbps {
				t.Fatalf("order %d names a rate of %v", i, o.Bitrate)
			}
		}
	})
}

// TestRedoOnPurpose: one picture in so many is encoded twice, key frames apart, and a
// placeholder goes in its place.
func TestRedoOnPurpose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := overshooter{droppable: true}
		s := newStandWith(t, 10*rate.Mbps, func(c *Config) {
			c.RedoEvery = 2
			c.Encoder = func(image.Point) (encode.Encoder, error) { return &e, nil }
		})
		defer s.end(t)
		s.size(wideSource.X, wideSource.Y)
		s.move(2*time.Second, wideSource)
		if want := (e.loads - 1) / 2; e.dropped < want || len(s.peer.bytesByFrame(t)) < e.loads+want {
			t.Errorf("%d of %d pictures were dropped, and %d units sent", e.dropped, e.loads, len(s.peer.bytesByFrame(t)))
		}
	})
}
