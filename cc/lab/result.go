package lab

import (
	"time"

	"nearglass/cc/rate"
)

// Result is what happened in a run, all times from its start.
type Result struct {
	Scenario Scenario
	Kind     string
	Seed     uint64
	Flows    []*Log
	Cross    []*CrossLog
	Before   *Result // the run of Scenario.Before
	origin   time.Time
	ended    time.Time
	links    [2]road
}

// capacity gives the bytes that a stream's link could have carried.
func (r *Result) capacity(flow int, from, to time.Duration) int {
	l := r.links[0]
	if r.Scenario.Flows[flow].Reverse {
		l = r.links[1]
	}
	return l.Capacity(r.origin.Add(from), r.origin.Add(to))
}

// Log is what happened to one stream.
type Log struct {
	Sent      []Packet
	Frames    []Frame
	Updates   []Change
	Feedbacks []Feedback
	Dropped   []time.Duration // when packets were dropped by the link
	oneWay    time.Duration
	memory    Memory
	perMilli  []int // useful bytes that arrived, by millisecond
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
	Probe   uint32
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
	Bytes    int           // of payload
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

// delivered counts the wire bytes that arrived in a time, padding and
// repetitions left out. It is exact to a millisecond.
func (l *Log) delivered(from, to time.Duration) int {
	if l.perMilli == nil {
		l.perMilli = []int{0}
		for i := range l.Sent {
			p := &l.Sent[i]
			if !p.useful() {
				continue
			}
			at := int(p.Arrived / time.Millisecond)
			for len(l.perMilli) <= at {
				l.perMilli = append(l.perMilli, 0)
			}
			l.perMilli[at] += p.Size
		}
	}
	sum := 0
	first, last := int(from/time.Millisecond), int(to/time.Millisecond)
	for i := max(first, 0); i < min(last, len(l.perMilli)); i++ {
		sum += l.perMilli[i]
	}
	return sum
}

// updateAt is the update in force at a time.
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
