package cc

import "time"

// Feedback is one report of the receiver, joined from the RTCP packets that
// arrived together.
type Feedback struct {
	At   time.Time // when it arrived, on the host's monotonic clock
	Acks []Ack     // by transport-wide sequence number
	// Nacks are media sequence numbers that the receiver misses (RFC 4585).
	Nacks []uint16
	// KeyFrame is a PLI (RFC 4585) or a FIR (RFC 5104).
	KeyFrame bool
	// RTT is the round trip from a receiver report (RFC 3550); 0 when unknown.
	RTT time.Duration
	// LossFraction is that of the newest receiver report, 0 to 1.
	LossFraction float64
}
