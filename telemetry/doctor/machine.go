package doctor

import (
	"cmp"
	"fmt"
	"slices"

	"nearglass/telemetry"
)

// cores is how many processors the host may use.
func (v *view) cores() float64 { return max(1, float64(v.t.Host.Cores)) }

// others is what other programs take of the host's processors, in percent of
// all of them.
func (v *view) others(m *moment) float64 {
	c := m.host.CPU
	return max(0, c.Host-c.Process/v.cores()) + c.Steal
}

// making is how long a picture is in the making, ms: from its capture until it
// is encoded.
func (m *moment) making() float64 {
	d := m.host.Delay
	return d.Wait.OrZero().Mean + d.Convert.OrZero().Mean + d.Encode.OrZero().Mean
}

// encoding is how long the encoder takes for a picture, ms.
func (m *moment) encoding() float64 {
	d := m.host.Delay
	return d.Convert.OrZero().Mean + d.Encode.OrZero().Mean
}

// encoderBusy is the share of the time in which the encoder was at work.
func (m *moment) encoderBusy() float64 {
	return ratio(m.encoding()*float64(m.host.Frames.Encoded), m.host.SpanMs)
}

// starved is how much of the processor was withheld from the host when it wanted
// it, 0 to 1: others had it, or it is a quota. Where the system tells how long
// threads waited for a core, they must have.
func (v *view) starved(m *moment) float64 {
	c := m.host.CPU
	taken := bound((c.Host+c.Steal-70)/25) * bound(v.others(m)/50)
	if v.waits {
		waited := bound((ratio(c.Wait, c.Wait+c.Process)-0.2)/0.4) * bound(c.Wait/60)
		idle := bound((70 - c.Host) / 30) // there were cores, but not for us
		taken = waited * max(bound(v.others(m)/40), idle)
	}
	return max(taken, bound(c.Throttled/20), bound(c.Steal/20))
}

// own is how near nearglass itself comes to using up the cores that it may use,
// 0 to 1.
func (v *view) own(m *moment) float64 { return bound((m.host.CPU.Process/v.cores() - 25) / 30) }

// slowed is the harm of a host that has no time, 0 to 1.
func (m *moment) slowed() float64 {
	d := m.host.Delay
	return max(half(m.host.LoopLate-25, 120), half(m.making()-25, 60), 0.8*half(m.host.Capture.Grab.OrZero().P95-20, 40),
		bound(1.2*m.passedOver()-0.1), half(d.Encode.OrZero().P95+d.Wait.OrZero().P95-50, 120))
}

// cpuStarved: other programs keep the host's processors busy.
func cpuStarved(v *view) Finding {
	hits := v.those(func(m *moment) bool { return v.starved(m) > 0.4 && m.slowed() > 0.15 })
	if v.few(hits) {
		return Finding{}
	}
	harm := hits.mean((*moment).slowed)
	list := []string{
		fmt.Sprintf("the host's processors were %.0f %% busy, %.0f %% with other programs, %s",
			hits.mean(func(m *moment) float64 { return m.host.CPU.Host }), hits.mean(v.others), hits.when()),
		fmt.Sprintf("the threads of nearglass waited %.1f s of each second for a core, all together; packets left up to %.0f ms late, a picture took %.0f ms to make",
			hits.mean(func(m *moment) float64 { return m.host.CPU.Wait })/100, hits.most(func(m *moment) float64 { return m.host.LoopLate }), hits.mean((*moment).making)),
	}
	if held := hits.mean(func(m *moment) float64 { return m.host.CPU.Throttled }); held > 1 {
		list = append(list, fmt.Sprintf("a quota withheld the processor for %.0f %% of the time", held))
	}
	return Finding{
		Severity: (0.05 + 0.95*harm) * v.lasting(hits), Evidence: list, at: hits.numbers(),
		Certainty: (0.4 + 0.55*hits.mean(v.starved)) * (1 - 0.5*hits.mean(v.own)),
	}
}

// encoderOverload: the encoder cannot make the pictures as fast as they come.
func encoderOverload(v *view) Finding {
	hits := v.those(func(m *moment) bool {
		return m.host.Frames.Encoded >= fewPictures && m.encoding() > 12 && (m.encoderBusy() > 0.75 || m.encoding() > 40) && m.passedOver()+m.host.Delay.Wait.OrZero().Mean/100 > 0.05
	})
	if v.few(hits) {
		return Finding{}
	}
	harm := hits.mean(func(m *moment) float64 { return max(bound(1.3*m.passedOver()), half(m.making()-15, 50)) })
	starved := hits.mean(func(m *moment) float64 { return v.starved(m) * (1 - v.own(m)) })
	return Finding{
		Severity: (0.2 + 0.8*harm) * v.lasting(hits), Certainty: 0.9 * (1 - 0.7*starved), at: hits.numbers(),
		Evidence: []string{
			fmt.Sprintf("a picture of %dx%d took %.0f ms to encode, where one is due every %.0f ms, %s",
				hits[0].host.Width, hits[0].host.Height, hits.mean((*moment).encoding), 1000/max(1, float64(v.t.Host.FPS)), hits.when()),
			fmt.Sprintf("%d of %d pictures were passed over, and nearglass used %.1f of %.0f cores",
				hits.sum(func(m *moment) int { return m.host.Frames.Dropped[telemetry.DropMerged] }),
				hits.sum(func(m *moment) int { return m.host.Frames.Captured }),
				hits.mean(func(m *moment) float64 { return m.host.CPU.Process })/100, v.cores()),
		},
	}
}

// stalledMs is how long a display server may think about an answer: many
// refreshes of a screen.
const stalledMs = 400

// stalledCapture: the display server gives no pictures, although it was asked.
func stalledCapture(v *view) Finding {
	hits := choose(v.all, func(m *moment) bool { return !m.hidden && (m.host.Capture.Stalled > stalledMs || m.host.Paused) })
	if len(hits) == 0 {
		return Finding{}
	}
	worst := hits.most(func(m *moment) float64 { return m.host.Capture.Stalled })
	list := []string{fmt.Sprintf("the display server did not answer for %.1f s, %s", worst/1000, hits.when())}
	if worst <= stalledMs {
		list = []string{fmt.Sprintf("there were no pictures to show %s", hits.when())}
	}
	for _, e := range v.t.Events {
		if e.Name == telemetry.EventPause && e.Reason != "" && len(list) < 4 {
			list = append(list, fmt.Sprintf("at %s pictures stopped: %s", clock(e.At), e.Reason))
		}
	}
	lost := max(worst/1000, float64(len(hits))-1)
	return Finding{Severity: 0.2 + 0.8*half(lost, 2), Certainty: 0.95, Evidence: list, at: hits.numbers()}
}

// slowSource: what is on the screen changes slowly by itself.
func slowSource(v *view) Finding {
	drawn := func(m *moment) float64 { return fps(m.host.Frames.Captured, m.host.SpanMs) }
	slow := v.those(func(m *moment) bool {
		return m.host.Capture.Changed > 0.2 && drawn(m) > 1.5 && drawn(m) < 17 && m.passedOver() < 0.1 && m.host.Capture.Gap < 1200 && v.starved(m)*m.slowed() < 0.2
	}).runs(4)
	grabs := v.those(func(m *moment) bool { return m.host.Capture.Grab.OrZero().Mean > 25 && v.starved(m) < 0.3 })
	answers := v.those(func(m *moment) bool { return answer(m) > 90 })
	var f Finding
	if len(slow) >= 5 {
		f = Finding{
			Severity: (0.25 + 0.75*half(1000/slow.mean(drawn)-60, 150)) * v.lasting(slow), Certainty: 0.6, at: slow.numbers(),
			Evidence: []string{fmt.Sprintf("the source drew %.0f pictures a second, each of them changing much of the screen, %s", slow.mean(drawn), slow.when())},
		}
	}
	if len(grabs) >= 3 {
		took := grabs.mean(func(m *moment) float64 { return m.host.Capture.Grab.Mean })
		f = stronger(f, Finding{
			Severity: half(took-15, 40) * v.lasting(grabs), Certainty: 0.85, at: grabs.numbers(),
			Evidence: []string{fmt.Sprintf("it took %.0f ms to fetch a picture from the display server, %s", took, grabs.when())},
		})
	}
	if len(answers) >= 3 {
		took := answers.mean(answer)
		f = stronger(f, Finding{
			Severity: half(took-40, 150) * min(1, float64(len(answers.crowd()))/4), Certainty: 0.85, at: answers.numbers(),
			Evidence: []string{fmt.Sprintf("the program on the screen took %.0f ms to answer an input, beside all that nearglass and the network took, %s", took, answers.when())},
		})
	}
	return f
}

// answer is how long the program on the screen took to draw the effect of an
// input, ms: what is left of the whole when the ways of the input and of the
// picture are taken off.
func answer(m *moment) float64 {
	if m.viewer.Input == nil {
		return 0
	}
	return m.viewer.Input.Mean - m.viewerStage(totalStage).Mean - m.host.RTT.OrZero().Mean/2
}

// stronger joins two findings of one cause.
func stronger(a, b Finding) Finding {
	if b.Severity*b.Certainty > a.Severity*a.Certainty {
		a, b = b, a
	}
	a.Evidence = append(a.Evidence, b.Evidence...)
	if b.Severity > 0 {
		a.Certainty = 1 - (1-a.Certainty)*(1-b.Certainty)
	}
	return a
}

// hostAsleep: the host's machine slept, or its whole process stood still, as that
// of a machine does that is paused from outside.
func hostAsleep(v *view) Finding {
	var f Finding
	var total float64
	for _, e := range v.t.Events {
		if e.Name != telemetry.EventAsleep || e.Side != telemetry.HostSide || e.AmountMs < 1000 {
			continue
		}
		total += e.AmountMs
		f.Evidence = append(f.Evidence, fmt.Sprintf("at %s the host had slept for %.0f s", clock(e.At), e.AmountMs/1000))
		f.at = append(f.at, v.around(e.At, 3)...)
	}
	f.Certainty = 0.97
	if len(f.Evidence) == 0 {
		f.Certainty = 0.85
	}
	for i := range v.all {
		m := &v.all[i]
		if still := v.stood(m); still > stillMs {
			total += still
			f.Evidence = append(f.Evidence, fmt.Sprintf("at %s nothing in nearglass had run for %.1f s", clock(m.t), still/1000))
			f.at = append(f.at, v.around(m.t, 2)...)
		}
	}
	f.Severity = half(total/1000, 3)
	f.Evidence = shorten(f.Evidence)
	return f
}

// stood is for how long nothing in nearglass had run in a second, ms: its loop
// was late, or the record was and the capture with it. A record alone may have
// waited for a disk.
func (v *view) stood(m *moment) float64 {
	late := min(m.host.SpanMs-1000, m.host.Capture.Gap)
	if late > stillMs && v.answered(m.t-m.host.SpanMs+2*1000, m.t) {
		late = 0
	}
	return max(m.host.LoopLate, late)
}

// answered says whether the host answered a viewer's ping in a time, by records
// of the viewer that ended in it and began there, too.
func (v *view) answered(from, to float64) bool {
	i, _ := slices.BinarySearchFunc(v.all, from, func(m moment, t float64) int { return cmp.Compare(m.t, t) })
	for ; i < len(v.all) && v.all[i].t < to; i++ {
		if c := v.all[i].viewer.Clock; c != nil && c.Pings > 0 {
			return true
		}
	}
	return false
}

// stillMs is longer than a busy machine keeps a process waiting.
const stillMs = 1500

// around lists the seconds near a time.
func (v *view) around(t float64, reach int) []int {
	var list []int
	from := t - float64(reach)*1000
	i, _ := slices.BinarySearchFunc(v.all, from, func(m moment, t float64) int { return cmp.Compare(m.t, t) })
	for ; i < len(v.all) && v.all[i].t < from+float64(reach)*2000; i++ {
		list = append(list, v.all[i].n)
	}
	return list
}
