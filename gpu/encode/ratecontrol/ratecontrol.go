// Package ratecontrol chooses the QP of each picture, so that the encoder
// never has to guess: the sharpest QP whose picture the link carries in about
// one frame interval. It also says when a picture that stopped changing
// should be encoded again, sharper, until it needs no more.
//
// It is pure: the time is a parameter, nothing blocks, nothing is logged. A
// Controller is used by one goroutine.
package ratecontrol

import (
	"time"

	"nearglass/cc/rate"
)

// Controller chooses the QPs of the pictures of one viewer.
type Controller struct {
	config Config
	bucket bucket
	model  model
	plan   plan

	// What the viewer has: coarsePixels of its picture are at worstQP, the
	// rest is finished. No coarse pixels: all of it is finished.
	worstQP      int
	coarsePixels float64

	largeQP int       // of the last large motion picture
	largeAt time.Time // when it was done
	calm    int       // QP steps that plans in a row could go sharper

	refineAt time.Time
}

// plan is the picture between Plan and Done.
type plan struct {
	open    bool
	kind    Kind
	class   class
	pixels  float64
	changed float64
}

const (
	// smallShare of the picture divides small changes from large ones.
	smallShare = 0.25
	// steadyFor is how long after a large change another one belongs to
	// the same movement: six frames at 30 a second.
	steadyFor = 200 * time.Millisecond
	// calmSteps keeps the QP of a movement from swinging. It becomes coarser
	// at once, and sharper when enough pictures in a row could afford it:
	// each of them adds the steps that it could go.
	calmSteps = 6
	// tolerance lets a movement stay at its QP when that is this much over
	// the budget; the next picture pays.
	tolerance = 1.15
)

// intervals is how many frame intervals of the link a picture of a class may
// fill. Movement gets one, so that no queue forms. What comes rarely gets
// more, where one interval would make it unreadable.
var intervals = [classes]float64{small: 2, scene: 3, steady: 1, key: 4, refine: 4}

// carryIntervals is how much of an interval a small change may use to sharpen
// the rest of the picture on its way: an echoed key must not wait for it.
const carryIntervals = 0.5

// New makes a controller that has seen no picture.
func New(c Config) *Controller {
	c = c.withDefaults()
	return &Controller{config: c, model: newModel(), worstQP: c.MaxQP, largeQP: c.MotionQP}
}

// SetTarget changes the rate that video may use from now on. Rates below 50
// kbit/s count as that.
func (c *Controller) SetTarget(now time.Time, target rate.Rate) {
	c.bucket.advance(now, c.config.Target)
	c.config.Target = max(target, minTarget)
}

// Plan decides how to encode a picture now. Each Plan is followed by its Done
// or, when the picture was not encoded after all, by another Plan.
func (c *Controller) Plan(now time.Time, p Picture) Decision {
	c.bucket.advance(now, c.config.Target)
	c.plan = c.classify(now, p)
	allowed := c.allowed(intervals[c.plan.class])
	if p.Kind == Motion {
		allowed = max(allowed, c.bucket.least(c.config.Target, c.interval(1)))
	}
	if c.plan.class == steady {
		allowed += c.bucket.creditBytes
	}
	c.bucket.drainedBytes = 0
	qp := c.choose(allowed)
	if c.plan.class == steady {
		qp = c.steady(qp, allowed)
	}
	return Decision{QP: qp, PredictedBytes: int(c.predict(qp)), AllowedBytes: int(allowed)}
}

func (c *Controller) classify(now time.Time, p Picture) plan {
	pixels := float64(max(p.Pixels, 0))
	out := plan{open: true, kind: p.Kind, pixels: pixels, changed: pixels}
	switch p.Kind {
	case Key:
		out.class = key
	case Refine:
		out.class, out.changed = refine, 0
	default:
		out.changed = min(max(float64(p.ChangedPixels), 0), pixels)
		out.class = c.motionClass(now, out)
	}
	return out
}

func (c *Controller) motionClass(now time.Time, p plan) class {
	switch {
	case p.changed < smallShare*p.pixels:
		return small
	case c.largeAt.IsZero() || now.Sub(c.largeAt) > steadyFor:
		return scene
	}
	return steady
}

func (c *Controller) allowed(frameIntervals float64) float64 {
	return c.bucket.allowed(c.config.Target, c.interval(frameIntervals))
}

func (c *Controller) interval(frames float64) time.Duration {
	return time.Duration(frames * float64(time.Second) / float64(c.config.FPS))
}

// predict is the bytes of the planned picture at qp. A picture sharper than
// what the viewer has also carries what the unchanged part lost.
func (c *Controller) predict(qp int) float64 {
	return headBytes + c.model.change(c.plan.class, c.plan.changed, qp) + c.carried(qp)
}

func (c *Controller) carried(qp int) float64 {
	if c.plan.class == key || qp >= c.worstQP {
		return 0
	}
	return c.model.lost(c.coarsePixels, c.worstQP, qp)
}

// choose gives the sharpest QP that the class allows and the budget carries.
func (c *Controller) choose(allowed float64) int {
	from, to := c.config.MotionQP, c.config.MaxQP
	switch c.plan.class {
	case small:
		from = c.config.RefineQP
	case refine:
		from = c.config.RefineQP
		to = min(refineStep(c.worstQP, from), to)
	}
	for qp := from; qp < to; qp++ {
		if c.fits(qp, allowed) {
			return qp
		}
	}
	return to
}

func (c *Controller) fits(qp int, allowed float64) bool {
	if c.plan.class == small && c.carried(qp) > c.allowed(carryIntervals) {
		return false
	}
	return c.predict(qp) <= allowed
}

// steady holds the QP of a movement against small swings.
func (c *Controller) steady(ideal int, allowed float64) int {
	last := c.largeQP
	if ideal < last {
		if c.calm += last - ideal; c.calm < calmSteps {
			return last
		}
		c.calm = 0
		return ideal
	}
	c.calm = 0
	if ideal == last+1 && c.predict(last) <= tolerance*allowed {
		return last
	}
	return ideal
}

// Done tells what the planned picture came out at. A picture that was not
// planned counts against the budget and teaches nothing.
func (c *Controller) Done(now time.Time, kind Kind, qp, sizeBytes int) {
	// A planned picture counts from its Plan, not from the end of its
	// encoding: the next one takes as long to encode, and meanwhile the link
	// goes on draining.
	if !c.plan.open {
		c.bucket.advance(now, c.config.Target)
	}
	c.bucket.debtBytes += float64(max(sizeBytes, 0))
	qp = min(max(qp, 0), endOfScale)
	if c.plan.open && c.plan.kind == kind {
		c.learn(qp, float64(max(sizeBytes, 0)))
	} else {
		pixels := int(c.plan.pixels)
		c.plan = c.classify(now, Picture{Pixels: pixels, ChangedPixels: pixels, Kind: kind})
	}
	p := c.plan
	c.plan.open = false
	if p.class == scene || p.class == steady {
		c.largeQP = min(max(qp, c.config.MotionQP), c.config.MaxQP)
		c.largeAt = now
	}
	c.schedule(now, p)
	c.viewed(p, qp)
}

func (c *Controller) learn(qp int, sizeBytes float64) {
	p, body := c.plan, max(sizeBytes-headBytes, 0)
	if p.class == refine {
		c.model.learn(refine, body, c.coarsePixels*lostScale(c.worstQP, qp))
		return
	}
	// What was carried for the rest of the picture is not the change's; a
	// tenth stays, because the share is itself only a prediction.
	carried, change := c.carried(qp), c.model.change(p.class, p.changed, qp)
	c.model.learn(p.class, max(body-carried, body/10), p.changed*scale(p.class, qp))
	if p.class == steady && carried > change {
		// A movement that sharpens shows what the coarse picture lost. Without
		// that it would stay coarse for a second after each scene change.
		c.model.learn(refine, max(body-change, 0), c.coarsePixels*lostScale(c.worstQP, qp))
	}
	if p.class == key || p.class == scene {
		c.model.foresee(p.class, p.changed/max(p.pixels, 1))
	}
}

// viewed notes what the viewer has after a picture at qp.
func (c *Controller) viewed(p plan, qp int) {
	switch p.class {
	case key:
		c.worstQP, c.coarsePixels = qp, p.pixels
	case refine:
		c.worstQP = min(c.worstQP, qp)
	default:
		// A sharper QP also sharpens the rest. At a coarser one the rest
		// keeps its sharpness; which part that is, is not remembered, so all
		// that is unfinished counts as the coarsest.
		c.worstQP = qp
		c.coarsePixels = min(c.coarsePixels+p.changed, p.pixels)
	}
	if c.worstQP <= c.config.RefineQP {
		c.coarsePixels = 0
	}
}
