package doctor

import (
	"fmt"
	"math"
	"strings"

	"nearglass/telemetry"
)

// road is a stretch of the stream on one path.
type road struct {
	path     telemetry.Path
	from, to float64
	moments  moments // all of it
	rtt      float64 // the least, ms; 0: not known
}

// roads lists the paths that the stream took, in order.
func (v *view) roads() []road {
	var list []road
	for _, e := range v.t.Events {
		if e.Name != telemetry.EventPath || e.Path == nil || e.Side != telemetry.HostSide {
			continue
		}
		if n := len(list); n > 0 {
			list[n-1].to = e.At
		}
		list = append(list, road{path: *e.Path, from: e.At, to: v.seconds*1000 + 1})
	}
	next := 0
	for _, m := range v.all {
		middle := m.t - span(m)/2
		for next+1 < len(list) && middle >= list[next+1].from {
			next++
		}
		if len(list) > 0 && middle >= list[next].from {
			list[next].moments = append(list[next].moments, m)
		}
	}
	for i := range list {
		list[i].rtt = quantile(list[i].moments.rtts(), 0.1)
	}
	return list
}

// rtts are the round trips that the host knows, or else those of the viewer's
// checks of the path, as in a stream too still for the receiver's reports.
func (m moments) rtts() []float64 {
	var list, checks []float64
	for i := range m {
		if s := m[i].host.RTT; s != nil {
			list = append(list, s.Mean)
		}
		if rtt := m[i].viewer.Net.RTTMs; rtt > 0 {
			checks = append(checks, rtt)
		}
	}
	if len(list) == 0 {
		return checks
	}
	return list
}

// relayed says whether a program of somebody else's passes the packets on.
func relayed(kind string) bool {
	return kind == "turn" || strings.HasSuffix(kind, "-relayed") || strings.HasSuffix(kind, "-peer-relay")
}

// fineRTT is a round trip that hardly anybody feels in a desktop, ms.
const fineRTT = 45

// relayedPath: packets make a detour by a relay, and it is felt.
func relayedPath(v *view) Finding {
	var f Finding
	for _, r := range v.roads() {
		if !relayed(r.path.Kind) || len(r.moments) < 4 || r.rtt == 0 {
			continue
		}
		live := choose(r.moments, func(m *moment) bool { return m.hosted && !m.hidden && m.busy() })
		slow := half(r.rtt-fineRTT, 60)
		coarse := 0.7 * live.mean((*moment).qualityHarm) * min(1, float64(len(live))/5)
		severity := max(slow, coarse) * min(1, float64(len(r.moments))/5)
		if severity <= f.Severity {
			continue
		}
		f = Finding{
			Severity: severity, Certainty: 0.9, at: r.moments.numbers(),
			Evidence: []string{fmt.Sprintf("from %s to %s packets went by way of a relay (%s), %.0f ms there and back", clock(r.from), clock(r.to), r.path.Label, r.rtt)},
		}
		if coarse > 0.2 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("it carried %.1f Mbit/s", live.mean(func(m *moment) float64 { return m.host.Rate.TargetKbps })/1000))
		}
	}
	return f
}

// wrongPath: a path was in use while a faster one was known to be there: the
// stream took it at another time, or a check of another pair of addresses came
// back sooner all along.
func wrongPath(v *view) Finding {
	list := v.roads()
	best := -1
	for i, r := range list {
		if r.rtt > 0 && len(r.moments) >= 2 && (best < 0 || r.rtt < list[best].rtt) {
			best = i
		}
	}
	var f Finding
	for _, r := range list {
		if b := list[max(best, 0)]; r.path.Kind != b.path.Kind || r.path.Label != b.path.Label {
			f = slower(f, r, b.rtt, fmt.Sprintf("from %s to %s it was %s, %.0f ms", clock(b.from), clock(b.to), b.path.Label, b.rtt))
		}
		if others := r.moments.others(); len(others) >= 5 && r.rtt > 0 {
			other := quantile(others, 0.5)
			r.rtt = min(r.rtt, r.moments.least()) // a path not in use has no queue
			f = slower(f, r, other, fmt.Sprintf("another pair of addresses worked all the while, %.0f ms", other))
		}
	}
	return f
}

// least is the shortest round trip by any measure; infinite where none is known.
func (m moments) least() float64 {
	least := math.Inf(1)
	for i := range m {
		if s := m[i].host.RTT; s != nil {
			least = min(least, s.Mean)
		}
		if rtt := m[i].viewer.Net.RTTMs; rtt > 0 {
			least = min(least, rtt)
		}
	}
	return least
}

// others are the round trips of the fastest pair of addresses that was not in
// use, as either end measured it.
func (m moments) others() []float64 {
	var list []float64
	for i := range m {
		h, w := m[i].host.OtherRTTMs, m[i].viewer.Net.OtherRTTMs
		switch {
		case h != nil && w != nil:
			list = append(list, min(*h, *w))
		case h != nil:
			list = append(list, *h)
		case w != nil:
			list = append(list, *w)
		}
	}
	return list
}

// slower is the worse of what was found and that a road was taken where one of
// another round trip was there.
func slower(f Finding, r road, better float64, told string) Finding {
	gain := r.rtt - better
	severity := half(gain-5, 40) * min(1, float64(len(r.moments))/5)
	if better == 0 || gain < 12 || r.rtt < 1.7*better || len(r.moments) < 3 || severity <= f.Severity {
		return f
	}
	return Finding{
		Severity: severity, Certainty: 0.8, at: r.moments.numbers(),
		Evidence: []string{fmt.Sprintf("from %s to %s the path was %s, %.0f ms there and back", clock(r.from), clock(r.to), r.path.Label, r.rtt), told},
	}
}
