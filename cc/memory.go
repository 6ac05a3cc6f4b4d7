package cc

import "time"

const (
	// recallGain is how much above what is remembered the first train leaves,
	// so that the path has to spread it.
	recallGain = 1.25
	// recallBytes is its length: the ninth part of a picture at 60 Mbit/s,
	// a queue of 80 ms at 1 Mbit/s if the path is that bad now.
	recallBytes = 10_000
)

// recall begins with a train at the remembered capacity. It is probed and not
// trusted: the target stays at the start until feedback shows the train.
func (c *Controller) recall(now time.Time) {
	m := c.c.Memory
	if m.Capacity <= 0 || c.off(Recall) || now.Sub(m.At) > memoryAge || m.At.After(now) {
		return
	}
	c.update.Pace = max(c.update.Target, m.Capacity.Scale(recallGain))
	c.update.Path = Path{}
	c.update.Probe = Probe{ID: c.prober.id(), Rate: m.Capacity.Scale(recallGain), Bytes: recallBytes}
	c.update.Reason = "no feedback yet; this route carried more before"
}

// Memory returns what to remember of the route, for a connection within ten
// minutes; the zero value when nothing is known.
func (c *Controller) Memory(now time.Time) Memory {
	if c.cap.rate <= 0 {
		return Memory{}
	}
	return Memory{Capacity: c.cap.rate, At: now}
}
