package lab

import (
	"time"

	"nearglass/cc/sim"
)

// road is one direction: a simulated link, or a plain delay without a
// bottleneck, which costs nothing to simulate.
type road struct {
	*sim.Link
	delay  time.Duration
	extras []time.Duration // by flow
	queue  []sim.Delivery  // on the way, when there is no Link
}

// newRoads makes the two directions. A stream's own delay counts both ways,
// for its pictures and for their feedback.
func (w *world) newRoads() [2]road {
	s := w.scenario
	var extras []time.Duration
	for range 2 {
		for _, f := range s.Flows {
			extras = append(extras, f.Extra)
		}
	}
	s.Forward.Origin, s.Forward.FlowDelays = w.origin, extras
	roads := [2]road{{Link: sim.NewLink(s.Forward, w.seed)}, {delay: s.Back, extras: extras}}
	if s.Reverse != nil {
		c := *s.Reverse
		c.Origin, c.FlowDelays = w.origin, extras
		roads[1] = road{Link: sim.NewLink(c, w.seed+1<<32)}
	}
	return roads
}

func (r *road) send(now time.Time, p sim.Packet) (dropped bool) {
	if r.Link != nil {
		return r.Send(now, p)
	}
	r.queue = append(r.queue, sim.Delivery{Packet: p, At: now.Add(r.delay + r.extras[p.Flow])})
	return false
}

// receive takes the next packet that has arrived by now.
func (r *road) receive(now time.Time) (sim.Delivery, bool) {
	if r.Link != nil {
		return r.Receive(now)
	}
	for i, d := range r.queue {
		if !d.At.After(now) {
			r.queue = append(r.queue[:i], r.queue[i+1:]...)
			return d, true
		}
	}
	return sim.Delivery{}, false
}

// next returns when something may arrive; the zero time means never.
func (r *road) next() time.Time {
	if r.Link != nil {
		return r.Next()
	}
	var at time.Time
	for _, d := range r.queue {
		at = earliest(at, d.At)
	}
	return at
}
