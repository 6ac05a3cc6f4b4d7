package ratecontrol

import (
	"time"

	"nearglass/cc/rate"
)

const (
	// refineAfter is how long a picture must be still before it is refined:
	// longer than the gaps of a movement, shorter than a reader notices.
	refineAfter = 100 * time.Millisecond
	// refineEvery keeps room for a change between two refinements.
	refineEvery = 50 * time.Millisecond
	// refineSteps is the least that a refinement sharpens the picture by,
	// even over the budget (the next one waits until the link is free): many
	// small steps cost much more than a few large ones. From QP 46 to 20 a
	// wall of text took 475 KB at once, 545 in two steps, 635 in steps of 4,
	// and about 1000 in steps of 1.
	refineSteps = 5
	// refineDebt is how many frame intervals of older data may still wait
	// when a refinement starts.
	refineDebt = 0.5
)

// refineStep is the coarsest QP that a refinement from worst may have. What
// would be left of less than half a step goes with it.
func refineStep(worst, end int) int {
	if next := worst - refineSteps; next > end+refineSteps/2 {
		return next
	}
	return end
}

// NextRefine gives the time at which the unchanged picture should be encoded
// again as Refine. It is false when the viewer has the picture finished, so
// that a still screen encodes nothing.
func (c *Controller) NextRefine(now time.Time) (time.Time, bool) {
	if c.coarsePixels <= 0 || c.worstQP <= c.config.RefineQP {
		return time.Time{}, false
	}
	c.advance(now)
	rest := bytesIn(c.config.Target, time.Second) / float64(c.config.FPS) * refineDebt
	at := c.bucket.drained(c.config.Target, rest)
	if at.Before(c.refineAt) {
		at = c.refineAt
	}
	return at, true
}

// schedule sets the next refinement after a picture. A small change does not
// put off one that was already due, or a ticking clock would keep the rest of
// the screen coarse forever.
func (c *Controller) schedule(now time.Time, p plan) {
	switch {
	case p.class == refine:
		c.refineAt = now.Add(c.refineWait())
	case p.class == small && c.coarsePixels > 0:
	default:
		c.refineAt = now.Add(refineAfter)
	}
}

// Snapshot is the state of a controller for the viewer's figures and the log.
type Snapshot struct {
	// QP of the coarsest part of what the viewer has.
	QP int
	// Refined is true when a still picture needs no more encoding.
	Refined bool
	// DebtBytes were encoded and, at the target rate, have not left yet.
	DebtBytes int
	// Target is what pictures are planned with: what the path carries or, when Capped,
	// what the bound on the average leaves of it.
	Target rate.Rate
	Capped bool
}

// Snapshot gives the state as of the last call that had a time.
func (c *Controller) Snapshot() Snapshot {
	return Snapshot{QP: c.worstQP, Refined: c.coarsePixels <= 0, DebtBytes: int(c.bucket.debtBytes), Target: c.config.Target, Capped: c.config.Target < c.path}
}
