// Package cc decides how fast a stream may send.
//
// A controller is told what was sent, what the receiver reported and that
// time has passed; it answers with an Update. It holds no lock, goroutine,
// clock or log: now is a parameter, and one goroutine, the session's loop,
// owns it. Controller follows the network; Constant holds a fixed rate.
//
// Sequence numbers here are the transport-wide ones of
// draft-holmer-rmcat-transport-wide-cc-extensions-01, unwrapped to 64 bits,
// so that a controller never meets the wrap.
package cc

import (
	"time"

	"nearglass/cc/rate"
)

// Sent records one packet at the moment it left for the socket.
type Sent struct {
	// Sequence is the unwrapped transport-wide sequence number; each packet,
	// resends and padding included, has its own, one above the one before.
	Sequence uint64
	// SizeBytes is the UDP payload: RTP header, payload, padding and SRTP
	// tag. IP and UDP headers come on top of it.
	SizeBytes int
	// At is when it was released, on the host's monotonic clock.
	At time.Time
	// Frame is the picture that it belongs to; 0 for padding.
	Frame uint64
	// Last marks the last packet of its picture, the end of a frame train.
	Last bool
	// Resend marks a packet that was sent before under another sequence.
	Resend bool
	// Probe is the ID of the probe train that it left in; 0 for none.
	Probe uint32
}

// Ack is what the receiver reported of one sent packet.
type Ack struct {
	// Sequence names the packet, as in Sent.
	Sequence uint64
	// Arrived is the arrival on the receiver's clock, unwrapped, from an
	// origin that is arbitrary but fixed for the connection. Only
	// differences mean something. Transport-cc gives it in steps of 250 µs.
	// It is undefined when Lost.
	Arrived time.Duration
	// Lost says that this report counts the packet as missing. A reordered
	// packet may be reported as arrived later on.
	Lost bool
}

// Update is a controller's answer: rates to apply, and why.
type Update struct {
	// Target is what the encoder may produce, in bit/s of RTP payload.
	Target rate.Rate
	// Pace is how fast the pacer may release packets. It is above Target, so
	// that a picture leaves as a train, except in an outage, when it lets just
	// enough through to notice the end.
	Pace rate.Rate
	// Pad is the rate to fill up to with padding; 0 sends none.
	Pad rate.Rate
	// Probe is a train to send once, as soon as possible. A new ID is a new
	// train; the ID 0 is none.
	Probe Probe
	// Path is what is believed of the bottleneck.
	Path Path
	// State is a word for logs and the overlay, such as "constant".
	State string
	// Reason says in words why the rates are what they are.
	Reason string
}

// Path is what is believed of the narrowest link of the path.
type Path struct {
	// Rate is what it carries, as UDP payload; 0 while unknown.
	Rate rate.Rate
	// Depth is how much may wait in front of it, at most.
	Depth time.Duration
	// Queue is how much waits there at the moment of the Update.
	Queue time.Duration
}

// Probe is a train of packets that leaves faster than the stream does, to learn
// what the path carries.
type Probe struct {
	ID    uint32
	Rate  rate.Rate
	Bytes int // of UDP payload, in all
}
