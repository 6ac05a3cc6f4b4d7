package ratecontrol

import (
	"math"
	"slices"
	"testing"

	"nearglass/cc/rate"
)

// noise is new in every picture: a sharper QP sends nothing again. Its bytes fall
// by a sixth with each step.
var noise = content{0.03, 4, 0}

// Where going to and fro costs nothing, a movement uses its whole target, and
// what waits stays below what its budget allows.
func TestNoiseUsesItsTarget(t *testing.T) {
	for _, target := range []rate.Rate{2 * rate.Mbps, 5 * rate.Mbps, 10 * rate.Mbps} {
		s := newScreen(target)
		s.encode(Key, 0, newText)
		s.play(240, fullHD, noise)
		sum, most := 0, 0.0
		for range 600 {
			_, size := s.encode(Motion, fullHD, noise)
			sum += size
			most = max(most, s.c.bucket.debtBytes)
			s.now = s.now.Add(frame)
		}
		use := float64(sum) / float64(target.Bytes(600*frame))
		queue := most / bytesIn(target, frame)
		t.Logf("%v: %.1f %% used, at most %.2f intervals wait", target, 100*use, queue)
		if use < 0.97 || use > 1.01 || queue > burst+0.3 {
			t.Errorf("%v: %.1f %% used, at most %.2f intervals wait", target, 100*use, queue)
		}
	}
}

// A QP that turned out too sharp is not tried again at once, and ever more
// rarely: here one step doubles the bytes, for good.
func TestCliffIsLeftAlone(t *testing.T) {
	s := newScreen(5 * rate.Mbps)
	s.encode(Key, 0, newText)
	s.play(120, fullHD, film)
	m := &s.c.movement
	edge, tries := m.qp, []int{}
	for i := range 1200 {
		d := s.c.Plan(s.now, Picture{Size: fullHDSize, Kind: Motion})
		size := 0.8 * bytesIn(5*rate.Mbps, frame) * math.Exp2(float64(max(edge-d.QP, 0)))
		if d.QP < edge {
			tries = append(tries, i)
		}
		s.c.Done(s.now, Motion, d.QP, int(size))
		s.now = s.now.Add(frame)
	}
	half := slices.IndexFunc(tries, func(i int) bool { return i >= 600 })
	if half < 0 {
		half = len(tries)
	}
	t.Logf("tried %d times in 10 s, %d more in the next 10", half, len(tries)-half)
	if len(tries) > 60 || len(tries)-half > half {
		t.Errorf("a QP that takes double was tried at %v", tries)
	}
}
