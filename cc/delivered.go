package cc

import (
	"time"

	"nearglass/cc/rate"
)

const (
	// deliveredSpan is over how long the delivered rate is taken, and
	// deliveredSlots how many feedbacks are remembered for it.
	deliveredSpan  = 500 * time.Millisecond
	deliveredSlots = 16
	mostSpan       = 10 * time.Second
)

// delivered is the rate at which packets arrive: what the path certainly
// carries.
type delivered struct {
	slots  [deliveredSlots]slot // ring, the newest at n-1
	n      int
	bytes  int // since the last feedback
	newest time.Duration
	// The most that rate gave in this span of mostSpan and in the one before.
	peak, last rate.Rate
	since      time.Duration
}

// slot is one feedback: the latest arrival in it, and the bytes that arrived.
type slot struct {
	arrived time.Duration
	bytes   int
}

func (d *delivered) arrive(p *packet, at time.Duration) {
	d.bytes += p.wireBytes
	d.newest = max(d.newest, at)
}

// close ends a feedback.
func (d *delivered) close() {
	if d.bytes == 0 {
		return
	}
	d.slots[d.n%deliveredSlots] = slot{d.newest, d.bytes}
	d.n++
	d.bytes = 0
	if d.newest-d.since > mostSpan {
		d.last, d.peak, d.since = d.peak, 0, d.newest
	}
	d.peak = max(d.peak, d.rate())
}

// most is the highest rate of the last ten to twenty seconds.
func (d *delivered) most() rate.Rate { return max(d.peak, d.last) }

// rate is over the last half second, or less at the start; 0 while unknown.
func (d *delivered) rate() rate.Rate {
	bytes := 0
	known := min(d.n, deliveredSlots)
	for i := range known {
		s := d.slots[(d.n-1-i)%deliveredSlots]
		if span := d.newest - s.arrived; i > 0 && (span >= deliveredSpan || i == known-1) {
			return rate.Of(bytes, span)
		}
		bytes += s.bytes
	}
	return 0
}
