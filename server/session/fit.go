package session

import (
	"time"

	"nearglass/cc"
	"nearglass/telemetry"
)

// Largest is the largest RTP payload, in bytes, that is made now: what the interface
// takes, or less where the path was found to swallow that. Safe from any goroutine.
func (s *Session) Largest() int {
	if most := int(s.most.Load()); most > 0 {
		return min(most, s.c.Peer.MaxPayload())
	}
	return s.c.Peer.MaxPayload()
}

// A receiver reports when packets come, and of pictures in motion all may be too large
// for the path. Small packets are sent among them while no report comes: from the
// start until the first one, later after a silence that is longer than that between
// reports, and while large ones are lost.
const (
	pulseAfter = 250 * time.Millisecond
	pulseEvery = 40 * time.Millisecond
)

// pulse sends one when it is due.
func (s *Session) pulse(now time.Time) {
	if s.pacer.Empty() {
		return
	}
	silent := s.heardAt.IsZero() || now.Sub(s.heardAt) >= pulseAfter+s.rtt
	if (silent || s.pathSize.Suspects()) && now.Sub(s.pulseAt) >= pulseEvery {
		s.pulseAt = now
		s.pacer.Pulse()
	}
}

// fit keeps packets as small as the path asks for.
func (s *Session) fit(now time.Time, f cc.Feedback, p plan) plan {
	if len(f.Acks) > 0 {
		s.heardAt = now
	}
	before, shrunk := s.Largest(), false
	for _, a := range f.Acks {
		shrunk = s.pathSize.Reported(now, a.Sequence, a.Lost) || shrunk
	}
	ceiling := s.c.Peer.MaxPayload()
	most := s.pathSize.Most(ceiling)
	if most != before {
		s.most.Store(int32(most % ceiling)) // none as large as the interface takes
		s.c.Log.Info("the path carries other packets than before", "payload", most, "before", before, "interface", ceiling)
	}
	if shrunk {
		p = s.shrink(now, most, p)
	}
	if size := s.pathSize.Wanted(now, ceiling); size > 0 && s.pacer.ProbeSize(size) {
		s.pathSize.Probing(now, size)
	}
	return p
}

// shrink begins anew with smaller packets. Those that vanished told nothing of the
// rate that the path carries: what the controller made of them is forgotten.
func (s *Session) shrink(now time.Time, most int, p plan) plan {
	s.pacer.Shrink(most)
	if c, ok := s.control.(follower); ok {
		p = s.apply(now, c.RouteChanged(now, s.Memory(), s.relayed))
	}
	s.resume(now, p, telemetry.KeyLoss)
	return p
}
