package pacing

import (
	"time"

	"nearglass/cc/rate"
)

// maxLate is how late a timer may come without costing throughput: the 15.6 ms
// tick of older Windows systems, and a few milliseconds until the loop runs.
const maxLate = 20 * time.Millisecond

// SetRates changes how fast packets leave. pace bounds everything but audio;
// zero holds it back. pad is the rate up to which padding fills gaps between
// pictures; zero sends none.
func (p *Pacer) SetRates(now time.Time, pace, pad rate.Rate) {
	p.settle(now)
	pace, pad = max(pace, 0), max(pad, 0)
	if debt := p.free.Sub(now); debt > 0 {
		// What was sent ahead is a number of bytes, not a time.
		p.free = now
		if pace > 0 {
			p.free = now.Add(min(pace.Duration(p.pace.Bytes(debt)), time.Second))
		}
	}
	if p.pad <= 0 && pad > 0 {
		p.padFree = now
	}
	p.pace, p.pad = pace, pad
	p.settle(now)
}

// QueueDelay returns how long the waiting video takes to leave at the present
// pace; zero while the pace is zero.
func (p *Pacer) QueueDelay() time.Duration {
	if p.pace <= 0 {
		return 0
	}
	return p.pace.Duration(p.videoBytes)
}

// burst is how much budget may be saved up, as a time at the present pace.
func (p *Pacer) burst() time.Duration {
	if p.pace <= 0 {
		return p.cfg.Burst
	}
	return max(p.cfg.Burst, p.pace.Duration(p.cfg.MinBurstBytes))
}

// settle forgets budget that was saved up beyond the burst window.
func (p *Pacer) settle(now time.Time) {
	floor := now.Add(-p.burst())
	if p.free.Before(floor) {
		p.free = floor
	}
	if p.padFree.Before(floor) {
		p.padFree = floor
	}
	if floor := now.Add(-resendBurst); p.resendFree.Before(floor) {
		p.resendFree = floor
	}
	p.settleTrain(now)
}

// charge takes a released packet from the budgets. The caller has settled
// them. Audio may be charged while the pace is zero; it is then free.
func (p *Pacer) charge(now time.Time, sizeBytes int) {
	if p.pace > 0 {
		p.free = p.free.Add(p.pace.Duration(sizeBytes))
	}
	if p.pad > 0 {
		p.padFree = p.padFree.Add(p.pad.Duration(sizeBytes))
	}
}
