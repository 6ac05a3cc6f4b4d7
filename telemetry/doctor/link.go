package doctor

import (
	"fmt"
	"math"
	"slices"

	"nearglass/telemetry"
)

// qualityHarm is how bad pictures look, 0 to 1: text begins to blur at QP 32,
// and at 46 little is left of it.
func (m *moment) qualityHarm() float64 {
	qp := 0.0
	if m.host.QP != nil {
		qp = (m.host.QP.Mean - 32) / 14
	}
	size := 0.0
	if p := m.host.SizePercent; p > 0 {
		size = float64(100-p) / 60
	}
	return bound(max(qp, size))
}

// busy says whether the stream wanted all that it was allowed.
func (m *moment) busy() bool {
	r := m.host.Rate
	d := m.host.Delay
	return r.TargetKbps > 0 && (r.SentKbps > 0.6*min(r.TargetKbps, max(r.LeastKbps, 1)) || d.Handoff.OrZero().Mean+d.Queue.OrZero().Mean > 30)
}

// lossyLink: packets are lost whatever is sent, without a queue to fall out of.
func lossyLink(v *view) Finding {
	hits := v.those(func(m *moment) bool {
		return m.host.Packets.Lost >= 2 && m.loss() >= 0.007
	})
	told := v.those(func(m *moment) bool { return m.host.Packets.Acked >= 20 })
	lost := hits.sum(func(m *moment) int { return m.host.Packets.Lost })
	all := hits.sum(func(m *moment) int { return m.host.Packets.Lost + m.host.Packets.Acked })
	if n := len(hits.crowd()); len(hits) < 4 || n < 8 && n*5 < min(len(told), v.minute()) {
		return Finding{}
	}
	share := ratio(float64(lost), float64(all))
	queue := quantile(hits.values((*moment).excess), 0.5)
	sure := 0.9 * (1 - 0.8*overflowing(queue))
	if large, small, told := lossBySize(hits); told && large > 4*small && large > 0.02 {
		sure *= 0.3
	}
	if c := burstiness(v); c > 0 {
		sure *= 1 - 0.7*c
	}
	sure *= 1 - 0.4*hits.share(func(m *moment) bool { return m.host.Rate.State == "lossy" })
	sure *= 1 - 0.4*hits.share(func(m *moment) bool { return m.host.Rate.State == "competing" })
	return Finding{
		Severity: (0.25 + 0.75*bound(math.Sqrt(share/0.08))) * v.lasting(hits), Certainty: sure, at: hits.numbers(),
		Evidence: []string{
			fmt.Sprintf("%d of %d packets (%.1f %%) were lost %s", lost, all, 100*share, hits.when()),
			besides(queue),
			fmt.Sprintf("the viewer asked again for %d packets", hits.sum(func(m *moment) int { return m.host.Packets.Nacks })),
		},
	}
}

// overflowing is how likely packets fell out of a queue that was so many ms long
// in most seconds in which some were lost, 0 to 1. A link that loses at random has
// none but by chance; the shortest of real routers is some tens of milliseconds.
func overflowing(queueMs float64) float64 { return bound((queueMs - 12) / 25) }

// besides tells what the round trip was while packets were lost.
func besides(queueMs float64) string {
	if overflowing(queueMs) > 0 {
		return fmt.Sprintf("the round trip was %.0f ms longer than usual then: some may have fallen out of a full queue", queueMs)
	}
	return fmt.Sprintf("the round trip was no longer than usual then (by %.0f ms): no queue overflowed", queueMs)
}

// lossBySize is the share lost of large packets and of others; told says that
// there were enough of both to compare.
func lossBySize(list moments) (large, small float64, told bool) {
	var l, ll, s, sl int
	for i := range list {
		p := list[i].host.Packets
		l, ll = l+p.Large, ll+p.LargeLost
		s, sl = s+p.Acked+p.Lost-p.Large, sl+p.Lost-p.LargeLost
	}
	return ratio(float64(ll), float64(l)), ratio(float64(sl), float64(s)), l >= 20 && s >= 20
}

// mtuTrouble: large packets do not get through, which the host found out or the losses
// tell.
func mtuTrouble(v *view) Finding {
	f, made := swallowing(v), smaller(v)
	if made.Severity == 0 {
		return f
	}
	made.Severity = max(made.Severity, f.Severity)
	made.Evidence = append(made.Evidence, f.Evidence...)
	return made
}

// smaller: the host makes smaller packets than its interface takes, because larger
// ones vanished. What was believed for a few seconds is no finding.
func smaller(v *view) Finding {
	hits := choose(v.all, func(m *moment) bool { return m.host.Packets.Interface > 0 })
	if len(hits) < 4 || 4*len(hits) < 3*(len(v.all)-hits[0].n) {
		return Finding{}
	}
	last := hits[len(hits)-1].host.Packets
	stuck := choose(v.all, (*moment).stuck)
	return Finding{
		Severity: 0.4 + 0.6*min(1, float64(len(stuck))/4), Certainty: 0.95, at: hits.numbers(),
		Evidence: []string{fmt.Sprintf("packets of up to %d bytes get through and larger ones vanish, though the host's interface takes %d; the host makes smaller ones since %s",
			last.MTU, last.Interface, clock(hits[0].t))},
	}
}

// swallowing: large packets are lost and small ones are not.
func swallowing(v *view) Finding {
	hits := choose(v.all, func(m *moment) bool {
		p := m.host.Packets
		return p.LargeLost >= 2 && ratio(float64(p.LargeLost), float64(p.Large)) > 0.1
	})
	none, count := v.noLarge()
	all := count >= 20 && none.sum(smallArrived) >= 5
	if all {
		hits = none // where some of the smaller ones may be too large, too
	}
	if len(hits) < 2 {
		return nothingLarge(v)
	}
	// Of all that were sent meanwhile: by chance some seconds lose large ones alone.
	meanwhile := moments(v.all[hits[0].n : hits[len(hits)-1].n+1])
	large, small, told := lossBySize(meanwhile)
	lost := meanwhile.sum(func(m *moment) int { return m.host.Packets.LargeLost })
	if !all && (lost < 8 || !told || large < 3*small || large < 0.05) {
		return nothingLarge(v)
	}
	return swallowed(meanwhile, hits, choose(none, (*moment).stuck), all)
}

// swallowed tells of large packets that were lost in these seconds; all of them
// if so, and in some of the seconds no picture came through whole.
func swallowed(meanwhile, hits, stuck moments, all bool) Finding {
	large, small, _ := lossBySize(meanwhile)
	list := []string{
		fmt.Sprintf("of packets of %d bytes and more %.0f %% were lost (%d), of smaller ones %.1f %%, %s", telemetry.LargePacketBytes,
			100*large, meanwhile.sum(func(m *moment) int { return m.host.Packets.LargeLost }), 100*small, hits.when()),
	}
	if mtu := hits[0].host.Packets.MTU; mtu > 0 {
		list = append(list, fmt.Sprintf("the host made packets of up to %d bytes", mtu))
	}
	harm, sure := (0.5+0.5*bound(2*large))*min(1, float64(len(hits))/3), 0.92
	if !all { // what overflows a queue is large, too: a small packet still fits
		timed := choose(hits, func(m *moment) bool { return m.host.RTT != nil })
		sure = (0.95 - half(20*small, 4)) * (1 - 0.9*overflowing(timed.mean((*moment).excess)))
	}
	if len(stuck) >= 4 {
		harm = 1
		list = append(list, fmt.Sprintf("no picture came through whole %s", stuck.when()))
		hits = append(slices.Clone(hits), stuck...)
	}
	return Finding{Severity: harm, Evidence: list, at: hits.numbers(), Certainty: sure}
}

// smallArrived counts the packets that arrived and were not large.
func smallArrived(m *moment) int {
	p := m.host.Packets
	return p.Acked - (p.Large - p.LargeLost)
}

// noLarge is the time in which the most large packets were lost, how many, and
// not one came through.
func (v *view) noLarge() (best moments, lost int) {
	begin, n := 0, 0
	for i := range v.all {
		p := v.all[i].host.Packets
		if p.Large > p.LargeLost {
			begin, n = i+1, 0
			continue
		}
		if n == 0 {
			begin = i
		}
		n += p.LargeLost
		if n > lost || n == lost && len(best) > 0 && best[0].n == begin && v.all[i].stuck() {
			best, lost = moments(v.all[begin:i+1]), n
		}
	}
	return best, lost
}

// stuck says whether pictures were sent and none arrived.
func (m *moment) stuck() bool {
	return m.t > warmUpMs && m.viewed && m.hosted && !m.hidden && m.host.Packets.Sent >= 3 && m.viewer.Frames.Received == 0
}

// nothingLarge: no picture gets through, while pings do, which are small.
func nothingLarge(v *view) Finding {
	hits := choose(v.all, func(m *moment) bool {
		return m.stuck() && m.host.Packets.Acked == 0
	}).runs(3) // what is sent at the end of a second arrives in the next
	pings := hits.sum(func(m *moment) int {
		if m.viewer.Clock == nil {
			return 0
		}
		return m.viewer.Clock.Pings
	})
	if len(hits) < 4 || pings*4 < len(hits) {
		return Finding{}
	}
	return Finding{
		Severity: 0.9, Certainty: 0.8, at: hits.numbers(),
		Evidence: []string{fmt.Sprintf("no picture came through %s, although the viewer's pings, which are small, were answered %d times", hits.when(), pings)},
	}
}

// swamped says whether the path was sent so much more than it carries that most
// of it was lost, through a queue that was full.
func (m *moment) swamped() bool { return m.loss() > mostShared && m.excess() > 12 }

// cappedLink: the path carries less than the picture needs, and what is sent
// fills it.
func cappedLink(v *view) Finding {
	hits := v.those(func(m *moment) bool {
		return m.swamped() || m.busy() && m.qualityHarm() > 0 && !m.competing() && m.host.Rate.TargetKbps < 30_000
	})
	if len(hits) < 5 || v.few(hits) {
		return Finding{}
	}
	harm := max(hits.mean((*moment).qualityHarm), hits.share((*moment).swamped))
	target := hits.mean(func(m *moment) float64 { return m.host.Rate.TargetKbps })
	sent := hits.mean(func(m *moment) float64 { return m.host.Rate.SentKbps })
	list := []string{
		fmt.Sprintf("the path carried %.1f Mbit/s, of which %.1f were used, %s", target/1000, sent/1000, hits.when()),
		fmt.Sprintf("so pictures were coarse: QP %.0f of at most 51", hits.mean(func(m *moment) float64 { return m.host.QP.OrZero().Mean })),
	}
	if swamped := choose(hits, (*moment).swamped); len(swamped) > 0 {
		list = append(list, fmt.Sprintf("%.0f %% of the packets did not fit through it, %s", 100*swamped.mean((*moment).loss), swamped.when()))
	}
	if least := 100 - hits.most(func(m *moment) float64 { return float64(100 - m.host.SizePercent) }); least < 100 && least > 0 {
		list = append(list, fmt.Sprintf("and were sent with %.0f %% of their sides", least))
	}
	others := v.foreign().numbers()
	sure := 0.75 * (1 - 0.5*hits.share(func(m *moment) bool { return near(others, m.n) }))
	last := hits[len(hits)-1]
	if later := v.those(func(m *moment) bool { return m.n > last.n }).most(allowed); later > 1.8*target && last.t < v.live[0].t+minuteMs {
		sure *= 0.5 // that was the beginning: it carried more, as it turned out
	}
	return Finding{
		Severity: (0.15 + 0.8*harm) * v.lasting(hits), Certainty: sure, Evidence: list, at: hits.numbers(),
	}
}

// bufferbloat: what is sent waits long in a buffer on the way, which loses
// little because it is so large.
func bufferbloat(v *view) Finding {
	hits := v.those(func(m *moment) bool { return m.excess() > 100 }).runs(3)
	if len(hits) < 4 {
		return Finding{}
	}
	excess := hits.mean((*moment).excess)
	deepest := hits.most((*moment).excess)
	base := hits.mean(func(m *moment) float64 { return m.baseRTT })
	return Finding{
		Severity: half(excess, 150) * v.lasting(hits), Certainty: 0.3 + 0.65*bound((deepest-150)/350), at: hits.numbers(),
		Evidence: []string{fmt.Sprintf("packets waited %.0f ms on the way, up to %.0f, where the path takes %.0f ms there and back, %s", excess, deepest, base, hits.when())},
	}
}

// competing says whether the controller found that others use the path, and
// loses no more than they would make it lose: what a narrow path is asked for too
// much of loses most.
func (m *moment) competing() bool {
	return m.host.Rate.State == "competing" && m.loss() < mostShared && m.excess() > leastShared && m.host.Rate.TargetKbps > floorKbps
}

const (
	// mostShared is the loss that flows of TCP on one link stay below: they yield.
	mostShared = 0.25
	// leastShared is a queue, ms, that they do not stay below: they fill it.
	leastShared = 12
	// floorKbps is hardly more than the least that a stream is sent with. A queue
	// that stands then can well be its own.
	floorKbps = 350
)

// foreign are the seconds in which a queue stood that the stream's own packets do
// not explain: the controller says so, or it stands although the controller has
// been sending less for seconds, which a queue of the stream's own would not.
func (v *view) foreign() moments {
	standing := v.those(func(m *moment) bool {
		return m.host.Rate.State == "draining" && m.excess() > 20 && m.loss() < mostShared
	}).runs(4).numbers()
	return v.those(func(m *moment) bool {
		_, stood := slices.BinarySearch(standing, m.n)
		return m.host.Rate.TargetKbps > floorKbps && (stood || m.competing() || m.host.Rate.State == "sharing" && (m.excess() > 15 || m.qualityHarm() > 0.2))
	})
}

// competingTraffic: a queue stands that our packets do not explain.
func competingTraffic(v *view) Finding {
	hits := v.foreign()
	if len(hits) < 4 {
		return Finding{}
	}
	strong := hits.share((*moment).competing)
	excess := hits.mean((*moment).excess)
	harm := max(half(excess, 100), 0.8*hits.mean((*moment).qualityHarm))
	return Finding{
		Severity: harm * v.lasting(hits), Certainty: (0.45 + 0.45*strong) * (1 - 0.5*half(max(0, excess-200), 200)), at: hits.numbers(),
		Evidence: []string{
			fmt.Sprintf("a queue of %.0f ms stood on the path that the stream's own packets do not explain, %s", excess, hits.when()),
			fmt.Sprintf("the stream was left with %.1f Mbit/s", hits.mean(func(m *moment) float64 { return m.host.Rate.TargetKbps })/1000),
		},
	}
}

// spike is how much longer the slowest picture of a second travelled than is
// usual on its path, ms, where nothing at the host explains it.
func (m *moment) spike() float64 {
	s := 0.0
	if !math.IsNaN(m.netMax) && !m.keyed { // a key frame takes long because it is large
		s = m.netMax - m.baseNet
	}
	silence := m.host.Rate.Silence - m.usualSilence
	if m.host.Packets.Nacks > 0 && silence < 0.4*s {
		return 0 // a packet that had to be sent again is late alone
	}
	return max(0, max(s, silence-40)-2*m.host.LoopLate)
}

// spikes are the seconds in which a delay shot up, where most others were calm.
func spikes(v *view) (hits moments, regular float64) {
	hits = v.those(func(m *moment) bool { return m.spike() > 60 })
	calm := v.those(func(m *moment) bool { return m.spike() <= 60 })
	standing := choose(hits, func(m *moment) bool { return m.excess() > 100 }).runs(4)
	if len(hits) < 4 || len(calm)*4 < len(hits) || 2*len(standing) > len(hits) {
		return nil, 0
	}
	var gaps []float64
	for begin, i := 0, 1; i < len(hits); i++ {
		if hits[i].n > hits[i-1].n+1 {
			gaps = append(gaps, hits[i].t-hits[begin].t)
			begin = i
		}
	}
	if len(gaps) < 3 {
		return hits, 0
	}
	middle := quantile(gaps, 0.5)
	off := 0.0
	for _, g := range gaps {
		whole := max(1, math.Round(g/middle))
		off += math.Abs(g/whole - middle)
	}
	return hits, bound(1 - 2*off/float64(len(gaps))/middle)
}

// burstiness is how much of the loss falls into the seconds of spikes and those
// behind them, beyond their part of the time, 0 to 1.
func burstiness(v *view) float64 {
	hits, _ := spikes(v)
	if len(hits) == 0 {
		return 0
	}
	lost := func(m *moment) int { return m.host.Packets.Lost }
	at := hits.numbers()
	after := v.those(func(m *moment) bool { // a loss is reported some time after it
		_, spiked := slices.BinarySearch(at, m.n)
		_, before := slices.BinarySearch(at, m.n-1)
		return spiked || before
	})
	share := ratio(float64(after.sum(lost)), float64(moments(v.live).sum(lost)))
	of := ratio(float64(len(after)), float64(len(v.live)))
	return bound((share - of) / max(1-of, 0.1))
}

// flappingWiFi: the radio is away for a moment, again and again.
func flappingWiFi(v *view) Finding {
	hits, regular := spikes(v)
	if len(hits) == 0 {
		return Finding{}
	}
	sure := 0.35 + 0.5*regular
	list := []string{
		fmt.Sprintf("the delay shot up by %.0f ms, up to %.0f, %s, and was back at once",
			hits.mean((*moment).spike), hits.most((*moment).spike), hits.when()),
	}
	if regular > 0.5 {
		list = append(list, "at regular intervals")
	}
	if i := slices.IndexFunc(hits, func(m moment) bool { return m.viewer.Device != nil && m.viewer.Device.Network == "wifi" }); i >= 0 {
		sure += 0.15
		list = append(list, "the viewer's browser says that it is on WiFi")
	}
	others := v.foreign().numbers()
	sure *= 1 - 0.6*hits.share(func(m *moment) bool { return near(others, m.n) })
	lossy := choose(v.live, func(m *moment) bool { return m.loss() > 0.007 && m.spike() <= 60 })
	sure *= 1 - 0.6*ratio(float64(len(lossy)), float64(len(v.live)))
	return Finding{Severity: half(hits.mean((*moment).spike), 80) * max(v.lasting(hits), 0.7*regular), Certainty: sure, Evidence: list, at: hits.numbers()}
}
