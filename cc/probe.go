package cc

import "time"

// prober plans trains where pictures gauge nothing.
type prober struct {
	last   uint32
	at     time.Time
	active time.Time
}

// id numbers a new train.
func (p *prober) id() uint32 {
	p.last++
	return p.last
}

const (
	// probeAfter is how long an estimate that limits the stream may go
	// unconfirmed, and probeEvery how often one is tried at most.
	probeAfter = 3 * time.Second
	probeTime  = 8 * time.Millisecond
	probeGain  = 2
	leastProbe = 6000
	mostProbe  = 60_000
)

// plan asks for a train when the estimate is old and would limit the stream. A
// policer would drop most of it, and a full queue tells nothing of the path.
func (p *prober) plan(now time.Time, c *Controller, state string) Probe {
	if c.off(Probes) || state == "lossy" || state == "draining" || state == "competing" || c.cap.rate.Scale(headroom) >= c.c.Max || now.Sub(c.cap.at) < probeAfter || now.Sub(p.at) < probeAfter {
		return c.update.Probe
	}
	p.at = now
	r := c.cap.rate.Scale(probeGain)
	return Probe{ID: p.id(), Rate: r, Bytes: min(max(r.Bytes(probeTime), leastProbe), mostProbe)}
}
