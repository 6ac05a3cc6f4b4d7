package ratecontrol

import (
	"time"

	"nearglass/cc/rate"
)

// bucket is a leaky bucket: what was encoded and, at the target rate, has not
// left yet.
type bucket struct {
	debtBytes    float64
	drainedBytes float64 // what could leave since the last picture was planned
	at           time.Time
}

// advance lets the debt drain until now. A clock that runs backward drains
// nothing twice.
func (b *bucket) advance(now time.Time, target rate.Rate) {
	if b.at.IsZero() {
		b.at = now
		return
	}
	elapsed := now.Sub(b.at)
	if elapsed <= 0 {
		return
	}
	b.at = now
	drained := bytesIn(target, elapsed)
	b.drainedBytes += drained
	b.debtBytes = max(b.debtBytes-drained, 0)
}

// least is half of what could leave since the last picture was planned. A
// picture may always take that: the debt still shrinks, and a key that was
// typed behind a large picture is not sent as mud.
func (b *bucket) least(target rate.Rate, interval time.Duration) float64 {
	return min(b.drainedBytes, bytesIn(target, interval)) / 2
}

// allowed is what one more picture may take, so that it has left within d.
func (b *bucket) allowed(target rate.Rate, d time.Duration) float64 {
	return max(bytesIn(target, d)-b.debtBytes, 0)
}

// drained is the time at which the debt will be down to debtBytes.
func (b *bucket) drained(target rate.Rate, debtBytes float64) time.Time {
	over := b.debtBytes - debtBytes
	if over <= 0 {
		return b.at
	}
	wait := time.Duration(min(over*8/float64(target), longestWait.Seconds()) * float64(time.Second))
	return b.at.Add(wait)
}

// longestWait bounds a wait for a debt that a collapsing rate made hopeless.
const longestWait = 10 * time.Second

func bytesIn(target rate.Rate, d time.Duration) float64 {
	return float64(target) * d.Seconds() / 8
}
