package lab

import (
	"time"

	"nearglass/cc/sim"
)

// crossing is what competes with the streams.
type crossing struct {
	cubic      *sim.Cubic
	background *sim.Background
	origin     time.Time
	log        *CrossLog
}

// CrossLog is what happened to a competing flow.
type CrossLog struct {
	arrivals []sized
}

// sized is a packet that arrived.
type sized struct {
	at   time.Duration
	size int
}

func (l *CrossLog) delivered(from, to time.Duration) int {
	sum := 0
	for _, a := range l.arrivals {
		if a.at > from && a.at <= to {
			sum += a.size
		}
	}
	return sum
}

// addCross makes the competing flows.
func (w *world) addCross() {
	id := func() int { return 2*len(w.flows) + len(w.cross) }
	add := func(c *crossing) {
		c.origin, c.log = w.origin, &CrossLog{}
		w.cross = append(w.cross, c)
	}
	for i, c := range w.scenario.Cubics {
		add(&crossing{cubic: sim.NewCubic(sim.CubicConfig{
			Origin: w.origin, Flow: id(), Start: c.From, Stop: c.Until,
			Reverse: w.scenario.Back, Transfers: c.Transfers,
		}, w.seed+uint64(i)<<32)})
	}
	for i, b := range w.scenario.Backgrounds {
		add(&crossing{background: sim.NewBackground(sim.BackgroundConfig{
			Origin: w.origin, Flow: id(), Start: b.From, Stop: b.Until,
			Rates: []sim.Step{{Rate: b.Rate}},
		}, w.seed+uint64(i)<<32)})
	}
}

func (c *crossing) arrived(d sim.Delivery) {
	c.log.arrivals = append(c.log.arrivals, sized{d.At.Sub(c.origin), d.Size})
	if c.cubic != nil {
		c.cubic.Arrived(d)
	}
}

func (c *crossing) next() time.Time {
	if c.cubic != nil {
		return c.cubic.Next()
	}
	return c.background.Next()
}

func (c *crossing) step(now time.Time, l *sim.Link) {
	if at := c.next(); at.IsZero() || now.Before(at) {
		return
	}
	if c.cubic != nil {
		c.cubic.Step(now, l)
		return
	}
	c.background.Step(now, l)
}
