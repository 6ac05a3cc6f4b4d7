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

// When things happen in the scenarios.
const (
	settled   = 5 * time.Second  // after the start, for figures of the steady state
	dropAt    = 30 * time.Second // even slow ones have found 10 Mbit/s by then
	recoverAt = 40 * time.Second
	cubicAt   = 10 * time.Second
	cubicEnd  = 40 * time.Second
	lateAt    = 10 * time.Second
	policeAt  = 10 * time.Second
	boredAt   = 5 * time.Second
	boredEnd  = 25 * time.Second
	stuckAt   = 5 * time.Second
	stuckEnd  = 10 * time.Second
	wakeAt    = 30 * time.Second
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

// fed is a scenario with feedback every so often.
func (s Scenario) fed(every time.Duration) Scenario {
	s.Name += ", feedback " + every.String()
	s.Feedback = every
	return s
}

// plain lists the scenarios that any content can be played in.
func plain() []Scenario {
	steady := single("steady 10", 30*time.Second, link(at(0, 10)))
	drop := single("drop", 50*time.Second, link(at(0, 10), at(dropAt, 3), at(recoverAt, 10)))
	list := []Scenario{
		single("steady 5", 30*time.Second, link(at(0, 5))),
		steady,
		single("steady 50", 30*time.Second, link(at(0, 50))),
		loopback(),
		single("slow", 10*time.Second, link(at(0, 1))),
		reconnect("reconnect", 10), reconnect("reconnect, quarter", 2.5),
		drop,
		{
			Name: "cubic", Length: 60 * time.Second, Forward: link(at(0, 20)), Flows: []Flow{{}},
			Cubics: []Cubic{{From: cubicAt, Until: cubicEnd}},
		},
		{Name: "late", Length: 40 * time.Second, Forward: link(at(0, 10)), Flows: []Flow{{}, {From: lateAt}}},
	}
	list = append(list, bad()...)
	for _, every := range []time.Duration{50 * time.Millisecond, 250 * time.Millisecond} {
		list = append(list, steady.fed(every), drop.fed(every))
	}
	return list
}

// loopback is a path within a machine, and a content of at most 20 Mbit/s.
func loopback() Scenario {
	s := single("loopback", 5*time.Second, sim.LinkConfig{
		Rates: []sim.Step{at(0, 1000)}, Delay: 50 * time.Microsecond, Queue: sim.Queue{Limit: queueLimit},
	})
	s.Flows[0].Max = 20 * rate.Mbps
	return s
}

// reconnect is a second connection, a minute after one over 10 Mbit/s.
func reconnect(name string, megabits float64) Scenario {
	before := single("before", 10*time.Second, link(at(0, 10)))
	s := single(name, 10*time.Second, link(at(0, megabits)))
	s.Before, s.Away = &before, time.Minute
	return s
}

// bad lists the paths that lose, delay and hold up packets.
func bad() []Scenario {
	lossy := func(name string, percent float64) Scenario {
		c := link(at(0, 10))
		c.Loss.Random = percent / 100
		return single(name, 30*time.Second, c)
	}
	jitter := link(at(0, 10))
	jitter.Jitter = sim.Jitter{Sigma: 10 * time.Millisecond, Keep: true}
	outages := link(at(0, 10))
	outages.Outages = sim.Outages{Every: 200 * time.Millisecond, Length: 100 * time.Millisecond}
	policer := link(at(0, 100))
	policer.Policer = sim.Policer{Rates: []sim.Step{at(0, 5), at(policeAt, 0.256)}}
	return []Scenario{
		lossy("loss 2", 2), lossy("loss 5", 5), lossy("loss 10", 10),
		single("jitter", 30*time.Second, jitter),
		single("outages", 30*time.Second, outages),
		single("policer", 70*time.Second, policer),
	}
}

// own lists the scenarios whose content is part of the experiment.
func own() []Scenario {
	bored := single("bored", 30*time.Second, link(at(0, 50)))
	bored.Flows[0].Content = Play{{0, Steady{}}, {boredAt, Steady{Most: rate.Mbps}}, {boredEnd, Steady{}}}
	stuck := single("stuck", 40*time.Second, link(at(0, 10), at(stuckAt, 1), at(stuckEnd, 10)))
	stuck.Flows[0].Content = Play{{0, Steady{}}, {stuckEnd, Steady{Most: 300 * rate.Kbps}}}
	wake := single("wake", 35*time.Second, link(at(0, 10)))
	wake.Flows[0].Content = awakening()
	slower := single("wake, slower", 35*time.Second, link(at(0, 10), at(20*time.Second, 3)))
	slower.Flows[0].Content = awakening()
	fast := single("fast", 20*time.Second, link(at(0, 60)))
	ticking := fast
	ticking.Name, ticking.Tick = "fast, coarse tick", coarseTick
	// The same with an exact timer, to compare with; forgotten by then.
	ticking.Before, ticking.Away = &fast, time.Hour
	return []Scenario{bored, stuck, wake, slower, fast, ticking}
}

// coarseTick is the timer of older Windows systems.
const coarseTick = 15600 * time.Microsecond

// awakening is motion, 20 s of nothing, a frame ten times the usual, motion.
func awakening() Play {
	return Play{{0, Steady{}}, {wakeAt - 20*time.Second, nil}, {wakeAt, Once(mostShare)}, {wakeAt + frameInterval, Steady{}}}
}

// desktopSuffix marks the scenarios that are played with desktop content.
const desktopSuffix = ", desktop"

// Scenarios lists all that the rows are computed from.
func Scenarios() []Scenario {
	list := plain()
	for _, s := range plain() {
		list = append(list, s.with(desktopSuffix, Desktop()))
	}
	list = append(list, own()...)
	list = append(list, rfc8867()...)
	return append(list, wireless()...)
}
