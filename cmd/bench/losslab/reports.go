package losslab

import (
	"cmp"
	"slices"
	"time"

	"nearglass/cc"
)

const (
	// twccEvery is how often a browser says what arrived, by default; twccStep is
	// the resolution of the times in it.
	twccEvery = 100 * time.Millisecond
	twccStep  = 250 * time.Microsecond
	// reportEvery is how often it sends a receiver report.
	reportEvery = time.Second
)

// reports says what arrived: transport-wide feedback and receiver reports.
type reports struct {
	origin  time.Time
	arrived []arrival // since the last feedback
	next    uint64    // the first transport-wide number that no feedback spoke of
	feedAt  time.Time

	reportAt        time.Time
	asked, askedAt  time.Time // when the newest sender report left and came
	highest, before int64     // media numbers, now and at the last report
	came            int64     // media packets since
}

type arrival struct {
	sequence uint64
	media    int64
	at       time.Time
}

func newReports(origin time.Time) reports {
	return reports{origin: origin, next: 1, feedAt: origin.Add(twccEvery), reportAt: origin.Add(reportEvery)}
}

// take notes a packet.
func (r *reports) take(now time.Time, p *packet) {
	if p.report {
		r.asked, r.askedAt = p.left, now
		return
	}
	r.arrived = append(r.arrived, arrival{p.sequence, p.media, now})
	if !p.resent() {
		if r.before == 0 {
			r.before = p.media - 1
		}
		r.came++
		r.highest = max(r.highest, p.media)
	}
}

// due is when something is to be said.
func (r *reports) due() (at time.Time) {
	if len(r.arrived) > 0 {
		at = r.feedAt
	}
	return earliest(at, r.reportAt)
}

// say gives what is due.
func (r *reports) say(now time.Time) (list []message) {
	if len(r.arrived) > 0 && !now.Before(r.feedAt) {
		list = append(list, r.feedback())
		r.feedAt = now.Add(twccEvery)
	}
	if !now.Before(r.reportAt) {
		if r.highest > r.before {
			list = append(list, r.report(now))
		}
		r.reportAt = now.Add(reportEvery)
	}
	return list
}

// feedback is one of transport-cc: a state for each number since the last.
func (r *reports) feedback() (m message) {
	slices.SortStableFunc(r.arrived, func(a, b arrival) int { return cmp.Compare(a.sequence, b.sequence) })
	for _, a := range r.arrived {
		for ; r.next < a.sequence; r.next++ {
			m.acks = append(m.acks, cc.Ack{Sequence: r.next, Lost: true})
		}
		r.next = max(r.next, a.sequence+1)
		m.acks = append(m.acks, cc.Ack{Sequence: a.sequence, Arrived: a.at.Sub(r.origin).Truncate(twccStep)})
		m.received = append(m.received, uint16(a.media))
	}
	r.arrived = r.arrived[:0]
	return m
}

// report is a receiver report.
func (r *reports) report(now time.Time) message {
	m := message{reported: true, lossFraction: 1 - float64(r.came)/float64(r.highest-r.before)}
	m.lossFraction = max(m.lossFraction, 0)
	if !r.asked.IsZero() {
		m.asked, m.held = r.asked, now.Sub(r.askedAt)
	}
	r.before, r.came = r.highest, 0
	return m
}
