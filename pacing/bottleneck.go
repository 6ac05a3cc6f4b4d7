package pacing

import (
	"time"

	"nearglass/cc/rate"
)

// Bottleneck is what is believed of the narrowest link of the path. Packets may
// leave faster than it carries, for the sake of what their spacing then tells
// of it, but only until Depth of them wait in front of it: what is more waits
// here, where a key frame, a resend or a change of mind can still overtake it.
// Together with the pace this is a token bucket with a peak rate (RFC 2698 has
// the same two rates).
type Bottleneck struct {
	// Rate is what it carries, as UDP payload; 0 means unknown, and no gate.
	Rate rate.Rate
	// Depth is how much may wait in front of it.
	Depth time.Duration
	// Queue is how much waits there now, besides what leaves from now on.
	Queue time.Duration
}

// maxPathQueue bounds what is believed of a queue, and so how long a mistake
// can hold packets back.
const maxPathQueue = time.Second

// SetBottleneck tells the pacer of the path. Resends and video keep to it;
// audio and trains pass, and count.
func (p *Pacer) SetBottleneck(now time.Time, b Bottleneck) {
	p.settle(now)
	b.Rate, b.Depth = max(b.Rate, 0), max(b.Depth, 0)
	p.path = b
	p.pathFree = now.Add(min(max(b.Queue, 0), maxPathQueue))
	p.held = time.Time{}
}

// ready returns when the budget and the path let the next packet go.
func (p *Pacer) ready() time.Time {
	if p.path.Rate <= 0 {
		return p.free
	}
	// A coarse timer has to let a whole tick's worth go at once.
	if open := p.pathFree.Add(-max(p.path.Depth, p.grain.size)); open.After(p.free) {
		return open
	}
	return p.free
}

// fill puts a released packet in front of the bottleneck.
func (p *Pacer) fill(sizeBytes int) {
	if p.path.Rate > 0 {
		p.pathFree = p.pathFree.Add(min(p.path.Rate.Duration(sizeBytes), maxPathQueue))
	}
}

// drainRate is how fast the waiting video leaves in the long run.
func (p *Pacer) drainRate() rate.Rate {
	if p.path.Rate > 0 {
		return min(p.pace, p.path.Rate)
	}
	return p.pace
}
