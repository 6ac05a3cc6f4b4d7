package lab

import (
	"math/rand/v2"
	"time"

	"nearglass/cc"
	"nearglass/cc/sim"
	"nearglass/pacing"
)

// maxDrain is how many packets one turn of the sender's loop may release, as in
// server/session.
const maxDrain = 512

// flow is one stream in a run: the sender's loop and its receiver.
type flow struct {
	id        int
	spec      Flow
	origin    time.Time // of the run
	start     time.Time
	begun     bool
	ended     bool
	oneWay    time.Duration // without a queue
	tick      time.Duration
	out       *road
	back      *road
	backID    int
	source    *source
	pacer     *pacing.Pacer
	control   controller
	update    cc.Update
	media     int64    // media packets released
	heard     []report // reports that arrived and wait for the loop
	heardAt   time.Time
	rttAt     time.Time // when the round trip was measured last
	backDelay time.Duration
	receiver
	replies []report // all that were sent back, by number
	had     []bool   // by media number, whether it arrived
	log     *Log
}

// newFlow makes a stream. The seed shifts its pictures and its feedback against
// everything else.
func (w *world) newFlow(i int) *flow {
	s, spec := w.scenario, w.scenario.Flows[i]
	start := w.origin.Add(spec.From)
	rtt := s.Forward.Delay + s.Back + 2*spec.Extra
	oneWay := s.Forward.Delay + spec.Extra
	out, back := &w.roads[0], &w.roads[1]
	if spec.Reverse {
		out, back = back, out
		oneWay = s.Reverse.Delay + spec.Extra
	}
	if s.Reverse != nil {
		rtt = s.Forward.Delay + s.Reverse.Delay + 2*spec.Extra
	}
	f := &flow{
		id: i, spec: spec, tick: s.Tick, origin: w.origin, log: &Log{}, start: start, oneWay: oneWay,
		out: out, back: back, backID: len(s.Flows) + i,
		pacer: pacing.New(pacing.Config{}),
		source: &source{
			content: spec.Content, rand: rand.New(rand.NewPCG(w.seed, uint64(100+i))), looked: -1,
			begin: start, start: start.Add(time.Duration(w.rand.Int64N(int64(frameInterval)))),
		},
		receiver: receiver{
			every: s.Feedback, highest: -1,
			feedAt: start.Add(time.Duration(w.rand.Int64N(int64(s.Feedback)))),
			origin: w.origin.Add(-time.Duration(w.rand.Int64N(int64(time.Hour)))),
		},
	}
	f.control = w.kind.New(w.setup(i))
	f.pacer.SetRTT(rtt)
	f.backDelay = rtt - oneWay
	return f
}

// setup is what a stream's controller is made with.
func (w *world) setup(i int) Setup {
	spec := w.scenario.Flows[i]
	s := Setup{
		Origin: w.origin, Start: spec.Start, Min: defaultMin, Max: spec.Max, FrameInterval: frameInterval,
	}
	if w.before != nil {
		s.Memory = w.before.Flows[0].memory
	}
	return s
}

// since gives a time as the results count it.
func (f *flow) since(t time.Time) time.Duration { return t.Sub(f.origin) }

// on says whether the stream lives at now, and ends it when it is over.
func (f *flow) on(now time.Time) bool {
	f.ended = f.ended || f.since(now) >= f.spec.Until
	return !f.ended && !now.Before(f.start)
}

// next returns when the flow has something to do.
func (f *flow) next(now time.Time) time.Time {
	if !f.begun {
		return f.start
	}
	at := earliest(f.pacer.Deadline(), f.control.Deadline())
	at = earliest(at, f.source.next())
	if len(f.heard) > 0 {
		at = earliest(at, f.heardAt)
	}
	if f.tick > 0 && !at.IsZero() {
		// The loop sleeps until the system's next tick, whatever woke it.
		if at.Before(now) {
			at = now
		}
		if late := at.Sub(f.origin) % f.tick; late != 0 {
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
	f.pacer.SetRates(now, u.Pace, u.Pad)
	f.pacer.SetBottleneck(now, pacing.Bottleneck{Rate: u.Path.Rate, Depth: u.Path.Depth, Queue: u.Path.Queue})
	if u.Probe.ID != 0 {
		f.pacer.Probe(now, pacing.Train{ID: u.Probe.ID, Rate: u.Probe.Rate, Bytes: u.Probe.Bytes})
	}
}

// reply sends a report of the receiver back.
func (f *flow) reply(now time.Time, p report) {
	f.replies = append(f.replies, p)
	f.back.send(now, sim.Packet{Flow: f.backID, Size: p.sizeBytes() + ipBytes, ID: uint64(len(f.replies) - 1)})
}

// feedbackArrived takes a report that came in at the sender's socket.
func (f *flow) feedbackArrived(now time.Time, id uint64) {
	f.heard = append(f.heard, f.replies[id])
	f.replies[id] = report{} // it may be collected
	f.heardAt = now
}

// hear takes the reports that have come.
func (f *flow) hear(now time.Time) {
	for _, p := range f.heard {
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
	f.heard = f.heard[:0]
}

// rttEvery is how often a round trip is measured: sender reports go out once a
// second, and receiver reports answer them.
const rttEvery = time.Second

// note logs a feedback, and takes the round trip from it as server/session does
// from receiver reports.
func (f *flow) note(now time.Time, acks []cc.Ack) {
	b := Feedback{At: f.since(now), Acks: len(acks)}
	var newest *Packet
	for _, a := range acks {
		if a.Lost {
			b.Lost++
			continue
		}
		newest = &f.log.Sent[a.Sequence]
		b.Last = max(b.Last, newest.Arrived)
	}
	f.log.Feedbacks = append(f.log.Feedbacks, b)
	if newest != nil && now.Sub(f.rttAt) >= rttEvery {
		f.rttAt = now
		f.pacer.SetRTT(newest.Arrived - newest.Sent + f.backDelay)
	}
}

// send runs one turn of the sender's loop and hands the released packets to
// the link.
func (f *flow) send(now time.Time) {
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
		f.release(now, &pkt)
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
	frame.missing = packets
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
func (f *flow) release(now time.Time, pkt *pacing.Packet) {
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
		Sent: f.since(now), Size: size + ipBytes, Frame: pkt.Frame, Kind: kind, First: pkt.First, Probe: pkt.Probe, media: media,
	})
	frame := pkt.Frame
	if kind == Padding {
		frame = 0
	}
	f.control.OnSent(now, cc.Sent{
		Sequence: sequence, SizeBytes: size, At: now, Frame: frame,
		Last: pkt.Marker && kind == Media, Resend: kind == Resent, Probe: pkt.Probe,
	})
	if f.out.send(now, sim.Packet{Flow: f.id, Size: size + ipBytes, ID: sequence}) {
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
