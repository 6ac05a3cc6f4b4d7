package lab

import (
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

// wireless lists paths whose last hop is a radio, after RFC 8869: cellular
// networks whose rate wanders and whose base station queues rather than drops,
// and WiFi that aggregates, loses in bursts and shares its channel.
func wireless() []Scenario {
	return []Scenario{
		cellular("cellular", 6, 2, 15, 0.15, sim.Outages{}),
		cellular("cellular, bad coverage", 1.5, 0.4, 4, 0.3, sim.Outages{
			From: 7 * time.Second, Every: 15 * time.Second, Length: 400 * time.Millisecond,
		}),
		wifi("WiFi", 5*time.Millisecond, 0.002),
		wifi("WiFi, crowded", 12*time.Millisecond, 0.01),
		wifiShared(),
	}
}

// cellular is a rate that changes ten times a second by a random factor.
func cellular(name string, start, least, most, spread float64, o sim.Outages) Scenario {
	s := single(name, time.Minute, sim.LinkConfig{
		Delay: 30 * time.Millisecond, Queue: sim.Queue{Bytes: 400_000}, Outages: o,
		Jitter: sim.Jitter{Sigma: 3 * time.Millisecond, Bound: 9 * time.Millisecond, Keep: true},
	})
	s.Draw = func(s *Scenario, seed uint64) {
		s.Forward.Rates = sim.Walk(seed, rate.Mbps.Scale(start), rate.Mbps.Scale(least), rate.Mbps.Scale(most),
			spread, 100*time.Millisecond, s.Length)
	}
	return s
}

// wifi delivers in batches at the radio's rate; burst is the chance to begin a
// run of lost packets, of five on average.
func wifi(name string, every time.Duration, burst float64) Scenario {
	s := single(name, time.Minute, sim.LinkConfig{
		Delay: 8 * time.Millisecond, Queue: sim.Queue{Limit: queueLimit},
		Aggregation: sim.Aggregation{Every: every, Rate: 150 * rate.Mbps},
		Loss:        sim.Loss{Burst: sim.Burst{GoodBad: burst, BadGood: 0.2}},
	})
	s.Draw = func(s *Scenario, seed uint64) {
		s.Forward.Rates = sim.Walk(seed, 20*rate.Mbps, 8*rate.Mbps, 40*rate.Mbps, 0.1, 200*time.Millisecond, s.Length)
	}
	return s
}

// wifiShared is WiFi on which somebody else sends and stops (RFC 8869, 4.1.4).
func wifiShared() Scenario {
	s := wifi("WiFi, shared", 5*time.Millisecond, 0.002)
	s.Draw = nil
	s.Forward.Rates = []sim.Step{at(0, 20)}
	s.Backgrounds = []Background{{From: 20 * time.Second, Until: 40 * time.Second, Rate: 12 * rate.Mbps}}
	return s
}
