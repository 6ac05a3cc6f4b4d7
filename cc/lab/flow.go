package lab

import (
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/pacing"
)

// maxDrain is how many packets one turn of the sender's loop may release, as in
// server/session.
const maxDrain = 512

// flow is one stream in a run: the sender's loop and its receiver.
type flow struct {
	id      int
	spec    Flow
	start   time.Time
	tick    time.Duration
	source  *source
	pacer   *pacing.Pacer
	control controller
	update  cc.Update
	orders  []order // encoder targets, the newest last
	media   int64   // media packets released
	reports []report
	receiver
	log          *Log
	origin       time.Time
	had          []bool // by media number, whether it arrived
	begun, ended bool
}

// order is a target and when it was given.
type order struct {
	at     time.Time
	target rate.Rate
}

// since gives a time as the results count it.
func (f *flow) since(t time.Time) time.Duration { return t.Sub(f.origin) }

// on says whether the stream lives at now, and ends it when it is over.
func (f *flow) on(now time.Time) bool {
	f.ended = f.ended || f.since(now) >= f.spec.Until
	return !f.ended && !now.Before(f.start)
}

// next returns when the flow has something to do.
func (f *flow) next() time.Time {
	if !f.begun {
		return f.start
	}
	at := earliest(f.pacer.Deadline(), f.control.Deadline())
	at = earliest(at, f.source.next())
	if len(f.reports) > 0 {
		at = earliest(at, f.reports[0].due)
	}
	if f.tick > 0 && !at.IsZero() {
		// The loop sleeps until the system's next tick, whatever woke it.
		late := at.Sub(f.origin) % f.tick
		if late != 0 {
			at = at.Add(f.tick - late)
		}
	}
	return earliest(at, f.receiver.due())
}

// awake says whether the sender's loop runs at now.
func (f *flow) awake(now time.Time) bool {
	return f.tick == 0 || now.Sub(f.origin)%f.tick == 0
}

// apply puts a controller's answer into force, as server/session's decide does.
func (f *flow) apply(now time.Time, u cc.Update) {
	if u != f.update {
		f.log.Updates = append(f.log.Updates, Change{
			At: f.since(now), Target: u.Target, Pace: u.Pace, Pad: u.Pad, State: u.State, Reason: u.Reason,
		})
	}
	f.update = u
	f.pacer.SetRates(now, max(u.Pace, u.Target), u.Pad)
}

// hear takes the reports that are due.
func (f *flow) hear(now time.Time) {
	for len(f.reports) > 0 && !now.Before(f.reports[0].due) {
		p := f.reports[0]
		f.reports = f.reports[1:]
		if len(p.nacks) > 0 {
			f.pacer.Resend(now, p.nacks)
		}
		if len(p.acks) == 0 {
			continue
		}
		f.pacer.Acked(p.received...)
		f.note(now, p.acks)
		f.apply(now, f.control.OnFeedback(now, p.acks))
	}
}

// note logs a feedback.
func (f *flow) note(now time.Time, acks []cc.Ack) {
	b := Feedback{At: f.since(now), Acks: len(acks)}
	for _, a := range acks {
		if a.Lost {
			b.Lost++
		} else {
			b.Last = max(b.Last, f.log.Sent[a.Sequence].Arrived)
		}
	}
	f.log.Feedbacks = append(f.log.Feedbacks, b)
}

// send runs one turn of the sender's loop and hands the released packets to
// the link.
func (f *flow) send(now time.Time, l *sim.Link) {
	f.hear(now)
	if d := f.control.Deadline(); !d.IsZero() && !now.Before(d) {
		f.apply(now, f.control.OnTick(now))
	}
	if size := f.source.step(now, f.update.Target, f.pacer.QueueDelay() <= mostQueued); size > 0 {
		f.enqueue(now, size)
	}
	for range maxDrain {
		pkt, ok := f.pacer.Next(now)
		if !ok {
			break
		}
		f.release(now, &pkt, l)
	}
}

// blank is what the payloads consist of.
var blank [payloadBytes]byte

// enqueue cuts a picture into packets.
func (f *flow) enqueue(now time.Time, size int) {
	f.log.Frames = append(f.log.Frames, Frame{Enqueued: f.since(now), Bytes: size})
	frame := &f.log.Frames[len(f.log.Frames)-1]
	number := uint64(len(f.log.Frames))
	class := pacing.Video
	if number == 1 {
		class = pacing.KeyFrame
	}
	packets := (size + payloadBytes - 1) / payloadBytes
	frame.packets, frame.missing = packets, packets
	for i := range packets {
		// Packets of one picture are of equal size, as packetize makes them
		// from one NAL unit to within a byte.
		part := size*(i+1)/packets - size*i/packets
		f.pacer.Enqueue(now, pacing.Packet{
			Class: class, Frame: number, First: i == 0, Marker: i == packets-1,
			Timestamp: uint32(number * 1500), Captured: now, Body: blank[:part],
		})
	}
}

// release is the write to the socket.
func (f *flow) release(now time.Time, pkt *pacing.Packet, l *sim.Link) {
	size := overheadBytes + int(pkt.HeadLen) + len(pkt.Body) + int(pkt.PadBytes)
	sequence := uint64(len(f.log.Sent))
	kind, media := Media, f.media
	switch pkt.Class {
	case pacing.Resend:
		kind = Resent
		media = f.media - int64(uint16(f.media)-pkt.Seq)
	case pacing.Padding:
		kind = Padding
		f.media++
	default:
		f.media++
	}
	f.log.Sent = append(f.log.Sent, Packet{
		Sent: f.since(now), Size: size + ipBytes, Frame: pkt.Frame, Kind: kind, First: pkt.First, media: media,
	})
	frame := pkt.Frame
	if kind == Padding {
		frame = 0
	}
	f.control.OnSent(now, cc.Sent{
		Sequence: sequence, SizeBytes: size, At: now, Frame: frame,
		Last: pkt.Marker && kind == Media, Resend: kind == Resent,
	})
	if l.Send(now, sim.Packet{Flow: f.id, Size: size + ipBytes, ID: sequence}) {
		f.log.Dropped = append(f.log.Dropped, f.since(now))
	}
}

// arrive takes a delivery of the link.
func (f *flow) arrive(now time.Time, d sim.Delivery) {
	p := &f.log.Sent[d.ID]
	p.Arrived, p.Found = f.since(d.At), d.Found
	f.receiver.take(now, arrival{sequence: d.ID, media: p.media, at: d.At}, p.Kind == Resent)
	if p.Kind == Padding || p.Frame == 0 {
		return
	}
	frame := &f.log.Frames[p.Frame-1]
	if p.Kind == Media && p.First {
		frame.Found = d.Found
	}
	for int64(len(f.had)) <= p.media {
		f.had = append(f.had, false)
	}
	if f.had[p.media] {
		p.Again = true
		return
	}
	f.had[p.media] = true
	if frame.missing--; frame.missing == 0 {
		frame.Arrived = p.Arrived
	}
}
