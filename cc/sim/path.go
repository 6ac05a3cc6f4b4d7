package sim

import (
	"math/rand/v2"
	"time"
)

// path is what lies between bottleneck and receiver: propagation, jitter and
// aggregation.
type path struct {
	delay       time.Duration
	flowDelays  []time.Duration
	detours     []Detour
	jitter      Jitter
	aggregation Aggregation
	rng         *rand.Rand
	last        time.Duration // latest arrival so far, less the flow's delay
	lastBatch   time.Duration // end of the last packet of a batch
}

func newPath(c LinkConfig, rng *rand.Rand) path {
	return path{
		delay: max(c.Delay, 0), flowDelays: c.FlowDelays, detours: c.Detours, jitter: c.Jitter, aggregation: c.Aggregation,
		rng: rng, last: -forever, lastBatch: -forever,
	}
}

// arrive gives when a packet that left the bottleneck at t arrives. Each call
// draws anew.
func (p *path) arrive(t time.Duration, pkt *Packet) time.Duration {
	at := t + p.delay
	if p.jitter.Sigma > 0 {
		at = t + max(p.delay+p.draw(), 0)
		if p.jitter.Keep {
			at = max(at, p.last)
		}
		p.last = max(p.last, at)
	}
	if p.aggregation.Every > 0 {
		at = p.batch(at, pkt.Size)
	}
	if pkt.Flow >= 0 && pkt.Flow < len(p.flowDelays) {
		at += p.flowDelays[pkt.Flow]
	}
	return at + p.detour(t)
}

// detour is what the way takes beyond the usual at t.
func (p *path) detour(t time.Duration) (extra time.Duration) {
	for _, d := range p.detours {
		if t >= d.At {
			extra = max(d.Extra, 0)
		}
	}
	return extra
}

// draw gives a jitter, within the bound if there is one.
func (p *path) draw() time.Duration {
	for {
		d := time.Duration(p.rng.NormFloat64() * float64(p.jitter.Sigma))
		if p.jitter.Bound <= 0 || d.Abs() <= p.jitter.Bound {
			return d
		}
	}
}

// batch moves an arrival to the end of its period, behind those before it.
func (p *path) batch(at time.Duration, sizeBytes int) time.Duration {
	if rest := at % p.aggregation.Every; rest > 0 {
		at += p.aggregation.Every - rest
	}
	if p.aggregation.Rate > 0 {
		at = max(at, p.lastBatch) + p.aggregation.Rate.Duration(sizeBytes)
		p.lastBatch = at
	}
	return at
}

// least is the shortest way that a packet can take from the bottleneck.
func (p *path) least() time.Duration {
	switch {
	case p.jitter.Sigma <= 0:
		return p.delay
	case p.jitter.Bound > 0:
		return max(p.delay-p.jitter.Bound, 0)
	}
	return 0
}
