package lab

import (
	"fmt"
	"io"
	"time"

	"nearglass/cc/rate"
)

// traceEvery is the step of a trace.
const traceEvery = 100 * time.Millisecond

// Trace prints what happened to a stream between two times, a line a step: the
// rates in force at its end, what was delivered, the queue that the packets
// which arrived had met, and the controller's word.
func (r *Result) Trace(out io.Writer, flow int, from, to, every time.Duration) {
	if every <= 0 {
		every = traceEvery
	}
	l := r.Flows[flow]
	fmt.Fprintf(out, "%8s %9s %9s %9s %9s %7s %7s %5s  %s\n",
		"s", "target", "pace", "delivered", "capacity", "queue", "worst", "lost", "state: reason")
	for at := from; at < min(to, r.Scenario.Length); at += every {
		end := at + every
		u := l.updateAt(end)
		mean, worst := l.queue(at, end)
		fmt.Fprintf(out, "%8.2f %9.3f %9.3f %9.3f %9.3f %7.1f %7.1f %5d  %s: %s\n", end.Seconds(),
			mbps(u.Target), mbps(u.Pace), mbps(rate.Of(l.delivered(at, end), every)),
			mbps(rate.Of(r.capacity(flow, at, end), every)), millis(mean), millis(worst), l.lost(at, end), u.State, u.Reason)
	}
}

// queue gives the mean and the worst queue met by packets that arrived in a
// time.
func (l *Log) queue(from, to time.Duration) (mean, worst time.Duration) {
	var sum time.Duration
	n := 0
	for i := range l.Sent {
		if p := &l.Sent[i]; p.Arrived > from && p.Arrived <= to {
			sum += p.Found
			worst = max(worst, p.Found)
			n++
		}
	}
	if n == 0 {
		return 0, 0
	}
	return sum / time.Duration(n), worst
}

// lost counts the packets sent in a time that never arrived.
func (l *Log) lost(from, to time.Duration) int {
	n := 0
	for i := range l.Sent {
		if p := &l.Sent[i]; p.Sent > from && p.Sent <= to && p.Arrived == 0 {
			n++
		}
	}
	return n
}

func mbps(r rate.Rate) float64 { return float64(r) / float64(rate.Mbps) }
