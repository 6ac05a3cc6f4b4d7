package ratecontrol

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// pass is a stretch of a stream: pictures that change so much of the screen, or a
// time in which nothing does.
type pass struct {
	lasts   time.Duration
	changed int // pixels of each picture; 0: none comes
	what    content
	key     bool // begins with a key frame
}

// streams are what viewers watch, by name.
var streams = map[string][]pass{
	"a film":              {{lasts: 60 * time.Second, changed: fullHD, what: film}},
	"half of it idle":     {{lasts: 60 * time.Second, changed: fullHD / 2, what: film}},
	"noise":               {{lasts: 60 * time.Second, changed: fullHD, what: noise}},
	"a page that is read": repeat(12, pass{lasts: time.Second, changed: fullHD, what: textScroll}, pass{lasts: 4 * time.Second}),
	"a film after a rest": {{lasts: 30 * time.Second, changed: 2000, what: newText}, {lasts: 30 * time.Second, changed: fullHD, what: film}},
	"scenes":              repeat(30, pass{lasts: frame, changed: fullHD, what: newText}, pass{lasts: 2*time.Second - frame, changed: 9000, what: film}),
	"key frames":          repeat(30, pass{lasts: 2 * time.Second, changed: fullHD / 2, what: textScroll, key: true}),
}

func repeat(n int, passes ...pass) []pass {
	var all []pass
	for range n {
		all = append(all, passes...)
	}
	return all
}

// watch plays passes to a screen, with its refinements, and tells each of what was
// sent.
func (s *screen) watch(passes []pass, sent func(at time.Time, sizeBytes int)) {
	for _, p := range passes {
		end := s.now.Add(p.lasts)
		for first := true; s.now.Before(end); first = false {
			next := s.now.Add(frame)
			switch {
			case p.key && first:
				s.send(Key, 0, newText, sent)
			case p.changed > 0 && s.c.NextPicture(s.now).After(s.now):
			case p.changed > 0:
				s.send(Motion, p.changed, p.what, sent)
			}
			s.refineUntil(next, func(size int) { sent(s.now, size) })
			s.now = next
		}
	}
}

func (s *screen) send(kind Kind, changed int, what content, sent func(time.Time, int)) {
	_, size := s.encode(kind, changed, what)
	sent(s.now, size)
}

// TestAverageStaysUnderItsBound: whatever is shown, from ten seconds on, the average
// since the begin is at or under the bound at all times, on a link that would carry
// many times as much.
func TestAverageStaysUnderItsBound(t *testing.T) {
	for name, passes := range streams {
		for _, most := range []rate.Rate{rate.Mbps, 6 * rate.Mbps} {
			s := newScreenWith(Config{Target: 50 * rate.Mbps, MaxAverage: most})
			s.encode(Key, 0, newText)
			total, worst := 0, 0.0
			s.watch(passes, func(at time.Time, sizeBytes int) {
				total += sizeBytes
				if elapsed := at.Sub(epoch); elapsed > 10*time.Second {
					worst = max(worst, float64(total)/float64(most.Bytes(elapsed)))
				}
			})
			t.Logf("%s, %v: %.3f of the bound at the most, %.3f in the end", name, most, worst, float64(total)/float64(most.Bytes(s.now.Sub(epoch))))
			if worst > 1 {
				t.Errorf("%s: the average reached %.3f of %v", name, worst, most)
			}
		}
	}
}

// TestBoundIsUsed: a movement that could use more than the bound gets nearly all of
// it, and one that begins after a rest is sharper at first than one without.
func TestBoundIsUsed(t *testing.T) {
	const most = 6 * rate.Mbps
	for _, name := range []string{"a film", "half of it idle", "noise"} {
		s, total := newScreenWith(Config{Target: 50 * rate.Mbps, MaxAverage: most}), 0
		s.encode(Key, 0, newText)
		s.watch(streams[name], func(_ time.Time, sizeBytes int) { total += sizeBytes })
		if share := float64(total) / float64(most.Bytes(s.now.Sub(epoch))); share < 0.93 {
			t.Errorf("%s: %.3f of the bound was used", name, share)
		}
	}
	begin := func(rest time.Duration) int {
		s := newScreenWith(Config{Target: 50 * rate.Mbps, MaxAverage: most})
		s.encode(Key, 0, newText)
		s.play(180, fullHD, film)
		s.now = s.now.Add(rest)
		_, qps := s.play(30, fullHD, film)
		return qps[29]
	}
	if soon, rested := begin(frame), begin(20*time.Second); rested > soon-3 {
		t.Errorf("after a rest a film begins at QP %d, without one it is at %d", rested, soon)
	}
}

// TestNoBound: without one, and with one far above the link, decisions are the same.
func TestNoBound(t *testing.T) {
	run := func(c Config) (qps []int) {
		s := newScreenWith(c)
		s.encode(Key, 0, newText)
		_, qps = s.play(200, fullHD, film)
		return qps
	}
	free, wide := run(Config{Target: 5 * rate.Mbps}), run(Config{Target: 5 * rate.Mbps, MaxAverage: 50 * rate.Mbps})
	for i := range free {
		if free[i] != wide[i] {
			t.Fatalf("picture %d: QP %d without a bound, %d with one above the link", i, free[i], wide[i])
		}
	}
}

// TestBoundHoldsForAnyEncoder: pictures of any size, at any times, on a link that
// changes: what is planned with stays between half of the bound and its peak, and
// within the link.
func TestBoundHoldsForAnyEncoder(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 6))
		most := rate.Rate(1e5 + rng.Int64N(2e7))
		path := rate.Rate(1e5 + rng.Int64N(1e8))
		c, now := New(Config{Target: path, MaxAverage: most}), epoch
		for range 1000 {
			now = now.Add(time.Duration(rng.ExpFloat64() * float64(30*time.Millisecond)))
			if rng.IntN(30) == 0 {
				path = rate.Rate(1e5 + rng.Int64N(1e8))
				c.SetTarget(now, path)
			}
			if rng.IntN(100) == 0 {
				now = now.Add(time.Duration(rng.Int64N(int64(time.Hour))))
			}
			kind := Kind(rng.IntN(3))
			d := c.Plan(now, Picture{Size: hd, Damage: part(hd, rng.IntN(hdPixels)), Kind: kind})
			got := c.Snapshot()
			least := min(path, max(rate.Rate(leastShare*float64(most)), minTarget))
			if got.Target < least-1 || got.Target > min(path, Peak(most))+1 || got.Capped != (got.Target < path) {
				t.Fatalf("seed %d: %v is planned with, of a link of %v under a bound of %v", seed, got.Target, path, most)
			}
			c.Done(now, kind, d.QP, int(rng.ExpFloat64()*float64(most.Bytes(frame))))
			if math.IsNaN(c.average.saved) || c.average.saved > bytesIn(most, mostSaved) {
				t.Fatalf("seed %d: %.0f bytes are saved", seed, c.average.saved)
			}
		}
	}
}

// TestKeyFrameIsSharper: where the link has room a key frame is sharper than a
// movement may be, and never sharper than a picture is in the end; where it has none
// it is not. The movement after it is held where it belongs.
func TestKeyFrameIsSharper(t *testing.T) {
	for name, tt := range map[string]struct {
		config Config
		want   int
	}{
		"a wide link":                 {Config{Target: 500 * rate.Mbps}, defaultMotionQP - keySharper},
		"a still picture ends higher": {Config{Target: 500 * rate.Mbps, MotionQP: 20, RefineQP: 19}, 19},
		"a set QP":                    {Config{Target: 500 * rate.Mbps, MotionQP: 30, RefineQP: 26}, 27},
	} {
		s := newScreenWith(tt.config)
		if d, _ := s.encode(Key, 0, newText); d.QP != tt.want {
			t.Errorf("%s: a key frame at QP %d, want %d", name, d.QP, tt.want)
		}
		s.now = s.now.Add(frame)
		if d, _ := s.encode(Motion, fullHD, textScroll); d.QP < s.c.config.MotionQP {
			t.Errorf("%s: the movement after it is at QP %d", name, d.QP)
		}
	}
	s := newScreen(5 * rate.Mbps)
	if d, _ := s.encode(Key, 0, newText); d.QP <= defaultMotionQP || d.PredictedBytes > d.AllowedBytes {
		t.Errorf("on 5 Mbit/s: %+v", d)
	}
}

// TestSmallChangeIsSharper: one is as sharp as the still picture around it is in the
// end, and no sharper, or it would take all of that along.
func TestSmallChangeIsSharper(t *testing.T) {
	for _, c := range []Config{{}, {MotionQP: 20, RefineQP: 14}, {MotionQP: 30, RefineQP: 26}} {
		c.Target = 20 * rate.Mbps
		s := newScreenWith(c)
		s.encode(Key, 0, newText)
		s.refine(t, newText)
		s.now = s.now.Add(time.Second)
		d, size := s.encode(Motion, 400, newText)
		if d.QP != s.c.config.RefineQP || size > 1000 {
			t.Errorf("%+v: a typed letter at QP %d in %d bytes", s.c.config, d.QP, size)
		}
	}
}
