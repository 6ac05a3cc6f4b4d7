package pacing

import (
	"slices"
	"time"
)

// Resend takes the sequence numbers that the receiver misses and queues those
// packets that are still held, each at most once per round trip and all of
// them within the resend budget; packets that were never resent have the first
// claim on it. One that has arrived by now waits longer, for the request is
// most likely older than the arrival. It returns how many it queued. Next hands
// them out with the class Resend and the old Seq.
func (p *Pacer) Resend(now time.Time, seqs []uint16) int {
	if p.cfg.NoRTX {
		return 0
	}
	p.settle(now)
	p.cache.expire(now)
	return p.resendAll(now, seqs)
}

// resendAll queues those of the packets that are held, due and within the budget.
func (p *Pacer) resendAll(now time.Time, seqs []uint16) (queued int) {
	twice := p.cfg.Echo && p.echoes.hear(now, len(seqs))
	for _, again := range [...]bool{false, true} {
		for _, seq := range seqs {
			e := p.cache.get(seq)
			if e != nil && again == !e.resent.IsZero() && p.resendDue(now, e) && p.resendOne(now, e) {
				e.twice = twice
				queued++
			}
		}
	}
	return queued
}

// ResendLost does as Resend for packets that a report shows to be lost, however often
// they left, and that may not have been asked for: each once, and only a few. Where many
// are lost, or nothing of a kind arrives, it is for the receiver to say what is worth
// trying again.
func (p *Pacer) ResendLost(now time.Time, seqs []uint16) {
	if p.cfg.NoRTX || len(seqs) > mostSingle {
		return
	}
	p.settle(now)
	p.cache.expire(now)
	seqs = slices.DeleteFunc(seqs, func(seq uint16) bool {
		e := p.cache.get(seq)
		if e == nil || e.told || e.acked {
			return true
		}
		e.told = true
		return false
	})
	p.resendAll(now, seqs)
}

// ResendPicture queues what is held of a picture and not known to have arrived, within
// the resend budget. Nobody asked for it.
func (p *Pacer) ResendPicture(now time.Time, frame uint64) {
	if p.cfg.NoRTX {
		return
	}
	p.settle(now)
	p.cache.expire(now)
	for _, seq := range p.cache.waiting(frame, true) {
		if e := p.cache.get(seq); p.resendDue(now, e) {
			p.resendOne(now, e)
		}
	}
}

// ackedPatience is how long a packet that the receiver has, by its own
// feedback, is not resent: two of libwebrtc's default feedback intervals.
// After that something between its socket and its decoder lost it.
const ackedPatience = 200 * time.Millisecond

// resendDue says whether a cached packet may be resent at now.
func (p *Pacer) resendDue(now time.Time, e *cached) bool {
	switch {
	case e.queued:
		return false
	case e.resent.IsZero():
		return !e.acked || now.Sub(e.released) >= ackedPatience
	case e.acked:
		return now.Sub(e.resent) >= max(ackedPatience, p.rtt)
	}
	return now.Sub(e.resent) >= p.rtt
}

// resendOne queues a cached packet if the budget allows.
func (p *Pacer) resendOne(now time.Time, e *cached) bool {
	if now.Before(p.resendFree) {
		p.counts.Refused++
		return false
	}
	p.chargeResend(e)
	e.queued = true
	p.resend.push(e.pkt.Seq)
	return true
}

// chargeResend takes a packet from the budget of resends.
func (p *Pacer) chargeResend(e *cached) {
	share := p.pace.Scale(p.cfg.ResendShare)
	p.resendFree = p.resendFree.Add(min(share.Duration(e.pkt.sizeBytes()), resendBurst))
}

// again queues a cached packet without having been asked.
func (p *Pacer) again(seq uint16) {
	if e := p.cache.get(seq); e != nil && !e.queued && !p.cfg.NoRTX {
		e.queued = true
		p.resend.push(seq)
	}
}

// Repeat queues what is held of a picture and not known to have arrived, or only the
// last such packet, behind a packet of padding that shows its gap to the receiver. They
// leave in a share of what the path is believed to carry, whatever the pace: that falls
// in an outage. It returns how long they take. What was queued before is forgotten;
// picture 0 does nothing else.
func (p *Pacer) Repeat(now time.Time, frame uint64, whole bool, share float64) (takes time.Duration) {
	p.repeats = ring[uint16]{}
	if p.cfg.NoRTX || frame == 0 {
		return 0
	}
	p.settle(now)
	p.cache.expire(now)
	p.repeatRate = p.path.Rate.Scale(share)
	if p.path.Rate <= 0 {
		p.repeatRate = p.pace.Scale(share)
	}
	for _, seq := range p.cache.waiting(frame, whole) {
		p.repeats.push(seq)
		takes += min(p.repeatRate.Duration(p.cache.get(seq).pkt.sizeBytes()), maxDebt)
	}
	p.gapShown, p.repeatAt = !p.tail.between, now
	return takes
}

// repeatDue says whether something of Repeat may leave at now.
func (p *Pacer) repeatDue(now time.Time) bool { return p.repeats.len() > 0 && !now.Before(p.repeatAt) }

// nextRepeat takes the next packet of Repeat.
func (p *Pacer) nextRepeat(now time.Time) (Packet, bool) {
	if !p.gapShown {
		p.gapShown = true
		p.counts.Guards++
		return p.padding(now, guardBytes), true
	}
	e := p.cache.get(p.repeats.pop())
	if e == nil || e.acked || e.pkt.Frame < p.owed {
		return Packet{}, false
	}
	p.counts.Resent++
	pkt := p.repeat(now, e)
	clamp(&p.free, now, maxDebt, maxDebt)
	p.repeatAt = now.Add(min(p.repeatRate.Duration(pkt.sizeBytes()), maxDebt))
	return pkt, true
}

// SetRTT tells the round trip time of the path, which spaces the resends of
// one packet. Values of zero and below are ignored.
func (p *Pacer) SetRTT(rtt time.Duration) {
	if rtt > 0 {
		p.rtt = max(rtt, minRTT)
	}
}

// Acked tells which media sequence numbers the receiver is known to have, by
// whatever packet they came. Once it has all of them the tail guard rests.
func (p *Pacer) Acked(seqs ...uint16) {
	for _, seq := range seqs {
		p.cache.ack(seq)
	}
}

// GiveUp tells that the receiver can do without the pictures before this one: it has,
// or will have, what that refers to. They are not sent again, and the receiver
// counts as settled without them.
func (p *Pacer) GiveUp(before uint64) {
	if before <= p.owed {
		return
	}
	p.owed = before
	p.cache.giveUp(before)
}

// Settled says whether the receiver is known to have all that left since the
// last key frame and was not given up.
func (p *Pacer) Settled() bool { return p.cache.unacked == 0 && !p.gap() }

// gap says whether packets since the last key frame were forgotten that the
// receiver is not known to have.
func (p *Pacer) gap() bool { return p.cache.lostFrame > 0 && p.cache.lostFrame >= p.keyFrame }

// BeyondRepair says whether the receiver asks for packets that are not held any
// more, without which it cannot go on: only a key frame helps.
func (p *Pacer) BeyondRepair(seqs []uint16) bool {
	return p.gap() && slices.ContainsFunc(seqs, func(seq uint16) bool { return p.cache.get(seq) == nil })
}

// Snapshot is the state of a pacer for telemetry. Counts run from its making.
type Snapshot struct {
	Queued       int    // packets that wait
	QueuedBytes  int    // of video
	Resent       uint64 // second copies among them
	Refused      uint64 // resends beyond the budget
	Guards       uint64 // tail guard packets
	Padded       uint64 // packets of the padding rate
	Trains       uint64 // probe trains that began
	Fillers      uint64 // packets that left only to fill a train
	Dropped      uint64 // pictures
	DroppedAudio uint64 // packets, for want of room
	Cached       int
	CachedBytes  int
	Unacked      int // of the cached
}

// Snapshot returns the present state.
func (p *Pacer) Snapshot() Snapshot {
	s := p.counts
	s.Queued = p.audio.len() + p.resend.len() + p.video.len()
	s.QueuedBytes = p.videoBytes
	s.Cached, s.CachedBytes, s.Unacked = p.cache.n, p.cache.bytes, p.cache.unacked
	return s
}
