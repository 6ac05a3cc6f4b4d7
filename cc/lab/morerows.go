package lab

import (
	"math"
	"strings"
	"time"

	"nearglass/cc/rate"
)

// ownRows are about streams that have little to send, and about a coarse timer.
func ownRows() []Row {
	big := func(r *Result) float64 {
		for _, f := range r.Flows[0].Frames {
			if f.Enqueued >= wakeAt {
				if f.Arrived == 0 {
					return frames(never)
				}
				return frames(f.Arrived - f.Enqueued - r.Flows[0].oneWay)
			}
		}
		return frames(never)
	}
	afterWake := func(r *Result) float64 { return millis(r.Flows[0].worst(wakeAt, r.Scenario.Length)) }
	limited := low("bored", "application-limited: target over what was proven", "x", 1.5, 1.5, func(r *Result) float64 {
		return r.Flows[0].overclaim(boredAt+time.Second, boredEnd)
	})
	return []Row{
		limited,
		low("stuck", "a limiting estimate that nothing confirms expires", "s", 20, 20, expiry),
		tell("wake", "frame of ten after 20 s of nothing: delivery", "frames", big),
		tell("wake", "frame of ten after 20 s of nothing: queue", "ms", afterWake),
		tell("wake, slower", "the same, path now 3 of 10: delivery", "frames", big),
		tell("wake, slower", "the same, path now 3 of 10: queue", "ms", afterWake),
		tell("wake, slower", "the same, path now 3 of 10: tail-dropped", "packets", func(r *Result) float64 {
			return float64(len(r.Flows[0].Dropped))
		}),
		high("fast, coarse tick", "15.6 ms tick: delivered of 60 Mbit/s", "Mbit/s", 20, 50, func(r *Result) float64 {
			return mbps(rate.Of(r.Flows[0].delivered(settled, r.Scenario.Length), r.Scenario.Length-settled))
		}),
		low("fast, coarse tick", "15.6 ms tick: queue p99 beyond an exact timer's", "ms", millis(coarseTick), millis(coarseTick),
			func(r *Result) float64 { return anyQueue(r) - anyQueue(r.Before) }),
		tell("fast", "queue p99 at 60 Mbit/s, exact timer", "ms", anyQueue),
	}
}

// anyQueue is the queue that all packets meet, at the 99th percentile.
func anyQueue(r *Result) float64 {
	var met []time.Duration
	for i := range r.Flows[0].Sent {
		if p := &r.Flows[0].Sent[i]; p.Arrived > settled {
			met = append(met, p.Found)
		}
	}
	return millis(percentile(met, 99))
}

// expiry is how long an estimate from a slow spell goes on to limit, when the
// content asks for so little that it is not confirmed.
func expiry(r *Result) float64 {
	l := r.Flows[0]
	low := l.updateAt(stuckEnd).Target
	return l.targetAbove(stuckEnd, r.Scenario.Length, low.Scale(1.5)).Seconds()
}

// together is what all streams delivered of what their link could carry. On a
// path with streams both ways it is the lesser of the two.
func (r *Result) together(from, to time.Duration) float64 {
	var sum [2]float64
	var could [2]float64
	for i, l := range r.Flows {
		way := 0
		if r.Scenario.Flows[i].Reverse {
			way = 1
		}
		sum[way] += float64(l.delivered(from, to))
		could[way] = float64(r.capacity(i, from, to))
	}
	share := 100 * sum[0] / could[0]
	if could[1] > 0 {
		share = min(share, 100*sum[1]/could[1])
	}
	return share
}

// allStanding is the standing queue over all streams.
func (r *Result) allStanding(p float64) time.Duration {
	var met []time.Duration
	for i, l := range r.Flows {
		met = append(met, l.standing(r.Scenario.Flows[i].From+settled, r.Scenario.Length)...)
	}
	return percentile(met, p)
}

// power is throughput over delay (Kleinrock, "Power and deterministic rules of
// thumb for probabilistic problems in computer communications", 1979), one
// figure for a trade that can be won on either side by losing the other: the
// share used, in percent, over the 95th percentile of the one-way delay in
// frames' first packets, relative to that of the empty path.
func (r *Result) power() float64 {
	path := max(r.Flows[0].oneWay, 10*time.Millisecond)
	return r.together(settled, r.Scenario.Length) / (1 + float64(r.allStanding(95))/float64(path))
}

// caseRows are the rows of one scenario that is judged against the baselines.
func caseRows(name string) []Row {
	util := Row{Scenario: name, Measure: name + ": used", Unit: "%", Higher: true, value: func(r *Result) float64 {
		return r.together(settled, r.Scenario.Length)
	}}
	power := Row{Scenario: name, Measure: name + ": power", Unit: "%", Higher: true, Beat: true, value: (*Result).power}
	queue := tell(name, name+": standing queue p95", "ms", func(r *Result) float64 { return millis(r.allStanding(95)) })
	return []Row{util, queue, power}
}

// rfcRows are those of RFC 8867.
func rfcRows() []Row {
	var rows []Row
	for _, s := range rfc8867() {
		rows = append(rows, caseRows(s.Name)...)
		if len(s.Flows) > 1 && s.Reverse == nil {
			rows = append(rows, Row{Scenario: s.Name, Measure: s.Name + ": Jain's index", Higher: true, value: lastJain})
		}
		if strings.HasPrefix(s.Name, "5.6") {
			rows = append(rows, Row{Scenario: s.Name, Measure: s.Name + ": share", Unit: "%", Higher: true, value: tcpShare})
		}
	}
	return rows
}

// lastJain is Jain's index of the last third of a run, while all streams are
// there.
func lastJain(r *Result) float64 { return r.jain(r.Scenario.Length*2/3, r.Scenario.Length) }

// tcpShare is the stream's part of what it and the TCP flow delivered.
func tcpShare(r *Result) float64 {
	from, to := 10*time.Second, r.Scenario.Length
	own := float64(r.Flows[0].delivered(from, to))
	return 100 * own / math.Max(1, own+float64(r.Cross[0].delivered(from, to)))
}

// wirelessRows are those of the radio paths.
func wirelessRows() []Row {
	var rows []Row
	for _, s := range wireless() {
		rows = append(rows, caseRows(s.Name)...)
	}
	return rows
}
