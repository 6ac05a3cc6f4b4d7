package ratecontrol

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

// Redo is asked between Plan and Done, when the picture came out at sizeBytes. It
// says whether to drop it and to encode it once more, and how. Done then tells
// what was sent in the end, and Redo may be asked of the second too. Of a key frame
// it is false, because nothing stands in for one; of a refinement, which waits for
// a free link and may be too large for one interval; and when no QP is coarser.
func (c *Controller) Redo(d Decision, sizeBytes int) (Decision, bool) {
	allowed, size := float64(d.AllowedBytes), float64(sizeBytes)
	excess := bytesIn(c.config.Target, c.interval(redoIntervals))
	if !c.plan.open || c.plan.kind != Motion || size < redoOver*allowed || size-allowed < excess {
		return d, false
	}
	coarser := min(d.QP+redoSteps, c.config.MaxQP)
	if coarser <= d.QP {
		return d, false
	}
	c.blame(d.QP, size)
	qp := max(c.choose(allowed), coarser)
	return Decision{QP: qp, PredictedBytes: int(c.predict(qp)), AllowedBytes: d.AllowedBytes}, true
}

// blame learns from a picture that is not sent. One sharper than what the viewer
// has was so large for what it carried, any other for what changed.
func (c *Controller) blame(qp int, sizeBytes float64) {
	if qp >= c.worstQP || c.coarsePixels <= 0 {
		c.learn(qp, sizeBytes)
		return
	}
	change := c.predict(qp) - c.carried(qp)
	c.model.learn(refine, max(sizeBytes-change, 0), c.coarsePixels*lostScale(c.worstQP, qp))
}
