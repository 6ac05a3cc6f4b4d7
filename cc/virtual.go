package cc

import (
	"time"

	"nearglass/cc/rate"
)

// virtualQueue is the queue that our own packets make at a bottleneck of the
// estimated rate. Feedback is old when it comes: what was sent since is put on
// top of what it showed.
type virtualQueue struct {
	length time.Duration // just after the newest packet
	at     time.Time     // when that was sent
	head   time.Duration // what the first packet of the newest train should meet
}

// longestQueue bounds what is believed of any queue.
const longestQueue = 5 * time.Second

// send puts a packet on the queue.
func (v *virtualQueue) send(p *packet, capacity rate.Rate) {
	if capacity <= 0 {
		v.at = p.At
		return
	}
	if !v.at.IsZero() && p.At.After(v.at) {
		v.length = max(0, v.length-p.At.Sub(v.at))
	}
	p.foreseen = v.length
	if p.first {
		v.head = v.length
	}
	v.length = min(v.length+capacity.Duration(p.wireBytes), longestQueue)
	v.at = p.At
}

// sync takes what the newest acknowledged packet met and repeats from there.
func (v *virtualQueue) sync(h *history, last *packet, met time.Duration, capacity rate.Rate) {
	v.length, v.at = min(max(met, 0), longestQueue), last.At
	v.head = v.length
	for s := last.Sequence + 1; s < h.next; s++ {
		if p := h.get(s); p != nil {
			v.send(p, capacity)
		}
	}
}

// now is the queue as it should be by now.
func (v *virtualQueue) now(now time.Time) time.Duration {
	return max(0, v.length-max(0, now.Sub(v.at)))
}
