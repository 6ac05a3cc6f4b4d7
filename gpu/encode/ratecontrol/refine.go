package ratecontrol

import (
	"time"

	"nearglass/cc/rate"
)

const (
	// refineAfter is how long a macroblock must be still before it is refined:
	// longer than the gaps of a movement, shorter than a reader notices.
	refineAfter = 100 * time.Millisecond
	// unripe is when to look again, where all that is coarse has changed since.
	unripe = refineAfter / 2
	// refineSteps is the least that a refinement sharpens by: many small steps
	// cost much more than a few large ones. From QP 46 to 20 a wall of text took
	// 475 KB at once, 545 in two steps, 635 in steps of 4, and about 1000 in
	// steps of 1.
	refineSteps = 5
	// stageTime is how much of the link a refinement of all that is coarse may
	// take to go to its end at once. Where it would take longer, all gets readable
	// first.
	stageTime = 300 * time.Millisecond
	// refineDebt is how many frame intervals of older data may still wait
	// when a refinement starts.
	refineDebt = 0.5
	// refineLeast is the least that a refinement may take, in frame intervals:
	// beside a movement that fills the link the rest would else stay coarse.
	refineLeast = 0.25
	// refineMost is the most beside a movement, whose next picture waits for all of it.
	refineMost = 0.75
	// movingFor is how long after a change its movement is expected to go on.
	movingFor = 100 * time.Millisecond
	// usualWeight is how much one picture says of what those of a movement take.
	usualWeight = 0.2
)

// planRefine chooses what of the still part of the picture is encoded again, and
// how sharp: as much as leaves room for the movement beside it, the coarsest first.
func (c *Controller) planRefine(now time.Time) Decision {
	since := now.Add(-refineAfter)
	ripe := c.sharp.still(since)
	if c.config.ByEncoder {
		return c.delegateRefine(now, since, ripe.coarser(c.config.RefineQP))
	}
	qp := c.stage(&ripe)
	allowed := c.refineAllowed(now)
	n, units := c.afford(&ripe, qp, allowed)
	if n == 0 {
		c.refineAt = now.Add(unripe)
		return Decision{QP: qp}
	}
	c.plan.units = units
	return Decision{
		QP: qp, Sharpen: c.sharp.choose(since, qp, n),
		PredictedBytes: headBytes + int(c.model.coefficient[refine]*units), AllowedBytes: int(allowed),
	}
}

// stage is the QP that the coarsest part is brought to.
func (c *Controller) stage(ripe *levels) int {
	least := min(max(ripe.worst()-refineSteps, c.config.RefineQP), c.config.MaxQP)
	most := bytesIn(c.config.Target, stageTime)
	qp := c.config.RefineQP
	for qp < least && c.model.coefficient[refine]*ripe.units(qp) > most {
		qp++
	}
	return qp
}

// refineAllowed is what one refinement may take: four frame intervals when all is
// still, and what a movement leaves.
func (c *Controller) refineAllowed(now time.Time) float64 {
	if now.Sub(c.changeAt) > movingFor {
		return c.allowed(intervals[refine])
	}
	interval := bytesIn(c.config.Target, c.interval(1))
	return max(min(burst*interval-c.usual, refineMost*interval)-c.bucket.debtBytes, refineLeast*interval)
}

// afford gives how many macroblocks so many bytes bring to a QP, the coarsest
// first, and their units in the model.
func (c *Controller) afford(ripe *levels, qp int, bytes float64) (n int, units float64) {
	for from := endOfScale; from > qp; from-- {
		if ripe[from] == 0 {
			continue
		}
		each := unitsOf(from, qp)
		some := min(max(int(bytes/(c.model.coefficient[refine]*each)), 0), ripe[from])
		n, units = n+some, units+float64(some)*each
		if bytes -= float64(some) * each * c.model.coefficient[refine]; some < ripe[from] {
			break
		}
	}
	return n, units
}

// NextRefine gives the time at which a part of the picture that does not change
// should be encoded again as Refine. It is false when the viewer has all of it
// finished, so that a still screen encodes nothing.
func (c *Controller) NextRefine(now time.Time) (time.Time, bool) {
	if c.sharp.levels.coarser(c.config.RefineQP) == 0 {
		return time.Time{}, false
	}
	c.advance(now)
	at := c.bucket.drained(c.config.Target, bytesIn(c.config.Target, c.interval(refineDebt)))
	if at.Before(c.refineAt) {
		at = c.refineAt
	}
	return at, true
}

// schedule sets the next refinement after a picture. A change does not put off one
// that was already due: a clock that ticks or a film would keep the rest of the
// screen coarse forever.
func (c *Controller) schedule(now time.Time, p plan, finished bool) {
	switch {
	case p.class == refine:
		c.refineAt = now.Add(c.refineWait())
	case finished || p.class == key:
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
	l := &c.sharp.levels
	return Snapshot{QP: l.worst(), Refined: l.coarser(c.config.RefineQP) == 0, DebtBytes: int(c.bucket.debtBytes), Target: c.config.Target, Capped: c.config.Target < c.path}
}
