package cc

import "time"

// Feedback is what one RTCP packet of the receiver told. Fields that it did not
// speak of are zero.
type Feedback struct {
	At   time.Time // when it came in, on the host's monotonic clock
	Acks []Ack     // transport-cc, in order of sequence
	// Received lists the media sequence numbers that Acks show to have arrived.
	Received []uint16
	Nacks    []uint16 // media sequence numbers that the receiver misses (RFC 4585)
	KeyFrame bool     // PLI (RFC 4585) or FIR (RFC 5104): it cannot decode on
	// RTT is the round trip from a receiver report (RFC 3550), to about 15 µs;
	// 0 when unknown.
	RTT time.Duration
	// LossFraction is the share, 0 to 1, of packets that the last interval of
	// receiver reports missed. It is valid when Reported is set.
	LossFraction float64
	Reported     bool // a receiver report for the video was in it
}
