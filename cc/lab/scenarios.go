package lab

import (
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

// Defaults of all scenarios: 20 ms round trip, a tail-drop queue of 250 ms.
const (
	oneWay     = 10 * time.Millisecond
	queueLimit = 250 * time.Millisecond
)

// link is a path of the default kind whose rate follows steps.
func link(steps ...sim.Step) sim.LinkConfig {
	return sim.LinkConfig{Rates: steps, Delay: oneWay, Queue: sim.Queue{Limit: queueLimit}}
}

// at is a step of a link's rate.
func at(t time.Duration, megabits float64) sim.Step {
	return sim.Step{At: t, Rate: rate.Mbps.Scale(megabits)}
}

// single is a scenario with one stream.
func single(name string, length time.Duration, c sim.LinkConfig) Scenario {
	return Scenario{Name: name, Length: length, Forward: c, Flows: []Flow{{}}}
}

// Scenarios lists all that the rows are computed from.
func Scenarios() []Scenario {
	return []Scenario{
		single("steady 5", time.Minute, link(at(0, 5))),
		single("steady 10", time.Minute, link(at(0, 10))),
		single("steady 50", time.Minute, link(at(0, 50))),
		single("drop", 30*time.Second, link(at(0, 10), at(10*time.Second, 3), at(20*time.Second, 10))),
	}
}
