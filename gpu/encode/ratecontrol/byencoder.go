package ratecontrol

import "time"

// An encoder that holds a rate by itself is told the rate and gives each picture the
// QP that fits, row by row. What is left to decide is when a still picture is encoded
// again, and how much of the path the stream may use.

// fillsInterval is from which share of its frame interval on a picture was held back
// by it: its QP is then the one that it began with, and its last rows are coarser.
const fillsInterval = 0.8

// delegate decides for an encoder that holds its rate.
func (c *Controller) delegate() Decision {
	interval := int(bytesIn(c.config.Target, c.interval(1)))
	return Decision{QP: c.config.RefineQP, PredictedBytes: interval, AllowedBytes: interval, Bitrate: c.config.Target}
}

// delegateRefine has it sharpen all that has not changed since a time, so many
// macroblocks.
func (c *Controller) delegateRefine(now, since time.Time, most int) Decision {
	d := c.delegate()
	if most == 0 {
		c.refineAt = now.Add(unripe)
		return d
	}
	d.Sharpen = c.sharp.choose(since, c.config.RefineQP, most)
	return d
}

// finished is the QP that the viewer has after such an encoder's picture that began
// with qp.
func (c *Controller) finished(qp, sizeBytes int) int {
	if float64(sizeBytes) < fillsInterval*bytesIn(c.config.Target, c.interval(1)) {
		return qp
	}
	return max(qp, min(c.config.RefineQP+1, endOfScale))
}

// refineWait is how long after a refinement the next one may come, where the link is
// free before. Those of an encoder that holds its rate take a frame interval each.
func (c *Controller) refineWait() time.Duration {
	if c.config.ByEncoder {
		return c.interval(1)
	}
	return 0
}
