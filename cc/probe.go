package cc

import (
	"time"

	"nearglass/cc/rate"
)

// prober plans trains where pictures gauge nothing.
type prober struct {
	last uint32
	at   time.Time
}

// id numbers a new train.
func (p *prober) id() uint32 {
	p.last++
	return p.last
}

const (
	// probeAfter is how long an estimate that limits the stream may go
	// unconfirmed, and how often one is tried at most.
	probeAfter = 3 * time.Second
	// contendAfter is the same beside a flow that fills the queue: a stream
	// that it pressed down to pictures of one packet sees nothing any more.
	contendAfter = 500 * time.Millisecond
	probeTime    = 8 * time.Millisecond
	probeGain    = 2
	leastProbe   = 6000
	mostProbe    = 60_000
)

// plan asks for a train when the estimate is old and would limit the stream. A
// policer would drop most of it, and a queue that drains tells nothing yet.
func (p *prober) plan(now time.Time, c *Controller, state string) Probe {
	after := probeAfter
	r := c.cap.rate.Scale(probeGain)
	size := min(max(r.Bytes(probeTime), leastProbe), mostProbe)
	switch {
	case c.off(Probes) || state == "lossy" || state == "draining":
		return c.update.Probe
	case state == "competing":
		after = contendAfter
		r, size = max(r, c.delivered.most()), leastProbe
	case c.cap.rate.Scale(c.fill()) >= c.c.Max:
		return c.update.Probe
	}
	if now.Sub(c.cap.at) < after || now.Sub(p.at) < after {
		return c.update.Probe
	}
	p.at = now
	return Probe{ID: p.id(), Rate: max(r, rate.Mbps), Bytes: size}
}
