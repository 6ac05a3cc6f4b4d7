package main

import (
	"time"

	"nearglass/server/e2e/desk"
)

// pageClock relates a page's clock to this process's. A page counts on from the time of
// day at which it was loaded, by a clock that nobody sets; the time of day that this
// process could compare it with is set now and then, by tens of milliseconds on some
// machines. So the page is asked.
type pageClock struct{ first, last clockPair }

// clockPair are two clocks at one moment.
type clockPair struct {
	at   time.Time
	page float64 // performance.timeOrigin + performance.now(), in ms
}

// clockAsks is how often a page is asked: the answer that took the shortest time counts.
const clockAsks = 7

// sample compares the clocks: once before what is to be timed, and once after.
func (c *pageClock) sample(p *desk.Page) error {
	best, took := clockPair{}, time.Hour
	for range clockAsks {
		asked := time.Now()
		page, err := desk.Eval[float64](p, "performance.timeOrigin + performance.now()")
		if err != nil {
			return err
		}
		if d := time.Since(asked); d < took {
			best, took = clockPair{asked.Add(d / 2), page}, d
		}
	}
	if c.first.at.IsZero() {
		c.first = best
	}
	c.last = best
	return nil
}

// time is when the page's clock showed ms.
func (c *pageClock) time(ms float64) time.Time {
	speed := 1.0
	if c.last.page > c.first.page {
		speed = milliseconds(c.last.at.Sub(c.first.at)) / (c.last.page - c.first.page)
	}
	return c.first.at.Add(time.Duration((ms - c.first.page) * speed * float64(time.Millisecond)))
}
