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
	config  Config
	path    rate.Rate // what video may use of the path
	average average
	bucket  bucket
	model   model
	plan    plan

	// What the viewer has: coarsePixels of its picture are at worstQP, the
	// rest is finished. No coarse pixels: all of it is finished.
	worstQP      int
	coarsePixels float64

	movement movement
	largeAt  time.Time // when the last large picture was done

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
	// steadyFor is how long after a large change another one belongs to the same
	// movement: six frames at 30 a second. resumesFor is how long after it the
	// next one is taken for more of the same: a page is read for a second or two
	// between two turns of a wheel.
	steadyFor  = 200 * time.Millisecond
	resumesFor = 2 * time.Second
	// burst is how many frame intervals may wait after a picture of a movement,
	// so that a step to a sharper QP has room to send again what the coarser one
	// lost: two pictures then arrive at most so far apart.
	burst = 1.6
	// sharpening is what a sharper picture of a movement may take, in frame
	// intervals: what comes after it then arrives within two. With each picture
	// that the QP was held it is sharpeningMore, up to sharpeningMost: a desktop
	// around a film may cost more at each step, and would else stay coarse.
	sharpening, sharpeningMore, sharpeningMost = 1.15, 0.02, 2.2
	// fullUse is what a movement may take of the target in the long run, and
	// fullSwing the same with its usual swing upward.
	fullUse, fullSwing = 0.98, 1.2
	// toAndFro is what it may take where going to and fro between two QPs costs
	// nothing: the one above leaves free what the one below takes too much.
	toAndFro = 1.2
	// slight is what share of an interval leaves a movement room for mostStride
	// steps at once.
	slight, mostStride = 0.2, 4
	// untried is after how many pictures at a QP a sharper one is tried all the
	// same, to learn what it sends again.
	untried = 120
	// rested is how many intervals may wait when a movement gets sharper.
	rested = 0.25
	// keySharper is by how much a key frame may be sharper than a movement where the
	// link has room: what it lacks is sent all over the picture later. A small change
	// may be as sharp as a still picture is in the end, by default 4 QPs below a
	// movement, and no sharper: all around it would be sharpened along with it.
	keySharper = 3
	// hurry is how many intervals have to wait for each QP beyond the next that
	// a movement becomes coarser by.
	hurry = 2
)

// intervals is how many frame intervals of the link a picture of a class may
// fill. A movement holds to one in the long run. What comes rarely gets
// more, where one interval would make it unreadable.
var intervals = [classes]float64{small: 2, scene: 3, steady: burst, key: 4, refine: 4}

// carryIntervals is how much of an interval a small change may use to sharpen
// the rest of the picture on its way: an echoed key must not wait for it.
const carryIntervals = 0.5

// New makes a controller that has seen no picture.
func New(c Config) *Controller {
	c = c.withDefaults()
	out := &Controller{config: c, path: c.Target, model: newModel(), worstQP: c.MaxQP, movement: newMovement(c.MotionQP)}
	out.average.most = c.MaxAverage
	out.config.Target = out.average.bound(out.path)
	return out
}

// SetTarget changes the rate that video may use from now on. Rates below 50
// kbit/s count as that.
func (c *Controller) SetTarget(now time.Time, target rate.Rate) {
	c.advance(now)
	c.path = max(target, minTarget)
	c.config.Target = c.average.bound(c.path)
}

// advance lets time pass for all that is counted by it.
func (c *Controller) advance(now time.Time) {
	c.bucket.advance(now, c.config.Target)
	c.average.advance(now)
	c.config.Target = c.average.bound(c.path)
}

// Plan decides how to encode a picture now. Each Plan is followed by its Done
// or, when the picture was not encoded after all, by another Plan.
func (c *Controller) Plan(now time.Time, p Picture) Decision {
	c.advance(now)
	c.plan = c.classify(now, p)
	allowed := c.allowed(intervals[c.plan.class])
	if p.Kind == Motion {
		allowed = max(allowed, c.bucket.least(c.config.Target, c.interval(1)))
	}
	c.bucket.drainedBytes = 0
	if c.config.ByEncoder {
		return c.delegate()
	}
	var qp int
	if c.plan.class == steady {
		qp = c.steady(now, allowed)
	} else {
		qp = c.choose(allowed)
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
	case c.largeAt.IsZero() || now.Sub(c.largeAt) > resumesFor:
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
	return headBytes + c.change(qp) + c.carried(qp)
}

// change is the bytes of what is new in the planned picture.
func (c *Controller) change(qp int) float64 {
	if c.plan.class == steady {
		return c.movement.at(qp) * c.plan.changed
	}
	return c.model.change(c.plan.class, c.plan.changed, qp)
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
	case key:
		from = max(from-keySharper, c.config.RefineQP)
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

// steady gives the QP of a movement: as before, unless that fits no more or a
// sharper one has been possible for a while.
func (c *Controller) steady(now time.Time, allowed float64) int {
	last := c.movement.qp
	if now.Sub(c.largeAt) > steadyFor {
		return c.resumed(last)
	}
	if !c.holds(last, allowed) {
		c.movement.calm = 0
		return c.coarser(last, allowed)
	}
	ideal := c.sharper(last, allowed)
	if ideal == last {
		c.movement.calm = 0
		return last
	}
	c.movement.calm += last - ideal
	if c.movement.calm < calmSteps<<c.movement.fails[last-1] {
		return last
	}
	return ideal
}

// resumed gives the QP of a movement that begins again, as before or coarser.
func (c *Controller) resumed(last int) int {
	c.movement.resume()
	interval, qp := bytesIn(c.config.Target, c.interval(1)), last
	for qp < c.config.MaxQP && c.change(qp)*(1+c.movement.swing) > fullSwing*interval {
		qp++
	}
	return qp
}

// holds says whether a picture at this QP is carried.
func (c *Controller) holds(qp int, allowed float64) bool { return c.predict(qp) <= allowed }

// coarser gives the QP to go to when the last one is not carried. The next one
// does for most: on a reference that is sharper, pictures come out small for a
// while. It has to be more where much waits, or where the movement has been too
// large for some time.
func (c *Controller) coarser(last int, allowed float64) int {
	interval := bytesIn(c.config.Target, c.interval(1))
	to := last + 1 + int(c.bucket.debtBytes/(hurry*interval))
	if c.movement.since >= leastSince/2 {
		for to < c.config.MaxQP && c.change(to) > interval {
			to++
		}
	}
	to = min(to, c.config.MaxQP)
	qp := last
	for qp < to && !c.holds(qp, allowed) {
		qp++
	}
	return qp
}

// sharper gives the sharpest QP that a movement can take up.
func (c *Controller) sharper(last int, allowed float64) int {
	interval := bytesIn(c.config.Target, c.interval(1))
	if c.bucket.debtBytes > rested*interval {
		return last
	}
	most := min(sharpening+sharpeningMore*float64(c.movement.since), sharpeningMost)
	allowed -= (burst - most) * interval
	for qp := max(c.config.MotionQP, last-c.stride(last)); qp < last; qp++ {
		use, change := fullUse*interval, c.change(qp)
		if c.carried(qp) < cheapResend*change || c.movement.since >= untried<<c.movement.fails[qp] {
			use = toAndFro * interval
		}
		if change <= use && change*(1+c.movement.swing) <= use*fullSwing/fullUse && c.holds(qp, allowed) {
			return qp
		}
	}
	return last
}

// stride is how many QPs a movement gets sharper by at once: one where it fills
// a part of the link already, because what several send again is too uncertain.
func (c *Controller) stride(last int) int {
	if c.change(last) > bytesIn(c.config.Target, c.interval(slight)) {
		return 1
	}
	return mostStride
}

// Done tells what the planned picture came out at. A picture that was not
// planned counts against the budget and teaches nothing.
func (c *Controller) Done(now time.Time, kind Kind, qp, sizeBytes int) {
	// A planned picture counts from its Plan, not from the end of its
	// encoding: the next one takes as long to encode, and meanwhile the link
	// goes on draining.
	if !c.plan.open {
		c.advance(now)
	}
	c.bucket.debtBytes += float64(max(sizeBytes, 0))
	c.average.use(sizeBytes)
	qp = min(max(qp, 0), endOfScale)
	if c.config.ByEncoder {
		qp = c.finished(qp, sizeBytes)
	}
	if c.plan.open && c.plan.kind == kind {
		c.learn(qp, float64(max(sizeBytes, 0)))
	} else {
		pixels := int(c.plan.pixels)
		c.plan = c.classify(now, Picture{Pixels: pixels, ChangedPixels: pixels, Kind: kind})
	}
	p := c.plan
	c.plan.open = false
	c.moved(now, p, qp)
	c.schedule(now, p)
	c.viewed(p, qp)
}

// moved notes the QP of a large change.
func (c *Controller) moved(now time.Time, p plan, qp int) {
	held := min(max(qp, c.config.MotionQP), c.config.MaxQP)
	switch p.class {
	case scene, key:
		c.movement.restart(held)
	case steady:
		c.movement.turn(held)
	default:
		return
	}
	if p.class != key {
		c.largeAt = now
	}
}

func (c *Controller) learn(qp int, sizeBytes float64) {
	p, body := c.plan, max(sizeBytes-headBytes, 0)
	switch p.class {
	case refine:
		c.model.learn(refine, body, c.coarsePixels*lostScale(c.worstQP, qp))
		return
	case steady:
		c.learnMovement(qp, body)
		return
	}
	// What was carried for the rest of the picture is not the change's; a
	// tenth stays, because the share is itself only a prediction.
	c.model.learn(p.class, max(body-c.carried(qp), body/10), p.changed*scale(p.class, qp))
	if p.class == key || p.class == scene {
		c.model.foresee(p.class, p.changed/max(p.pixels, 1))
	}
}

// learnMovement tells what a sharper QP sends again from what it takes.
func (c *Controller) learnMovement(qp int, body float64) {
	m, changed := &c.movement, max(c.plan.changed, 1)
	if qp != m.qp {
		change := max(m.at(qp)*changed, 1)
		again := max(body-change, 0)
		if qp < m.qp {
			m.resent = again / change
			c.model.teach(again, c.coarsePixels*lostScale(c.worstQP, qp))
		}
		return
	}
	m.learn(body / changed)
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
