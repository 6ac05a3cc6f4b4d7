package pacing

import "time"

const (
	// lossMemory is for how long a path that lost something counts as one that loses at
	// random.
	lossMemory = 2 * time.Second
	// mostSingle is how many packets at once may be lost one by one: more are a burst, and
	// sent twice a burst takes twice as long.
	mostSingle = 4
	// echoAfter is how long after a resend its second copy leaves: what takes several
	// packets in a row on a wireless link is over by then, and a receiver has the second
	// copy long before it would ask again.
	echoAfter = 8 * time.Millisecond
)

// echoes are the second copies of resends. Where losses come one by one, the resend is
// lost as often as any packet, and a receiver asks for it again after 100 ms or a round
// trip, whichever it believes. Two copies are both lost as seldom as the square of that,
// and take no more than what was lost once more.
type echoes struct {
	waiting ring[echo]
	lostAt  time.Time // when something was asked for last
}

// echo is a second copy that is to leave.
type echo struct {
	seq uint16
	at  time.Time
}

// hear notes that so many packets are asked for, and says whether they are to be sent
// twice: one by one, on a path that has lost something a short while before.
func (e *echoes) hear(now time.Time, asked int) bool {
	twice := asked <= mostSingle && !e.lostAt.IsZero() && now.Sub(e.lostAt) < lossMemory
	e.lostAt = now
	return twice
}

// due says whether a second copy may leave at now.
func (e *echoes) due(now time.Time) bool {
	return e.waiting.len() > 0 && !now.Before(e.waiting.at(0).at)
}

// at is when the next second copy may leave; zero for never.
func (e *echoes) at() time.Time {
	if e.waiting.len() == 0 {
		return time.Time{}
	}
	return e.waiting.at(0).at
}

// echo has a packet that leaves by request leave once more, if the budget of resends
// has room for what nobody asked for.
func (p *Pacer) echo(now time.Time, e *cached) {
	if !e.twice {
		return
	}
	e.twice = false
	if now.Before(p.resendFree) {
		return
	}
	p.chargeResend(e)
	p.echoes.waiting.push(echo{e.pkt.Seq, now.Add(echoAfter)})
}

// nextEcho takes the next second copy that is due and not known to be needless.
func (p *Pacer) nextEcho(now time.Time) (Packet, bool) {
	for p.echoes.due(now) {
		e := p.cache.get(p.echoes.waiting.pop().seq)
		if e == nil || e.acked || e.queued || e.pkt.Frame < p.owed {
			continue
		}
		p.counts.Resent++
		return p.repeat(now, e), true
	}
	return Packet{}, false
}
