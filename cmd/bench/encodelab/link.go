package encodelab

import (
	"time"

	"nearglass/cc/rate"
)

// Link is a path with a bottleneck and a queue without an end.
type Link struct {
	Name string
	Rate rate.Rate
	// Delay is one way, and comes on top of the time that the bytes take.
	Delay time.Duration
}

// Links are those that the targets name; their delays are half a round trip.
var Links = []Link{
	{"LAN", 100 * rate.Mbps, 500 * time.Microsecond},
	{"10 Mbit/s", 10 * rate.Mbps, 20 * time.Millisecond},
	{"5 Mbit/s", 5 * rate.Mbps, 30 * time.Millisecond},
}

// mostTarget is what a host's encoder may make on the fastest link.
const mostTarget = 50 * rate.Mbps

// encoderShare of a link is the encoders' target. Packet headers take 5 % of
// the link, and what is left empties a queue by and by.
const encoderShare = 0.9

// target is what the encoders are told.
func (l Link) target() rate.Rate {
	return min(rate.Rate(encoderShare*float64(l.Rate)), mostTarget)
}

const (
	payloadBytes = 1150 // in a packet
	headerBytes  = 62   // IP, UDP, RTP with two extensions, the tag of SRTP
)

// wire is one sender's use of a link.
type wire struct {
	Link
	free time.Duration // when all that was sent has left
	sent int           // bytes, headers counted
}

// send gives the time at which a unit handed over at now has arrived.
func (w *wire) send(now time.Duration, sizeBytes int) time.Duration {
	bytes := sizeBytes + (sizeBytes+payloadBytes-1)/payloadBytes*headerBytes
	w.sent += bytes
	w.free = max(w.free, now) + w.Rate.Duration(bytes)
	return w.free + w.Delay
}
