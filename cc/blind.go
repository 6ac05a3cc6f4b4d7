package cc

import (
	"math"
	"time"

	"nearglass/cc/rate"
)

const (
	// blindRise is how much an estimate of 1 Mbit/s grows in a second that no
	// train confirms but no queue contradicts, in Mbit/s; others grow as the
	// root of theirs, so that streams on one path come to equal shares
	// (binomial congestion control, Bansal and Balakrishnan 2001).
	blindRise = 1.2
	// blindFall is what of the delivered rate is believed when a queue stands,
	// but what is left of the estimate is blindLeft at least: what arrives is
	// less than the path carries while the stream holds back. The next fall
	// waits until the queue tells of the last one.
	blindFall  = 0.92
	blindLeft  = 0.8
	blindPause = 350 * time.Millisecond
	// blindProven bounds the growth: beyond so much over what arrives, the
	// stream does not show what it claims.
	blindProven = 1.5
	// shakenShare of a train's length is what delays may differ from one to
	// the next; beyond it, the last packet of a train is late by chance.
	shakenShare = 3
	// blindAfter is how long trains may tell nothing.
	blindAfter = 400 * time.Millisecond
)

// blind estimates the path where trains tell little: each picture is one packet,
// or the path spaces packets by chance. What arrives is certain; more is tried
// while no queue stands.
type blind struct {
	on     bool
	shaken bool // delays differ so much that trains tell nothing
	at     time.Time
	fell   time.Time
}

// feel moves the estimate of the path by the queue alone.
func (c *Controller) feel(now time.Time, standing, tolerated time.Duration) {
	b := &c.blind
	noise := c.queue.noise()
	b.shaken = noise*shakenShare > c.cap.length || b.shaken && noise*2*shakenShare > c.cap.length
	dull := now.Sub(c.cap.at) > blindAfter
	if c.off(Calm) || !b.shaken && !dull || c.delivered.rate() == 0 {
		b.on = false
		return
	}
	dt := min(max(now.Sub(b.at), 0), time.Second)
	if !b.on {
		b.on, dt = true, 0
	}
	b.at = now
	proven := c.delivered.rate()
	switch {
	case now.Sub(b.fell) < blindPause:
	case standing > tolerated:
		b.fell = now
		c.cap.rate = min(c.cap.rate, max(proven.Scale(blindFall), c.cap.rate.Scale(blindLeft)))
	default:
		step := math.Sqrt(float64(c.cap.rate)*float64(rate.Mbps)) * blindRise * dt.Seconds()
		raised := c.cap.rate + rate.Rate(step)
		c.cap.rate = max(c.cap.rate, min(raised, proven.Scale(blindProven)))
	}
}
