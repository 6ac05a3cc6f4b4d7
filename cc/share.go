package cc

import (
	"time"

	"nearglass/cc/rate"
)

const (
	// shareFall is what is left of the share after 100 ms of a queue that our
	// own packets do not explain; shareRise is what it gains in a second
	// without one. Falling in proportion and rising by a fixed amount brings
	// streams on one path to equal shares (Chiu and Jain 1989).
	shareFall  = 0.85
	shareRise  = 0.15
	leastShare = 0.2
	// sharePause is how long after a change of the capacity nothing is
	// concluded: the queue is then of our own making.
	sharePause = 400 * time.Millisecond
	// stubborn is how long a queue has to stand, although the stream took
	// half of the path at most, before another flow is to blame that fills
	// any queue.
	stubborn     = time.Second
	yielding     = 0.6
	competeShare = 0.65
	deepQueue    = 25 * time.Millisecond
)

// share is the part of the capacity that the stream claims.
type share struct {
	value     float64
	competing bool
	at        time.Time
	yieldedAt time.Time // since when the queue stands although we yield
	capacity  rate.Rate // last seen
	changedAt time.Time
}

func newShare() share { return share{value: 1} }

// judge takes the least queue of late, and the least that our packets do not
// explain.
func (s *share) judge(now time.Time, standing, unforeseen, tolerated time.Duration, capacity rate.Rate, humble bool) {
	dt := min(max(now.Sub(s.at), 0), 500*time.Millisecond)
	if s.at.IsZero() {
		dt = 0
	}
	s.at = now
	if float64(capacity) < 0.9*float64(s.capacity) || float64(capacity) > 1.15*float64(s.capacity) {
		s.changedAt = now
		s.capacity = capacity
	}
	if now.Sub(s.changedAt) < sharePause {
		return
	}
	s.capacity = capacity
	occupied := standing > tolerated && unforeseen > tolerated
	switch {
	case s.competing:
		if standing < deepQueue/2 {
			s.competing, s.value = false, 0.9
			s.yieldedAt = time.Time{}
		}
	case occupied:
		s.value = max(leastShare, s.value-s.value*(1-shareFall)*dt.Seconds()*10)
	default:
		s.value = min(1, s.value+shareRise*dt.Seconds())
	}
	s.compete(now, standing, humble)
}

// compete notices a queue that stays, whatever we leave free.
func (s *share) compete(now time.Time, standing time.Duration, humble bool) {
	switch {
	case humble || s.competing:
	case standing < deepQueue || s.value > yielding:
		s.yieldedAt = time.Time{}
	case s.yieldedAt.IsZero():
		s.yieldedAt = now
	case now.Sub(s.yieldedAt) > stubborn:
		s.competing, s.value = true, competeShare
	}
}
