package sim

import (
	"math"
	"time"
)

// CoDel's parameters, RFC 8289, 4.2 and 4.3.
const (
	codelTarget   = 5 * time.Millisecond
	codelInterval = 100 * time.Millisecond
)

// codel is the controller of RFC 8289; names follow its section 5.
type codel struct {
	target, interval time.Duration
	maxPacket        int // the largest size seen, in bytes

	above      bool // the sojourn time has been above target ...
	firstAbove time.Duration
	dropping   bool
	dropNext   time.Duration
	count      int
	lastCount  int
}

func newCodel(q Queue) codel {
	c := codel{target: q.Target, interval: q.Interval}
	if c.target <= 0 {
		c.target = codelTarget
	}
	if c.interval <= 0 {
		c.interval = codelInterval
	}
	return c
}

// mayDrop is dodequeue of RFC 8289, 5.4, for a packet just taken out that
// waited for sojourn and left backlog bytes behind.
func (c *codel) mayDrop(t, sojourn time.Duration, backlog int) bool {
	switch {
	case sojourn < c.target || backlog <= c.maxPacket:
		c.above = false
	case !c.above:
		c.above, c.firstAbove = true, t+c.interval
	default:
		return t >= c.firstAbove
	}
	return false
}

// next is control_law: drops come closer together with the root of count.
func (c *codel) next(t time.Duration) time.Duration {
	return t + time.Duration(float64(c.interval)/math.Sqrt(float64(c.count)))
}

// enter begins to drop, near the rate that worked last time if that is not
// long ago.
func (c *codel) enter(t time.Duration) {
	delta := c.count - c.lastCount
	c.dropping, c.count = true, 1
	if delta > 1 && t-c.dropNext < 16*c.interval {
		c.count = delta
	}
	c.dropNext = c.next(t)
	c.lastCount = c.count
}
