package cc

import (
	"slices"
	"testing"
	"time"

	"nearglass/cc/rate"
)

var virtualStart = time.Unix(1_000_000, 0)

// road is the smallest path that a controller can be driven over: a sender that
// does as the updates say, one bottleneck with a queue, a receiver that reports.
// Everything happens in virtual time. Unset fields are off.
type road struct {
	rate  func(at time.Duration) rate.Rate // on the wire
	delay time.Duration                    // each way
	limit time.Duration                    // of the queue; 0: none
	// lose drops a packet at random, late delays it; drop is asked with the
	// bytes on the wire and drops without any queue.
	lose func() bool
	drop func(at time.Duration, bytes int) bool
	late func() time.Duration
	// fill adds the bytes that others sent in the last millisecond.
	fill func(at, queue time.Duration) int
	cut  func(at time.Duration) bool // nothing passes, either way

	c        *Controller
	u        Update
	at       time.Duration
	busy     time.Duration // until when the bottleneck sends
	frame    uint64
	sequence uint64
	waiting  []Sent // in the pacer
	release  time.Duration
	probe    uint32
	way      []arrival
	newest   time.Duration
	seen     []observation
}

type arrival struct {
	sequence uint64
	at       time.Duration
	lost     bool
}

// observation is the state of things at one feedback.
type observation struct {
	at     time.Duration
	u      Update
	queue  time.Duration
	passed int // bytes on the wire that reached the receiver since the start
}

const (
	reportEvery = 25 * time.Millisecond
	roadStep    = 250 * time.Microsecond
	payloadSize = 1142
)

func always(r rate.Rate) func(time.Duration) rate.Rate {
	return func(time.Duration) rate.Rate { return r }
}

// drive runs a new controller over the road for a time.
func (r *road) drive(c Config, until time.Duration) *road {
	r.c = New(c)
	r.u = r.c.OnTick(virtualStart)
	if r.delay == 0 {
		r.delay = 10 * time.Millisecond
	}
	return r.on(until)
}

// on goes on until a time.
func (r *road) on(until time.Duration) *road {
	for ; r.at < until; r.at += roadStep {
		now := virtualStart.Add(r.at)
		if d := r.c.Deadline(); !d.IsZero() && !now.Before(d) {
			r.u = r.c.OnTick(now)
		}
		if r.at%time.Millisecond == 0 && r.fill != nil {
			r.busy = max(r.busy, r.at) + r.rate(r.at).Duration(r.fill(r.at, max(0, r.busy-r.at)))
		}
		if next := r.at / (time.Second / 60); uint64(next) >= r.frame {
			r.picture()
		}
		r.pace()
		if r.at%reportEvery == 0 {
			r.report()
		}
	}
	return r
}

// picture puts the packets of a new picture in the pacer, unless it is full.
func (r *road) picture() {
	r.frame++
	if len(r.waiting) > 0 && r.u.Pace.Duration(len(r.waiting)*payloadSize) > 50*time.Millisecond {
		return
	}
	for left := r.u.Target.Bytes(time.Second / 60); left > 0; left -= payloadSize {
		r.waiting = append(r.waiting, Sent{SizeBytes: min(left, payloadSize) + rtpOverheadBytes, Frame: r.frame})
	}
}

// pace releases what is due, a probe before all else.
func (r *road) pace() {
	r.release = max(r.release, r.at-roadStep)
	if p := r.u.Probe; p.ID != r.probe && p.ID != 0 {
		r.probe = p.ID
		at := r.at
		for left := p.Bytes; left > 0; left -= payloadSize {
			s := Sent{SizeBytes: min(left, payloadSize) + rtpOverheadBytes, Probe: p.ID}
			r.send(at, s)
			at += p.Rate.Duration(s.SizeBytes)
		}
		r.release = at
	}
	for len(r.waiting) > 0 && r.release <= r.at {
		s := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.send(r.release, s)
		r.release += r.u.Pace.Duration(s.SizeBytes)
	}
}

// send puts a packet on the way.
func (r *road) send(at time.Duration, s Sent) {
	r.sequence++
	s.Sequence, s.At = r.sequence, virtualStart.Add(at)
	r.c.OnSent(virtualStart.Add(r.at), s)
	bytes := s.SizeBytes + ipOverheadBytes
	queue := max(0, r.busy-at)
	lost := r.cut != nil && r.cut(at) || r.limit > 0 && queue > r.limit ||
		r.drop != nil && r.drop(at, bytes) || r.lose != nil && r.lose()
	a := arrival{sequence: r.sequence, at: at + r.delay, lost: lost}
	if !lost {
		r.busy = max(r.busy, at) + r.rate(at).Duration(bytes)
		a.at = r.busy + r.delay
		if r.late != nil {
			a.at = max(a.at+r.late(), r.newest)
		}
		r.newest = a.at
	}
	r.way = append(r.way, a)
}

// report hands over what arrived a delay ago, lost packets when a later one has.
func (r *road) report() {
	var acks []Ack
	n := 0
	for i, a := range r.way {
		if !a.lost && a.at <= r.at-r.delay {
			n = i + 1
		}
	}
	for _, a := range r.way[:n] {
		acks = append(acks, Ack{Sequence: a.sequence, Arrived: a.at.Truncate(arrivalGrain), Lost: a.lost})
	}
	o := observation{at: r.at, queue: max(0, r.busy-r.at)}
	if k := len(r.seen); k > 0 {
		o.passed = r.seen[k-1].passed
	}
	for _, a := range r.way[:n] {
		if p := r.c.history.get(a.sequence); p != nil && !a.lost {
			o.passed += p.wireBytes
		}
	}
	if n > 0 && (r.cut == nil || !r.cut(r.at)) {
		r.way = r.way[n:]
		r.u = r.c.OnFeedback(virtualStart.Add(r.at), acks)
	}
	o.u = r.u
	r.seen = append(r.seen, o)
}

// passed is the rate on the wire at which packets got through in a time.
func (r *road) passed(from, to time.Duration) rate.Rate {
	first, last := -1, -1
	for i, o := range r.seen {
		if o.at >= from && first < 0 {
			first = i
		}
		if o.at <= to {
			last = i
		}
	}
	return rate.Of(r.seen[last].passed-r.seen[first].passed, r.seen[last].at-r.seen[first].at)
}

// queue is the median queue at feedbacks from a time on.
func (r *road) queue(from time.Duration) time.Duration {
	var all []time.Duration
	for _, o := range r.seen {
		if o.at >= from {
			all = append(all, o.queue)
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// share is how much of the feedbacks from a time on left the state so.
func (r *road) share(state string, from time.Duration) float64 {
	n, in := 0, 0
	for _, o := range r.seen {
		if o.at >= from {
			n++
			if o.u.State == state {
				in++
			}
		}
	}
	return float64(in) / float64(max(n, 1))
}

// first is when a condition was first met after a time; -1 if never.
func (r *road) first(from time.Duration, is func(o observation) bool) time.Duration {
	for _, o := range r.seen {
		if o.at >= from && is(o) {
			return o.at - from
		}
	}
	return -1
}

// near fails the test unless got is within part of want.
func near(t *testing.T, what string, got, want rate.Rate, part float64) {
	t.Helper()
	if d := float64(got - want); d > part*float64(want) || -d > part*float64(want) {
		t.Errorf("%s is %v, want %v within %.0f %%", what, got, want, 100*part)
	}
}
