package ratecontrol

// sharper gives the sharpest QP that a movement can take up.
func (c *Controller) sharper(last int, allowed float64) int {
	interval := bytesIn(c.config.Target, c.interval(1))
	if c.bucket.debtBytes > rested*interval || c.movement.unclear() || c.restIsCoarser(last) {
		return last
	}
	most := min(sharpening+sharpeningMore*float64(c.movement.since), sharpeningMost)
	allowed = min(allowed-(burst-most)*interval, c.smooth(smoothly))
	for qp := max(c.config.MotionQP, last-c.stride(last)); qp < last; qp++ {
		dear := c.movement.below(qp) > qp
		if !c.movement.pays(qp, c.carried(qp)) || dear && !c.movement.settled(qp) {
			continue
		}
		use, change := c.use(qp, dear)*interval, c.change(qp)
		if change <= use && change*(1+c.movement.swing) <= use*fullSwing/fullUse && c.holds(qp, allowed) {
			return qp
		}
	}
	return last
}

// smooth is what a picture of a movement may take and still arrive within two frame
// intervals of the one before, or another share of that: what waited after that one came
// late too.
func (c *Controller) smooth(share float64) float64 {
	interval := bytesIn(c.config.Target, c.interval(1))
	return share*interval + min(c.behind, interval)
}

// use is what a movement may take at a sharper QP, which may be beyond a dear step, in
// frame intervals.
func (c *Controller) use(qp int, dear bool) float64 {
	m := &c.movement
	switch {
	case dear && m.since < tooDearFor:
		return dearUse
	case qp < fine:
		return fineUse
	case m.since >= untried<<m.fails[qp]:
		return toAndFro
	case c.carried(qp) < cheapResend*c.change(qp):
		return toAndFro
	}
	return fullUse
}

// restIsCoarser says whether much of the picture is coarser than a movement in it,
// and needs what the movement leaves.
func (c *Controller) restIsCoarser(qp int) bool {
	return c.sharp.levels.coarser(qp+muchCoarser)*muchRest > len(c.sharp.blocks)
}

// stride is how many QPs a movement gets sharper by at once: one where it fills
// a part of the link already, because what several send again is too uncertain.
func (c *Controller) stride(last int) int {
	if c.change(last) > bytesIn(c.config.Target, c.interval(slight)) {
		return 1
	}
	return mostStride
}
