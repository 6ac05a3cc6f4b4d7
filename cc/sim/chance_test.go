package sim

import (
	"math/rand/v2"
	"testing"
	"time"

	"nearglass/cc/rate"
)

// chanceLink draws a link with some of everything.
func chanceLink(rng *rand.Rand) LinkConfig {
	some := func(d time.Duration) time.Duration {
		if rng.IntN(2) == 0 {
			return 0
		}
		return time.Duration(rng.Int64N(int64(d)))
	}
	steps := func() (s []Step) {
		for at := time.Duration(0); rng.IntN(4) > 0; at += some(time.Second) {
			s = append(s, Step{At: at, Rate: rate.Rate(rng.IntN(20)) * rate.Mbps})
		}
		return s
	}
	return LinkConfig{
		Origin: origin, Rates: steps(), Repeat: some(3 * time.Second), Delay: some(50 * ms), FlowDelays: []time.Duration{0, some(50 * ms)},
		Detours:     []Detour{{some(time.Second), some(50 * ms)}, {time.Second + some(time.Second), some(50 * ms)}},
		Jitter:      Jitter{Sigma: some(10 * ms), Bound: 5*ms + some(20*ms), Keep: rng.IntN(2) == 0},
		Loss:        Loss{Random: 0.1 * rng.Float64(), Burst: Burst{GoodBad: 0.01 * rng.Float64(), BadGood: rng.Float64()}, Before: rng.IntN(2) == 0},
		Queue:       Queue{Limit: some(300 * ms), Bytes: rng.IntN(2) * rng.IntN(1e5), CoDel: rng.IntN(2) == 0},
		Policer:     Policer{Rates: steps(), BucketBytes: rng.IntN(2) * rng.IntN(1e5)},
		Aggregation: Aggregation{Every: some(20 * ms), Rate: rate.Rate(rng.IntN(2)) * 100 * rate.Mbps},
		Outages:     Outages{Length: some(100 * ms), Every: some(300 * ms), From: some(time.Second), To: some(3 * time.Second)},
	}
}

// TestConservation: whatever the link is, each packet ends in one place, once,
// not before it was sent; the link carries no more than its capacity; and Next
// leads on.
func TestConservation(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		c := chanceLink(rng)
		l := NewLink(c, seed)
		dropped, seen, bytes := 0, make([]bool, 3000), 0
		take := func(now time.Time) {
			for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
				if seen[d.ID] || d.At.Before(d.SentAt) || d.At.After(now) || d.Found < 0 {
					t.Fatalf("seed %d: %+v at %v", seed, d, now)
				}
				seen[d.ID] = true
				bytes += d.Size
			}
		}
		for i := range uint64(3000) {
			now := at(time.Duration(i) * ms)
			take(now)
			if l.Send(now, Packet{Flow: int(i % 3), Size: 100 + rng.IntN(1400), ID: i}) {
				dropped++
			}
		}
		last := at(3 * time.Second)
		for turns := 0; !l.Next().IsZero() && l.Next().Before(at(time.Hour)); turns++ {
			last = l.Next()
			take(last)
			if turns > 10000 {
				t.Fatalf("seed %d: the link does not come to rest: %+v", seed, c)
			}
		}
		s := l.Stats()
		ends := s.Delivered + s.Policed + s.Tail + s.CoDel + s.Lost
		if waiting := l.QueueDelay(last) == forever; ends > s.Sent || !waiting && ends != s.Sent || dropped > ends-s.Delivered {
			t.Errorf("seed %d: %+v, %d dropped, for %+v", seed, s, dropped, c)
		}
		if most := capacity(&l.rates, &schedule{}, 0, last.Sub(origin)); bytes > most {
			t.Errorf("seed %d: %d bytes over a bottleneck of %d, for %+v", seed, bytes, most, c)
		}
		most := capacity(&l.policer.rates, &schedule{}, 0, last.Sub(origin))
		if bytes-int(l.policer.size/workPerByte) > most {
			t.Errorf("seed %d: %d bytes over a policer of %d, for %+v", seed, bytes, most, c)
		}
	}
}
