package main

import (
	"context"
	"image"
	"runtime"
	"time"
)

// pollEvery is how often the viewer's screen is read: the error that it adds
// is half of it on average.
const pollEvery = 500 * time.Microsecond

// sightings are the times at which numbers first stood on a screen.
type sightings map[uint32]time.Time

// watch reads the patch at a place of the screen until the context ends, and
// then gives what it saw.
func watch(ctx context.Context, s *screen, at image.Point) <-chan sightings {
	result := make(chan sightings, 1)
	go func() {
		runtime.LockOSThread() // nap holds a thread anyway
		seen := sightings{}
		last, any := uint32(0), false
		for ctx.Err() == nil {
			if n, ok := s.number(at); ok && (!any || n != last) {
				last, any = n, true
				if _, again := seen[n]; !again {
					seen[n] = time.Now()
				}
			}
			nap(pollEvery)
		}
		result <- seen
	}()
	return result
}

// awaitNumber waits until the patch shows a number that match accepts, and
// says when that was.
func awaitNumber(s *screen, at image.Point, limit time.Duration, match func(uint32) bool) (time.Time, bool) {
	for end := time.Now().Add(limit); ; nap(pollEvery) {
		now := time.Now()
		if n, ok := s.number(at); ok && match(n) {
			return now, true
		}
		if now.After(end) {
			return now, false
		}
	}
}

// delays are the times from painting to sight of all numbers that were seen.
func (s sightings) delays(painted map[uint32]time.Time) series {
	var d series
	for n, at := range s {
		if from, ok := painted[n]; ok && at.After(from) {
			d = append(d, at.Sub(from))
		}
	}
	return d
}
