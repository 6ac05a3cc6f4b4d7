package cc

import "time"

const (
	// leastShift is by how much at least, beyond the noise, the delay has to rise from
	// one train to the next for another path to be suspected.
	leastShift = 8 * time.Millisecond
	// shiftNoise is how many times the noise it is.
	shiftNoise = 4
	// shiftFor is how long it has to stay there, and shiftSlack within what. The stream
	// sends less meanwhile, as behind any queue; a queue that others fill goes up or down
	// by more in that time.
	shiftFor   = 800 * time.Millisecond
	shiftSlack = 3 * time.Millisecond
	// shiftTrains are needed before the jump, and in that time, and one in shiftAstray may
	// be further off: what our own pictures put in front of each other is.
	shiftTrains = 12
	shiftAstray = 4
	// shiftWait is how long a level may take to show: a path that became narrower too
	// first has a queue.
	shiftWait = 5 * time.Second
)

// shift notices that the path has become longer in the middle of a stream: a tunnel took
// another route, say. The delay jumps and stays where it is, whatever is sent. Taken for a
// queue it would hold the stream down until the least delay of the past is forgotten. But a
// queue stays too while as much comes as the path carries: only when the stream has left it
// so much time that a queue of that length had drained, it was none.
type shift struct {
	jumped         time.Time     // zero: not of late
	before         time.Duration // the delay until then
	at             time.Time     // since when it is looked whether it stays
	level          time.Duration // where
	trains, astray int
	busy           time.Duration // what the bottleneck took for our packets since then
}

// look begins anew with a level.
func (w *shift) look(at time.Time, level time.Duration) {
	w.at, w.level, w.trains, w.astray, w.busy = at, level, 0, 0, 0
}

// watch takes the next train, before it is remembered, and what the bottleneck took for it.
func (q *queue) watch(s *sample, took time.Duration) {
	w := &q.shift
	if q.n >= shiftTrains && s.first-q.back(0).delay > leastShift+shiftNoise*q.noise() {
		if w.jumped.IsZero() {
			w.jumped, w.before = s.at, q.back(0).delay
		}
		w.look(s.at, s.first)
	}
	switch {
	case w.jumped.IsZero():
		return
	case s.first-w.before < leastShift, s.at.Sub(w.jumped) > shiftWait:
		*w = shift{}
		return
	case s.first-w.level < -shiftSlack: // it was no level
		w.look(s.at, s.first)
	case s.first-w.level > shiftSlack:
		w.astray++
	}
	w.level = min(w.level, s.first)
	w.trains++
	w.busy += took
	since, longer := s.at.Sub(w.at), w.level-w.before
	switch {
	case since < shiftFor || w.trains < shiftTrains:
	case w.astray*shiftAstray > w.trains:
		w.look(s.at, s.first)
	case since-w.busy > longer: // a queue would be gone
		q.rebase(longer)
		*w = shift{}
	}
}

// rebase takes the path to be longer by so much since the jump.
func (q *queue) rebase(longer time.Duration) {
	q.base += longer
	q.next = q.base
	for i := range q.known() {
		if h := q.back(i); !h.at.Before(q.shift.jumped) {
			h.unforeseen -= longer
		}
	}
}
