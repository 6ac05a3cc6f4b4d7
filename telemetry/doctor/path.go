package doctor

import (
	"fmt"
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
	for i := range list {
		r := &list[i]
		r.moments = choose(v.all, func(m *moment) bool { return m.t-span(*m)/2 >= r.from && m.t-span(*m)/2 < r.to })
		var rtts []float64
		for _, m := range r.moments {
			if m.host.RTT != nil {
				rtts = append(rtts, m.host.RTT.Mean)
			}
		}
		r.rtt = quantile(rtts, 0.1)
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

// wrongPath: a path was in use while a faster one was known to be there.
func wrongPath(v *view) Finding {
	var f Finding
	list := v.roads()
	for i, r := range list {
		for j, better := range list {
			if i == j || better.rtt == 0 || r.rtt == 0 || len(r.moments) < 3 || len(better.moments) < 2 || better.path.Kind == r.path.Kind && better.path.Label == r.path.Label {
				continue
			}
			gain := r.rtt - better.rtt
			severity := half(gain-5, 40) * min(1, float64(len(r.moments))/5)
			if gain < 12 || r.rtt < 1.7*better.rtt || severity <= f.Severity {
				continue
			}
			f = Finding{
				Severity: severity, Certainty: 0.8, at: r.moments.numbers(),
				Evidence: []string{
					fmt.Sprintf("from %s to %s the path was %s, %.0f ms there and back", clock(r.from), clock(r.to), r.path.Label, r.rtt),
					fmt.Sprintf("from %s to %s it was %s, %.0f ms", clock(better.from), clock(better.to), better.path.Label, better.rtt),
				},
			}
		}
	}
	return f
}
