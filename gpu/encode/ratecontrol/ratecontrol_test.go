package ratecontrol

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	fullHD = 1920 * 1080
	frame  = time.Second / 60
)

var fullHDSize = image.Pt(1920, 1080)

// content is how many bytes something on the screen really takes: the truth
// that the controller has to learn.
type content struct {
	bytesPerPixel float64 // at QP 26
	halving       float64
	lost          float64 // bytes a pixel of refining, at QP 26, halving every 12
}

var (
	textScroll = content{0.006, 8, 0.06}
	film       = content{0.03, 6, 0.02}
	newText    = content{0.06, 13, 0.07}
)

// screen plays an encoder: it knows what the viewer has of each macroblock.
type screen struct {
	c   *Controller
	now time.Time
	qps []int
	rng *rand.Rand
}

func newScreen(target rate.Rate) *screen { return newScreenWith(Config{Target: target}) }

func newScreenWith(c Config) *screen {
	s := &screen{c: New(c), now: epoch, rng: rand.New(rand.NewPCG(1, 2))}
	s.qps = slices.Repeat([]int{51}, 120*68)
	return s
}

// worst is the coarsest QP of any macroblock.
func (s *screen) worst() int { return slices.Max(s.qps) }

// encode plays one picture. What is sharper than it was costs what it lost; a
// movement carries all along what is in its place.
func (s *screen) encode(kind Kind, changed int, what content) (Decision, int) {
	d := s.c.Plan(s.now, Picture{Size: fullHDSize, Damage: part(fullHDSize, changed), Kind: kind})
	if kind == Refine && d.Sharpen == nil {
		return d, 0
	}
	if kind == Key {
		changed = fullHD
	}
	size := 100.0
	if kind != Refine {
		size += what.bytesPerPixel * float64(changed) * math.Exp2(float64(26-d.QP)/what.halving)
	}
	var lost [endOfScale + 1]float64 // of a macroblock at each QP
	for qp := range lost {
		lost[qp] = max(256*what.lost*(math.Exp2(float64(26-d.QP)/12)-math.Exp2(float64(26-qp)/12)), 0)
	}
	for i := range s.qps {
		if kind == Key || kind == Motion && i/120*16*1920 < changed || kind == Refine && d.Sharpen[i] {
			if kind != Key {
				size += lost[s.qps[i]]
			}
			s.qps[i] = d.QP
		}
	}
	size *= 0.9 + 0.2*s.rng.Float64()
	s.c.Done(s.now.Add(8*time.Millisecond), kind, d.QP, int(size))
	return d, int(size)
}

func (s *screen) play(frames, changed int, what content) (sizes, qps []int) {
	for range frames {
		d, size := s.encode(Motion, changed, what)
		sizes, qps = append(sizes, size), append(qps, d.QP)
		s.now = s.now.Add(frame)
	}
	return sizes, qps
}

// refineUntil refines whenever that is due before a time.
func (s *screen) refineUntil(next time.Time, sent func(sizeBytes int)) {
	for {
		at, ok := s.c.NextRefine(s.now)
		if !ok || !at.Before(next) {
			return
		}
		if at.After(s.now) {
			s.now = at
		}
		if _, size := s.encode(Refine, 0, newText); size > 0 {
			sent(size)
		}
	}
}

// refine follows NextRefine to its end and gives how long that took, how many
// pictures, and when the first of them came.
func (s *screen) refine(t *testing.T, what content) (took time.Duration, steps int, first time.Time) {
	t.Helper()
	start := s.now
	for {
		at, ok := s.c.NextRefine(s.now)
		if !ok {
			return s.now.Sub(start), steps, first
		}
		if at.After(s.now) {
			s.now = at
		}
		before := s.worst()
		d, _ := s.encode(Refine, 0, what)
		if d.Sharpen == nil {
			continue
		}
		if d.QP >= before {
			t.Fatalf("step %d refines from %d to %d", steps, before, d.QP)
		}
		if steps++; steps == 1 {
			first = s.now
		}
		if steps > 200 {
			t.Fatal("refining does not end")
		}
	}
}

// Movement fills the link and no more, and its QP moves by small steps.
func TestMovementFitsTheLink(t *testing.T) {
	const mostJumps = 6
	for _, c := range []struct {
		name    string
		target  rate.Rate
		what    content
		moves   int // of the QP, at most
		atFloor bool
	}{
		// Now and then a sharper QP is tried.
		{"text, 5 Mbit/s", 5 * rate.Mbps, textScroll, 14, false},
		{"text, 50 Mbit/s", 50 * rate.Mbps, textScroll, 6, true},
		// Between two QPs, what one leaves unused is spent on the other.
		{"film, 5 Mbit/s", 5 * rate.Mbps, film, 70, false},
		{"film, 20 Mbit/s", 20 * rate.Mbps, film, 60, false},
		{"film, 1 Mbit/s", 1 * rate.Mbps, film, 6, false},
	} {
		s := newScreen(c.target)
		s.encode(Key, 0, newText)
		s.now = s.now.Add(time.Second)
		s.play(60, fullHD, c.what)
		sizes, qps := s.play(300, fullHD, c.what)
		sum, moves, jumps := 0, 0, 0
		for i := range qps {
			sum += sizes[i]
			if i > 0 && max(qps[i]-qps[i-1], qps[i-1]-qps[i]) > 2 {
				jumps++
			}
			if i > 0 && qps[i] != qps[i-1] {
				moves++
			}
		}
		limit := c.target.Bytes(300 * frame)
		if qps[299] < 48 && float64(sum) > 1.03*float64(limit) {
			t.Errorf("%s: %d bytes on a link of %d", c.name, sum, limit)
		}
		if !c.atFloor && qps[299] < 48 && float64(sum) < 0.75*float64(limit) {
			t.Errorf("%s: %d bytes leave a link of %d unused at qp %d", c.name, sum, limit, qps[299])
		}
		if c.atFloor && qps[299] != defaultMotionQP {
			t.Errorf("%s: qp %d, want %d", c.name, qps[299], defaultMotionQP)
		}
		if moves > c.moves || jumps > mostJumps {
			t.Errorf("%s: the qp moved %d times in 5 s, %d times by more than 2: %v", c.name, moves, jumps, qps)
		}
	}
}

// A still picture is finished within a second of its last change.
func TestRefinement(t *testing.T) {
	for _, target := range []rate.Rate{5 * rate.Mbps, 10 * rate.Mbps, 20 * rate.Mbps, 100 * rate.Mbps} {
		s := newScreen(target)
		s.encode(Key, 0, newText)
		s.now = s.now.Add(3 * time.Second)
		s.encode(Motion, fullHD, newText)
		begin := s.now
		took, steps, first := s.refine(t, newText)
		// With a link for all of it, movement is as sharp as refining gets.
		if wait := first.Sub(begin); steps > 0 && (wait < 80*time.Millisecond || wait > 170*time.Millisecond) {
			t.Errorf("%v: the first refinement comes after %v", target, wait)
		}
		if took > time.Second || s.worst() > defaultRefineQP {
			t.Errorf("%v: %d steps to qp %d took %v", target, steps, s.worst(), took)
		}
		t.Logf("%v: %d steps, %v", target, steps, took)
		if _, ok := s.c.NextRefine(s.now.Add(time.Hour)); ok {
			t.Errorf("%v: a finished picture is refined again", target)
		}
		if !s.c.Snapshot().Refined {
			t.Errorf("%v: the snapshot does not say so", target)
		}
	}
}

// A picture that was sharp from the start needs no refinement.
func TestSharpPictureIsNotRefined(t *testing.T) {
	s := newScreen(50 * rate.Mbps)
	s.encode(Key, 0, newText)
	s.refine(t, newText)
	for range 20 {
		s.now = s.now.Add(120 * time.Millisecond)
		d, size := s.encode(Motion, 400, newText)
		if d.QP > defaultRefineQP || size > 1000 {
			t.Errorf("a typed letter: qp %d, %d bytes", d.QP, size)
		}
		if at, ok := s.c.NextRefine(s.now); ok {
			t.Errorf("a typed letter is refined at %v", at.Sub(s.now))
		}
	}
}

// Small changes on a coarse picture are sent small, and do not keep the rest
// coarse.
func TestTickingClockDoesNotHoldRefinement(t *testing.T) {
	s := newScreen(5 * rate.Mbps)
	s.encode(Key, 0, newText)
	end := s.now.Add(time.Second)
	for s.now.Before(end) {
		next := s.now.Add(frame)
		d, size := s.encode(Motion, 2000, newText)
		if limit := rate.Rate(5 * rate.Mbps).Bytes(2 * frame); size > limit {
			t.Errorf("after %v a small change took %d bytes at qp %d", s.now.Sub(epoch), size, d.QP)
		}
		s.refineUntil(next, func(int) {})
		s.now = next
	}
	if slices.Max(s.qps[120:]) > 20 {
		t.Errorf("after a second of small changes the picture is at qp %d", s.worst())
	}
}

// wild is damage that need not lie in any picture.
func wild(rng *rand.Rand) []image.Rectangle {
	var damage []image.Rectangle
	for range rng.IntN(4) {
		at := image.Pt(rng.IntN(3000)-500, rng.IntN(3000)-500)
		damage = append(damage, image.Rectangle{Min: at, Max: at.Add(image.Pt(rng.IntN(2000)-100, rng.IntN(2000)-100))})
	}
	return damage
}

// Whatever is asked in whatever order of times, the QP stays in bounds and
// the promised bytes stay within what the link carries.
func TestAnySequence(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := New(Config{
			Target: rate.Rate(rng.Int64N(1e8)), FPS: rng.IntN(400) - 20, MotionQP: rng.IntN(60), RefineQP: rng.IntN(60), MaxQP: rng.IntN(60),
			MaxAverage: rate.Rate(max(rng.Int64N(2e7)-1e7, 0)), ByEncoder: rng.IntN(4) == 0,
		})
		low, high := c.config.RefineQP, c.config.MaxQP
		sizes := []image.Point{{}, {1, 1}, hd, fullHDSize, {-3, 7}}
		now := epoch
		for range 400 {
			now = now.Add(time.Duration(rng.NormFloat64() * float64(50*time.Millisecond)))
			if rng.IntN(50) == 0 {
				now = now.Add(time.Duration(rng.Int64N(int64(1000*time.Hour))) - 500*time.Hour)
			}
			if rng.IntN(20) == 0 {
				c.SetTarget(now, rate.Rate(rng.Int64N(1e9)-1e6))
			}
			kind := Kind(rng.IntN(3))
			d := c.Plan(now, Picture{Size: sizes[rng.IntN(len(sizes))], Damage: wild(rng), Missing: rng.IntN(50) - 10, Kind: kind})
			if d.QP < low || d.QP > high || d.PredictedBytes < 0 || d.AllowedBytes < 0 || d.PredictedBytes > 1<<40 {
				t.Fatalf("seed %d: %+v outside %d to %d", seed, d, low, high)
			}
			if rng.IntN(10) > 0 {
				c.Done(now, Kind(rng.IntN(4)), d.QP+rng.IntN(3)-1, rng.IntN(1e6)-100)
			}
			if at, ok := c.NextRefine(now); ok && at.Sub(epoch) > 1e6*time.Hour {
				t.Fatalf("seed %d: refinement at %v", seed, at)
			}
			for _, k := range c.model.coefficient {
				if math.IsNaN(k) || k < leastCoefficient || k > mostCoefficient {
					t.Fatalf("seed %d: coefficient %v", seed, k)
				}
			}
		}
	}
}

func TestPromisesStayWithinTheLink(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 4))
		target := rate.Rate(1e5 + rng.Int64N(5e7))
		c := New(Config{Target: target})
		now, sum := epoch, 0
		for range 2000 {
			d := c.Plan(now, Picture{Size: fullHDSize, Damage: part(fullHDSize, rng.IntN(fullHD)), Kind: Kind(rng.IntN(3))})
			sum += d.AllowedBytes
			c.Done(now, Motion, d.QP, d.AllowedBytes)
			step := time.Duration(rng.Int64N(int64(30 * time.Millisecond)))
			if rng.IntN(10) == 0 {
				now = now.Add(-step)
				c.Plan(now, Picture{Size: fullHDSize, Kind: Refine})
			}
			now = now.Add(step)
		}
		carried := target.Bytes(now.Sub(epoch) + 4*frame)
		// A backward step makes the sum of time a little more than the end
		// of it says.
		if sum > carried+target.Bytes(40*time.Millisecond) {
			t.Errorf("seed %d: promised %d bytes, the link carries %d", seed, sum, carried)
		}
	}
}

func TestUnplannedPictureCounts(t *testing.T) {
	c := New(Config{Target: 5 * rate.Mbps})
	c.Done(epoch, Key, 30, 100_000)
	if got := c.Snapshot(); got.DebtBytes != 100_000 {
		t.Errorf("debt %d", got.DebtBytes)
	}
	if d := c.Plan(epoch, Picture{Size: fullHDSize}); d.AllowedBytes != 0 || d.QP != 48 {
		t.Errorf("a full link still promises %+v", d)
	}
	if d := c.Plan(epoch.Add(time.Second), Picture{Size: fullHDSize, Damage: part(fullHDSize, 100)}); d.QP != defaultRefineQP {
		t.Errorf("a drained link gives %+v", d)
	}
}

func TestKindNames(t *testing.T) {
	if s := Motion.String() + Refine.String() + Key.String() + Kind(9).String(); s != "motionrefinekeyunknown" {
		t.Error(s)
	}
}
