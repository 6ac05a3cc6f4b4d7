package pacing

import (
	"time"

	"nearglass/cc/rate"
)

const (
	// maxLate is how late a timer may come without costing throughput: the
	// 15.6 ms tick of older Windows systems, and a few milliseconds until the
	// loop runs. What fell due in that time is not a burst that was saved up:
	// the packets were there, and would have left.
	maxLate = 20 * time.Millisecond
	// maxBurst bounds SetBurst. Longer than this a burst is a queue elsewhere.
	maxBurst = 100 * time.Millisecond
	// maxDebt bounds how long one packet can hold up the next, at whatever
	// pace, and so what a sudden change of the pace or the clock can cost.
	maxDebt = time.Second
	// maxPadDebt is how far back padding looks at what else was sent: a key
	// frame long, so that padding fills gaps and does not answer for bursts
	// that are long over.
	maxPadDebt = 250 * time.Millisecond
)

// SetRates changes how fast packets leave. pace bounds everything but audio
// and trains; zero holds it back. pad is the rate up to which padding fills
// gaps between pictures; zero sends none.
func (p *Pacer) SetRates(now time.Time, pace, pad rate.Rate) {
	p.settle(now)
	pace, pad = max(pace, 0), max(pad, 0)
	switch ahead := p.free.Sub(now); {
	case pace == p.pace:
	case pace == 0:
		p.free = now
	case p.pace == 0:
		p.pace = pace
		p.free = now.Add(max(ahead, -p.burst()))
	case ahead > 0: // what was sent ahead is a number of bytes, not a time,
		p.free = now.Add(min(pace.Duration(p.pace.Bytes(ahead)), maxDebt))
	case p.waiting(now): // and so is what should have left by now
		p.free = now.Add(-pace.Duration(p.pace.Bytes(-ahead)))
	}
	if p.pad <= 0 && pad > 0 {
		p.padFree = now
	}
	p.pace, p.pad, p.held, p.settled = pace, pad, time.Time{}, time.Time{}
	p.settle(now)
}

// SetBurst changes the burst window: how much unused time may be saved up
// while nothing waits; that much of the pace may leave at once. It is cut to
// 0 to 100 ms; MinBurstBytes hold at least, and the grain of a coarse timer
// as far as the pacer feels it, for less would put a picture off by a whole
// tick. On a path whose queue costs
// nothing, such as a LAN, a window of a frame interval and a pace somewhat
// above the encoder's target let a whole picture go at once, so that the
// pacer is not the delay; where a burst fills a queue it is kept short.
func (p *Pacer) SetBurst(now time.Time, window time.Duration) {
	p.settle(now)
	p.window, p.settled = min(max(window, 0), maxBurst), time.Time{}
	p.settle(now)
}

// QueueDelay returns how long the waiting video takes to leave at the present
// pace; zero while the pace is zero.
func (p *Pacer) QueueDelay() time.Duration {
	if p.pace <= 0 {
		return 0
	}
	return p.drainRate().Duration(p.videoBytes)
}

// burst is how much budget may be saved up, as a time at the present pace.
func (p *Pacer) burst() time.Duration {
	if p.pace <= 0 {
		return p.window
	}
	return max(p.window, p.grain.size, min(p.pace.Duration(p.cfg.MinBurstBytes), maxDebt))
}

// grain is how coarse the caller's timer is, as it shows in late wake-ups.
type grain struct {
	size, last time.Duration
}

// note takes how late packets were let go that had to wait. It believes two in
// a row, so that a single hiccup of the system changes nothing, and forgets
// slowly.
func (g *grain) note(late time.Duration) {
	both := min(late, g.last, maxLate)
	g.last = late
	g.size = max(both, g.size-(g.size-both)/8)
}

// hold notes that a packet has to wait for its time.
func (p *Pacer) hold() {
	if p.pace > 0 && p.resend.len()+p.video.len() > 0 {
		p.held = p.ready()
	}
}

// unhold measures how late that time was met.
func (p *Pacer) unhold(now time.Time) {
	if !p.held.IsZero() && !now.Before(p.held) {
		p.grain.note(now.Sub(p.held))
		p.held = time.Time{}
	}
}

// waiting says whether packets are held back by the budget alone.
func (p *Pacer) waiting(now time.Time) bool {
	return p.resend.len()+p.video.len() > 0 || p.pad > 0 && p.tail.between && !now.Before(p.padFree)
}

// settle keeps the budgets near now. Budget beyond the burst window is
// forgotten while nothing waits, and beyond a late timer's worth while
// something does.
func (p *Pacer) settle(now time.Time) {
	waiting := p.waiting(now)
	if now == p.settled && waiting == p.settledWaiting {
		return // most packets of a wake-up
	}
	p.settled, p.settledWaiting = now, waiting
	saved := p.burst()
	if waiting {
		saved = max(saved, maxLate)
	}
	clamp(&p.free, now, saved, maxDebt)
	clamp(&p.padFree, now, maxLate, maxPadDebt)
	clamp(&p.resendFree, now, resendBurst, resendBurst)
	clamp(&p.pathFree, now, 0, maxPathQueue)
	p.settleTrain(now)
}

// clamp keeps t from lying more than back before now or ahead after it.
func clamp(t *time.Time, now time.Time, back, ahead time.Duration) {
	switch d := t.Sub(now); {
	case d < -back:
		*t = now.Add(-back)
	case d > ahead:
		*t = now.Add(ahead)
	}
}

// charge takes a released packet from the budgets. The caller has settled
// them. Audio may be charged while the pace is zero; it is then free. Because
// it does not wait for its time, it has to bound the debt itself.
func (p *Pacer) charge(sizeBytes int) {
	p.fill(sizeBytes)
	if p.pace > 0 {
		p.free = p.free.Add(min(p.pace.Duration(sizeBytes), maxDebt))
	}
	if p.pad > 0 {
		p.padFree = p.padFree.Add(min(p.pad.Duration(sizeBytes), maxPadDebt))
	}
}
