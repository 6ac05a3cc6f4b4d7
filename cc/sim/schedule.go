package sim

import (
	"math"
	"math/bits"
	"sort"
	"time"

	"nearglass/cc/rate"
)

const (
	// forever is later than all that happens.
	forever = time.Duration(math.MaxInt64)
	// unlimited is the rate of a link without a bottleneck.
	unlimited = rate.Rate(math.MaxInt64)
	// workPerByte is a byte in units of bit/s times nanoseconds, in which
	// transmission over rate steps is counted without rounding.
	workPerByte = 8 * int64(time.Second)
	// maxWorkBytes keeps work within an int64; a gigabyte in one queue is
	// beyond anything simulated.
	maxWorkBytes = 1 << 30
	// dead is how long a schedule that repeats may transmit nothing before it
	// counts as never transmitting again: outages can fall on each time that
	// has a rate, and a search would not end.
	dead = time.Hour
)

// schedule is a rate over time: steps, perhaps repeated, less outages. Times
// count from the Origin.
type schedule struct {
	steps   []Step
	repeat  time.Duration
	outages Outages
}

func newSchedule(steps []Step, repeat time.Duration, o Outages) schedule {
	return schedule{steps: steps, repeat: max(repeat, 0), outages: o}
}

// step gives the rate in force at t, outages aside, and when it may change.
func (s *schedule) step(t time.Duration) (r rate.Rate, until time.Duration) {
	if len(s.steps) == 0 {
		return unlimited, forever
	}
	base, until := time.Duration(0), forever
	if s.repeat > 0 && t >= 0 {
		base = t - t%s.repeat
		until = base + s.repeat
	}
	i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].At > t-base })
	if i < len(s.steps) {
		until = min(until, base+s.steps[i].At)
	}
	return max(s.steps[max(i-1, 0)].Rate, 0), until
}

// at gives the rate in force at t, 0 in an outage, and when it may change.
func (s *schedule) at(t time.Duration) (r rate.Rate, until time.Duration) {
	r, until = s.step(t)
	if r == 0 {
		return 0, until
	}
	down, change := s.outages.at(t)
	if down {
		return 0, change
	}
	return r, min(until, change)
}

// at says whether t lies in an outage, and when that changes.
func (o Outages) at(t time.Duration) (down bool, until time.Duration) {
	to := forever
	if o.To > 0 {
		to = o.To
	}
	switch {
	case o.Length <= 0 || t >= to:
		return false, forever
	case t < o.From:
		return false, o.From
	case o.Every > 0 && o.Length >= o.Every:
		return true, to
	}
	start, next := o.From, forever
	if o.Every > 0 {
		start = t - (t-o.From)%o.Every
		next = start + o.Every
	}
	if end := min(start+o.Length, to); t < end {
		return true, end
	}
	if next >= to {
		next = forever
	}
	return false, next
}

// up gives the first time from t on at which something is transmitted.
func (s *schedule) up(t time.Duration) time.Duration {
	for start := t; t < forever; {
		r, until := s.at(t)
		if r > 0 {
			return t
		}
		if t = until; s.repeat > 0 && t-start > dead {
			return forever
		}
	}
	return forever
}

// finish gives when sizeBytes that begin at t are through, across all steps
// and outages on the way, rounded up to a nanosecond.
func (s *schedule) finish(t time.Duration, sizeBytes int) time.Duration {
	work := int64(min(sizeBytes, maxWorkBytes)) * workPerByte
	for t < forever && work > 0 {
		r, until := s.at(t)
		switch {
		case r == unlimited:
			return t
		case r == 0:
			until = s.up(until)
		default:
			need := time.Duration((work-1)/int64(r) + 1)
			if need <= until-t {
				return t + need
			}
			work -= int64(r) * int64(until-t)
		}
		t = until
	}
	return t
}

// remaining gives how many of sizeBytes, begun at start, are not through at
// t, rounded up.
func (s *schedule) remaining(start, t time.Duration, sizeBytes int) int {
	work := int64(min(sizeBytes, maxWorkBytes)) * workPerByte
	for start < t && work > 0 {
		r, until := s.at(start)
		until = min(until, t)
		if r > 0 {
			if need := (work-1)/int64(r) + 1; need <= int64(until-start) {
				return 0
			}
			work -= int64(r) * int64(until-start)
		}
		start = until
	}
	return int((work + workPerByte - 1) / workPerByte)
}

// capacity gives how many bytes the slower of two schedules carries between
// from and to, rounded down, capped at math.MaxInt.
func capacity(a, b *schedule, from, to time.Duration) int {
	var high, low uint64
	for t := from; t < to; {
		r, until := a.at(t)
		other, otherUntil := b.at(t)
		r, until = min(r, other), min(until, otherUntil, to)
		hi, lo := bits.Mul64(uint64(r), uint64(until-t))
		var carry uint64
		low, carry = bits.Add64(low, lo, 0)
		high += hi + carry
		t = until
	}
	if high >= uint64(workPerByte) {
		return math.MaxInt
	}
	n, _ := bits.Div64(high, low, uint64(workPerByte))
	return int(min(n, math.MaxInt))
}
