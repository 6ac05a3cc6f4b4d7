package session

import "time"

// rtpClock turns capture times into RTP timestamps of 90 kHz (RFC 6184 section
// 5.1). Each picture has its own: the timestamp names it, so two pictures never
// share one, whatever the clock does.
type rtpClock struct {
	base time.Time
	last int64 // ticks since base
}

// at returns the timestamp of a picture captured at t.
func (c *rtpClock) at(t time.Time) uint32 {
	if c.base.IsZero() {
		c.base = t
	}
	ticks := int64(t.Sub(c.base)) * 9 / 100000
	c.last = max(ticks, c.last+1)
	return uint32(c.last)
}
