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
	// hastyIntervals is how many frame intervals a picture may take that the encoder
	// could make smaller: another encoding takes half of one.
	hastyIntervals = 1.2
	// redoSteps is the least that the second is coarser by.
	redoSteps = 2
	// trialIntervals is how many frame intervals the first sharper picture of a
	// movement may take. Where grain begins to show it takes three times what the
	// one before took; what comes after it would arrive too late.
	trialIntervals = 1.6
)

// Redo is asked between Plan and Done, when the picture came out at sizeBytes. It
// says whether to drop it and to encode it once more, and how. Done then tells
// what was sent in the end, and Redo may be asked of the second too. Of a key frame
// it is false, because nothing stands in for one, and when no QP is coarser. A
// refinement is made of fewer macroblocks instead. A movement for which the encoder
// looked for motion in haste is encoded again, no sharper than before, where it takes much
// of the link.
func (c *Controller) Redo(d Decision, sizeBytes int, hasty bool) (Decision, bool) {
	if hasty && c.tooHasty(float64(sizeBytes)) {
		return c.asBefore(d), true
	}
	if c.tooDear(d, float64(sizeBytes)) {
		c.refuse(d.QP, float64(sizeBytes))
		qp := c.movement.qp
		return Decision{QP: qp, PredictedBytes: int(c.predict(qp)), AllowedBytes: d.AllowedBytes}, true
	}
	if !c.plan.open || c.config.ByEncoder || !c.farOver(d, float64(sizeBytes)) {
		return d, false
	}
	if c.plan.kind == Refine {
		return c.less(d, sizeBytes)
	}
	if d.QP >= c.config.MaxQP {
		return d, false
	}
	c.blame(d.QP, float64(sizeBytes))
	qp := min(d.QP+redoSteps, c.config.MaxQP)
	for qp < c.config.MaxQP && c.predict(qp) > float64(d.AllowedBytes) {
		qp++
	}
	return Decision{QP: qp, PredictedBytes: int(c.predict(qp)), AllowedBytes: d.AllowedBytes}, true
}

// asBefore is a decision without the step to a sharper QP that it may have been: a
// movement that the encoder lost track of has better uses for the link.
func (c *Controller) asBefore(d Decision) Decision {
	if c.plan.class == steady && d.QP < c.movement.qp {
		c.movement.spare = 0
		d.QP = c.movement.qp
		d.PredictedBytes = int(c.predict(d.QP))
	}
	return d
}

// tooHasty says whether a better look for motion is worth another encoding.
func (c *Controller) tooHasty(size float64) bool {
	return c.plan.open && !c.config.ByEncoder && c.plan.kind == Motion && size > bytesIn(c.config.Target, c.interval(hastyIntervals))
}

// tooDear says whether a movement had better stay as coarse as it is.
func (c *Controller) tooDear(d Decision, size float64) bool {
	return c.plan.open && !c.config.ByEncoder && c.plan.class == steady && d.QP < c.movement.qp && size > min(c.smooth(stillSmooth), bytesIn(c.config.Target, c.interval(trialIntervals)))
}

// refuse learns from a sharper picture of a movement that is not sent. Of several
// steps at once a smaller one may do.
func (c *Controller) refuse(qp int, sizeBytes float64) {
	m := &c.movement
	c.model.teach(max(sizeBytes-headBytes-c.change(qp), 0), c.plan.changed*lostScale(m.qp, qp))
	m.refuse(qp)
}

// less gives the same refinement of fewer macroblocks, but for a handful of them,
// which may take what they take.
func (c *Controller) less(d Decision, sizeBytes int) (Decision, bool) {
	const few = 4
	n := 0
	for _, yes := range d.Sharpen {
		if yes {
			n++
		}
	}
	left := min(n*max(d.AllowedBytes, 1)/max(sizeBytes, 1), n/2)
	if left < few {
		return d, false
	}
	share := float64(left) / float64(n)
	for i, yes := range d.Sharpen {
		if yes {
			d.Sharpen[i], left = left > 0, left-1
		}
	}
	c.plan.units *= share
	d.PredictedBytes = headBytes + int(share*float64(sizeBytes))
	return d, true
}

// farOver says whether so many bytes are too many to be sent.
func (c *Controller) farOver(d Decision, size float64) bool {
	allowed, excess := float64(d.AllowedBytes), bytesIn(c.config.Target, c.interval(redoIntervals))
	return c.plan.kind != Key && size >= redoOver*allowed && size-allowed >= excess
}

// blame learns from a picture that is not sent. A movement sharper than what the
// viewer has was so large for what it carried, any other for what changed.
func (c *Controller) blame(qp int, sizeBytes float64) {
	if c.carried(qp) == 0 {
		c.learn(qp, sizeBytes)
		return
	}
	change := c.predict(qp) - c.carried(qp)
	c.model.learn(resent, max(sizeBytes-change, 0), c.plan.changed*lostScale(c.movement.qp, qp))
}
