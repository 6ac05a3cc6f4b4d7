package ratecontrol

import (
	"time"

	"nearglass/cc/rate"
)

// average holds the average of a whole stream under a bound. What the stream does
// not use, while all of the screen stands still or most of it, it may use later;
// what it used ahead, as a key frame does, it goes without afterwards.
type average struct {
	most  rate.Rate // 0: no bound
	saved float64   // bytes of the bound that were not used; below zero: used ahead
	at    time.Time
}

const (
	// mostSaved is how much of the bound is kept for later. More would let a stream
	// that stood still for an hour fill the path for another.
	mostSaved = 8 * time.Second
	// spendIn is how long it takes to use most of what was saved. A movement so
	// becomes coarser by a step every half second, which costs nothing: it is
	// becoming sharper that sends again what was lost.
	spendIn = 4 * time.Second
	// unspent is what is never planned with, so that one picture that comes out
	// larger than it was planned does not lift the average over its bound.
	unspent = 200 * time.Millisecond
	// leastShare of the bound is left when much was used ahead: a moving screen
	// becomes coarse, and does not stop.
	leastShare = 0.5
)

// Peak is the most that a stream with this bound on its average uses at any time; 0,
// which is no bound, has none.
func Peak(maxAverage rate.Rate) rate.Rate {
	return maxAverage.Scale(1 + (mostSaved-unspent).Seconds()/spendIn.Seconds())
}

// advance lets time pass. A clock that runs backward gives nothing twice.
func (a *average) advance(now time.Time) {
	if a.at.IsZero() {
		a.at = now
		return
	}
	elapsed := now.Sub(a.at)
	if elapsed <= 0 {
		return
	}
	a.at = now
	a.saved = min(a.saved+bytesIn(a.most, elapsed), bytesIn(a.most, mostSaved))
}

// use takes what was sent.
func (a *average) use(sizeBytes int) { a.saved -= float64(max(sizeBytes, 0)) }

// bound is what the average leaves of the rate of the path.
func (a *average) bound(path rate.Rate) rate.Rate {
	if a.most <= 0 {
		return path
	}
	spare := a.saved - bytesIn(a.most, unspent)
	left := float64(a.most) + 8*spare/spendIn.Seconds()
	left = max(left, leastShare*float64(a.most), float64(minTarget))
	return rate.Rate(min(left, float64(path)))
}
