package lab

import (
	"slices"
	"time"

	"nearglass/cc/rate"
)

// percentile gives the p-th percentile, 0 to 100, by nearest rank; 0 of none.
func percentile(values []time.Duration, p float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	i := int(p/100*float64(len(values))+0.999999) - 1
	return values[min(max(i, 0), len(values)-1)]
}

// utilization is the share of the capacity that was delivered, in percent.
func (r *Result) utilization(flow int, from, to time.Duration) float64 {
	return 100 * float64(r.Flows[flow].delivered(from, to)) / float64(max(1, r.capacity(from, to)))
}

// standing gives the queues that the first packets of frames met.
func (l *Log) standing(from, to time.Duration) []time.Duration {
	var met []time.Duration
	for _, f := range l.Frames {
		if f.Arrived > 0 && f.Enqueued >= from && f.Enqueued < to {
			met = append(met, f.Found)
		}
	}
	return met
}

// deliveries gives how long frames took from the pacer to their last packet's
// arrival, less the path's own delay. One that never arrived whole took
// longest of all.
func (l *Log) deliveries(from, to, oneWay time.Duration) []time.Duration {
	var took []time.Duration
	for _, f := range l.Frames {
		if f.Enqueued < from || f.Enqueued >= to-time.Second {
			continue
		}
		if f.Arrived == 0 {
			took = append(took, time.Hour)
			continue
		}
		took = append(took, f.Arrived-f.Enqueued-oneWay)
	}
	return took
}

// rampWindow is over which a delivered rate is taken: six pictures.
const rampWindow = 100 * time.Millisecond

// reached gives when, counted from from, the delivered rate came to want;
// false when it never did.
func (l *Log) reached(from, to time.Duration, want rate.Rate) (time.Duration, bool) {
	bytes := want.Bytes(rampWindow)
	arrivals := l.arrivals(from, to)
	sum, first := 0, 0
	for _, a := range arrivals {
		sum += a.size
		for arrivals[first].at <= a.at-rampWindow {
			sum -= arrivals[first].size
			first++
		}
		if sum >= bytes {
			return a.at - from, true
		}
	}
	return to - from, false
}

// worst gives the longest queue that a packet met.
func (l *Log) worst(from, to time.Duration) time.Duration {
	var w time.Duration
	for i := range l.Sent {
		if p := &l.Sent[i]; p.Arrived > from && p.Arrived <= to {
			w = max(w, p.Found)
		}
	}
	return w
}

type sized struct {
	at   time.Duration
	size int
}

// arrivals lists what was delivered, in order of time.
func (l *Log) arrivals(from, to time.Duration) []sized {
	var list []sized
	for i := range l.Sent {
		if p := &l.Sent[i]; p.useful() && p.Arrived > from && p.Arrived <= to {
			list = append(list, sized{p.Arrived, p.Size})
		}
	}
	slices.SortStableFunc(list, func(a, b sized) int { return int(a.at - b.at) })
	return list
}

// Figure is one number of a run.
type Figure struct {
	Name  string
	Value float64
	Unit  string
}

// Figures gives the figures that any run has, for its first stream.
func (r *Result) Figures() []Figure {
	l, end, oneWay := r.Flows[0], r.Scenario.Length, r.Scenario.Forward.Delay
	after := min(5*time.Second, end/2)
	return []Figure{
		{"utilization", r.utilization(0, after, end), "%"},
		{"standing queue p95", millis(percentile(l.standing(after, end), 95)), "ms"},
		{"standing queue p99", millis(percentile(l.standing(after, end), 99)), "ms"},
		{"worst queue", millis(l.worst(0, end)), "ms"},
		{"frame delivery p95", float64(percentile(l.deliveries(after, end, oneWay), 95)) / float64(frameInterval), "frames"},
		{"dropped", float64(len(l.Dropped)), "packets"},
		{"frames", float64(len(l.Frames)), ""},
		{"packets", float64(len(l.Sent)), ""},
	}
}
