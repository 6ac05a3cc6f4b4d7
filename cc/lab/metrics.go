package lab

import (
	"math"
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
	i := int(math.Ceil(p/100*float64(len(values)))) - 1
	return values[min(max(i, 0), len(values)-1)]
}

// wantedStep is the grain in which demand is compared with capacity, and
// wantedBacklog how much demand may wait for capacity.
const (
	wantedStep    = 100 * time.Millisecond
	wantedBacklog = 500 * time.Millisecond
)

// wanted gives the bytes that a stream alone on its link could have delivered:
// all of the capacity while its content fills it, less while it does not.
func (r *Result) wanted(flow int, from, to time.Duration) float64 {
	spec := r.Scenario.Flows[flow]
	sum, backlog := 0.0, 0.0
	for t := from; t < to; t += wantedStep {
		end := min(t+wantedStep, to)
		backlog += spec.Content.share(t-spec.From, end-spec.From) * float64(end-t)
		used := min(backlog, float64(end-t))
		backlog = min(backlog-used, float64(wantedBacklog))
		sum += float64(r.capacity(flow, t, end)) * used / float64(end-t)
	}
	return sum
}

// utilization is the share of what could have been delivered that was, in
// percent.
func (r *Result) utilization(flow int, from, to time.Duration) float64 {
	return 100 * float64(r.Flows[flow].delivered(from, to)) / max(1, r.wanted(flow, from, to))
}

// standing gives the queues that the first packets of frames met, in the worst
// order for none: a frame whose first packet was lost is left out.
func (l *Log) standing(from, to time.Duration) []time.Duration {
	var met []time.Duration
	for i := range l.Sent {
		p := &l.Sent[i]
		if p.First && p.Kind == Media && p.Arrived > 0 && p.Sent >= from && p.Sent < to {
			met = append(met, p.Found)
		}
	}
	return met
}

// never stands for what did not happen within the run.
const never = 10 * time.Second

// deliveries gives how long frames took from the pacer to their last packet's
// arrival, less the path's own delay. One that never arrived whole took
// longest of all. Frames at the very end have no time to arrive and are left
// out.
func (l *Log) deliveries(from, to time.Duration) []time.Duration {
	var took []time.Duration
	for _, f := range l.Frames {
		switch {
		case f.Enqueued < from || f.Enqueued >= to-time.Second:
		case f.Arrived == 0:
			took = append(took, never)
		default:
			took = append(took, f.Arrived-f.Enqueued-l.oneWay)
		}
	}
	return took
}

// lateness gives by how much frames came later than over a link of the same
// rate that never idles while one waits: what pacing, a standing queue, repairs
// and others on the path add. Large pictures need their time on any link.
func (r *Result) lateness(flow int, from, to time.Duration) []time.Duration {
	l := r.Flows[flow]
	var late []time.Duration
	var ideal time.Duration
	for _, f := range l.Frames {
		packets := (f.Bytes + payloadBytes - 1) / payloadBytes
		bytes := f.Bytes + packets*(overheadBytes+ipBytes)
		start := max(ideal, f.Enqueued)
		ideal = start + rate.Of(r.capacity(flow, start, start+frameInterval), frameInterval).Duration(bytes)
		switch {
		case f.Enqueued < from || f.Enqueued >= to-time.Second:
		case f.Arrived == 0:
			late = append(late, never)
		default:
			late = append(late, max(0, f.Arrived-l.oneWay-ideal))
		}
	}
	return late
}

// rampWindow is over which a delivered rate is taken: six pictures.
const rampWindow = 100 * time.Millisecond

// reached gives when, counted from from, the delivered rate came to want; the
// time until to when it never did.
func (l *Log) reached(from, to time.Duration, want rate.Rate) time.Duration {
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
			return a.at - from
		}
	}
	return to - from
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

// worst gives the longest queue that a packet met which arrived in a time.
func (l *Log) worst(from, to time.Duration) time.Duration {
	var w time.Duration
	for i := range l.Sent {
		if p := &l.Sent[i]; p.Arrived > from && p.Arrived <= to {
			w = max(w, p.Found)
		}
	}
	return w
}

// settleHold is how long a queue has to stay short to count as drained.
const settleHold = time.Second

// drained gives when, counted from from, the queue was below limit and stayed
// there for a second. A packet that met a queue says how long that lasted; one
// that was dropped met a full one.
func (l *Log) drained(from, to time.Duration, limit time.Duration) time.Duration {
	last := from
	for i := range l.Sent {
		p := &l.Sent[i]
		if p.Sent < from || p.Sent >= to || p.Arrived > 0 && p.Found < limit {
			continue
		}
		if p.Sent > last+settleHold {
			break
		}
		found := p.Found
		if p.Arrived == 0 {
			found = queueLimit
		}
		last = max(last, p.Sent+found-limit)
	}
	return last - from
}

// shows gives the first feedback that shows a change of the link at when: it
// tells of arrivals over a frame interval after that. Less is a few packets,
// whose spacing jitter explains as well.
func (l *Log) shows(when time.Duration) time.Duration {
	for _, f := range l.Feedbacks {
		if f.Last >= when+l.oneWay+frameInterval {
			return f.At
		}
	}
	return never
}

// targetBelow gives when, counted from from, the target was at or below limit
// and stayed so for a second; the time until to when it never was.
func (l *Log) targetBelow(from, to time.Duration, limit rate.Rate) time.Duration {
	since := time.Duration(-1)
	if l.updateAt(from).Target <= limit {
		since = from
	}
	for _, u := range l.Updates {
		switch {
		case u.At <= from || u.At >= to:
		case u.Target > limit && since >= 0 && u.At-since < settleHold:
			since = -1
		case u.Target <= limit && since < 0:
			since = u.At
		}
	}
	if since < 0 {
		return to - from
	}
	return since - from
}

// targetAbove gives when, counted from from, the target came to want.
func (l *Log) targetAbove(from, to time.Duration, want rate.Rate) time.Duration {
	for _, u := range l.Updates {
		if u.Target >= want && u.At >= from && u.At < to {
			return u.At - from
		}
	}
	return to - from
}

// lossShare is the share of the packets sent in a time that never arrived, in
// percent. The last half second of a run has no time to arrive.
func (l *Log) lossShare(from, to time.Duration) float64 {
	sent, lost := 0, 0
	for i := range l.Sent {
		if p := &l.Sent[i]; p.Sent >= from && p.Sent < to-500*time.Millisecond {
			sent++
			if p.Arrived == 0 {
				lost++
			}
		}
	}
	return 100 * float64(lost) / float64(max(1, sent))
}

// provenPackets is how many packets in a row prove a rate.
const provenPackets = 5

// overclaim gives the largest ratio of the target to the highest rate that the
// path had proven until then, by packets that arrived in a row.
func (l *Log) overclaim(from, to time.Duration) float64 {
	arrivals := l.all(to)
	var proven rate.Rate
	worst, next := 0.0, 0
	updates := append([]Change{}, l.Updates...)
	if first := l.updateAt(from); first.At < from {
		first.At = from // it is in force at the beginning
		updates = append(updates, first)
		slices.SortStableFunc(updates, func(a, b Change) int { return int(a.At - b.At) })
	}
	for _, u := range updates {
		if u.At >= to {
			break
		}
		for ; next < len(arrivals) && arrivals[next].at <= u.At; next++ {
			if next < provenPackets {
				continue
			}
			bytes := 0
			for _, a := range arrivals[next-provenPackets+1 : next+1] {
				bytes += a.size
			}
			span := arrivals[next].at - arrivals[next-provenPackets].at
			proven = max(proven, rate.Of(bytes, max(span, twccStep)))
		}
		if u.At >= from && proven > 0 {
			worst = max(worst, float64(u.Target)/float64(proven))
		}
	}
	return worst
}

// all lists every packet that arrived until to, in order of time.
func (l *Log) all(to time.Duration) []sized {
	var list []sized
	for i := range l.Sent {
		if p := &l.Sent[i]; p.Arrived > 0 && p.Arrived <= to {
			list = append(list, sized{p.Arrived, p.Size})
		}
	}
	slices.SortStableFunc(list, func(a, b sized) int { return int(a.at - b.at) })
	return list
}

// jain is Jain's fairness index of what the streams delivered in a time.
func (r *Result) jain(from, to time.Duration) float64 {
	sum, squares := 0.0, 0.0
	for _, l := range r.Flows {
		v := float64(l.delivered(from, to))
		sum += v
		squares += v * v
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(r.Flows)) * squares)
}

// fairWindow is over which fairness is judged, and fairHold how long it has to
// last.
const (
	fairWindow = time.Second
	fairHold   = 3
)

// fair gives when, counted from from, the streams shared fairly for three
// seconds.
func (r *Result) fair(from, to time.Duration, index float64) time.Duration {
	good := 0
	for t := from; t+fairWindow <= to; t += fairWindow / 4 {
		if r.jain(t, t+fairWindow) < index {
			good = 0
			continue
		}
		if good++; good == 4*fairHold {
			return t + fairWindow - fairHold*fairWindow - from
		}
	}
	return to - from
}
