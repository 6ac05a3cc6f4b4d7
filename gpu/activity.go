package gpu

import "time"

// Published is one picture that the writer published.
type Published struct {
	At   time.Time
	Grab time.Duration // how long copying it took
}

// activity remembers what the writer did, for figures.
type activity struct {
	last  [256]Published // by number: a second of the fastest source
	count int
	busy  time.Time // since when the writer waits for the source's answer; zero: it does not
}

func (a *activity) published(captured time.Time) {
	now := time.Now()
	a.last[a.count%len(a.last)] = Published{now, now.Sub(captured)}
	a.count++
}

// Asking tells that the writer waits for an answer of the source from now on,
// or, with the zero time, that it does no more. It belongs to the writer.
func (r *Ring) Asking(since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.activity.busy = since
}

// Published lists the pictures that were published after a moment, the oldest
// first, with the one before them, and says since when the writer waits for the
// source's answer; zero if it does not.
func (rd *Reader) Published(after time.Time) (list []Published, asking time.Time) {
	rd.ring.mu.Lock()
	defer rd.ring.mu.Unlock()
	a := &rd.ring.activity
	first := a.count
	for first > 0 && first > a.count-len(a.last) && a.last[(first-1)%len(a.last)].At.After(after) {
		first--
	}
	if first > 0 && first > a.count-len(a.last) {
		first--
	}
	for i := first; i < a.count; i++ {
		list = append(list, a.last[i%len(a.last)])
	}
	return list, a.busy
}
