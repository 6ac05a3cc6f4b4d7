package ratecontrol

import "time"

const (
	// mostOwed is how many frame intervals of the link may be owed when a picture
	// in motion is encoded. A key frame, which may take four, puts nothing off;
	// but where even the coarsest pictures are too large, what is owed would grow
	// for as long as that lasts, and a picture that comes to rest would wait for
	// all of it before it is sharpened: 14 s after 10 s of a film at 300 kbit/s.
	mostOwed = 6
	// patience is how much of the link a key frame may fill that shows nothing
	// new, in a larger size. With the usual 4 intervals a page of text that had
	// been sharp fell to QP 48 for a second.
	patience = 500 * time.Millisecond
)

// NextPicture is when the link has room for another picture in motion. Until then
// the source goes on merging what changes.
func (c *Controller) NextPicture(now time.Time) time.Time {
	c.advance(now)
	return c.bucket.drained(c.config.Target, bytesIn(c.config.Target, c.interval(mostOwed)))
}

// PlanLarger decides, as Plan does, how to encode a key frame of a still picture
// that the viewer has in another size. It may take its time.
func (c *Controller) PlanLarger(now time.Time, p Picture) Decision {
	p.Kind = Key
	if usual := c.Plan(now, p); c.config.ByEncoder {
		return usual
	}
	allowed := c.bucket.allowed(c.config.Target, patience)
	qp := c.choose(allowed)
	return Decision{QP: qp, PredictedBytes: int(c.predict(qp)), AllowedBytes: int(allowed)}
}
