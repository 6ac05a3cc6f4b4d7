// Package pacing decides when each packet of one stream leaves.
//
// The session enqueues packets and drains the pacer:
//
//	for range 512 {
//		pkt, ok := p.Next(now)
//		if !ok {
//			break
//		}
//		write(pkt)
//	}
//	timer.Reset(p.Deadline())
//
// A Pacer holds a token bucket, the queues, the cache that answers lost
// packets, and the tail guard that makes a receiver notice the loss of the
// last packet before a pause. It has no lock, goroutine, clock or log: now is
// a parameter, and one goroutine, the session's loop, owns it.
//
// Order: audio leaves at once; then resends; then video and key frames, which
// share one queue because a decoder needs pictures in the order in which they
// were coded; padding comes last. Media sequence numbers are given at
// release, so a picture that is dropped whole leaves no gap behind.
//
// A probe train leaves beside the pace, on its own clock, and takes packets in
// the same order; where none wait it repeats the newest by RTX.
//
// The budget is a time, not a count: it runs on while packets wait for a late
// timer, up to 20 ms, and is forgotten beyond the burst window while none do.
// Pictures are dropped whole, with those that need them; the rest stays
// decodable.
package pacing

import "time"

// Class is what kind of packet it is, in order of priority.
type Class uint8

// Classes, the most urgent first.
const (
	Audio    Class = iota // sound; never waits for the budget
	Resend                // a packet sent before, for RTX (RFC 4588)
	KeyFrame              // video that decodes by itself
	Video                 // video that needs earlier pictures
	Padding               // no payload
)

var classNames = [...]string{"audio", "resend", "key frame", "video", "padding"}

// String names the class for logs.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// Packet is one RTP packet before its header is made. The payload is
// Head[:HeadLen] followed by Body.
type Packet struct {
	Class Class
	// Frame numbers the picture from 1; all packets of a picture share it.
	Frame uint64
	// DependsOn is the picture needed to decode this one; 0 means the one
	// enqueued before it, and Next fills that in. A key frame needs none.
	DependsOn uint64
	// Timestamp is the RTP timestamp, at 90 kHz for video.
	Timestamp uint32
	// Captured is when the picture was taken; it goes on the wire with the
	// first packet.
	Captured time.Time
	// Deadline is when the picture loses its worth; zero means never. Only
	// Stale acts on it.
	Deadline time.Time
	// First and Marker are set on the first and last packet of a picture.
	First, Marker bool
	Head          [4]byte
	HeadLen       uint8
	// Body aliases the access unit, and stays in use until the packet has
	// left the retransmission cache.
	Body []byte
	// PadBytes is RTP padding (RFC 3550, 5.1), for the class Padding.
	PadBytes uint8
	// Seq is the media sequence number, set by Next. A resend carries that
	// of the original.
	Seq uint16
	// Probe is the ID of the train in which the packet left, set by Next;
	// 0 for none.
	Probe uint32
	// Filler marks a Resend that nobody asked for, sent to fill a train. It
	// counts as padding.
	Filler bool
}

// overheadBytes is what a packet weighs beside its payload: 12 of RTP header,
// 20 of header extensions and 16 of SRTP tag, as server/transport writes them.
const overheadBytes = 12 + 20 + 16

// payload is the size of what the packet carries of a picture.
func (p *Packet) payload() int { return int(p.HeadLen) + len(p.Body) }

// PayloadBytes is that with padding, the same for the packet and for a resend of it.
func (p *Packet) PayloadBytes() int { return p.payload() + int(p.PadBytes) }

// sizeBytes is the UDP payload that the packet becomes.
func (p *Packet) sizeBytes() int {
	sizeBytes := overheadBytes + p.PayloadBytes()
	if p.Class == Resend {
		sizeBytes += 2 // the original number (RFC 4588, 4)
	}
	return sizeBytes
}
