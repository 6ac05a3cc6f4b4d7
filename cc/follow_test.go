package cc

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// TestFollowsThePath: within a second the stream fills what a calm path carries,
// and no queue stands.
func TestFollowsThePath(t *testing.T) {
	for _, carries := range []rate.Rate{2 * rate.Mbps, 8 * rate.Mbps, 30 * rate.Mbps} {
		t.Run(carries.String(), func(t *testing.T) {
			r := (&road{rate: always(carries), limit: 300 * time.Millisecond}).drive(Config{}, 6*time.Second)
			near(t, "the estimate", r.c.cap.rate, carries, 0.1)
			if got := r.passed(2*time.Second, 6*time.Second); got < carries.Scale(0.8) {
				t.Errorf("%v passed", got)
			}
			rises := func(o observation) bool { return o.u.Target > carries.Scale(0.75) }
			if took := r.first(0, rises); took < 0 || took > time.Second {
				t.Errorf("took %v to fill the path", took)
			}
			if q := r.queue(2 * time.Second); q > time.Second/60 { // a picture at most
				t.Errorf("a queue of %v stands", q)
			}
		})
	}
}

// TestFollowsAStep: down within two reports and the way back, up within a
// second.
func TestFollowsAStep(t *testing.T) {
	const high, low = 10 * rate.Mbps, 3 * rate.Mbps
	const falls, rises = 4 * time.Second, 8 * time.Second
	r := (&road{limit: time.Second, rate: func(at time.Duration) rate.Rate {
		if at >= falls && at < rises {
			return low
		}
		return high
	}}).drive(Config{}, 12*time.Second)
	down := r.first(falls, func(o observation) bool { return o.u.Target <= low })
	if most := 2*reportEvery + 2*r.delay + 2*time.Second/60; down < 0 || down > most {
		t.Errorf("took %v to fall, want %v at most", down, most)
	}
	up := r.first(rises, func(o observation) bool { return o.u.Target >= high.Scale(0.75) })
	if up < 0 || up > time.Second {
		t.Errorf("took %v to rise", up)
	}
}

// TestSumsRoughPaths: where a path spaces single trains by chance, only the sum
// of many is near what it carries.
func TestSumsRoughPaths(t *testing.T) {
	const carries = 8 * rate.Mbps
	noise := chance(7)
	r := (&road{rate: always(carries), limit: 500 * time.Millisecond, late: func() time.Duration {
		return time.Duration(noise() * float64(8*time.Millisecond))
	}}).drive(Config{}, 12*time.Second)
	if r.c.cap.noise < smoothness {
		t.Errorf("the path passes for calm: noise %.2f", r.c.cap.noise)
	}
	if got := r.passed(6*time.Second, 12*time.Second); got < carries/2 {
		t.Errorf("%v of %v passed", got, carries)
	}
	if q := r.queue(6 * time.Second); q > 2*time.Second/60 {
		t.Errorf("a queue of %v stands", q)
	}
}

// chance returns pseudo-random numbers within 0 and 1.
func chance(seed uint64) func() float64 {
	return func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>40) / (1 << 24)
	}
}

// TestRandomLossStarvesNothing: losses that do not depend on the rate are no
// reason to lower it. A limit seen in them by chance takes a tenth at most.
func TestRandomLossStarvesNothing(t *testing.T) {
	const carries, settled = 8 * rate.Mbps, 3 * time.Second
	for _, part := range []float64{0.01, 0.05, 0.1} {
		next := chance(3)
		r := (&road{rate: always(carries), lose: func() bool { return next() < part }}).drive(Config{}, 15*time.Second)
		if got, want := r.passed(settled, 15*time.Second), carries.Scale(0.8*(1-part)); got < want {
			t.Errorf("loss of %v: %v passed, want %v", part, got, want)
		}
		for _, o := range r.seen {
			if o.at > settled && o.u.Target < carries.Scale(0.7) {
				t.Fatalf("loss of %v: target %v at %v, %s", part, o.u.Target, o.at, o.u.State)
			}
		}
	}
}

// policer drops what is over a rate, without any queue.
func policer(allows rate.Rate, bucket float64) func(time.Duration, int) bool {
	tokens, since := bucket, time.Duration(0)
	return func(at time.Duration, bytes int) bool {
		tokens = min(tokens+float64(allows)/8*(at-since).Seconds(), bucket)
		since = at
		if tokens < float64(bytes) {
			return true
		}
		tokens -= float64(bytes)
		return false
	}
}

// TestPolicerIsALimit: what drops all over a rate shows no queue, and still the
// stream comes to that rate.
func TestPolicerIsALimit(t *testing.T) {
	for _, c := range []struct {
		fast, allows rate.Rate
		bucket       float64
	}{
		{10 * rate.Mbps, 8 * rate.Mbps, 50_000},
		{20 * rate.Mbps, rate.Mbps, 15_000},
		{50 * rate.Mbps, rate.Mbps, 50_000},
	} {
		r := (&road{rate: always(c.fast), drop: policer(c.allows, c.bucket)}).drive(Config{}, 20*time.Second)
		if s := r.share("lossy", 5*time.Second); s < 0.9 {
			t.Errorf("%+v: a limit for %.0f %% of the time", c, 100*s)
		}
		if got := r.u.Target; got > c.allows.Scale(1.25) {
			t.Errorf("%+v: target %v", c, got)
		}
		if got := r.passed(5*time.Second, 20*time.Second); got < c.allows.Scale(0.7) {
			t.Errorf("%+v: %v passed", c, got)
		}
	}
}

// TestOutageBeginsAndEnds: silence lets a trickle through, and its answer brings
// the stream back.
func TestOutageBeginsAndEnds(t *testing.T) {
	const carries = 8 * rate.Mbps
	const from, to = 4 * time.Second, 6 * time.Second
	r := (&road{rate: always(carries), limit: 300 * time.Millisecond, cut: func(at time.Duration) bool {
		return at >= from && at < to
	}}).drive(Config{}, 10*time.Second)
	begins := r.first(from, func(o observation) bool { return o.u.State == "outage" })
	if begins < 0 || begins > leastPatience+2*reportEvery+2*r.delay {
		t.Errorf("noticed after %v", begins)
	}
	for _, o := range r.seen {
		if o.u.State == "outage" && o.u.Pace > defaultMin {
			t.Fatalf("paces at %v in an outage", o.u.Pace)
		}
		if o.at < from && o.u.State == "outage" {
			t.Fatalf("an outage at %v", o.at)
		}
	}
	back := r.first(to, func(o observation) bool { return o.u.State != "outage" && o.u.Target > carries.Scale(0.7) })
	if back < 0 || back > time.Second {
		t.Errorf("back %v after the end", back)
	}
}

// TestHoldsItsOwn: beside a flow that keeps the queue full the stream claims its
// part, and the whole path when that has left.
func TestHoldsItsOwn(t *testing.T) {
	const carries, tooth = 8 * rate.Mbps, 1500 * time.Millisecond
	const from, to = 3 * time.Second, 12 * time.Second
	r := (&road{rate: always(carries), limit: 200 * time.Millisecond, fill: func(at, queue time.Duration) int {
		full := 70*time.Millisecond + (at%tooth)/25 // up to 130 ms, as a window that grows and falls
		if at < from || at > to || queue > full {
			return 0
		}
		return carries.Bytes(full - queue) // whatever is free
	}}).drive(Config{}, 20*time.Second)
	if took := r.first(from, func(o observation) bool { return o.u.State == "competing" }); took < stubborn || took > to-from {
		t.Errorf("competes %v after the other came", took)
	}
	left := r.first(to, func(o observation) bool { return o.u.State != "competing" })
	if left < 0 || left > time.Second {
		t.Errorf("competes for %v more", left)
	}
	if s := r.share("competing", to+left); s > 0 {
		t.Error("competes with nobody")
	}
	if got := r.passed(17*time.Second, 20*time.Second); got < carries.Scale(0.75) {
		t.Errorf("%v passes when the other has left", got)
	}
}

// TestHeldQueue: beside a flow that keeps the queue at one length, whatever else is sent,
// the stream cannot tell the queue from a longer path. It has its part all the same, and
// the whole path when the flow has left.
func TestHeldQueue(t *testing.T) {
	const carries, full = 8 * rate.Mbps, 100 * time.Millisecond
	const from, to = 3 * time.Second, 12 * time.Second
	r := (&road{rate: always(carries), limit: 200 * time.Millisecond, fill: func(at, queue time.Duration) int {
		if at < from || at > to || queue > full {
			return 0
		}
		return carries.Bytes(full - queue)
	}}).drive(Config{}, 20*time.Second)
	if got := r.passed(from+2*time.Second, to); got < carries.Scale(0.2) {
		t.Errorf("%v passes beside it", got)
	}
	if got := r.passed(14*time.Second, 20*time.Second); got < carries.Scale(0.75) {
		t.Errorf("%v passes when the other has left", got)
	}
}

// TestRecall: a remembered rate is reached at once where the path still carries
// it, and harms nothing where it does not.
func TestRecall(t *testing.T) {
	remembered := Memory{Capacity: 20 * rate.Mbps, At: virtualStart.Add(-time.Minute)}
	for _, carries := range []rate.Rate{20 * rate.Mbps, rate.Mbps} {
		r := (&road{rate: always(carries), limit: time.Second}).drive(Config{Memory: remembered}, 5*time.Second)
		if r.probe == 0 {
			t.Error("nothing was probed")
		}
		filled := func(o observation) bool { return o.u.Target > carries.Scale(0.7) && o.u.Target < carries }
		if took := r.first(0, filled); took < 0 || took > time.Second/2 {
			t.Errorf("%v: took %v", carries, took)
		}
		if carries == rate.Mbps && r.queue(2*time.Second) > 20*time.Millisecond {
			t.Errorf("a queue of %v stands", r.queue(2*time.Second))
		}
		if m := r.c.Memory(virtualStart.Add(r.at)); m.Capacity != r.c.cap.rate || !m.At.Equal(virtualStart.Add(r.at)) {
			t.Errorf("remembers %+v", m)
		}
	}
}
