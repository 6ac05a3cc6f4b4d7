package cc

import (
	"time"

	"nearglass/cc/rate"
)

// outage notices that nothing comes back. Sending on would only fill the queue
// that the path will have to drain when it is back (SCReAM's window on bytes in
// flight, RFC 8298, does the same; here the time since the first packet that
// was not answered for is what counts).
type outage struct {
	on       bool
	heard    time.Time     // when the last feedback came
	waiting  time.Time     // when the first packet since then was sent; zero: none
	every    time.Duration // between feedbacks, smoothed
	patience time.Duration
}

const (
	// firstPatience holds before the interval of feedback is known.
	firstPatience = time.Second
	// missedReports are how many feedbacks may be late.
	missedReports = 3
	leastPatience = 300 * time.Millisecond
)

func (o *outage) send(at time.Time) {
	if o.waiting.IsZero() {
		o.waiting = at
	}
}

// hear takes the arrival of a feedback.
func (o *outage) hear(now time.Time) {
	if !o.heard.IsZero() {
		d := min(max(now.Sub(o.heard), 0), time.Second)
		if o.every == 0 {
			o.every = d
		}
		o.every += (d - o.every) / 8
		o.patience = max(missedReports*o.every, leastPatience)
	}
	o.heard, o.waiting, o.on = now, time.Time{}, false
}

// deadline is when an outage would begin; zero for never.
func (o *outage) deadline() time.Time {
	if o.on || o.waiting.IsZero() {
		return time.Time{}
	}
	patience := o.patience
	if patience == 0 {
		patience = firstPatience
	}
	return o.waiting.Add(patience)
}

// begins says whether one begins at now.
func (o *outage) begins(now time.Time) bool {
	d := o.deadline()
	if d.IsZero() || now.Before(d) {
		return false
	}
	o.on = true
	return true
}

// trickle is the pace during an outage, as a share of the least target: about
// six packets a second, whose acknowledgement ends it.
const trickle = 0.4

// leastTrickle is a packet a second, however low the least target is.
const leastTrickle = 10 * rate.Kbps

// holdBack answers an outage.
func (c *Controller) holdBack() {
	c.update.State, c.update.Reason = "outage", "nothing comes back from the viewer"
	c.update.Pace = max(c.c.Min.Scale(trickle), leastTrickle)
	c.update.Target = max(c.c.Min, c.update.Target/4)
	c.update.Probe = Probe{}
	c.recheck = time.Time{}
}
