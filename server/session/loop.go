package session

import (
	"context"
	"time"

	"nearglass/cc"
	"nearglass/pacing"
	"nearglass/pacing/packetize"
)

// maxDrain bounds one turn: after so many packets the loop looks at its
// channels again, so that feedback is never kept waiting by a long queue.
const maxDrain = 512

// reportEvery is how often a sender report goes out while packets do (RFC 3550
// allows 5 s; a second lets the viewer map its clock soon after the start).
const reportEvery = time.Second

// loop is the session's only event loop. It owns the pacer and the transport.
func (s *Session) loop(ctx context.Context, ended chan error) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	now := time.Now()
	p := s.apply(now, s.control.OnTick(now))
	for {
		s.drain(now)
		units := s.video.units
		if s.pacer.QueueDelay() > p.MostQueued {
			units = nil // the next picture waits until this one is out
		}
		s.arm(timer, now)
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return endOf(ctx, err, ended)
		case u := <-units:
			now = time.Now()
			s.enqueue(now, u)
		case f, ok := <-s.c.Feedback:
			if !ok {
				return errPeerGone
			}
			now = time.Now()
			p = s.feedback(now, f, p)
		case <-timer.C:
			now = time.Now()
			p = s.tick(now, p)
		}
	}
}

// endOf hands the video goroutine's end back to Run.
func endOf(ctx context.Context, err error, ended chan error) error {
	if ctx.Err() != nil {
		ended <- nil
		return nil
	}
	return err
}

// apply puts a controller's answer into force.
func (s *Session) apply(now time.Time, u cc.Update) plan {
	p := decide(u, s.rtt, s.interval, int(s.video.keyBytes.Load()))
	s.pacer.SetRates(now, p.Pace, p.Pad)
	s.video.orders.change(func(o *order) { o.target = p.Encoder })
	s.c.Meter.Rates(float64(p.Encoder)/1000, u.Reason)
	return p
}

// feedback takes one report of the receiver.
func (s *Session) feedback(now time.Time, f cc.Feedback, p plan) plan {
	if f.RTT > 0 {
		s.rtt = f.RTT
		s.pacer.SetRTT(f.RTT)
	}
	if f.Reported {
		s.c.Meter.Path(f.RTT, f.LossFraction)
	}
	if len(f.Nacks) > 0 {
		s.pacer.Resend(now, f.Nacks)
	}
	lost := s.pacer.BeyondRepair(f.Nacks)
	if (lost || f.KeyFrame) && now.Sub(s.keyAt) >= p.KeyEvery && (lost || !s.excuse(now)) {
		s.keyAt = now
		s.RequestKey()
	}
	if len(f.Acks) > 0 {
		s.pacer.Acked(f.Received...)
		return s.apply(now, s.control.OnFeedback(now, f.Acks))
	}
	return p
}

// stillAfter is less than the silence after which a receiver asks for a key
// frame: libwebrtc does so once when no picture came for 3 s and the last packet
// is younger than 5 s.
const stillAfter = 2500 * time.Millisecond

// excuse says whether a request for a key frame is only the receiver's answer
// to a still screen, of which it has everything. It would be asked again after
// each answer, for ever. A receiver that really cannot decode repeats itself
// within 200 ms, and the second request in a silence counts.
func (s *Session) excuse(now time.Time) bool {
	if !s.pacer.Settled() || s.excused || s.sentAt.IsZero() || now.Sub(s.sentAt) < stillAfter {
		return false
	}
	s.excused = true
	return true
}

// tick does what is due by the clock.
func (s *Session) tick(now time.Time, p plan) plan {
	if d := s.control.Deadline(); !d.IsZero() && !now.Before(d) {
		return s.apply(now, s.control.OnTick(now))
	}
	return p
}

// enqueue cuts an encoded picture into packets and hands them to the pacer.
func (s *Session) enqueue(now time.Time, u unit) {
	s.payloads = packetize.H264(s.payloads[:0], u.NALs, s.c.MaxPayloadBytes)
	class := pacing.Video
	if u.Key {
		class = pacing.KeyFrame
	}
	for i, pl := range s.payloads {
		s.pacer.Enqueue(now, pacing.Packet{
			Class: class, Frame: u.frame, Timestamp: u.timestamp, Captured: u.captured,
			First: i == 0, Marker: i == len(s.payloads)-1,
			Head: pl.Head, HeadLen: pl.HeadLen, Body: pl.Body,
		})
	}
	clear(s.payloads)
}

// drain sends every packet that is due. One that cannot be sent (the network is
// down for a moment) is lost like any other, and the receiver will ask for it;
// whether the connection is over is for the transport to say.
func (s *Session) drain(now time.Time) {
	sent := 0
	for ; sent < maxDrain; sent++ {
		pkt, ok := s.pacer.Next(now)
		if !ok {
			break
		}
		rec, err := s.c.Peer.Write(now, &pkt)
		s.noteWrite(err)
		if err != nil {
			continue
		}
		s.control.OnSent(now, rec)
		s.c.Meter.Sent(now, rec.SizeBytes, pkt.Class == pacing.Resend, pkt.Class == pacing.Padding)
	}
	if sent == 0 {
		return
	}
	s.sentAt, s.excused = now, false
	s.c.Meter.Queue(s.pacer.QueueDelay())
	if now.Sub(s.reportAt) >= reportEvery {
		s.reportAt = now
		s.noteWrite(s.c.Peer.SenderReport(now))
	}
}

// noteWrite logs the first of a row of failures, and the end of it.
func (s *Session) noteWrite(err error) {
	switch {
	case err != nil && !s.mute:
		s.c.Log.Debug("packets cannot be sent", "err", err)
	case err == nil && s.mute:
		s.c.Log.Debug("packets can be sent again")
	}
	s.mute = err != nil
}

// arm sets the timer to the earliest deadline, or far away when there is none.
func (s *Session) arm(timer *time.Timer, now time.Time) {
	next := earliest(s.pacer.Deadline(), s.control.Deadline())
	if next.IsZero() {
		timer.Stop()
		return
	}
	timer.Reset(max(0, next.Sub(now)))
}

// earliest returns the earlier of two times; the zero time means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
