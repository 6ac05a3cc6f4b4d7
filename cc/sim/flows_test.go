package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// flow is what drive runs: Cubic and Background.
type flow interface {
	Next() time.Time
	Step(now time.Time, l sender)
}

// drive runs flows over a link until the end and gives what arrived of each.
func drive(l *Link, end time.Duration, flows ...flow) [][]Delivery {
	got := make([][]Delivery, len(flows))
	for now := origin; !now.After(at(end)); {
		for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
			got[d.Flow] = append(got[d.Flow], d)
			if c, ok := flows[d.Flow].(*Cubic); ok {
				c.Arrived(d)
			}
		}
		for _, f := range flows {
			f.Step(now, l)
		}
		next := l.Next()
		for _, f := range flows {
			if n := f.Next(); next.IsZero() || !n.IsZero() && n.Before(next) {
				next = n
			}
		}
		if next.IsZero() {
			break
		}
		now = next
	}
	return got
}

func cubic(flow int, start, stop time.Duration) *Cubic {
	return NewCubic(CubicConfig{Origin: origin, Flow: flow, Start: start, Stop: stop, Reverse: 10 * ms}, uint64(flow))
}

func tail(r rate.Rate, limit time.Duration) LinkConfig {
	return LinkConfig{Origin: origin, Rates: constant(r), Delay: 10 * ms, Queue: Queue{Limit: limit}}
}

// TestCubicAlone: a flow fills its link, whatever the queue is.
func TestCubicAlone(t *testing.T) {
	codel := tail(20*rate.Mbps, time.Second)
	codel.Queue.CoDel = true
	tests := []struct {
		name   string
		config LinkConfig
		least  float64 // share of the capacity from 5 s to 60 s
	}{
		{"a bandwidth-delay product of queue", tail(20*rate.Mbps, 20*ms), 0.95},
		{"a deep queue", tail(20*rate.Mbps, 250*ms), 0.99},
		{"2 Mbit/s", tail(2*rate.Mbps, 250*ms), 0.99},
		{"100 Mbit/s", tail(100*rate.Mbps, 50*ms), 0.95},
		{"CoDel", codel, 0.90},
		{"outages", func() LinkConfig {
			c := tail(20*rate.Mbps, 250*ms)
			c.Outages = Outages{Length: 100 * ms, Every: time.Second}
			return c
		}(), 0.95},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, c := NewLink(test.config, 1), cubic(0, 0, 0)
			got := drive(l, time.Minute, c)
			use := float64(bytesWithin(got[0], 5*time.Second, time.Minute)) / float64(l.Capacity(at(5*time.Second), at(time.Minute)))
			s := c.Stats()
			t.Logf("use %.3f, %+v, link %+v", use, s, l.Stats())
			if use < test.least || use > 1.0001 {
				t.Errorf("use %.3f, want at least %.2f", use, test.least)
			}
			if s.Timeouts > 2 {
				t.Errorf("%d timeouts", s.Timeouts)
			}
			if dropped := l.Stats().Tail + l.Stats().CoDel; s.Lost > dropped || s.Lost < dropped-200 {
				t.Errorf("the sender counts %d lost, the link %d", s.Lost, dropped)
			}
		})
	}
}

// TestCubicLoss: with random loss p the window is about what RFC 9438, 5.1
// gives at short round-trip times, where CUBIC is as fast as Reno:
// sqrt(3/2/p) segments.
func TestCubicLoss(t *testing.T) {
	c := tail(500*rate.Mbps, time.Second)
	c.Loss.Random = 0.005
	got := drive(NewLink(c, 1), time.Minute, cubic(0, 0, 0))
	bytes := float64(bytesWithin(got[0], 0, time.Minute))
	window := bytes / 1500 / time.Minute.Seconds() * 0.020
	near(t, "window", window, math.Sqrt(1.5/0.005), 0.25)
}

// TestCubicShares: two flows share about equally although one comes late, and
// the one that is left takes all. The queue is a bandwidth-delay product: over
// a deeper one CUBIC shares as well, but takes a minute to get there.
func TestCubicShares(t *testing.T) {
	for seed := range uint64(3) {
		l := NewLink(tail(20*rate.Mbps, 20*ms), seed)
		got := drive(l, 100*time.Second, cubic(0, 0, 0), cubic(1, time.Duration(5+seed)*time.Second, 80*time.Second))
		a, b := bytesWithin(got[0], 20*time.Second, 80*time.Second), bytesWithin(got[1], 20*time.Second, 80*time.Second)
		if share := float64(b) / float64(a+b); share < 0.43 || share > 0.57 {
			t.Errorf("the second flow has %.2f of the link", share)
		}
		near(t, "both", float64(a+b), 20e6*60/8, 0.02)
		near(t, "the one left", float64(bytesWithin(got[0], 85*time.Second, 100*time.Second)), 20e6*15/8, 0.02)
		if last := got[1][len(got[1])-1].At; last.After(at(80*time.Second + 150*ms)) {
			t.Errorf("a stopped flow still arrives at %v", last.Sub(origin))
		}
	}
}

// TestCubicRecoversFromBlackout: after a minute without a link the timer has
// backed off, and the flow comes back.
func TestCubicRecoversFromBlackout(t *testing.T) {
	c := tail(10*rate.Mbps, 100*ms)
	c.Outages = Outages{Length: 10 * time.Second, From: 5 * time.Second}
	f := cubic(0, 0, 0)
	got := drive(NewLink(c, 1), 40*time.Second, f)
	near(t, "after", float64(bytesWithin(got[0], 30*time.Second, 40*time.Second)), 10e6*10/8, 0.02)
	if n := f.Stats().Timeouts; n < 3 || n > 8 {
		t.Errorf("%d timeouts in 10 s, want the backed-off few", n)
	}
}

// TestTransfers: short transfers come, finish and pause.
func TestTransfers(t *testing.T) {
	f := NewCubic(CubicConfig{
		Origin: origin, Reverse: 10 * ms, Stop: 200 * time.Second,
		Transfers: Transfers{MinBytes: 30000, MaxBytes: 50000, Idle: time.Second},
	}, 9)
	got := drive(NewLink(tail(2*rate.Mbps, 300*ms), 1), 210*time.Second, f)
	s := f.Stats()
	// One takes 0.18 s at 2 Mbit/s, and some round trips to begin with.
	if s.Finished < 120 || s.Finished > 200 {
		t.Errorf("%d transfers in 200 s", s.Finished)
	}
	near(t, "bytes a transfer", float64(s.ReceivedBytes)/float64(s.Finished), 28.2*1500, 0.05)
	if len(got[0])*1500 != s.ReceivedBytes {
		t.Errorf("%d packets, %d bytes", len(got[0]), s.ReceivedBytes)
	}
}

// TestBackground holds the rate and regularity of each kind.
func TestBackground(t *testing.T) {
	tests := []struct {
		name   string
		config BackgroundConfig
		bytes  float64 // in 100 s
		within float64
		even   bool // all gaps are equal
	}{
		{"constant", BackgroundConfig{Rates: constant(2 * rate.Mbps)}, 25e6, 1e-3, true},
		{"constant, small packets", BackgroundConfig{Rates: constant(200 * rate.Kbps), PacketBytes: 200}, 2.5e6, 1e-3, true},
		{"Poisson", BackgroundConfig{Rates: constant(2 * rate.Mbps), Poisson: true}, 25e6, 0.04, false},
		{"steps", BackgroundConfig{Rates: []Step{{0, 2 * rate.Mbps}, {50 * time.Second, 0}}}, 12.5e6, 1e-3, true},
		{"on and off", BackgroundConfig{Rates: constant(2 * rate.Mbps), On: time.Second, Off: 3 * time.Second}, 6.25e6, 1e-2, false},
		{"random on and off", BackgroundConfig{Rates: constant(2 * rate.Mbps), On: ms * 200, Off: 200 * ms, Random: true}, 12.5e6, 0.2, false},
		{"a while", BackgroundConfig{Rates: constant(2 * rate.Mbps), Start: 10 * time.Second, Stop: 20 * time.Second}, 2.5e6, 1e-2, true},
		{"no rate", BackgroundConfig{}, 0, 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := test.config
			c.Origin = origin
			got := drive(NewLink(LinkConfig{Origin: origin}, 1), 100*time.Second, NewBackground(c, 5))[0]
			near(t, "bytes", float64(bytesWithin(got, 0, 100*time.Second)), test.bytes, test.within)
			even := true
			for i := 2; i < len(got); i++ {
				gap, before := got[i].At.Sub(got[i-1].At), got[i-1].At.Sub(got[i-2].At)
				even = even && (gap-before).Abs() <= 1
			}
			if even != test.even {
				t.Errorf("even gaps: %v", even)
			}
		})
	}
}

// TestFlowsAreDeterministic runs a mix twice.
func TestFlowsAreDeterministic(t *testing.T) {
	run := func(seed uint64) [][]Delivery {
		c := tail(10*rate.Mbps, 100*ms)
		c.Loss.Random = 0.001
		return drive(NewLink(c, seed), 10*time.Second, cubic(0, 0, 0),
			NewBackground(BackgroundConfig{Origin: origin, Flow: 1, Rates: constant(rate.Mbps), Poisson: true}, seed))
	}
	same := func(a, b [][]Delivery) bool { return slices.EqualFunc(a, b, slices.Equal[[]Delivery]) }
	if !same(run(1), run(1)) || same(run(1), run(2)) {
		t.Error("a seed must decide the run, and nothing else")
	}
}

// BenchmarkCubic is the cost of a segment, sent, carried and acknowledged;
// allocs/op is 0.
func BenchmarkCubic(b *testing.B) {
	l, c := NewLink(tail(50*rate.Mbps, 50*ms), 1), cubic(0, 0, 0)
	b.ReportAllocs()
	now, carried := origin, 0
	for carried < b.N {
		for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
			c.Arrived(d)
			carried++
		}
		c.Step(now, l)
		next := c.Next()
		if n := l.Next(); !n.IsZero() && (next.IsZero() || n.Before(next)) {
			next = n
		}
		now = next
	}
}
