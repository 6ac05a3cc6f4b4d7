package pacing

import "time"

// guardSteps is when guard packets leave after the last media packet, if the
// receiver is not known to have everything. A receiver sees a loss only by
// the gap before a later number; libwebrtc does not count RTX packets for
// that, but padding on the media's own numbers it does. It keeps the request
// back, though, until the next packet with a payload or 100 ms later; so the
// last media packet goes out once more behind the padding, by RTX, which also
// repairs it if it was the lost one. The first step waits out the next picture
// at 60 a second, which may come 17 ms after a short one, and the third is
// within the 100 ms that the picture may stay wrong; a guard packet that is lost
// too is covered by the next. The later ones are for a path that was gone for a
// while: it took the last picture and its first guards together. Where
// acknowledgements come, they end the guard after one or two hundred
// milliseconds.
var guardSteps = [...]time.Duration{
	20 * time.Millisecond, 45 * time.Millisecond, 90 * time.Millisecond,
	180 * time.Millisecond, 360 * time.Millisecond, 720 * time.Millisecond,
	1500 * time.Millisecond, 3 * time.Second, 6 * time.Second,
}

// guardShare is what of the path the repeated packets may take. Pictures that come
// 30 times a second would each be followed by one, which on 400 kbit/s took a third
// of the path; there the next picture tells of the loss as soon.
const guardShare = 0.1

// guardSaved is how much of that may be saved up.
const guardSaved = 100 * time.Millisecond

// guardBytes is the padding of a guard packet; its number is what counts.
const guardBytes = 4

// guard is the tail guard: it watches for the end of media.
type guard struct {
	off bool
	// between says that the last media packet ended a picture, so that
	// padding may follow.
	between   bool
	timestamp uint32 // of the last media packet
	frame     uint64 // that it belongs to
	seq       uint16 // its number
	since     time.Time
	step      int
	armed     bool
	free      time.Time // when what repeated packets took is paid for
}

// media notes a released media packet; idle says that none waits behind it.
func (g *guard) media(now time.Time, pkt *Packet, idle bool) {
	g.between, g.timestamp, g.frame, g.seq = pkt.Marker, pkt.Timestamp, pkt.Frame, pkt.Seq
	g.since, g.step, g.armed = now, 0, pkt.Marker && idle && !g.off
}

// affords says whether a packet that takes its share for so long may be
// repeated now, and counts it if so.
func (g *guard) affords(now time.Time, takes time.Duration) bool {
	if now.Before(g.free) {
		return false
	}
	if saved := now.Add(-guardSaved); g.free.Before(saved) {
		g.free = saved
	}
	g.free = g.free.Add(takes)
	return true
}

// due says whether a guard packet is to leave at now; settled says that the
// receiver is known to have everything.
func (g *guard) due(settled bool, now time.Time) bool {
	at := g.deadline(settled)
	return !at.IsZero() && !now.Before(at)
}

// deadline returns when the next guard packet is due; zero for never.
func (g *guard) deadline(settled bool) time.Time {
	if !g.armed || g.step >= len(guardSteps) || settled {
		return time.Time{}
	}
	return g.since.Add(guardSteps[g.step])
}
