package doctor

import (
	"fmt"
	"math"
	"slices"

	"nearglass/telemetry"
)

// moment is one second of the stream, with what is asked of it most. A side that
// was silent is a zero record.
type moment struct {
	n            int     // its number in the timeline
	t            float64 // ms
	host         telemetry.HostSecond
	viewer       telemetry.ViewerSecond
	hosted       bool    // the host spoke
	viewed       bool    // the viewer did
	hidden       bool    // the viewer was out of sight for a part of it
	keyed        bool    // a key frame was made in it or in the one before
	baseRTT      float64 // the least round trip of its path, ms
	baseNet      float64 // and of its network delay
	net          float64 // how long pictures were on the network, ms, mean; NaN: not known
	netMax       float64 // and at least one of them, NaN likewise
	usualSilence float64 // how long the host usually hears nothing while packets are out, ms
}

// view is the timeline as the rules look at it.
type view struct {
	t       telemetry.Timeline
	all     []moment
	live    []moment // those in which pictures should have come: connected, in sight, past the start
	seconds float64  // how long the log is
	waits   bool     // the host's system tells how long threads waited for a core
}

// warmUpMs is left out at the start and after the viewer is back: congestion
// control looks for the path's rate, and the first key frame is on its way.
const warmUpMs = 2500

func newView(t telemetry.Timeline) *view {
	v := &view{t: t}
	for i, s := range t.Seconds {
		m := moment{n: i, t: s.T}
		if s.Host != nil {
			m.host, m.hosted = *s.Host, true
		}
		if s.Viewer != nil {
			m.viewer, m.viewed = *s.Viewer, true
		}
		m.hidden = m.host.Hidden || m.viewer.HiddenMs > 0
		m.keyed = len(m.host.Keys) > 0 || i > 0 && len(v.all[i-1].host.Keys) > 0
		m.measure(s.BoundMs, t.BoundMs)
		v.waits = v.waits || m.host.CPU.Wait > 0
		v.all = append(v.all, m)
	}
	if n := len(v.all); n > 0 {
		v.seconds = v.all[n-1].t / 1000
	}
	v.bases()
	v.settle()
	usual := quantile(moments(v.live).values(func(m *moment) float64 { return m.host.Rate.Silence }), 0.3)
	for i := range v.live {
		m := &v.live[i]
		m.usualSilence = max(usual, leastSilence)
		if m.host.Capture.Gap > steadyGapMs {
			m.usualSilence = max(m.usualSilence, m.baseRTT+reportMs)
		}
	}
	return v
}

// measure finds how long pictures were on the network: what is left of their way
// from capture to arrival when the host's own stages are taken off. It is known
// as well as the clocks are, so that seconds in which these were not are left
// out.
func (m *moment) measure(boundMs, usualMs float64) {
	m.net, m.netMax = math.NaN(), math.NaN()
	a := m.viewer.Delay.Arrive
	if !m.hosted || boundMs > 1.5*usualMs+5 {
		return
	}
	if a != nil && a.N >= fewPictures {
		own, most := ownStages(m.host.Delay)
		m.net, m.netMax = a.Mean-own, a.Max-most
	}
	if n := m.host.Shown.Network; n != nil && n.N >= fewPictures {
		m.net = n.Mean
		m.netMax = max(n.Max, m.netMax)
		if math.IsNaN(m.netMax) {
			m.netMax = n.Max
		}
	}
}

// settle chooses the live moments.
func (v *view) settle() {
	from := math.Inf(1)
	for _, e := range v.t.Events {
		if e.Name == telemetry.EventConnected {
			from = min(from, e.At)
		}
	}
	if math.IsInf(from, 1) {
		from = 0
	}
	from += warmUpMs
	for _, m := range v.all {
		if m.hidden || m.viewer.State == "reconnecting" {
			from = max(from, m.t+warmUpMs)
		}
		if m.t >= from && m.hosted && !m.host.Paused {
			v.live = append(v.live, m)
		}
	}
}

// bases finds the least delays of each path: between two changes of it.
func (v *view) bases() {
	var changes []float64
	for _, e := range v.t.Events {
		if e.Name == telemetry.EventPath && e.Side == telemetry.HostSide {
			changes = append(changes, e.At)
		}
	}
	begin := 0
	for i := range v.all {
		last := i+1 == len(v.all)
		changed := false
		for len(changes) > 0 && !last && changes[0] <= v.all[i+1].t {
			changed = changed || changes[0] > v.all[i].t
			changes = changes[1:]
		}
		if last || changed {
			base(v.all[begin : i+1])
			begin = i + 1
		}
	}
}

// base sets the least delays of moments on one path: the tenth part is below
// them, so that one stray value is none.
func base(list []moment) {
	var nets []float64
	for _, m := range list {
		if !math.IsNaN(m.net) {
			nets = append(nets, m.net)
		}
	}
	rtt, net := quantile(moments(list).rtts(), 0.1), quantile(nets, 0.1)
	for i := range list {
		list[i].baseRTT, list[i].baseNet = rtt, net
	}
}

const (
	// leastSilence is how long it is at least between two reports of a viewer.
	leastSilence = 60
	// reportMs is how long it usually is. The first packet after a pause is
	// reported no sooner than that and a round trip after it.
	reportMs = 100
	// steadyGapMs is a pause between two pictures that those of a steady stream
	// stay below.
	steadyGapMs = 90
)

// fewPictures is how many a figure must rest on to say something of a second.
const fewPictures = 3

// ownStages is how long pictures were in the host: the mean, and what no picture
// exceeded.
func ownStages(d telemetry.Delay) (usual, most float64) {
	for _, s := range []*telemetry.Spread{d.Wait, d.Convert, d.Encode, d.Handoff, d.Queue} {
		usual += s.OrZero().Mean
		most += s.OrZero().Max
	}
	return usual, most
}

// place notes when a finding was.
func (v *view) place(f *Finding) {
	slices.Sort(f.at)
	if len(f.at) == 0 {
		for _, m := range v.all {
			f.at = append(f.at, m.n)
		}
	}
	if len(f.at) == 0 {
		return
	}
	first, last := v.all[f.at[0]], v.all[f.at[len(f.at)-1]]
	f.FromMs, f.ToMs = max(0, first.t-span(first)), last.t
}

func span(m moment) float64 { return max(m.host.SpanMs, m.viewer.SpanMs) }

// excess is how much longer packets travelled than the path needs, ms, by the
// round trip and by the one way delay of pictures, whichever says more. Pictures
// of which a packet had to be sent again were late for that.
func (m *moment) excess() float64 {
	e := 0.0
	if m.host.RTT != nil {
		e = m.host.RTT.Mean - m.baseRTT
	}
	if !math.IsNaN(m.net) && m.host.Packets.Nacks == 0 {
		e = max(e, m.net-m.baseNet)
	}
	return max(e, 0)
}

// loss is the share of packets that were lost, 0 to 1.
func (m *moment) loss() float64 {
	p := m.host.Packets
	return ratio(float64(p.Lost), float64(p.Lost+p.Acked))
}

// fps is a count of pictures as a rate.
func fps(n int, spanMs float64) float64 { return ratio(float64(n)*1000, spanMs) }

// merged is the share of the source's pictures that the encoder had no time for.
func (m *moment) merged() float64 {
	return ratio(float64(m.host.Frames.Dropped[telemetry.DropMerged]), float64(m.host.Frames.Captured))
}

// passedOver is the share of the source's pictures that were passed over because
// making one took long, and not because the link had no room for them.
func (m *moment) passedOver() float64 {
	return m.merged() * ratio(m.making(), m.making()+m.host.Delay.Handoff.OrZero().Mean)
}

// viewerStage takes a stage of the viewer's side from who measured it.
func (m *moment) viewerStage(of func(telemetry.Delay) *telemetry.Spread) telemetry.Spread {
	if s := of(m.viewer.Delay); s != nil {
		return *s
	}
	return of(m.host.Shown).OrZero()
}

func decodeStage(d telemetry.Delay) *telemetry.Spread  { return d.Decode }
func bufferStage(d telemetry.Delay) *telemetry.Spread  { return d.Buffer }
func presentStage(d telemetry.Delay) *telemetry.Spread { return d.Present }
func totalStage(d telemetry.Delay) *telemetry.Spread   { return d.Total }

// moments is a choice of moments.
type moments []moment

func (v *view) those(when func(*moment) bool) moments { return choose(v.live, when) }

func choose(list []moment, when func(*moment) bool) moments {
	var hits moments
	for i := range list {
		if when(&list[i]) {
			hits = append(hits, list[i])
		}
	}
	return hits
}

// numbers are the moments' numbers in the timeline.
func (m moments) numbers() []int {
	list := make([]int, len(m))
	for i := range m {
		list[i] = m[i].n
	}
	return list
}

// values are a figure of each moment.
func (m moments) values(of func(*moment) float64) []float64 {
	list := make([]float64, len(m))
	for i := range m {
		list[i] = of(&m[i])
	}
	return list
}

// share is the part of the moments of which something is true.
func (m moments) share(when func(*moment) bool) float64 {
	return ratio(float64(len(choose(m, when))), float64(len(m)))
}

func (m moments) mean(of func(*moment) float64) float64 { return mean(m.values(of)) }

func (m moments) most(of func(*moment) float64) float64 {
	if len(m) == 0 {
		return 0
	}
	return slices.Max(m.values(of))
}

func (m moments) sum(of func(*moment) int) int {
	total := 0
	for i := range m {
		total += of(&m[i])
	}
	return total
}

// runs keeps those moments that stand in a row of at least so many.
func (m moments) runs(least int) moments {
	var kept moments
	for begin := 0; begin < len(m); {
		end := begin + 1
		for end < len(m) && m[end].n <= m[end-1].n+1 {
			end++
		}
		if end-begin >= least {
			kept = append(kept, m[begin:end]...)
		}
		begin = end
	}
	return kept
}

// when tells of which seconds the talk is.
func (m moments) when() string {
	if len(m) == 0 {
		return ""
	}
	return fmt.Sprintf("in %d s between %s and %s", len(m), clock(m[0].t-span(m[0])), clock(m[len(m)-1].t))
}

// mostLines is how many pieces of evidence of one kind a person reads.
const mostLines = 4

// shorten leaves the first of many lines that say the same.
func shorten(lines []string) []string {
	if len(lines) <= mostLines {
		return lines
	}
	return append(slices.Clone(lines[:mostLines]), fmt.Sprintf("and so %d more times", len(lines)-mostLines))
}

// clock writes a time of the stream.
func clock(ms float64) string {
	s := int(math.Max(0, math.Round(ms/1000)))
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// minuteMs is the time within which seconds belong together: what happened now
// and then in a stream of hours was not felt as what filled a minute of it.
const minuteMs = 60_000

// crowd are the moments of the minute that has most of them.
func (m moments) crowd() moments {
	from, best := 0, moments(nil)
	for i := range m {
		for m[i].t-m[from].t > minuteMs {
			from++
		}
		if i+1-from > len(best) {
			best = m[from : i+1]
		}
	}
	return best
}

// minute is how many seconds a minute of this stream has at most.
func (v *view) minute() int { return min(len(v.live), minuteMs/1000) }

// few says whether nowhere in the stream these are more than a passing moment.
func (v *view) few(hits moments) bool { return len(hits) < 4 || len(hits.crowd())*7 < v.minute() }

// lasting is what a harm counts for that was there in these moments: a few
// seconds are enough to be felt, and all of a minute is worse.
func (v *view) lasting(hits moments) float64 {
	n := float64(len(hits.crowd()))
	return min(1, n/4) * (0.6 + 0.4*min(1, 2*ratio(n, float64(v.minute()))))
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return ratio(sum, float64(len(list)))
}

// quantile is the value below which a share of the list lies; 0 of nothing.
func quantile(list []float64, share float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[int(share*float64(len(sorted)-1))]
}

// half is how near v comes to being all that can be felt: half of it at h.
func half(v, h float64) float64 {
	if v <= 0 {
		return 0
	}
	return v / (v + h)
}
