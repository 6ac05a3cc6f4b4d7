package cc

import (
	"slices"
	"time"
)

const (
	// baseHalf is half of how long a one-way delay counts as the least.
	baseHalf = 15 * time.Second
	// heads is how many trains the standing queue is judged by.
	heads = 64
	// recently and longer are how far back the least queue is looked for, to
	// act at once and to conclude on others.
	recently = 250 * time.Millisecond
	longer   = 500 * time.Millisecond
)

// head is what the first packet of a train met.
type head struct {
	at         time.Time // its departure
	delay      time.Duration
	unforeseen time.Duration // queue that our own packets do not explain
}

// queue watches what stands in front of the bottleneck: what the first packet
// of a train finds there. What a train itself adds is gone before the next.
type queue struct {
	base, next time.Duration // least one-way delay, of this window and the coming one
	since      time.Time     // when the coming one began; zero: no delay is known
	filled     bool          // another flow fills the queue: its delay is no base
	heads      [heads]head
	n          int
	shift      shift
}

// observe takes a one-way delay for the base.
func (q *queue) observe(at time.Time, delay time.Duration) {
	switch {
	case q.since.IsZero():
		q.base, q.next, q.since = delay, delay, at
	case q.filled:
		q.base = min(q.base, delay)
		q.next, q.since = q.base, at
	case at.Sub(q.since) > baseHalf:
		q.base, q.next, q.since = min(q.next, delay), delay, at
	default:
		q.base, q.next = min(q.base, delay), min(q.next, delay)
	}
}

// add takes a train, and what the bottleneck took for it; what counts is what its first
// packet met.
func (q *queue) add(s *sample, took time.Duration) {
	q.observe(s.at, s.first)
	q.watch(s, took)
	q.heads[q.n%heads] = head{at: s.at, delay: s.first, unforeseen: s.first - q.base - s.foreseen}
	q.n++
}

func (q *queue) back(i int) *head { return &q.heads[(q.n-1-i)%heads] }

func (q *queue) known() int { return min(q.n, heads) }

const (
	// noiseSteps is how many differences of delays make a noise.
	noiseSteps = 16
	// apart is how many trains lie between two that a path which keeps packets in
	// order delays independently of each other: behind one that was held up long,
	// the next ones are late too.
	apart = 8
)

// noise is how much the delay differs from one train to the next, for no
// reason that a controller could act upon: the median. What our own packets
// explain is no noise: on a slow path they put whole packets in front of the
// next train.
func (q *queue) noise() time.Duration { return q.noiseOver(1) }

// noiseOver is the same from each train to the one that came lag after it.
func (q *queue) noiseOver(lag int) time.Duration {
	var steps [noiseSteps]time.Duration
	n := 0
	for i := 0; n < noiseSteps && i+lag < q.known(); i++ {
		a, b := q.back(i), q.back(i+lag)
		steps[n] = min((a.delay - b.delay).Abs(), (a.unforeseen - b.unforeseen).Abs())
		n++
	}
	if n == 0 {
		return 0
	}
	slices.Sort(steps[:n])
	return steps[n/2]
}

// leastHeld is how late the first packet of a train has to be for it to count as
// held on the way, beyond what is noise.
const leastHeld = 2 * time.Millisecond

// held is how much later the first packet of the newest train came than our own
// packets and what others of late had in front of ours explain.
func (q *queue) held() time.Duration {
	_, unforeseen, ok := q.least(recently)
	if !ok {
		return 0
	}
	return q.back(0).unforeseen - unforeseen
}

// least returns the smallest queue and the smallest unforeseen one that the
// trains of a time found; false when there were fewer than three.
func (q *queue) least(d time.Duration) (standing, unforeseen time.Duration, ok bool) {
	if q.n == 0 {
		return 0, 0, false
	}
	newest := q.back(0).at
	standing, unforeseen = time.Hour, time.Hour
	n := 0
	for ; n < q.known() && newest.Sub(q.back(n).at) < d; n++ {
		standing = min(standing, q.back(n).delay-q.base)
		unforeseen = min(unforeseen, q.back(n).unforeseen)
	}
	return standing, unforeseen, n >= 3
}
