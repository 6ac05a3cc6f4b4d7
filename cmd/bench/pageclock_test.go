package main

import (
	"math"
	"testing"
	"time"
)

// TestPageClock: what a page notes is put in this process's time, whatever either clock
// is set to, and where the page's runs a little fast.
func TestPageClock(t *testing.T) {
	start := time.Now()
	c := pageClock{first: clockPair{start, 5000}, last: clockPair{start.Add(10 * time.Second), 15010}}
	for ms, want := range map[float64]time.Duration{5000: 0, 15010: 10 * time.Second, 10005: 5 * time.Second, 3999: -time.Second} {
		if got := c.time(ms).Sub(start); math.Abs((got - want).Seconds()) > 1e-5 {
			t.Errorf("%.0f of the page are %v, not %v", ms, got, want)
		}
	}
	once := pageClock{first: clockPair{start, 5000}, last: clockPair{start, 5000}}
	if got := once.time(6000).Sub(start); got != time.Second {
		t.Errorf("with one look: %v", got)
	}
}
