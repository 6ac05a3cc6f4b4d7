package ratecontrol

import "time"

// A picture is encoded again when it came out so far over its budget that the
// link is busy with the excess for longer than a second encoding takes. It is then
// not sent at all: the second, coarser, goes in its place.
const (
	// redoOver is how many times its budget a picture has to be.
	redoOver = 2
	// redoIntervals is how many frame intervals of the link the excess has to
	// fill: an encoding takes half of one, and the coarse picture costs another
	// to sharpen.
	redoIntervals = 1.5
	// redoSteps is the least that the second is coarser by.
	redoSteps = 2
)

// mostRefining is how long a refinement may fill the link. Nothing else moves
// while it is planned, but what does then waits behind it. Where grain begins to
// show, five QP steps of a 1080p picture took 1 MB, 20 s of 400 kbit/s.
const mostRefining = time.Second

// Redo is asked between Plan and Done, when the picture came out at sizeBytes. It
// says whether to drop it and to encode it once more, and how. Done then tells
// what was sent in the end, and Redo may be asked of the second too. Of a key frame
// it is false, because nothing stands in for one, and when no QP is coarser.
func (c *Controller) Redo(d Decision, sizeBytes int) (Decision, bool) {
	if !c.plan.open || c.config.ByEncoder || !c.farOver(d, float64(sizeBytes)) {
		return d, false
	}
	allowed, from, to := float64(d.AllowedBytes), d.QP+redoSteps, c.config.MaxQP
	if c.plan.kind == Refine {
		allowed, from, to = bytesIn(c.config.Target, mostRefining), d.QP+1, c.worstQP-1
	}
	if d.QP >= to {
		return d, false
	}
	c.blame(d.QP, float64(sizeBytes))
	qp := min(from, to)
	for qp < to && c.predict(qp) > allowed {
		qp++
	}
	return Decision{QP: qp, PredictedBytes: int(c.predict(qp)), AllowedBytes: d.AllowedBytes}, true
}

// farOver says whether so many bytes are too many to be sent.
func (c *Controller) farOver(d Decision, size float64) bool {
	switch c.plan.kind {
	case Motion:
		allowed, excess := float64(d.AllowedBytes), bytesIn(c.config.Target, c.interval(redoIntervals))
		return size >= redoOver*allowed && size-allowed >= excess
	case Refine:
		return size > bytesIn(c.config.Target, mostRefining)
	}
	return false
}

// blame learns from a picture that is not sent. One sharper than what the viewer
// has was so large for what it carried, any other for what changed.
func (c *Controller) blame(qp int, sizeBytes float64) {
	if c.plan.kind == Refine || qp >= c.worstQP || c.coarsePixels <= 0 {
		c.learn(qp, sizeBytes)
		return
	}
	change := c.predict(qp) - c.carried(qp)
	c.model.learn(refine, max(sizeBytes-change, 0), c.coarsePixels*lostScale(c.worstQP, qp))
}
