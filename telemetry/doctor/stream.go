package doctor

import (
	"fmt"
	"math"

	"nearglass/telemetry"
)

// askedKeys counts the key frames of a second that something had gone wrong for.
func askedKeys(m *moment) int {
	k := m.host.Keys
	return k[telemetry.KeyViewer] + k[telemetry.KeyLoss] + k[telemetry.KeyDropped]
}

// keyFrameStorm: key frames again and again, each as large as many pictures.
func keyFrameStorm(v *view) Finding {
	hits := v.those(func(m *moment) bool { return askedKeys(m) > 0 }).crowd()
	keys := hits.sum(askedKeys)
	if keys < 5 || len(hits) < 3 {
		return Finding{}
	}
	stretch := (hits[len(hits)-1].t - hits[0].t) / 1000
	often := ratio(float64(keys), stretch+1)
	if often < 0.2 {
		return Finding{}
	}
	loss := hits.mean((*moment).loss)
	return Finding{
		Severity: (0.2 + 0.8*half(often, 0.8)) * min(1, float64(keys)/6), Certainty: 0.9 - 0.5*half(loss, 0.02), at: hits.numbers(),
		Evidence: []string{
			fmt.Sprintf("%d key frames were encoded because they were asked for, %.1f a second, between %s and %s", keys, often, clock(hits[0].t), clock(hits[len(hits)-1].t)),
			fmt.Sprintf("the viewer asked %d times, while %.1f %% of the packets were lost", hits.sum(func(m *moment) int { return m.host.Packets.KeyAsked }), 100*loss),
		},
	}
}

// probeStarvation: after a quiet time the rate begins low and rises slowly,
// because nothing was sent that could have told what the path carries.
func probeStarvation(v *view) Finding {
	var f Finding
	before := 0.0 // the most that was allowed so far
	for i := 0; i < len(v.live); {
		idle := i
		for i < len(v.live) && quiet(&v.live[i]) {
			i++
		}
		if i-idle >= 4 && i < len(v.live) {
			if g := v.starvedAt(idle, i, before); g.Severity > f.Severity {
				f = g
			}
		}
		if i == idle {
			i++
		}
		before = max(before, moments(v.live[idle:i]).most(allowed))
	}
	return f
}

// quiet says whether hardly anything was sent.
func quiet(m *moment) bool {
	return m.host.Rate.VideoKbps < 300 && m.host.Rate.VideoKbps < 0.25*max(m.host.Rate.TargetKbps, 1)
}

// roundsMs says how many more seconds a rise may take where the round trip is
// long: each step of it needs a dozen of them.
const roundsMs = 80

// allowed is what the encoder might use at the end of the second, kbit/s.
func allowed(m *moment) float64 { return m.host.Rate.TargetKbps }

// starvedAt looks at the rise after the quiet moments from idle to begin. The
// most that was allowed before them shows what the path carries, too.
func (v *view) starvedAt(idle, begin int, before float64) Finding {
	end := begin
	for end < len(v.live) && end < begin+25 && !quiet(&v.live[end]) {
		end++
	}
	rise := moments(v.live[begin:end])
	if len(rise) < 4 {
		return Finding{}
	}
	reached := max(rise.most(allowed), before)
	low := 0
	for low < len(rise) && allowed(&rise[low]) < 0.6*reached && rise[low].busy() {
		low++
	}
	first := max(rise[0].host.Rate.LeastKbps, 1)
	probes := moments(v.live[max(idle, begin-4):min(end, begin+3)]).sum(func(m *moment) int { return m.host.Rate.Probes })
	held := moments(rise[:low])
	if float64(low) < 3+rise[0].baseRTT/roundsMs || reached < 2*first || held.mean((*moment).excess) > 60 || held.mean((*moment).loss) > 0.02 {
		return Finding{}
	}
	sure := 0.85
	if probes > 0 {
		sure = 0.4
	}
	return Finding{
		Severity: half(float64(low), 4) * (0.4 + 0.6*half(math.Log2(reached/first), 1)), Certainty: sure, at: held.numbers(),
		Evidence: []string{
			fmt.Sprintf("after %d quiet seconds the rate began at %.1f Mbit/s at %s, took %d s to come near the %.1f that the path carried, and no queue or loss held it down",
				begin-idle, first/1000, clock(rise[0].t), low, reached/1000),
			fmt.Sprintf("%d probe trains were sent before and at the beginning", probes),
		},
	}
}

// jumpMs is a step of a wall clock that somebody could notice.
const jumpMs = 500

// clockJump: a wall clock was set. The stream does not depend on it, but what
// is signed with a time does.
func clockJump(v *view) Finding {
	var f Finding
	worst := 0.0
	for _, e := range v.t.Events {
		if e.Name != telemetry.EventClockJump || math.Abs(e.AmountMs) < jumpMs {
			continue
		}
		worst = max(worst, math.Abs(e.AmountMs))
		f.Evidence = append(f.Evidence, fmt.Sprintf("at %s the wall clock of the %s stepped by %+.1f s", clock(e.At), e.Side, e.AmountMs/1000))
		f.at = append(f.at, v.around(e.At, 2)...)
	}
	if worst > 0 {
		f.Severity, f.Certainty = 0.25+0.3*half(worst/1000, 60), 0.97
	}
	f.Evidence = shorten(f.Evidence)
	return f
}
