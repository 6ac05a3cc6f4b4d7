package session

import (
	"time"

	"nearglass/cc"
	"nearglass/gpu/encode"
	"nearglass/gpu/encode/repair"
	"nearglass/pacing"
	"nearglass/telemetry"
)

// confirmQueue is how many words of the viewer may wait for the loop. Each says
// again what those before it said.
const confirmQueue = 16

// ledger knows which pictures the packets and timestamps are of that left last, so
// that what the viewer says can be joined to it. A second at 8,000 packets or at
// 256 pictures; an older entry is overwritten.
type ledger struct {
	packets  [1 << 13]ledgerPacket // by media sequence number
	pictures [1 << 8]ledgerPicture // by number
}

type ledgerPacket struct {
	frame     uint64
	sizeBytes int
	seq       uint16
	arrived   bool
}

type ledgerPicture struct {
	frame     uint64
	timestamp uint32
	waits     int  // packets that are not known to have arrived
	whole     bool // all have left
}

// sent notes a packet of a picture and says whether it is its last.
func (l *ledger) sent(pkt *pacing.Packet) (last bool) {
	p := &l.pictures[pkt.Frame%uint64(len(l.pictures))]
	if p.frame != pkt.Frame {
		*p = ledgerPicture{frame: pkt.Frame, timestamp: pkt.Timestamp}
	}
	p.waits++
	p.whole = pkt.Marker
	l.packets[int(pkt.Seq)%len(l.packets)] = ledgerPacket{frame: pkt.Frame, sizeBytes: int(pkt.HeadLen) + len(pkt.Body), seq: pkt.Seq}
	return pkt.Marker
}

// packet finds one by its number; nil when it is not known any more.
func (l *ledger) packet(seq uint16) *ledgerPacket {
	p := &l.packets[int(seq)%len(l.packets)]
	if p.seq != seq || p.frame == 0 {
		return nil
	}
	return p
}

// arrived notes that the viewer has a packet, and gives the picture that is whole
// by that; 0 when none is.
func (l *ledger) arrived(seq uint16) uint64 {
	p := l.packet(seq)
	if p == nil || p.arrived {
		return 0
	}
	p.arrived = true
	picture := &l.pictures[p.frame%uint64(len(l.pictures))]
	if picture.frame != p.frame {
		return 0
	}
	picture.waits--
	if picture.waits > 0 || !picture.whole {
		return 0
	}
	return picture.frame
}

// named finds the picture with a timestamp; 0 when it is not known.
func (l *ledger) named(timestamp uint32) uint64 {
	for i := range l.pictures {
		if l.pictures[i].timestamp == timestamp {
			return l.pictures[i].frame
		}
	}
	return 0
}

// mender repairs what the viewer lacks without key frames, where it takes
// references from the packets. Its zero value does nothing.
type mender struct {
	keeper *repair.Keeper // nil: the viewer does not
	ledger *ledger
	seqs   []uint16 // memory for nacks
	held   bool     // the encoder was told to hold
	told   bool     // the log says that it is not possible any more
	counts repair.Counts
	due    time.Time // when there may be something to decide; zero: never
}

// active says whether losses are repaired by reference.
func (m *mender) active() bool { return m.keeper != nil && m.keeper.Active() }

// startMending prepares for a viewer that takes references from the packets.
func (s *Session) startMending() {
	if s.c.Gaps {
		s.mender.keeper = repair.New(repair.Config{References: encode.MaxReferences, Interval: s.interval, NoResend: !s.c.resends()})
		s.mender.ledger = new(ledger)
	}
}

// Confirm takes the viewer's word that it shows the pictures with these RTP
// timestamps. Safe from any goroutine.
func (s *Session) Confirm(timestamps []uint32) {
	select {
	case s.confirms <- timestamps:
	default: // the loop stands still; the next word says it again
	}
}

// coded notes a picture that is to be sent; false says that the viewer could not
// decode it.
func (s *Session) coded(u unit) bool {
	if s.mender.keeper == nil {
		return true
	}
	s.mender.keeper.SetReferences(u.most)
	taken := s.mender.keeper.Coded(u.frame, u.reference, u.SizeBytes)
	s.pacer.GiveUp(s.mender.keeper.Needed())
	return taken
}

// noteSent notes a packet that left.
func (s *Session) noteSent(now time.Time, pkt *pacing.Packet) {
	if s.mender.keeper == nil {
		return
	}
	switch pkt.Class {
	case pacing.Resend:
		s.mender.keeper.Resent(now, pkt.Frame)
		return
	case pacing.Video, pacing.KeyFrame:
	default:
		return
	}
	if s.mender.ledger.sent(pkt) {
		s.mender.keeper.Left(now, pkt.Frame)
		s.pacer.GiveUp(s.mender.keeper.Needed())
		s.mender.due = s.mender.keeper.Deadline(now)
	}
}

// noteArrived takes what transport feedback says of packets.
func (s *Session) noteArrived(now time.Time, f cc.Feedback) {
	if s.mender.keeper == nil {
		return
	}
	s.mender.keeper.SetRTT(f.RTT)
	for _, seq := range f.Received {
		if frame := s.mender.ledger.arrived(seq); frame > 0 {
			s.mender.keeper.Arrived(now, frame)
		}
	}
}

// shown takes the viewer's word.
func (s *Session) shown(now time.Time, timestamps []uint32) {
	if s.mender.keeper == nil {
		return
	}
	for _, t := range timestamps {
		if frame := s.mender.ledger.named(t); frame > 0 {
			s.mender.keeper.Shown(now, frame)
		}
	}
}

// resume does what Resume promises; why is what a key frame is for.
func (s *Session) resume(now time.Time, p plan, why string) {
	if !s.mender.active() {
		s.requestKey(why)
		return
	}
	s.mender.keeper.Resumed()
	s.mend(now, p)
}

// worthResending gives those of the packets asked for that are to be sent again.
func (s *Session) worthResending(now time.Time, nacks []uint16) []uint16 {
	if !s.mender.active() {
		return nacks
	}
	m := &s.mender
	for i := 0; i < len(nacks); {
		frame, sizeBytes, n := m.run(nacks[i:])
		m.keeper.Missing(now, frame, sizeBytes)
		i += n
	}
	m.seqs = m.seqs[:0]
	for i := 0; i < len(nacks); {
		frame, _, n := m.run(nacks[i:])
		if frame == 0 || m.keeper.Resend(now, frame) {
			m.seqs = append(m.seqs, nacks[i:i+n]...)
		}
		i += n
	}
	return m.seqs
}

// run counts the packets at the front that are of one picture, and their bytes: the
// viewer asks in order. Frame 0 is a packet of none, or of one that is not known any more.
func (m *mender) run(nacks []uint16) (frame uint64, sizeBytes, n int) {
	for ; n < len(nacks); n++ {
		p := m.ledger.packet(nacks[n])
		switch {
		case p == nil && n == 0:
			return 0, 0, 1
		case p == nil || n > 0 && p.frame != frame:
			return frame, sizeBytes, n
		}
		frame = p.frame
		sizeBytes += p.sizeBytes
	}
	return frame, sizeBytes, n
}

// mend has done what the viewer needs by now.
func (s *Session) mend(now time.Time, p plan) {
	m := &s.mender
	if m.keeper == nil {
		return
	}
	o := m.keeper.Decide(now)
	switch o.Kind {
	case repair.Reference:
		s.video.orders.change(func(v *order) { v.newest = o.Newest })
	case repair.Key:
		s.wantKey(now, p, telemetry.KeyLoss)
	}
	if o.Hold != m.held {
		m.held = o.Hold
		s.video.orders.change(func(v *order) { v.hold = o.Hold })
	}
	if frame := m.keeper.Nudge(now); frame > 0 {
		s.pacer.ResendPicture(now, frame)
	}
	switch again := m.keeper.Repeat(now); {
	case again.Frame > 0:
		m.keeper.Repeated(now, s.pacer.Repeat(now, again.Frame, again.Whole, again.Share))
	case !m.keeper.Silent():
		s.pacer.Repeat(now, 0, false, 0)
	}
	m.due = m.keeper.Deadline(now)
	s.noteRepairs()
}

// noteRepairs counts and logs what was decided.
func (s *Session) noteRepairs() {
	m := &s.mender
	counts := m.keeper.Counts()
	if counts != m.counts {
		s.c.Meter.Repaired(counts.Repairs - m.counts.Repairs)
		s.c.Log.Debug("loss is repaired", "repairs", counts.Repairs, "keys", counts.Keys, "unshown", counts.Unshown)
		m.counts = counts
	}
	if m.keeper.Broken() == m.told {
		return
	}
	if m.told = !m.told; m.told {
		s.c.Log.Warn("the viewer ignores what packets say of references: losses that cannot be sent again cost key frames from now on")
	} else {
		s.c.Log.Info("the viewer was only slow: losses are repaired without key frames again")
	}
}
