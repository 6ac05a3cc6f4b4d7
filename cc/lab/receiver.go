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
	// nackMost is how many packets it asks for at most (kMaxNackPackets); the
	// oldest are given up.
	nackMost = 1000
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
	asks    time.Time // when the first request of missing is due, or before
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
		i, found := slices.BinarySearchFunc(r.missing, a.media, func(m request, n int64) int { return int(m.media - n) })
		if found {
			r.missing = slices.Delete(r.missing, i, i+1)
		}
		return
	}
	for m := max(r.highest+1, a.media-nackMost); m < a.media; m++ {
		r.missing = append(r.missing, request{media: m, due: now})
		r.asks = now
	}
	if n := len(r.missing) - nackMost; n > 0 {
		r.missing = append(r.missing[:0], r.missing[n:]...)
	}
	r.highest = a.media
}

// due returns when the receiver has something to say.
func (r *receiver) due() time.Time {
	var at time.Time
	if len(r.arrived) > 0 {
		at = r.feedAt
	}
	if len(r.missing) > 0 {
		at = earliest(at, r.asks)
	}
	return at
}

// nacks lists what is to be asked for at now.
func (r *receiver) nacks(now time.Time) []uint16 {
	if len(r.missing) == 0 || now.Before(r.asks) {
		return nil
	}
	var list []uint16
	r.asks = time.Time{}
	for i := range r.missing {
		m := &r.missing[i]
		if !now.Before(m.due) {
			list = append(list, uint16(m.media))
			m.tries++
			m.due = now.Add(nackPause)
		}
		r.asks = earliest(r.asks, m.due)
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
