package netpath

import (
	"errors"
	"time"
)

// Times of asking a daemon. A change of path should show within a second, and a
// daemon that is slow or gone should not be asked all the time.
const (
	// askTime is how long an answer may take.
	askTime = 2 * time.Second
	// askEvery is from one answer to the next question; askShare is how many
	// times as long as the answer took the pause is at least, so that a large
	// network costs its daemon a twentieth of its time and no more, as long as
	// that keeps the pause under mostPause.
	askEvery  = 500 * time.Millisecond
	askShare  = 20
	mostPause = time.Second
	// leastBackoff doubles with each failure up to mostBackoff. A daemon that is
	// not there is let be for absentPause; one that refuses is for the user to
	// change, and asked again after refusedPause.
	leastBackoff = time.Second
	mostBackoff  = 30 * time.Second
	absentPause  = 10 * time.Second
	refusedPause = time.Minute
	// answerAge is how long an answer holds when no other comes: longer than
	// the slowest daemon takes for two.
	answerAge = 5 * time.Second
)

// poller decides when a daemon is asked again. It has no clock.
type poller struct {
	asking   bool
	began    time.Time // the last question
	next     time.Time // when the next is due
	failures int       // in a row
}

// due says whether to ask at now, and takes it as asked.
func (p *poller) due(now time.Time) bool {
	if p.asking || now.Before(p.next) {
		return false
	}
	p.asking, p.began = true, now
	return true
}

// done takes the end of a question.
func (p *poller) done(now time.Time, err error) {
	p.asking = false
	if err == nil {
		p.failures = 0
		p.next = now.Add(min(max(askEvery, askShare*now.Sub(p.began)), mostPause))
		return
	}
	p.next = now.Add(p.pause(err))
	p.failures++
}

// pause is how long a daemon that failed is let be.
func (p *poller) pause(err error) time.Duration {
	switch {
	case errors.Is(err, ErrAbsent):
		return absentPause
	case errors.Is(err, ErrRefused):
		return refusedPause
	}
	return min(leastBackoff<<min(p.failures, 8), mostBackoff)
}
