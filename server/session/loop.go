package session

import (
	"context"
	"fmt"
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
		if err := s.drain(now); err != nil {
			return err
		}
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
	if f.KeyFrame && now.Sub(s.keyAt) >= p.KeyEvery {
		s.keyAt = now
		s.RequestKey()
	}
	if len(f.Acks) > 0 {
		s.pacer.Acked(f.Received...)
		return s.apply(now, s.control.OnFeedback(now, f.Acks))
	}
	return p
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

// drain sends every packet that is due.
func (s *Session) drain(now time.Time) error {
	sent := 0
	for ; sent < maxDrain; sent++ {
		pkt, ok := s.pacer.Next(now)
		if !ok {
			break
		}
		rec, err := s.c.Peer.Write(now, &pkt)
		if err != nil {
			return fmt.Errorf("sending a packet of %d bytes: %w", rec.SizeBytes, err)
		}
		s.control.OnSent(now, rec)
		s.c.Meter.Sent(now, rec.SizeBytes, pkt.Class == pacing.Resend, pkt.Class == pacing.Padding)
	}
	if sent == 0 {
		return nil
	}
	s.c.Meter.Queue(s.pacer.QueueDelay())
	if now.Sub(s.reportAt) < reportEvery {
		return nil
	}
	s.reportAt = now
	return s.c.Peer.SenderReport(now)
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
