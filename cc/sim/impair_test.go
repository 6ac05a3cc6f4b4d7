package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// TestLoss: the share lost is what was asked for, within four standard
// deviations, and bursts have their mean length.
func TestLoss(t *testing.T) {
	const n = 100000
	tests := []struct {
		name        string
		loss        Loss
		share, mean float64 // lost of all; packets of a run of losses
	}{
		{"none", Loss{}, 0, 0},
		{"2 %", Loss{Random: 0.02}, 0.02, 1 / 0.98},
		{"2 % by the time", Loss{Random: 0.02, Slot: 5 * ms}, 0.02, 1 / 0.98},
		{"10 %", Loss{Random: 0.10}, 0.10, 1 / 0.9},
		{"2 % before the bottleneck", Loss{Random: 0.02, Before: true}, 0.02, 1 / 0.98},
		{"bursts of 5", Loss{Burst: Burst{GoodBad: 0.01, BadGood: 0.2}}, 0.01 / 0.21, 5},
		{"bursts that lose half", Loss{Burst: Burst{GoodBad: 0.01, BadGood: 0.1, LossBad: 0.5}}, 0.5 * 0.01 / 0.11, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := NewLink(LinkConfig{Origin: origin, Rates: constant(10 * rate.Mbps), Loss: test.loss}, 7)
			got := offer(l, 10*rate.Mbps, 1250, 0, n*ms)
			lost, runs := n-len(got), 0
			for i := 1; i < len(got); i++ {
				if got[i].ID != got[i-1].ID+1 {
					runs++
				}
			}
			run := max(test.mean, 1) // losses within a run go together
			bound := 4 * math.Sqrt(2*run*test.share*n)
			if math.Abs(float64(lost)-test.share*n) > bound {
				t.Errorf("lost %d of %d, want %.0f within %.0f", lost, n, test.share*n, bound)
			}
			if test.mean > 0 {
				near(t, "run of losses", float64(lost)/float64(runs), test.mean, 0.1)
			}
			if s := l.Stats(); s.Lost != lost || s.Delivered != len(got) {
				t.Errorf("lost %d, received %d, counted %+v", lost, len(got), s)
			}
		})
	}
}

// TestLossSlot: one packet more changes what is lost in its slot and no other.
func TestLossSlot(t *testing.T) {
	lost := func(more bool) map[time.Duration]bool {
		l := NewLink(LinkConfig{Origin: origin, Loss: Loss{Random: 0.5, Slot: 5 * ms}}, 7)
		at := map[time.Duration]bool{}
		for n := range 1000 {
			now := time.Duration(n) * ms
			if more && n == 100 {
				l.Send(origin.Add(now), Packet{Size: 100})
			}
			l.Send(origin.Add(now), Packet{Size: 100})
			_, arrived := l.Receive(origin.Add(now))
			at[now] = !arrived
		}
		return at
	}
	one, other := lost(false), lost(true)
	for at, gone := range one {
		if slot := at / (5 * ms); slot != 20 && other[at] != gone {
			t.Errorf("what is lost at %v depends on a packet at 100 ms", at)
		}
	}
}

// TestLossPlace: only a loss after the bottleneck uses its capacity.
func TestLossPlace(t *testing.T) {
	for _, before := range []bool{false, true} {
		l := NewLink(LinkConfig{Origin: origin, Rates: constant(10 * rate.Mbps), Queue: Queue{Limit: 50 * ms}, Loss: Loss{Random: 0.2, Before: before}}, 1)
		got := offer(l, 20*rate.Mbps, 1250, 0, 20*time.Second)
		want := 10e6 * 20 / 8 * 0.8
		if before {
			want = 10e6 * 20 / 8
		}
		near(t, "bytes", float64(bytesWithin(got, 0, 20*time.Second)), want, 0.02)
	}
}

// TestJitter holds the spread of delays and the order against the options.
func TestJitter(t *testing.T) {
	tests := []struct {
		name      string
		jitter    Jitter
		sigma     time.Duration
		reordered bool
	}{
		{"reorders", Jitter{Sigma: 5 * ms}, 5 * ms, true},
		{"keeps order", Jitter{Sigma: 5 * ms, Keep: true}, 0, false},
		{"bounded", Jitter{Sigma: 5 * ms, Bound: 10 * ms}, 4400 * time.Microsecond, true}, // a Gaussian cut at 2 sigma has 0.88 of it
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := NewLink(LinkConfig{Origin: origin, Delay: 50 * ms, Jitter: test.jitter}, 3)
			got := offer(l, 10*rate.Mbps, 1250, 0, 20*time.Second)
			var squares float64
			least, most := time.Hour, time.Duration(0)
			for _, d := range got {
				delay := d.At.Sub(d.SentAt)
				least, most = min(least, delay), max(most, delay)
				squares += math.Pow(float64(delay-50*ms), 2)
			}
			if test.sigma > 0 {
				near(t, "sigma", math.Sqrt(squares/float64(len(got))), float64(test.sigma), 0.03)
			}
			if b := test.jitter.Bound; b > 0 && (least < 50*ms-b || most > 50*ms+b) {
				t.Errorf("delays from %v to %v, want within %v of 50 ms", least, most, b)
			}
			inOrder := slices.IsSortedFunc(got, func(a, b Delivery) int { return int(a.ID) - int(b.ID) })
			if len(got) != 20000 || inOrder == test.reordered {
				t.Errorf("%d arrived, in order: %v", len(got), inOrder)
			}
		})
	}
}

// TestJitterNeverBeforeSending: a wide spread does not undercut time.
func TestJitterNeverBeforeSending(t *testing.T) {
	l := NewLink(LinkConfig{Origin: origin, Delay: 5 * ms, Jitter: Jitter{Sigma: 20 * ms}}, 3)
	for _, d := range offer(l, 10*rate.Mbps, 1250, 0, time.Second) {
		if d.At.Before(d.SentAt) {
			t.Fatalf("sent %v, arrived %v", d.SentAt, d.At)
		}
	}
}

// TestFlowDelays: flows over one bottleneck have delays of their own.
func TestFlowDelays(t *testing.T) {
	l := NewLink(LinkConfig{Origin: origin, Rates: constant(8 * rate.Mbps), Delay: 10 * ms, FlowDelays: []time.Duration{0, 40 * ms}}, 1)
	for flow := range 3 {
		l.Send(origin, Packet{Flow: flow, Size: 1000})
	}
	want := []time.Duration{11 * ms, 13 * ms, 52 * ms}
	for i, d := range receive(l, at(time.Second), nil) {
		if d.At != at(want[i]) {
			t.Errorf("flow %d arrived after %v, want %v", d.Flow, d.At.Sub(origin), want[i])
		}
	}
}

// TestDetours: the way is longer between two times, and as before after them.
func TestDetours(t *testing.T) {
	l := NewLink(LinkConfig{Origin: origin, Delay: 10 * ms, Detours: []Detour{{time.Second, 30 * ms}, {2 * time.Second, 0}}}, 1)
	want := []time.Duration{10 * ms, 40 * ms, 40 * ms, 10 * ms}
	for i, sent := range []time.Duration{999 * ms, time.Second, 1999 * ms, 2 * time.Second} {
		l.Send(at(sent), Packet{ID: uint64(i), Size: 1000})
	}
	for _, d := range receive(l, at(3*time.Second), nil) {
		if took := d.At.Sub(d.SentAt); took != want[d.ID] {
			t.Errorf("packet %d took %v, want %v", d.ID, took, want[d.ID])
		}
	}
}

// TestCoDel: a load slightly above the link ends with the sojourn time held
// near the target, and a load below it loses nothing.
func TestCoDel(t *testing.T) {
	config := LinkConfig{Origin: origin, Rates: constant(10 * rate.Mbps), Queue: Queue{CoDel: true, Limit: time.Second}}
	l := NewLink(config, 1)
	got := offer(l, 10500*rate.Kbps, 1250, 0, 30*time.Second)
	var found []time.Duration
	for _, d := range got {
		if d.At.After(at(15 * time.Second)) {
			found = append(found, d.Found)
		}
	}
	slices.Sort(found)
	if median := found[len(found)/2]; median < ms || median > 12*ms {
		t.Errorf("median sojourn %v, want near the target of 5 ms", median)
	}
	near(t, "bytes", float64(bytesWithin(got, 15*time.Second, 30*time.Second)), 10e6*15/8, 0.02)
	if s := l.Stats(); s.CoDel == 0 || s.Tail != 0 || s.CoDel+s.Delivered != s.Sent {
		t.Errorf("%+v", s)
	}
	l = NewLink(config, 1)
	offer(l, 9500*rate.Kbps, 1250, 0, 10*time.Second)
	if s := l.Stats(); s.Delivered != s.Sent {
		t.Errorf("below capacity: %+v", s)
	}
}

// TestPolicer: a burst of the bucket passes at once, then the rate, and what
// does not conform is dropped, not delayed.
func TestPolicer(t *testing.T) {
	l := NewLink(LinkConfig{Origin: origin, Policer: Policer{Rates: constant(rate.Mbps), BucketBytes: 5000}}, 1)
	passed := 0
	for range 10 {
		if !l.Send(origin, Packet{Size: 1000}) {
			passed++
		}
	}
	if passed != 5 {
		t.Errorf("%d of a burst passed, want the bucket's 5", passed)
	}
	if !l.Send(at(7*ms), Packet{Size: 1000}) || l.Send(at(8*ms), Packet{Size: 1000}) {
		t.Error("a token of 1000 bytes takes 8 ms at 1 Mbit/s")
	}
	l = NewLink(LinkConfig{Origin: origin, Policer: Policer{Rates: constant(rate.Mbps)}}, 1)
	got := offer(l, 2*rate.Mbps, 1250, 0, 20*time.Second)
	near(t, "share", float64(len(got))/float64(l.Stats().Sent), 0.5, 0.01)
}

// TestSpells: within a spell all is lost and outside nothing, and what is lost at
// random is the same as without.
func TestSpells(t *testing.T) {
	spells := Outages{Length: 50 * ms, Every: 500 * ms, From: 200 * ms}
	ids := func(loss Loss) map[uint64]bool {
		l := NewLink(LinkConfig{Origin: origin, Loss: loss}, 7)
		got := map[uint64]bool{}
		for _, d := range offer(l, 10*rate.Mbps, 1250, 0, 2000*ms) {
			got[d.ID] = true
		}
		return got
	}
	all, random := ids(Loss{}), ids(Loss{Random: 0.1})
	only, both := ids(Loss{Spells: spells}), ids(Loss{Random: 0.1, Spells: spells})
	lost := 0
	for id := range all {
		if !only[id] {
			lost++
		}
		if both[id] != (random[id] && only[id]) {
			t.Errorf("packet %d came: %v; at random: %v, but for the spells: %v", id, both[id], random[id], only[id])
		}
	}
	if want := 4 * 50; lost != want {
		t.Errorf("%d of %d packets were lost, want %d", lost, len(all), want)
	}
}
