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

// sizes knows how much of what goes over the wire is payload of new pictures.
type sizes struct {
	wire, media float64 // decaying sums of bytes
}

// rtpOverheadBytes is what RTP header, header extensions and the SRTP tag
// take, as server/transport writes them.
const rtpOverheadBytes = 12 + 20 + 16

// sizesMemory is over how many packets the share is taken.
const sizesMemory = 256

func (s *sizes) send(p *packet) {
	const keep = 1 - 1.0/sizesMemory
	s.wire = s.wire*keep + float64(p.wireBytes)
	s.media *= keep
	if !p.Resend && p.Frame != 0 && p.Probe == 0 {
		s.media += float64(max(p.SizeBytes-rtpOverheadBytes, 0))
	} else if p.Probe != 0 {
		s.wire -= float64(p.wireBytes) // a train comes rarely
	}
}

// leastPayload bounds the share from below: many resends are no reason to
// starve the pictures.
const leastPayload = 0.6

// payload is the encoder's part of a rate on the wire.
func (s *sizes) payload(wire rate.Rate) rate.Rate {
	if s.wire <= 0 {
		return wire
	}
	return wire.Scale(max(s.media/s.wire, leastPayload))
}
