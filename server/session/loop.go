package session

import (
	"context"
	"errors"
	"time"

	"nearglass/cc"
	"nearglass/cc/rate"
	"nearglass/pacing"
	"nearglass/pacing/packetize"
	"nearglass/telemetry"
)

// maxDrain bounds one turn: after so many packets the loop looks at its
// channels again, so that feedback is never kept waiting by a long queue.
const maxDrain = 512

// reportEvery is how often a sender report goes out while packets do (RFC 3550
// allows 5 s; a second lets the viewer map its clock soon after the start).
const reportEvery = time.Second

// loop is the session's only event loop. It owns the pacer and the transport.
func (s *Session) loop(ctx context.Context, ended chan error) error {
	alarm := s.openAlarm()
	defer alarm.Close()
	now := time.Now()
	p := s.apply(now, s.control.OnTick(now))
	for {
		p = s.tick(now, p)
		s.drain(now)
		s.arm(alarm)
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return endOf(ctx, err, ended)
		case u := <-s.units(p):
			now = time.Now()
			s.enqueue(now, u, p)
		case f, ok := <-s.c.Feedback:
			if !ok {
				return errPeerGone
			}
			now = time.Now()
			p = s.feedback(now, f, p)
		case t := <-s.confirms:
			now = time.Now()
			s.shown(now, t)
			s.mend(now, p)
		case <-s.resumes:
			now = time.Now()
			s.resume(now, p, telemetry.KeyResume)
		case r := <-s.reroute:
			now = time.Now()
			p = s.change(now, r, p)
		case <-alarm.C():
			now = time.Now()
			s.woken(now)
		}
	}
}

// units gives the pictures that may be enqueued now: the next one waits until that
// before it is out.
func (s *Session) units(p plan) <-chan unit {
	if s.pacer.QueueDelay() > p.MostQueued {
		return nil
	}
	return s.video.units
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
	p := decide(u, s.rtt, s.interval)
	s.pacer.SetRates(now, p.Pace, p.Pad)
	s.pacer.SetBottleneck(now, p.Bottleneck)
	s.pacer.Probe(now, p.Probe)
	s.video.orders.change(func(o *order) { o.target = p.Encoder })
	s.c.Meter.Control(telemetry.Control{
		TargetKbps: kbps(p.Encoder), PaceKbps: kbps(p.Pace), PathKbps: kbps(u.Path.Rate), Fixed: s.c.Bitrate > 0,
		State: u.State, Reason: u.Reason, PathQueue: u.Path.Queue, Probe: u.Probe.ID, ProbeKbps: kbps(u.Probe.Rate),
	})
	if u.State != s.state {
		s.state = u.State
		s.c.Log.Debug("rate", "state", u.State, "reason", u.Reason, "target", u.Target.String(), "path", u.Path.Rate.String())
	}
	return p
}

func kbps(r rate.Rate) float64 { return float64(r) / 1000 }

// tick lets the controller do what is due by the clock.
func (s *Session) tick(now time.Time, p plan) plan {
	if d := s.control.Deadline(); !d.IsZero() && !now.Before(d) {
		p = s.apply(now, s.control.OnTick(now))
	}
	if d := s.mender.due; !d.IsZero() && !now.Before(d) {
		s.mend(now, p)
	}
	return p
}

// change begins anew on another route. What was learned is the old one's.
func (s *Session) change(now time.Time, r Route, p plan) plan {
	s.pathSize.Reset()
	c, ok := s.control.(follower)
	if !ok {
		return p
	}
	s.memory.Store(&Memory{})
	s.relayed = r.Relayed
	return s.apply(now, c.RouteChanged(now, r.Memory, r.Relayed))
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
	s.noteArrived(now, f)
	p = s.fit(now, f, p)
	report := s.outcomes.report(f)
	report.Unserved = s.resend(now, f)
	s.c.Meter.Report(now, report)
	if s.costsKey(f.Nacks) {
		s.wantKey(now, p, telemetry.KeyLoss)
	} else if f.KeyFrame && s.mayWantKey(now, p) && !s.excuse(now) {
		s.wantKey(now, p, telemetry.KeyViewer)
	}
	if len(f.Acks) > 0 {
		p = s.apply(now, s.control.OnFeedback(now, f.Acks))
		if r, ok := s.control.(follower); ok {
			m := r.Memory(now)
			s.memory.Store(&m)
		}
	}
	s.shed(now, p)
	s.mend(now, p)
	return p
}

// resend tells the pacer what has arrived, sends again what the viewer lacks, and says how
// much of what it asks for is not sent. What reports show to be lost is not waited for to
// be asked for.
func (s *Session) resend(now time.Time, f cc.Feedback) (unserved int) {
	if len(f.Nacks) > 0 {
		unserved = len(f.Nacks) - s.pacer.Resend(now, s.worthResending(now, f.Nacks))
	}
	s.pacer.Acked(f.Received...)
	if !s.c.auto() {
		return unserved
	}
	if lost := s.outcomes.missing(f); len(lost) > 0 {
		s.pacer.ResendLost(now, s.worthResending(now, lost))
	}
	return unserved
}

// mayWantKey says whether a key frame that is asked for now would tell the
// viewer more than the one before.
func (s *Session) mayWantKey(now time.Time, p plan) bool {
	return !s.keyDue && now.Sub(s.keyAt) >= p.keyEvery(s.keyBytes)
}

// wantKey has a key frame encoded unless one is on its way.
func (s *Session) wantKey(now time.Time, p plan, why string) {
	if !s.mayWantKey(now, p) {
		return
	}
	s.keyAt, s.keyDue = now, true
	s.requestKey(why)
}

// shed drops pictures that have waited for too long, such as those that a key
// frame has overtaken. All others stay: each is the reference of the next.
func (s *Session) shed(now time.Time, p plan) {
	if dropped, _ := s.pacer.Stale(now); dropped > 0 {
		s.c.Meter.Dropped(dropped)
	}
	switch {
	case !s.pacer.NeedsKey():
	case s.mender.active():
		s.mender.keeper.Dropped(s.newest)
	default:
		s.wantKey(now, p, telemetry.KeyDropped)
	}
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

// enqueue cuts an encoded picture into packets and hands them to the pacer.
func (s *Session) enqueue(now time.Time, u unit, p plan) {
	if !s.coded(u) {
		s.c.Meter.Dropped(1)
		return
	}
	s.newest = u.frame
	s.payloads = packetize.H264(s.payloads[:0], u.NALs, s.Largest())
	class := pacing.Video
	if u.Key {
		class = pacing.KeyFrame
		s.keyAt, s.keyDue, s.keyBytes = now, false, u.SizeBytes
	}
	for i, pl := range s.payloads {
		s.pacer.Enqueue(now, pacing.Packet{
			Class: class, Frame: u.frame, DependsOn: u.reference, Timestamp: u.timestamp, Captured: u.captured,
			Deadline: now.Add(p.Patience), First: i == 0, Marker: i == len(s.payloads)-1,
			Head: pl.Head, HeadLen: pl.HeadLen, Body: pl.Body,
		})
	}
	s.c.Meter.Queued(now, u.frame, len(s.payloads))
	clear(s.payloads)
	s.shed(now, p)
	s.mend(now, p)
}

// drain sends every packet that is due. One that cannot be sent (the network is
// down for a moment) is lost like any other, and the receiver will ask for it;
// whether the connection is over is for the transport to say.
func (s *Session) drain(now time.Time) {
	sent := 0
	var failed error
	s.pulse(now)
	for ; sent < maxDrain; sent++ {
		pkt, ok := s.pacer.Next(now)
		if !ok {
			break
		}
		s.noteSent(now, &pkt)
		rec, err := s.c.Peer.Write(now, &pkt)
		if err != nil {
			failed = err
			continue
		}
		s.control.OnSent(now, rec)
		s.outcomes.sent(rec, &pkt)
		s.pathSize.Sent(rec.Sequence, pkt.PayloadBytes())
		s.c.Meter.Sent(now, rec.SizeBytes, pkt.Class == pacing.Resend && !pkt.Filler, pkt.Class == pacing.Padding || pkt.Filler)
		if pkt.Marker && (pkt.Class == pacing.Video || pkt.Class == pacing.KeyFrame) {
			s.c.Meter.Left(now, pkt.Frame)
		}
	}
	if sent == 0 {
		return
	}
	s.sentAt, s.excused = now, false
	s.c.Meter.Queue(s.pacer.QueueDelay())
	s.noteWrite(errors.Join(failed, s.c.Peer.Flush(), s.report(now)))
}

// report sends a sender report when one is due.
func (s *Session) report(now time.Time) error {
	if now.Sub(s.reportAt) < reportEvery {
		return nil
	}
	s.reportAt = now
	return s.c.Peer.SenderReport(now)
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

// arm sets the alarm to the earliest deadline, or not at all when there is none.
func (s *Session) arm(a Alarm) {
	s.due = earliest(earliest(s.pacer.Deadline(), s.control.Deadline()), s.mender.due)
	var err error
	if s.due.IsZero() {
		err = a.Stop()
	} else {
		err = a.Set(time.Until(s.due))
	}
	if err != nil && !s.deaf {
		s.deaf = true
		s.c.Log.Error("the stream's timer cannot be set: it stands still until packets or pictures come", "err", err)
	}
}

// woken notes how late the alarm was. One that was stopped or set anew may still go
// off once, early.
func (s *Session) woken(now time.Time) {
	if !s.due.IsZero() {
		s.c.Meter.Late(now.Sub(s.due))
	}
}

// earliest returns the earlier of two times; the zero time means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
