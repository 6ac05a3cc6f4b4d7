package ratecontrol

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// stretch is a time of pictures that are alike; none at a rate of 0.
type stretch struct {
	lasts time.Duration
	rate  int // pictures a second
	// qp that the content takes at the source's own size; smaller pictures take
	// less. Beyond the scale it is held at the coarsest.
	qp   int
	over bool // the pictures are far over their budget
	kind Kind
}

// qpSteps is how much a smaller picture of the same content takes off the QP: 8
// to halve the bytes, which go with the pixels.
var qpSteps = map[Rung]int{100: 0, 75: 7, 50: 16}

// climb plays stretches to a ladder and notes each rung that it stands on.
type climb struct {
	ladder *Ladder
	now    time.Time
	rungs  []Rung
	at     []time.Duration // when each was reached
	begin  time.Time
}

func newClimb(c LadderConfig) *climb {
	begin := time.Unix(1000, 0)
	return &climb{ladder: NewLadder(c), now: begin, begin: begin, rungs: []Rung{100}, at: []time.Duration{0}}
}

// look is what the owner of a ladder does before each picture, and at its
// deadline when there is none.
func (c *climb) look() {
	if r := c.ladder.Choose(c.now); r != c.rungs[len(c.rungs)-1] {
		c.rungs = append(c.rungs, r)
		c.at = append(c.at, c.now.Sub(c.begin))
	}
}

func (c *climb) play(s stretch) {
	end := c.now.Add(s.lasts)
	for s.rate > 0 && c.now.Before(end) {
		c.look()
		qp := min(max(s.qp-qpSteps[c.rungs[len(c.rungs)-1]], 1), defaultMaxQP)
		coded := Coded{Kind: s.kind, QP: qp, SizeBytes: 1000, AllowedBytes: 1000}
		if s.over {
			coded.AllowedBytes = 400
		}
		c.ladder.Observe(c.now, coded)
		c.now = c.now.Add(time.Second / time.Duration(s.rate))
	}
	for c.now.Before(end) {
		at, ok := c.ladder.Deadline()
		if !ok || at.After(end) {
			break
		}
		c.now = maxTime(at, c.now)
		c.look()
		c.ladder.Observe(c.now, Coded{Kind: Key, QP: 40, SizeBytes: 9000, AllowedBytes: 1000})
	}
	c.now = maxTime(end, c.now)
	c.look()
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func repeated(n int, list ...stretch) []stretch {
	var all []stretch
	for range n {
		all = append(all, list...)
	}
	return all
}

func TestLadder(t *testing.T) {
	motion := func(d time.Duration, qp int) stretch { return stretch{lasts: d, rate: 60, qp: qp} }
	still := func(d time.Duration) stretch { return stretch{lasts: d} }
	for name, tt := range map[string]struct {
		config LadderConfig
		play   []stretch
		want   []Rung
	}{
		"motion that fits":               {play: []stretch{motion(time.Minute, 40)}, want: []Rung{100}},
		"a short hard time":              {play: []stretch{motion(1400*time.Millisecond, 51), motion(20*time.Second, 30)}, want: []Rung{100}},
		"a long hard time":               {play: []stretch{motion(20*time.Second, 50)}, want: []Rung{100, 75}},
		"harder than three quarters":     {play: []stretch{motion(20*time.Second, 60)}, want: []Rung{100, 75, 50}},
		"harder than anything":           {play: []stretch{motion(time.Minute, 90)}, want: []Rung{100, 75, 50}},
		"over the budget at any QP":      {play: []stretch{{lasts: 10 * time.Second, rate: 60, qp: 30, over: true}}, want: []Rung{100, 75, 50}},
		"few pictures, all of them hard": {play: []stretch{{lasts: 10 * time.Second, rate: 6, qp: 50}}, want: []Rung{100, 75}},
		"a scene change every 2 s":       {play: repeated(30, stretch{lasts: 50 * time.Millisecond, rate: 60, qp: 51}, motion(1950*time.Millisecond, 36)), want: []Rung{100}},
		"hard half of the time":          {play: repeated(30, motion(500*time.Millisecond, 50), motion(500*time.Millisecond, 36)), want: []Rung{100}},
		"refinements alone":              {play: []stretch{{lasts: 20 * time.Second, rate: 20, qp: 51, kind: Refine}}, want: []Rung{100}},
		"key frames alone":               {play: []stretch{{lasts: 20 * time.Second, rate: 5, qp: 51, kind: Key}}, want: []Rung{100}},
		"and then a still screen":        {play: []stretch{motion(10*time.Second, 60), still(20 * time.Second)}, want: []Rung{100, 75, 50, 75, 100}},
		"still for too short":            {play: []stretch{motion(10*time.Second, 50), still(7 * time.Second)}, want: []Rung{100, 75}},
		"and then easy motion":           {play: []stretch{motion(10*time.Second, 60), motion(20*time.Second, 30)}, want: []Rung{100, 75, 50, 75, 100}},
		"and then motion that fits just here": {
			play: []stretch{motion(10*time.Second, 50), motion(5*time.Minute, 44)}, want: []Rung{100, 75}},
		"the source's size is kept": {config: LadderConfig{Fixed: true}, play: []stretch{motion(time.Minute, 90), still(time.Minute)}, want: []Rung{100}},
		"motion that is held coarse": {config: LadderConfig{SharpestQP: 40},
			play: []stretch{motion(10*time.Second, 50), {lasts: 20 * time.Second, rate: 60, qp: 44}}, want: []Rung{100, 75, 100}},
		"with other bounds": {config: LadderConfig{TightQP: 36}, play: []stretch{motion(10*time.Second, 40)}, want: []Rung{100, 75}},
	} {
		c := newClimb(tt.config)
		for _, s := range tt.play {
			c.play(s)
		}
		if !slices.Equal(c.rungs, tt.want) {
			t.Errorf("%s: rungs %v at %v, want %v", name, c.rungs, c.at, tt.want)
		}
		if moved := c.ladder.Reason() != ""; moved != (len(tt.want) > 1) {
			t.Errorf("%s: the reason is %q", name, c.ladder.Reason())
		}
	}
}

// TestLadderTimes: down within two seconds of hard motion a rung, and up eight
// after it ended.
func TestLadderTimes(t *testing.T) {
	c := newClimb(LadderConfig{})
	c.play(stretch{lasts: 10 * time.Second, rate: 60, qp: 60})
	c.play(stretch{lasts: 30 * time.Second})
	want := []struct{ from, to time.Duration }{
		{0, 0}, {1400 * time.Millisecond, 2 * time.Second}, {2800 * time.Millisecond, 4 * time.Second},
		{17900 * time.Millisecond, 18 * time.Second}, {25900 * time.Millisecond, 26 * time.Second},
	}
	if len(c.at) != len(want) {
		t.Fatalf("rungs %v at %v", c.rungs, c.at)
	}
	for i, w := range want {
		if c.at[i] < w.from || c.at[i] > w.to {
			t.Errorf("rung %d, the %d. of the way, was reached after %v, want %v to %v", c.rungs[i], i, c.at[i], w.from, w.to)
		}
	}
}

// TestLadderDoesNotFlap: what falls again soon after each rise rises ever more
// rarely, whatever the rhythm; and a time of peace makes it quick again.
func TestLadderDoesNotFlap(t *testing.T) {
	for _, pause := range []time.Duration{5 * time.Second, 9 * time.Second, 12 * time.Second, 17 * time.Second, 25 * time.Second} {
		c := newClimb(LadderConfig{})
		for c.now.Sub(c.begin) < 10*time.Minute {
			c.play(stretch{lasts: 3 * time.Second, rate: 60, qp: 50})
			c.play(stretch{lasts: pause})
		}
		if len(c.rungs) > 8 {
			t.Errorf("hard for 3 s after each pause of %v: %d changes in ten minutes, at %v", pause, len(c.rungs)-1, c.at)
		}
		c.play(stretch{lasts: 10 * time.Minute})
		c.play(stretch{lasts: 3 * time.Second, rate: 60, qp: 50})
		fell := c.now
		c.play(stretch{lasts: 10 * time.Second})
		if rose := c.begin.Add(c.at[len(c.at)-1]).Sub(fell); c.rungs[len(c.rungs)-1] != 100 || rose > 9*time.Second {
			t.Errorf("after ten quiet minutes it took %v to rise again, to %d", rose, c.rungs[len(c.rungs)-1])
		}
	}
}

// TestLadderStaysOnIt: whatever it is told, with a clock that may run backward,
// it stands on one of its rungs and says a time to come back only below the top.
func TestLadderStaysOnIt(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		l, now := NewLadder(LadderConfig{TightQP: 20 + rng.IntN(31)}), time.Unix(1000, 0)
		for range 5000 {
			now = now.Add(time.Duration(rng.Int64N(int64(time.Second))) - 100*time.Millisecond)
			l.Observe(now, Coded{Kind: Kind(rng.IntN(3)), QP: rng.IntN(52), SizeBytes: rng.IntN(1e6), AllowedBytes: rng.IntN(1e6)})
			r := l.Choose(now)
			if r != 100 && r != 75 && r != 50 {
				t.Fatalf("seed %d: rung %d", seed, r)
			}
			if _, ok := l.Deadline(); ok == (r == 100) {
				t.Fatalf("seed %d: at %d %% a deadline: %v", seed, r, ok)
			}
		}
	}
}

func TestRungSize(t *testing.T) {
	for _, tt := range []struct {
		rung         Rung
		source, want image.Point
	}{
		{100, image.Pt(1365, 767), image.Pt(1365, 767)},
		{75, image.Pt(1920, 1080), image.Pt(1440, 810)},
		{50, image.Pt(1920, 1080), image.Pt(960, 540)},
		{75, image.Pt(1366, 768), image.Pt(1024, 576)},
		{50, image.Pt(1365, 767), image.Pt(684, 384)},
		{75, image.Pt(400, 127), image.Pt(400, 127)},
		{50, image.Pt(129, 129), image.Pt(66, 66)},
	} {
		if got := tt.rung.Size(tt.source); got != tt.want {
			t.Errorf("%d %% of %v is %v, want %v", tt.rung, tt.source, got, tt.want)
		}
	}
}
