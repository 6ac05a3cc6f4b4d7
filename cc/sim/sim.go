// Package sim is a network in virtual time, to measure congestion control on.
//
// A Link is one direction of a path: an optional policer, a bottleneck with a
// queue (tail-drop or CoDel) and a rate that follows a schedule, random and
// burst loss, propagation delay, jitter, and aggregation as on WiFi. A Cubic
// is a competing bulk TCP flow, a Background an unresponsive one. All are
// driven from outside: a caller gives now, asks Next when something happens
// again, and moves now there. So a minute passes in milliseconds, and a run
// with the same seed is the same run. The same Link shapes real packets when
// now comes from a clock.
//
// Nothing here has a clock, goroutine or lock; one owner calls it. In steady
// state nothing allocates. Randomness comes from PCG generators seeded by the
// caller, one for each cause, so that switching loss on does not move jitter.
//
// Sizes are bytes on the wire, IP and UDP or TCP headers included.
package sim

import "time"

// Packet is what a Link carries. Its content does not matter here: ID lets
// the sender find it again.
type Packet struct {
	// Flow names the sender, so that flows can share a Link.
	Flow int
	// Size is in bytes on the wire, IP and transport headers included.
	Size int
	// ID is the sender's own.
	ID uint64
	// SentAt is when Send was called with it; Send sets it.
	SentAt time.Time
}

// Delivery is a packet that reached the receiver.
type Delivery struct {
	Packet
	// At is the arrival at the receiver.
	At time.Time
	// Found is how long the packet waited at the bottleneck before its own
	// transmission began: the queue that it met there, and any outage.
	Found time.Duration
}

// Stats counts packets since the Link was made.
type Stats struct {
	Sent      int // given to Send
	Delivered int // left the link towards the receiver, arrived or on the way
	Policed   int // dropped by the policer
	Tail      int // dropped because the queue was full
	CoDel     int // dropped by CoDel
	Lost      int // lost at random, before or after the bottleneck
}
