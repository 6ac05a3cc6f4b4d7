// Package ratecontrol chooses the QP of each picture, so that the encoder
// never has to guess: the sharpest QP whose picture the link carries in about
// one frame interval. It also says when a picture that stopped changing
// should be encoded again, sharper, until it needs no more.
//
// It is pure: the time is a parameter, nothing blocks, nothing is logged. A
// Controller is used by one goroutine.
package ratecontrol

import (
	"image"
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

	sharp sharpness
	fresh []int // macroblocks that changed since the last Done

	movement movement
	movedAt  time.Time // when the last picture of a movement, or of what may become one, was done
	area     float64   // pixels that such a picture changes
	row      int       // small changes in a row that may become one
	changeAt time.Time // when any picture was done in which something changed
	usual    float64   // bytes of those
	behind   float64   // bytes that waited after the last of them

	refineAt time.Time
}

// plan is the picture between Plan and Done.
type plan struct {
	open    bool
	kind    Kind
	class   class
	pixels  float64
	changed float64
	units   float64 // of a refinement, in the model
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
	// sameArea is how many times what a movement changes a picture may change and
	// still belong to it, and strayArea the part of it below which it does not: a
	// page that is opened beside a film, and a caret in a page that was scrolled.
	sameArea, strayArea = 3, 8
	// areaWeight is how much one picture says of what a movement changes.
	areaWeight = 0.3
	// becomesMovement is how many small changes in a row are a movement, where they
	// take more than they may when nothing is known of them.
	becomesMovement = 6
	// burst is how many frame intervals may wait after a picture of a movement,
	// so that a step to a sharper QP has room to send again what the coarser one
	// lost: two pictures then arrive at most so far apart.
	burst = 1.6
	// sharpening is what a sharper picture of a movement may take, in frame
	// intervals, by what is expected: what comes after it then arrives within two.
	// With each picture that the QP was held it is sharpeningMore, up to
	// sharpeningMost: what is expected may be wrong, and trialIntervals bounds what
	// comes of it.
	sharpening, sharpeningMore, sharpeningMost = 1.4, 0.02, 2.2
	// fullUse is what a movement may take of the target in the long run, and
	// fullSwing the same with its usual swing upward.
	fullUse, fullSwing = 0.98, 1.2
	// toAndFro is what it may take where going to and fro between two QPs costs
	// nothing: the one above leaves free what the one below takes too much.
	toAndFro = 1.2
	// smoothly is how many frame intervals later than the one before a picture is planned to
	// arrive at the most, beyond its own, and stillSmooth is how many it may in the end.
	smoothly    = 0.8
	stillSmooth = 0.95
	// dearUse is what a movement may take at a QP that costs much more than the next
	// coarser one.
	dearUse = 0.25
	// tooDearUse is from where on one goes back over steps that were found to be dear: more
	// than lets it pass them, or it would go to and fro.
	tooDearUse = 0.35
	// fine is from where on nobody sees a movement get sharper: that may take fineUse of a
	// frame interval and no more, so that a page which is flung next finds room.
	fine, fineUse = 20, 0.35
	// slight is what share of an interval leaves a movement room for mostStride
	// steps at once.
	slight, mostStride = 0.2, 4
	// untried is after how many pictures at a QP a sharper one is tried all the
	// same, to learn what it sends again.
	untried = 120
	// tooDearFor is the same where a sharper one was found to cost much more.
	tooDearFor = 1920
	// rested is how many intervals may wait when a movement gets sharper.
	rested = 0.25
	// keySharper is by how much a key frame may be sharper than a movement where the
	// link has room: what it lacks is sent all over the picture later. A small change
	// may be as sharp as a still picture is in the end, by default 3 QPs below a
	// movement.
	keySharper = 3
	// muchCoarser, in QPs, and muchRest, a share of the picture, are when the rest
	// of it comes first.
	muchCoarser, muchRest = 3, 50
	// restIntervals is how much of the link the rest then has.
	restIntervals = 0.5
	// hurry is how many intervals have to wait for each QP beyond the next that
	// a movement becomes coarser by.
	hurry = 2
)

// intervals is how many frame intervals of the link a picture of a class may
// fill. A movement holds to one in the long run. What comes rarely gets
// more, where one interval would make it unreadable.
var intervals = [classes]float64{small: 2, scene: 3, steady: burst, key: 4, refine: 4}

// New makes a controller that has seen no picture.
func New(c Config) *Controller {
	c = c.withDefaults()
	out := &Controller{config: c, path: c.Target, model: newModel(), movement: newMovement(c.MotionQP)}
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
	if c.sharp.fit(now, p.Size) {
		c.fresh = c.fresh[:0]
	}
	c.plan = c.classify(now, p)
	if p.Kind == Refine {
		c.bucket.drainedBytes = 0
		return c.planRefine(now)
	}
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
		if c.restIsCoarser(c.movement.qp) {
			allowed = max(allowed-restIntervals*bytesIn(c.config.Target, c.interval(1)), 0)
		}
		qp = c.steady(now, allowed)
	} else {
		qp = c.choose(allowed)
	}
	return Decision{QP: qp, PredictedBytes: int(c.predict(qp)), AllowedBytes: int(allowed)}
}

func (c *Controller) classify(now time.Time, p Picture) plan {
	pixels := float64(c.sharp.size.X) * float64(c.sharp.size.Y)
	out := plan{open: true, kind: p.Kind, pixels: pixels, changed: pixels}
	switch p.Kind {
	case Key:
		out.class = key
	case Refine:
		out.class, out.changed = refine, 0
	default:
		out.changed = c.damaged(p)
		out.class = c.motionClass(now, out)
	}
	return out
}

// damaged notes what a picture changes, and is how many pixels it codes.
func (c *Controller) damaged(p Picture) float64 {
	whole := c.sharp.all()
	damage := p.Damage
	if damage == nil {
		damage = []image.Rectangle{whole}
	}
	sum := 0
	for _, r := range damage {
		r = r.Intersect(whole)
		sum += r.Dx() * r.Dy()
		c.fresh = c.sharp.within(c.fresh, r)
	}
	if p.Missing > 0 {
		before := len(c.fresh)
		c.fresh = c.sharp.since(c.fresh, p.Missing)
		sum += (len(c.fresh) - before) * mbPixels
	}
	return float64(min(sum, whole.Dx()*whole.Dy()))
}

func (c *Controller) motionClass(now time.Time, p plan) class {
	since := now.Sub(c.movedAt)
	known := !c.movedAt.IsZero() && p.changed <= sameArea*c.area
	switch {
	case known && since <= steadyFor && p.changed*strayArea >= c.area:
		return steady
	case p.changed < smallShare*p.pixels:
		return c.smallClass(now, p)
	case known && since <= resumesFor:
		return steady
	}
	return scene
}

// smallClass tells a film in a small window from a key that is typed: the one takes
// much of the link picture after picture.
func (c *Controller) smallClass(now time.Time, p plan) class {
	if now.Sub(c.changeAt) > steadyFor || c.model.change(small, p.changed, c.config.RefineQP) <= bytesIn(c.config.Target, c.interval(slight)) {
		c.row = 0
		return small
	}
	if c.row++; c.row < becomesMovement {
		return small
	}
	c.begin(now, p)
	return steady
}

// begin takes small changes for a movement from now on.
func (c *Controller) begin(now time.Time, p plan) {
	interval, qp := bytesIn(c.config.Target, c.interval(1)), c.config.MotionQP
	for qp < c.config.MaxQP && c.model.change(small, p.changed, qp) > interval {
		qp++
	}
	c.movement.restart(qp)
	c.movement.density = c.model.change(small, 1, qp)
	c.row, c.movedAt, c.area = 0, now, p.changed
}

func (c *Controller) allowed(frameIntervals float64) float64 {
	return c.bucket.allowed(c.config.Target, c.interval(frameIntervals))
}

func (c *Controller) interval(frames float64) time.Duration {
	return time.Duration(frames * float64(time.Second) / float64(c.config.FPS))
}

// predict is the bytes of the planned picture at qp. A movement sharper than
// before also carries what the coarser QP lost of it.
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

// carried is the bytes of what a movement sends again at a sharper QP.
func (c *Controller) carried(qp int) float64 {
	if c.plan.class != steady || qp >= c.movement.qp {
		return 0
	}
	return c.model.lost(c.plan.changed, c.movement.qp, qp) * c.movement.lost()
}

// choose gives the sharpest QP that the class allows and the budget carries.
func (c *Controller) choose(allowed float64) int {
	qp := c.config.MotionQP
	switch c.plan.class {
	case small:
		qp = c.config.RefineQP
	case key:
		qp = max(qp-keySharper, c.config.RefineQP)
	}
	for qp < c.config.MaxQP && c.predict(qp) > allowed {
		qp++
	}
	return qp
}

// steady gives the QP of a movement: as before, unless that fits no more or a
// sharper one has been possible for a while.
func (c *Controller) steady(now time.Time, allowed float64) int {
	last := c.movement.qp
	if now.Sub(c.movedAt) > steadyFor {
		return c.resumed(last)
	}
	switch {
	case !c.holds(last, allowed):
		return c.coarser(last, allowed)
	case c.movement.dear(c.plan.changed, bytesIn(c.config.Target, c.interval(dearUse))):
		return min(c.movement.retreat(), c.config.MaxQP)
	case c.movement.since >= calm && c.change(last) > bytesIn(c.config.Target, c.interval(tooDearUse)):
		if to := c.movement.below(last); to > last {
			return c.movement.goBack(min(to, c.config.MaxQP))
		}
	}
	return c.sharper(last, allowed)
}

// resumed gives the QP of a movement that begins again, as before or coarser.
func (c *Controller) resumed(last int) int {
	c.movement.resume()
	interval, qp := bytesIn(c.config.Target, c.interval(1)), last
	for qp < c.config.MaxQP && c.change(qp) > fullSwing*interval {
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
	if c.plan.class == steady {
		c.movement.save(bytesIn(c.config.Target, c.interval(1)), float64(sizeBytes))
	}
	if c.plan.open && c.plan.kind == kind {
		c.learn(qp, float64(max(sizeBytes, 0)))
	} else {
		c.plan = c.classify(now, Picture{Size: c.sharp.size, Kind: kind})
	}
	p := c.plan
	c.plan.open = false
	c.moved(now, p, qp)
	c.schedule(now, p, c.sharp.levels.coarser(c.config.RefineQP) == 0)
	c.viewed(now, p, qp)
	if kind == Motion {
		c.changeAt = now
		c.usual += usualWeight * (float64(max(sizeBytes, 0)) - c.usual)
		c.behind = c.bucket.debtBytes
	}
}

// moved notes the QP of a movement, or of what may become one. A scene beside a
// movement leaves that as it is.
func (c *Controller) moved(now time.Time, p plan, qp int) {
	held := min(max(qp, c.config.MotionQP), c.config.MaxQP)
	beside := p.class == scene && now.Sub(c.movedAt) <= steadyFor
	switch {
	case p.class == key || p.class == scene && !beside:
		c.movement.restart(held)
	case p.class == steady:
		c.movement.turn(held)
	default:
		return
	}
	if p.class == key {
		return
	}
	if p.class == scene {
		c.area = p.changed
	}
	c.area += areaWeight * (p.changed - c.area)
	c.movedAt = now
}

func (c *Controller) learn(qp int, sizeBytes float64) {
	p, body := c.plan, max(sizeBytes-headBytes, 0)
	switch p.class {
	case refine:
		c.model.learn(refine, body, p.units)
		return
	case steady:
		c.learnMovement(qp, body)
		return
	}
	c.model.learn(p.class, body, p.changed*scale(p.class, qp))
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
			c.model.teach(again, changed*lostScale(m.qp, qp))
		}
		return
	}
	m.learn(body / changed)
}

// viewed notes what the viewer has after a picture at qp.
func (c *Controller) viewed(now time.Time, p plan, qp int) {
	c.sharp.counted++
	switch p.class {
	case key:
		for i := range c.sharp.blocks {
			c.sharp.note(i, qp)
		}
	case refine:
		for i, yes := range c.sharp.chosen {
			if yes {
				c.sharp.note(i, qp)
			}
		}
		return
	}
	for _, i := range c.fresh {
		c.sharp.note(i, qp)
		c.sharp.blocks[i].changed = now.Sub(c.sharp.begin)
	}
	c.fresh = c.fresh[:0]
}
