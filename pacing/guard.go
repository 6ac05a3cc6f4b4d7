package pacing

import "time"

// guardSteps is when guard packets leave after the last media packet, if the
// receiver is not known to have everything. A receiver sees a loss only by
// the gap before a later number; libwebrtc does not count RTX packets for
// that, but padding on the media's own numbers it does. The first step waits
// out the next picture at 60 a second, and the last is within the 100 ms that
// the picture may stay wrong; a guard packet that is lost too is covered by
// the next.
var guardSteps = [...]time.Duration{15 * time.Millisecond, 45 * time.Millisecond, 90 * time.Millisecond}

// guardBytes is the padding of a guard packet; its number is what counts.
const guardBytes = 4

// guard is the tail guard: it watches for the end of media.
type guard struct {
	off bool
	// between says that the last media packet ended a picture, so that
	// padding may follow.
	between   bool
	timestamp uint32 // of the last media packet
	since     time.Time
	step      int
	armed     bool
}

// media notes a released media packet; idle says that none waits behind it.
func (g *guard) media(now time.Time, pkt *Packet, idle bool) {
	g.between, g.timestamp = pkt.Marker, pkt.Timestamp
	g.since, g.step, g.armed = now, 0, pkt.Marker && idle && !g.off
}

// due says whether a guard packet is to leave at now, with unacked packets
// not known to have arrived.
func (g *guard) due(unacked int, now time.Time) bool {
	at := g.deadline(unacked)
	return !at.IsZero() && !now.Before(at)
}

// deadline returns when the next guard packet is due; zero for never.
func (g *guard) deadline(unacked int) time.Time {
	if !g.armed || g.step >= len(guardSteps) || unacked == 0 {
		return time.Time{}
	}
	return g.since.Add(guardSteps[g.step])
}
