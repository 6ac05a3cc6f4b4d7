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

// A calm movement goes back from a QP that takes twice as much, and from no other; in one
// whose pictures differ by themselves nothing of the kind is seen.
func TestMovementLeavesADearQP(t *testing.T) {
	const pixels, most = 1e6, 4000
	for name, c := range map[string]struct {
		noise, times float64
		want         bool
	}{
		"grain":            {0.05, 3, true},
		"a film":           {0.05, 1.1, false},
		"a page in flight": {0.5, 3, false},
	} {
		m := newMovement(26)
		m.density, m.swing, m.since = 3000/pixels, c.noise, 20
		m.turn(25)
		for range leastSince {
			m.turn(25)
			m.learn(c.times * 3000 / pixels)
			if m.dear(pixels, most) {
				break
			}
		}
		if got := m.dear(pixels, most); got != c.want {
			t.Errorf("%s: dear is %v", name, got)
		}
		if c.want && (m.retreat() != 26 || m.below(25) != 26) {
			t.Errorf("%s: the step is not known to be dear: %.2f", name, m.steps[25])
		}
	}
}

// A movement that went past a dear step while it was cheap, as a film that stood nearly
// still, goes back over all of it once it takes much of the link again.
func TestMovementGoesBackOverADearStep(t *testing.T) {
	const edge = 25
	at := func(qp int, share float64) int { // of a frame interval, four times as much below the edge
		grain := 1.0
		if qp <= edge {
			grain = 4
		}
		return headBytes + int(grain*share*bytesIn(5*rate.Mbps, frame)*math.Exp2(float64(edge-qp)/8))
	}
	s := newScreen(5 * rate.Mbps)
	s.encode(Key, 0, newText)
	play := func(pictures int, share float64) (last int) {
		for range pictures {
			d := s.c.Plan(s.now, Picture{Size: fullHDSize, Kind: Motion})
			s.c.Done(s.now, Motion, d.QP, at(d.QP, share))
			s.now, last = s.now.Add(frame), d.QP
		}
		return last
	}
	if qp := play(300, 0.15); qp != edge+1 {
		t.Errorf("a film is at QP %d, its grain begins at %d", qp, edge)
	}
	if qp := play(300, 0.015); qp > edge {
		t.Errorf("nearly still it is at QP %d", qp)
	}
	if qp := play(60, 0.15); qp != edge+1 {
		t.Errorf("moving again it is at QP %d", qp)
	}
}

// Whatever failed is forgotten by and by: no movement stays coarse on a link that it
// leaves to itself.
func TestMovementForgetsItsFailures(t *testing.T) {
	m := newMovement(40)
	for range 20 {
		m.refuse(39)
	}
	for pictures := 0; !m.pays(39, 5000); pictures++ {
		m.turn(40)
		m.save(9000, 1000)
		if pictures > 20 {
			t.Fatalf("%d pictures left %.0f bytes, and no sharper QP is tried", pictures, m.spare)
		}
	}
}
