package lab

import (
	"slices"
	"time"

	"nearglass/cc"
)

// nackTries is how often a receiver asks for one packet, and nackPause how long
// it waits between two times: libwebrtc's kMaxNackRetries, and the round trip
// that it assumes where it does not know it (kDefaultRttMs). A viewer that sends
// no media is not told.
const (
	nackTries = 10
	nackPause = 100 * time.Millisecond
)

// report is what a receiver sends back at once: an RTCP packet or two.
type report struct {
	acks     []cc.Ack
	received []uint16
	nacks    []uint16
}

// sizeBytes is about what the report weighs: RTCP header and base of
// transport-cc, two bits of status and a byte of delta a packet; or a NACK with
// an entry for each run of 17; and SRTCP's index and tag.
func (p *report) sizeBytes() int {
	return 20 + len(p.acks)/4 + len(p.received) + 4*((len(p.nacks)+16)/17) + 14
}

// receiver is a viewer's side: it reports arrivals and asks for what is missing.
type receiver struct {
	every   time.Duration // between feedbacks
	feedAt  time.Time     // when the next feedback is due
	origin  time.Time     // of the arrival times it tells
	arrived []arrival     // since the last feedback
	next    uint64        // the first transport-wide number that no feedback spoke of
	last    time.Time     // the latest arrival

	highest int64 // media number; -1 before the first
	missing []request
}

type arrival struct {
	sequence uint64
	media    int64
	at       time.Time
}

type request struct {
	media int64
	due   time.Time
	tries int
}

// take notes a packet that arrived.
func (r *receiver) take(now time.Time, a arrival, resent bool) {
	r.arrived = append(r.arrived, a)
	r.last = now
	if resent || a.media <= r.highest {
		r.missing = slices.DeleteFunc(r.missing, func(m request) bool { return m.media == a.media })
		return
	}
	for m := r.highest + 1; m < a.media; m++ {
		r.missing = append(r.missing, request{media: m, due: now})
	}
	r.highest = a.media
}

// due returns when the receiver has something to say.
func (r *receiver) due() time.Time {
	var at time.Time
	if len(r.arrived) > 0 {
		at = r.feedAt
	}
	for _, m := range r.missing {
		at = earliest(at, m.due)
	}
	return at
}

// nacks lists what is to be asked for at now.
func (r *receiver) nacks(now time.Time) []uint16 {
	var list []uint16
	for i := range r.missing {
		m := &r.missing[i]
		if now.Before(m.due) {
			continue
		}
		list = append(list, uint16(m.media))
		m.tries++
		m.due = now.Add(nackPause)
	}
	r.missing = slices.DeleteFunc(r.missing, func(m request) bool { return m.tries >= nackTries })
	return list
}

// feedback makes the report that is due at now, if any.
func (r *receiver) feedback(now time.Time) (report, bool) {
	if now.Before(r.feedAt) {
		return report{}, false
	}
	for !r.feedAt.After(now) {
		r.feedAt = r.feedAt.Add(r.every)
	}
	if len(r.arrived) == 0 {
		return report{}, false
	}
	slices.SortStableFunc(r.arrived, func(a, b arrival) int { return int(int64(a.sequence) - int64(b.sequence)) })
	var p report
	for _, a := range r.arrived {
		for ; r.next < a.sequence; r.next++ {
			p.acks = append(p.acks, cc.Ack{Sequence: r.next, Lost: true})
		}
		r.next = max(r.next, a.sequence+1)
		p.acks = append(p.acks, cc.Ack{Sequence: a.sequence, Arrived: a.at.Sub(r.origin).Truncate(twccStep)})
		if a.media >= 0 {
			p.received = append(p.received, uint16(a.media))
		}
	}
	r.arrived = r.arrived[:0]
	return p, true
}

// earliest returns the earlier of two times; the zero time means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
