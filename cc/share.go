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
	shareRise  = 0.25
	leastShare = 0.2
	// sharePause is how long after a change of the capacity nothing is
	// concluded: the queue is then of our own making.
	sharePause = 400 * time.Millisecond
	// stubborn is how long a deep queue has to stand, although the stream took
	// no more than yielding of the path, before another flow is to blame that
	// fills any queue: alone, the stream would have drained it long ago.
	stubborn = 1200 * time.Millisecond
	yielding = 0.8
	// competeShare is what is then claimed of the rate that trains show, which
	// the other flow lowers too: half of the path.
	competeShare = 0.53
	// Every testEvery, first after testAfter, the stream yields to testShare for
	// testFor: what stood because of streams like ours drains then, a window
	// that fills the queue does not.
	testEvery = 8 * time.Second
	testAfter = 3 * time.Second
	testFor   = 1500 * time.Millisecond
	testShare = 0.15
	deepQueue = 25 * time.Millisecond
	// metFor is how long others are reckoned with after they were noticed, and
	// levelling what is added then to the rate of 1 Mbit/s, in Mbit/s, and to
	// others by the root of theirs: where two streams meet, the smaller gains
	// more by it.
	metFor    = 5 * time.Second
	levelling = 0.14
	// regained is the share when the other flow is gone.
	regained = 0.9
)

// share is the part of the capacity that the stream claims.
type share struct {
	value     float64
	competing bool
	at        time.Time
	yieldedAt time.Time // since when a deep queue stands although we yield
	capacity  rate.Rate // last seen
	changedAt time.Time
	// competingAt is since when another flow is taken to fill the queue.
	competingAt time.Time
	metAt       time.Time // when a queue was last there that was not ours
}

// met says whether others were there of late.
func (s *share) met(now time.Time) bool {
	return !s.metAt.IsZero() && now.Sub(s.metAt) < metFor
}

func newShare() share { return share{value: 1} }

// judge takes whether a queue stands that our packets do not explain.
func (s *share) judge(now time.Time, occupied bool, capacity rate.Rate) {
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
	switch {
	case occupied:
		s.value = max(leastShare, s.value-s.value*(1-shareFall)*dt.Seconds()*10)
	default:
		s.value = min(1, s.value+shareRise*dt.Seconds())
	}
}

// compete notices a queue that stays, whatever we leave free; used is what we
// take, as a share of the most that we did.
func (s *share) compete(now time.Time, standing, tolerated time.Duration, used float64) {
	switch {
	case standing < deepQueue+tolerated:
		if s.competing {
			s.competing, s.value = false, regained
		}
		s.yieldedAt = time.Time{}
	case s.competing:
	case used > yielding:
		s.yieldedAt = time.Time{}
	case s.yieldedAt.IsZero():
		s.yieldedAt = now
	case now.Sub(s.yieldedAt) > stubborn:
		s.competing, s.competingAt = true, now
	}
}

// claim is the part of what trains show that is claimed beside a flow that
// fills every queue.
func (s *share) claim(now time.Time) float64 {
	if t := now.Sub(s.competingAt) % testEvery; t > testAfter && t < testAfter+testFor {
		return testShare
	}
	return competeShare
}
