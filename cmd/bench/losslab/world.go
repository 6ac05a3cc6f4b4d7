package losslab

import (
	"context"
	"sync"
	"time"

	"nearglass/cc"
	"nearglass/cc/sim"
	"nearglass/pacing"
)

const (
	// overheadBytes is what a packet weighs beside its payload, as
	// server/transport writes it; a resend has two more (RFC 4588).
	overheadBytes = 12 + 20 + 16
	// ipBytes are UDP's and IPv4's headers.
	ipBytes = 8 + 20
	// senderReportBytes is one of those, with its description and SRTCP's tag.
	senderReportBytes = 76
	// payloadBytes is what server/transport lets a packet hold.
	payloadBytes = 1142
	// firstMedia is above zero by so much that no number is below it.
	firstMedia = 1 << 20
	// feedbackQueue is as long as server/transport's.
	feedbackQueue = 128
)

// world is what a session meets: a transport, the path and the viewer at its end.
// One goroutine runs it and one writes to it.
type world struct {
	mu       sync.Mutex
	origin   time.Time
	out      *sim.Link
	back     *sim.Link
	sent     []packet // by ID on the link
	said     []message
	viewer   *viewer
	sequence uint64
	media    int64 // number of the newest packet
	bytes    int   // that left since Settle, headers of IP included
	resent   int

	wake     chan struct{}
	feedback chan cc.Feedback
	confirm  func([]uint32)
}

func newWorld(c Cell, descriptors bool, origin time.Time, seed uint64) *world {
	out, back := c.Forward(), c.Back()
	out.Origin, back.Origin = origin, origin
	return &world{
		origin: origin, out: sim.NewLink(out, seed), back: sim.NewLink(back, seed+1_000_000), viewer: newViewer(origin, descriptors),
		wake: make(chan struct{}, 1), feedback: make(chan cc.Feedback, feedbackQueue),
	}
}

// Write sends a packet of the session.
func (w *world) Write(now time.Time, pkt *pacing.Packet) (cc.Sent, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sequence++
	size := overheadBytes + int(pkt.HeadLen) + len(pkt.Body) + int(pkt.PadBytes)
	rec := cc.Sent{Sequence: w.sequence, At: now, Probe: pkt.Probe}
	switch pkt.Class {
	case pacing.Padding:
	case pacing.Resend:
		size += 2
		rec.Frame, rec.Resend = pkt.Frame, true
	default:
		rec.Frame, rec.Last = pkt.Frame, pkt.Marker
	}
	rec.SizeBytes = size
	p := packet{
		class: pkt.Class, sequence: w.sequence, media: w.unwrap(pkt.Seq), frame: pkt.Frame, reference: pkt.DependsOn,
		first: pkt.First, last: pkt.Marker, timestamp: pkt.Timestamp, captured: pkt.Captured,
	}
	w.post(now, p, size+ipBytes)
	return rec, nil
}

// unwrap gives the number that seq stands for.
func (w *world) unwrap(seq uint16) int64 {
	if w.media == 0 {
		w.media = firstMedia + int64(seq)
	}
	n := w.media + int64(int16(seq-uint16(w.media)))
	w.media = max(w.media, n)
	return n
}

// post puts a packet on the link.
func (w *world) post(now time.Time, p packet, sizeBytes int) {
	if now.Sub(w.origin) >= Settle {
		w.bytes += sizeBytes
		if p.resent() {
			w.resent++
		}
	}
	w.sent = append(w.sent, p)
	w.out.Send(now, sim.Packet{Size: sizeBytes, ID: uint64(len(w.sent) - 1)})
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Flush has nothing to do: each packet left at once.
func (*world) Flush() error { return nil }

// MaxPayload is what a packet holds.
func (*world) MaxPayload() int { return payloadBytes }

// SenderReport sends one.
func (w *world) SenderReport(now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.post(now, packet{report: true, left: now}, senderReportBytes+ipBytes)
	return nil
}

// run lives until the context ends.
func (w *world) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(max(0, time.Until(w.step(time.Now()))))
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-timer.C:
		}
	}
}

// step does what is due, and says when it is to be called again.
func (w *world) step(now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		d, ok := w.out.Receive(now)
		if !ok {
			break
		}
		w.viewer.take(d.At, &w.sent[d.ID])
	}
	for _, m := range w.viewer.turn(now) {
		w.said = append(w.said, m)
		w.back.Send(now, sim.Packet{Size: m.sizeBytes() + ipBytes, ID: uint64(len(w.said) - 1)})
	}
	for {
		d, ok := w.back.Receive(now)
		if !ok {
			break
		}
		w.hear(d.At, &w.said[d.ID])
	}
	return earliest(earliest(w.out.Next(), w.back.Next()), w.viewer.due())
}

// hear hands a message of the viewer to the session.
func (w *world) hear(now time.Time, m *message) {
	if m.shown != nil {
		w.confirm(m.shown)
		return
	}
	f := cc.Feedback{
		At: now, Acks: m.acks, Received: m.received, Nacks: m.nacks, KeyFrame: m.key,
		Reported: m.reported, LossFraction: m.lossFraction,
	}
	if !m.asked.IsZero() {
		f.RTT = max(now.Sub(m.asked)-m.held, time.Microsecond)
	}
	select {
	case w.feedback <- f:
	default: // the session stands still, and old feedback does not help it
	}
}
