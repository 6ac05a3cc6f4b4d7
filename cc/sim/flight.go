package sim

import "time"

// duplicateThreshold is how many later segments must have been acknowledged
// before one counts as lost (RFC 5681, 3.2, and RFC 6675).
const duplicateThreshold = 3

// segment is what a sender knows of one transmission.
type segment struct {
	at      time.Duration // when it was sent
	settled bool          // acknowledged
}

// flight is a sender's record of what it sent. Each transmission has an ID of
// its own, as in QUIC, so an acknowledgement says all that SACK would.
type flight struct {
	segments ring[segment]
	first    uint64 // ID of the oldest in segments
	open     int    // not yet acknowledged or lost
	latest   uint64 // one above the highest ID acknowledged
}

func (f *flight) next() uint64 { return f.first + uint64(f.segments.count) }

func (f *flight) send(t time.Duration) (id uint64) {
	id = f.next()
	f.segments.push(segment{at: t})
	f.open++
	return id
}

// acknowledge settles a segment and gives when it was sent; false when it was
// settled or given up before.
func (f *flight) acknowledge(id uint64) (sent time.Duration, known bool) {
	if id < f.first || id >= f.next() || f.segments.at(int(id-f.first)).settled {
		return 0, false
	}
	s := f.segments.at(int(id - f.first))
	s.settled = true
	f.open--
	f.latest = max(f.latest, id+1)
	return s.at, true
}

// takeLost forgets the oldest segments down to those that may still come, and
// gives how many of them are lost and the highest ID among these.
func (f *flight) takeLost() (lost int, highest uint64) {
	for f.segments.count > 0 && (f.segments.at(0).settled || f.first+duplicateThreshold < f.latest) {
		if !f.segments.pop().settled {
			lost++
			highest = f.first
			f.open--
		}
		f.first++
	}
	return lost, highest
}

// giveUp counts all that is open as lost.
func (f *flight) giveUp() (lost int) {
	lost = f.open
	f.first = f.next()
	f.segments.clear()
	f.open = 0
	return lost
}
