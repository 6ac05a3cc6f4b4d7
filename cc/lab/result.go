package lab

import (
	"time"

	"nearglass/cc/rate"
)

// Result is what happened in a run, all times from its start.
type Result struct {
	Scenario Scenario
	Seed     uint64
	Flows    []*Log
	capacity func(from, to time.Duration) int
}

// Log is what happened to one stream.
type Log struct {
	Sent      []Packet
	Frames    []Frame
	Updates   []Change
	Feedbacks []Feedback
	Dropped   []time.Duration // when packets were dropped by the link
}

// Packet is one packet on its way.
type Packet struct {
	Sent    time.Duration
	Arrived time.Duration // 0: never
	Found   time.Duration // the queue that it met at the bottleneck
	Size    int           // on the wire, bytes
	Frame   uint64
	Kind    PacketKind
	First   bool // the first packet of its frame
	Again   bool // it carried what had arrived before
	media   int64
}

// useful says whether it brought what had not arrived before.
func (p *Packet) useful() bool { return p.Arrived > 0 && p.Kind != Padding && !p.Again }

// PacketKind is what a packet carried.
type PacketKind uint8

// Kinds of packets.
const (
	Media PacketKind = iota
	Resent
	Padding
)

// Frame is one picture's way.
type Frame struct {
	Enqueued time.Duration
	Arrived  time.Duration // of its last packet; 0: never complete
	Found    time.Duration // by its first packet
	Bytes    int           // of payload
	packets  int
	missing  int
}

// Change is an update that differed from the one before.
type Change struct {
	At            time.Duration
	Target, Pace  rate.Rate
	Pad           rate.Rate
	State, Reason string
}

// Feedback is one report of the receiver.
type Feedback struct {
	At   time.Duration // when it came in at the sender
	Last time.Duration // the last arrival that it told of
	Acks int
	Lost int
}

// delivered counts the wire bytes that arrived in a time, padding left out.
func (l *Log) delivered(from, to time.Duration) int {
	sum := 0
	for i := range l.Sent {
		p := &l.Sent[i]
		if p.useful() && p.Arrived > from && p.Arrived <= to {
			sum += p.Size
		}
	}
	return sum
}

// targetAt is the target in force at a time.
func (l *Log) updateAt(at time.Duration) Change {
	var c Change
	for _, u := range l.Updates {
		if u.At > at {
			break
		}
		c = u
	}
	return c
}
