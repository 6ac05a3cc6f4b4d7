package lab

import (
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

// rfcDelay and rfcLink are the path of RFC 8867, 4.4: 50 ms one way, a
// tail-drop queue of 300 ms, at most 30 ms of jitter (by RFC 8868, 4.1 a normal
// distribution, cut at three sigma).
const rfcDelay = 50 * time.Millisecond

func rfcLink(steps ...sim.Step) sim.LinkConfig {
	return sim.LinkConfig{
		Rates: steps, Delay: rfcDelay, Queue: sim.Queue{Limit: 300 * time.Millisecond},
		Jitter: sim.Jitter{Sigma: 10 * time.Millisecond, Bound: 30 * time.Millisecond, Keep: true},
	}
}

// rfcStart is below the smallest share that a stream gets in any of the cases.
const rfcStart = 300 * rate.Kbps

// streams gives n streams that begin so many seconds after one another.
func streams(n, apart int) []Flow {
	var flows []Flow
	for i := range n {
		flows = append(flows, Flow{From: time.Duration(i*apart) * time.Second, Start: rfcStart})
	}
	return flows
}

// rfc8867 lists the test cases of RFC 8867, section 5, with its capacities and
// times.
func rfc8867() []Scenario {
	s := func(seconds int) time.Duration { return time.Duration(seconds) * time.Second }
	return []Scenario{
		{Name: "5.1 variable capacity", Length: s(100), Flows: streams(1, 0),
			Forward: rfcLink(at(0, 1), at(s(40), 2.5), at(s(60), 0.6), at(s(80), 1))},
		{Name: "5.2 variable capacity, two streams", Length: s(125), Flows: streams(2, 0),
			Forward: rfcLink(at(0, 4), at(s(25), 2), at(s(50), 3.5), at(s(75), 1), at(s(100), 2))},
		congestedFeedback(),
		{Name: "5.4 three streams", Length: s(120), Flows: streams(3, 20), Forward: rfcLink(at(0, 3.5))},
		fairness(),
		{Name: "5.6 long TCP", Length: s(120), Flows: []Flow{{From: s(5), Start: rfcStart}},
			Forward: rfcLink(at(0, 2)), Cubics: []Cubic{{Until: s(120)}}},
		{Name: "5.7 short TCP", Length: s(300), Flows: streams(2, 5), Forward: rfcLink(at(0, 2)),
			Cubics: shortFlows()},
		paused(),
	}
}

func congestedFeedback() Scenario {
	s := func(seconds int) time.Duration { return time.Duration(seconds) * time.Second }
	back := rfcLink(at(0, 2), at(s(35), 0.8), at(s(70), 2))
	return Scenario{
		Name: "5.3 congested feedback", Length: s(100), Reverse: &back,
		Forward: rfcLink(at(0, 2), at(s(20), 1), at(s(40), 0.5), at(s(60), 2)),
		Flows:   []Flow{{Start: rfcStart}, {Start: rfcStart, Reverse: true}},
	}
}

func fairness() Scenario {
	flows := streams(5, 10)
	for i, ms := range []int{10, 25, 50, 100, 150} {
		flows[i].Extra = time.Duration(ms-10) * time.Millisecond
	}
	c := rfcLink(at(0, 4))
	c.Delay = 10 * time.Millisecond
	return Scenario{Name: "5.5 round-trip fairness", Length: 300 * time.Second, Flows: flows, Forward: c}
}

// shortFlows are ten users that fetch 30 to 50 kB now and then.
func shortFlows() []Cubic {
	var flows []Cubic
	for i := range 10 {
		from := 10 * time.Second
		if i < 2 {
			from = 0
		}
		flows = append(flows, Cubic{From: from, Until: 290 * time.Second, Transfers: sim.Transfers{
			MinBytes: 30_000, MaxBytes: 50_000, Idle: 10 * time.Second,
		}})
	}
	return flows
}

func paused() Scenario {
	flows := streams(3, 0)
	flows[1].Content = Play{{0, Steady{}}, {40 * time.Second, nil}, {60 * time.Second, Steady{}}}
	return Scenario{Name: "5.8 pause and resume", Length: 120 * time.Second, Flows: flows, Forward: rfcLink(at(0, 3.5))}
}
