package cc

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

// lossy sends packets at a rate for a time, lost as told, and returns the limit
// found, over which the losses were; 0 for none.
func (l *lossModel) lossy(at *time.Duration, r rate.Rate, d time.Duration, lost func(i int) bool) rate.Rate {
	every := r.Duration(wirePacket)
	for i := range int(d / every) {
		p := sentAt(0, 1, *at)
		if lost(i) {
			l.miss(p, false)
		} else {
			l.arrive(p)
		}
		*at += every
	}
	return rate.Rate(l.cap)
}

// part loses so many packets evenly.
func part(share float64) func(int) bool {
	return func(i int) bool { return int(float64(i+1)*share) > int(float64(i)*share) }
}

// TestLossModel: the same share at every rate is inherent; a share that grows
// with the rate, as a policer has it, is a limit near its rate.
func TestLossModel(t *testing.T) {
	none, policed := part(0), 4*rate.Mbps
	over := func(r rate.Rate) func(int) bool { return part(1 - float64(policed)/float64(r)) }
	for _, c := range []struct {
		name       string
		slow, fast func(int) bool
		want       rate.Rate // about; 0: none
	}{
		{"no loss", none, none, 0},
		{"5 % at any rate", part(0.05), part(0.05), 0},
		{"15 % at any rate", part(0.15), part(0.15), 0},
		{"policer", none, over(6 * rate.Mbps), policed},
		{"policer and 5 % at any rate", part(0.05), part(0.05 + 0.95/3), policed},
	} {
		var l lossModel
		var at time.Duration
		l.lossy(&at, 3*rate.Mbps, 2*time.Second, c.slow)
		got := l.lossy(&at, 6*rate.Mbps, 2*time.Second, c.fast)
		if c.want == 0 && got != 0 {
			t.Errorf("%s: a limit of %v", c.name, got)
		}
		if c.want != 0 {
			near(t, c.name, got, c.want, 0.15)
		}
	}
}

// TestGapIsNoLimit: where nothing at all came through for a while, the path was gone,
// and sending less would not have helped.
func TestGapIsNoLimit(t *testing.T) {
	for _, gap := range []time.Duration{50 * ms, 170 * ms, 300 * ms, time.Second} {
		for _, r := range []rate.Rate{2 * rate.Mbps, 10 * rate.Mbps} {
			var l lossModel
			var at time.Duration
			l.allowed = float64(r)
			for range 4 {
				l.lossy(&at, r, 3*time.Second, part(0))
				l.lossy(&at, r, gap, part(1))
			}
			if got := l.lossy(&at, r, time.Second, part(0)); got != 0 {
				t.Errorf("after gaps of %v at %v: a limit of %v", gap, r, got)
			}
		}
	}
}

// TestLostPicturesAreNoLimit: the same where packets leave picture by picture, and
// three pictures or more are lost, wherever in a picture that begins.
func TestLostPicturesAreNoLimit(t *testing.T) {
	const perPicture, apart, every = 12, ms, time.Second / 60
	for _, gap := range []time.Duration{50 * ms, 167 * ms} {
		for phase := range every / ms {
			var l lossModel
			l.allowed = float64(10 * rate.Mbps)
			from := 500*ms + phase*ms
			for picture := range 120 {
				for n := range perPicture {
					at := time.Duration(picture)*every + time.Duration(n)*apart
					if p := sentAt(0, 1, at); at >= from && at < from+gap {
						l.miss(p, false)
					} else {
						l.arrive(p)
					}
				}
			}
			if l.cap != 0 {
				t.Errorf("%v lost from %v on: a limit of %v", gap, from, rate.Rate(l.cap))
			}
		}
	}
}

// TestFloodIsALimit: where single packets come through, again and again after a long
// run of losses, the path is there, and narrow.
func TestFloodIsALimit(t *testing.T) {
	var l lossModel
	var at time.Duration
	l.allowed = float64(10 * rate.Mbps)
	l.lossy(&at, 10*rate.Mbps, 2*time.Second, part(0))
	got := l.lossy(&at, 10*rate.Mbps, 2*time.Second, func(i int) bool { return i%60 != 0 })
	if got == 0 || got > 400*rate.Kbps {
		t.Errorf("a limit of %v where one packet in 60 passes at 10 Mbit/s", got)
	}
}

// TestBurstsCountOnce: losses in a row say no more than one; spread evenly, the
// same number says more.
func TestBurstsCountOnce(t *testing.T) {
	const lost, of = 4, 200
	burst := func(i int) bool { return i%of >= of-lost }
	spread := func(i int) bool { return i%(of/lost) == 0 }
	runs := func(how func(int) bool) float64 {
		var l lossModel
		var at time.Duration
		l.lossy(&at, 8*rate.Mbps, 4*time.Second, how)
		return l.burst()
	}
	if got := runs(burst); got < lost-1 || got > lost {
		t.Errorf("bursts of %d count as %.1f in a row", lost, got)
	}
	if got := runs(spread); got != 1 {
		t.Errorf("single losses count as %.1f in a row", got)
	}
}

// TestLateIsNotLost: a packet that was reordered past its report counts as
// arrived, once.
func TestLateIsNotLost(t *testing.T) {
	var l lossModel
	for i := range 20 {
		p := sentAt(uint64(i), 1, time.Duration(i)*ms)
		if i%2 == 0 {
			l.miss(p, false)
			p.lost = true
		}
		l.arrive(p)
	}
	if l.open.lost != 0 || l.open.sent != 20 {
		t.Errorf("lost %v of %v", l.open.lost, l.open.sent)
	}
}

// TestLimitIsTried: without a loss to confirm it a limit rises until it is none.
func TestLimitIsTried(t *testing.T) {
	var l lossModel
	l.confirm(float64(4 * rate.Mbps))
	before, now := rate.Rate(0), virtualStart
	for range 6000 {
		now = now.Add(10 * ms)
		got, ok := l.limit(now, 8*rate.Mbps)
		if !ok {
			break
		}
		if got < before {
			t.Fatalf("fell from %v to %v", before, got)
		}
		before = got
	}
	took := now.Sub(virtualStart)
	if took < 5*time.Second || took > 30*time.Second || l.cap != 0 {
		t.Errorf("a limit of half the capacity is gone after %v, at %v", took, before)
	}
}

// TestOutage: it begins when several reports are overdue, and not while nothing
// was sent.
func TestOutage(t *testing.T) {
	var o outage
	now := virtualStart
	o.hear(now)
	if d := o.deadline(); !d.IsZero() {
		t.Errorf("waits for an answer to nothing until %v", d)
	}
	for range 100 {
		o.send(now)
		now = now.Add(200 * ms)
		if o.begins(now) {
			t.Fatal("begins between two reports")
		}
		o.hear(now)
	}
	o.send(now)
	if got, want := o.deadline().Sub(now), missedReports*200*ms; got != want {
		t.Errorf("patience of %v, want %v", got, want)
	}
	if o.begins(now.Add(missedReports*200*ms - ms)) {
		t.Error("begins before its time")
	}
	if !o.begins(now.Add(missedReports*200*ms)) || !o.on || !o.deadline().IsZero() {
		t.Error("does not begin")
	}
	o.hear(now.Add(time.Second))
	if o.on {
		t.Error("does not end")
	}
}
