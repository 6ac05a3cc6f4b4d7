package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

const ms = time.Millisecond

var origin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return origin.Add(d) }

// constant is a rate for good.
func constant(r rate.Rate) []Step { return []Step{{0, r}} }

// offer sends packets of sizeBytes at rate r from from until to, receives what
// arrives meanwhile and until 10 s after, and returns it.
func offer(l *Link, r rate.Rate, sizeBytes int, from, to time.Duration) []Delivery {
	var got []Delivery
	id := uint64(0)
	for next := from; next < to; next = from + r.Duration(int(id)*sizeBytes) {
		got = receive(l, at(next), got)
		l.Send(at(next), Packet{Size: sizeBytes, ID: id})
		id++
	}
	return receive(l, at(to+10*time.Second), got)
}

// receive walks from event to event until now.
func receive(l *Link, now time.Time, got []Delivery) []Delivery {
	for next := l.Next(); !next.IsZero() && !next.After(now); next = l.Next() {
		for d, ok := l.Receive(next); ok; d, ok = l.Receive(next) {
			got = append(got, d)
		}
	}
	return got
}

// bytesWithin adds up what arrived in a span.
func bytesWithin(got []Delivery, from, to time.Duration) (n int) {
	for _, d := range got {
		if !d.At.Before(at(from)) && d.At.Before(at(to)) {
			n += d.Size
		}
	}
	return n
}

func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*math.Abs(want) {
		t.Errorf("%s: %g, want %g within %g %%", what, got, want, 100*share)
	}
}

// TestTimes follows single packets by hand.
func TestTimes(t *testing.T) {
	type sent struct {
		at   time.Duration
		size int
	}
	type arrived struct{ at, found time.Duration }
	tests := []struct {
		name   string
		config LinkConfig
		sent   []sent
		want   []arrived
	}{
		{"plain delay", LinkConfig{Delay: 7 * ms}, []sent{{0, 100}, {3 * ms, 1500}}, []arrived{{7 * ms, 0}, {10 * ms, 0}}},
		{"serialisation", LinkConfig{Rates: constant(8 * rate.Mbps), Delay: 5 * ms},
			[]sent{{0, 1000}, {0, 1000}, {10 * ms, 500}}, []arrived{{6 * ms, 0}, {7 * ms, 1 * ms}, {15500 * time.Microsecond, 0}}},
		{"a step while a packet is in transmission", LinkConfig{Rates: []Step{{0, 8 * rate.Mbps}, {ms / 2, 2 * rate.Mbps}}},
			[]sent{{0, 1000}, {0, 1000}}, []arrived{{2500 * time.Microsecond, 0}, {6500 * time.Microsecond, 2500 * time.Microsecond}}},
		{"a rate of zero for a while", LinkConfig{Rates: []Step{{0, 8 * rate.Mbps}, {ms / 2, 0}, {10 * ms, 8 * rate.Mbps}}},
			[]sent{{0, 1000}}, []arrived{{10500 * time.Microsecond, 0}}},
		{"an outage stops a packet and holds the queue", LinkConfig{Rates: constant(8 * rate.Mbps), Outages: Outages{Length: 100 * ms, From: ms / 2}},
			[]sent{{0, 1000}, {0, 1000}}, []arrived{{101 * ms, 0}, {102 * ms, 101 * ms}}},
		{"an outage meets an idle link", LinkConfig{Rates: constant(8 * rate.Mbps), Outages: Outages{Length: 100 * ms, Every: 200 * ms}},
			[]sent{{50 * ms, 1000}, {120 * ms, 1000}, {200 * ms, 1000}}, []arrived{{101 * ms, 50 * ms}, {121 * ms, 0}, {301 * ms, 100 * ms}}},
		{"outages end", LinkConfig{Rates: constant(8 * rate.Mbps), Outages: Outages{Length: 100 * ms, Every: 200 * ms, To: 150 * ms}},
			[]sent{{210 * ms, 1000}}, []arrived{{211 * ms, 0}}},
		{"steps that repeat", LinkConfig{Rates: []Step{{0, 8 * rate.Mbps}, {10 * ms, 0}}, Repeat: 20 * ms},
			[]sent{{15 * ms, 1000}, {49500 * time.Microsecond, 1000}}, []arrived{{21 * ms, 5 * ms}, {60500 * time.Microsecond, 0}}},
		{"aggregation at one instant", LinkConfig{Rates: constant(8 * rate.Mbps), Aggregation: Aggregation{Every: 10 * ms}},
			[]sent{{0, 1000}, {0, 1000}, {9 * ms, 1000}, {10 * ms, 1000}}, []arrived{{10 * ms, 0}, {10 * ms, 1 * ms}, {10 * ms, 0}, {20 * ms, 0}}},
		{"aggregation back to back", LinkConfig{Aggregation: Aggregation{Every: 10 * ms, Rate: 80 * rate.Mbps}},
			[]sent{{1 * ms, 1000}, {2 * ms, 1000}}, []arrived{{10100 * time.Microsecond, 0}, {10200 * time.Microsecond, 0}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := test.config
			c.Origin = origin
			l := NewLink(c, 1)
			var got []Delivery
			for _, s := range test.sent {
				got = receive(l, at(s.at), got)
				if l.Send(at(s.at), Packet{Size: s.size}) {
					t.Fatal("dropped")
				}
			}
			var have []arrived
			for _, d := range receive(l, at(time.Hour), got) {
				have = append(have, arrived{d.At.Sub(origin), d.Found})
			}
			if !slices.Equal(have, test.want) {
				t.Errorf("arrived %v, want %v", have, test.want)
			}
			if next := l.Next(); !next.IsZero() {
				t.Errorf("an empty link wants to be called at %v", next)
			}
		})
	}
}

// TestThroughput holds what arrives under overload against the schedule and
// against Capacity.
func TestThroughput(t *testing.T) {
	tests := []struct {
		name   string
		config LinkConfig
		bytes  int // in 10 s
	}{
		{"5 Mbit/s", LinkConfig{Rates: constant(5 * rate.Mbps)}, 6250000},
		{"50 Mbit/s", LinkConfig{Rates: constant(50 * rate.Mbps)}, 62500000},
		{"256 kbit/s", LinkConfig{Rates: constant(256 * rate.Kbps)}, 320000},
		{"10 to 3 Mbit/s", LinkConfig{Rates: []Step{{0, 10 * rate.Mbps}, {5 * time.Second, 3 * rate.Mbps}}}, 8125000},
		{"outages for half of the time", LinkConfig{Rates: constant(10 * rate.Mbps), Outages: Outages{Length: 100 * ms, Every: 200 * ms}}, 6250000},
		{"policer", LinkConfig{Rates: constant(50 * rate.Mbps), Policer: Policer{Rates: []Step{{0, 5 * rate.Mbps}, {5 * time.Second, 256 * rate.Kbps}}}}, 3285000},
		{"policer alone", LinkConfig{Policer: Policer{Rates: constant(4 * rate.Mbps)}}, 5000000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := test.config
			c.Origin, c.Queue.Limit = origin, 50*ms
			l := NewLink(c, 1)
			got := offer(l, 60*rate.Mbps, 1250, 0, 10*time.Second)
			slack := 0.005 + 15000/float64(test.bytes) // the policer's bucket, and what is in the queue at the end
			near(t, "bytes", float64(bytesWithin(got, 0, 10*time.Second)), float64(test.bytes), slack)
			near(t, "capacity", float64(l.Capacity(origin, at(10*time.Second))), float64(test.bytes), 1e-9)
		})
	}
	if n := NewLink(LinkConfig{Origin: origin}, 1).Capacity(origin, at(10*time.Second)); n != math.MaxInt {
		t.Errorf("a link without a bottleneck carries %d bytes, want no end", n)
	}
}

// TestQueueLimits: no packet waits longer than the limit, and some wait nearly
// as long.
func TestQueueLimits(t *testing.T) {
	tests := []struct {
		name  string
		queue Queue
		most  time.Duration
	}{
		{"time", Queue{Limit: 250 * ms}, 250 * ms},
		{"bytes", Queue{Bytes: 125000}, 100 * ms},
		{"both", Queue{Limit: 250 * ms, Bytes: 50000}, 40 * ms},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := NewLink(LinkConfig{Origin: origin, Rates: constant(10 * rate.Mbps), Queue: test.queue}, 1)
			got := offer(l, 20*rate.Mbps, 1250, 0, 2*time.Second)
			longest := time.Duration(0)
			for _, d := range got {
				longest = max(longest, d.Found)
			}
			if longest > test.most || longest < test.most-3*ms {
				t.Errorf("longest wait %v, want %v", longest, test.most)
			}
			s := l.Stats()
			if s.Tail+s.Delivered != s.Sent || s.Tail == 0 || len(got) != s.Delivered {
				t.Errorf("%d received, %+v", len(got), s)
			}
		})
	}
}

// TestQueueDelay: what QueueDelay promises is what the packet finds.
func TestQueueDelay(t *testing.T) {
	l := NewLink(LinkConfig{
		Origin: origin, Rates: []Step{{0, 10 * rate.Mbps}, {time.Second, 3 * rate.Mbps}},
		Outages: Outages{Length: 30 * ms, Every: 170 * ms, From: 10 * ms},
	}, 1)
	promised := map[uint64]time.Duration{}
	var got []Delivery
	for id := range uint64(1500) {
		now := at(time.Duration(id) * 1100 * time.Microsecond)
		got = receive(l, now, got)
		promised[id] = l.QueueDelay(now)
		l.Send(now, Packet{Size: 1000 + int(id%7)*50, ID: id})
	}
	for _, d := range receive(l, at(time.Minute), got) {
		if (d.Found - promised[d.ID]).Abs() > time.Microsecond {
			t.Fatalf("packet %d found %v, promised %v", d.ID, d.Found, promised[d.ID])
		}
	}
}

// TestDeterminism: the same seed is the same run, another seed another one,
// and a run that is looked at more often is the same.
func TestDeterminism(t *testing.T) {
	run := func(seed uint64, look time.Duration) []Delivery {
		l := NewLink(LinkConfig{
			Origin: origin, Rates: constant(10 * rate.Mbps), Delay: 10 * ms, Queue: Queue{Limit: 100 * ms, CoDel: true},
			Jitter: Jitter{Sigma: 3 * ms}, Loss: Loss{Random: 0.02, Burst: Burst{GoodBad: 0.001, BadGood: 0.3}},
		}, seed)
		for i := range time.Duration(2000) {
			l.Send(at(i*ms), Packet{Size: 1400, ID: uint64(i)})
			if look > 0 {
				for d := time.Duration(0); d < ms; d += look {
					l.QueueDelay(at(i*ms + d))
				}
			}
		}
		return receive(l, at(time.Minute), nil)
	}
	first := run(1, 0)
	if !slices.Equal(first, run(1, 0)) {
		t.Error("two runs of one seed differ")
	}
	if !slices.Equal(first, run(1, 100*time.Microsecond)) {
		t.Error("looking at the queue changes the run")
	}
	if slices.Equal(first, run(2, 0)) {
		t.Error("two seeds give one run")
	}
}

// TestOriginFromFirstCall: without an Origin the first now is it, and a now
// that goes back counts as the last.
func TestOriginFromFirstCall(t *testing.T) {
	l := NewLink(LinkConfig{Delay: 5 * ms}, 1)
	l.Send(at(time.Hour), Packet{Size: 100})
	l.Send(at(time.Hour-ms), Packet{Size: 100, ID: 1})
	got := receive(l, at(2*time.Hour), nil)
	if len(got) != 2 || got[0].At != at(time.Hour+5*ms) || got[1].At != at(time.Hour+5*ms) {
		t.Errorf("got %v", got)
	}
}

// BenchmarkLink is the cost of a packet through a busy link; allocs/op is 0.
func BenchmarkLink(b *testing.B) {
	l := NewLink(LinkConfig{
		Origin: origin, Rates: constant(50 * rate.Mbps), Delay: 20 * ms, Jitter: Jitter{Sigma: 5 * ms},
		Queue: Queue{Limit: 100 * ms, CoDel: true}, Loss: Loss{Random: 0.01},
	}, 1)
	gap := (55 * rate.Mbps).Duration(1200)
	b.ReportAllocs()
	for i := range b.N {
		now := at(time.Duration(i) * gap)
		l.Send(now, Packet{Size: 1200, ID: uint64(i)})
		for _, ok := l.Receive(now); ok; _, ok = l.Receive(now) {
		}
	}
}
