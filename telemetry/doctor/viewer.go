package doctor

import (
	"fmt"
)

// decodeMs is how long the decoder took for a picture.
func (m *moment) decodeMs() float64 { return m.viewerStage(decodeStage).Mean }

// decoderBusy is the share of the time in which the decoder was at work.
func (m *moment) decoderBusy() float64 {
	return ratio(m.decodeMs()*float64(m.viewer.Frames.Decoded), m.viewer.SpanMs)
}

// unshown is the share of the pictures received that were not shown.
func (m *moment) unshown() float64 {
	f := m.viewer.Frames
	if f.Received < fewPictures {
		return 0
	}
	return bound(1 - ratio(float64(f.Shown), float64(f.Received)))
}

// slowDecoder: the viewer takes long to decode pictures, from the start on.
func slowDecoder(v *view) Finding {
	hits := v.those(func(m *moment) bool {
		return m.viewed && m.viewerStage(decodeStage).N >= fewPictures && (m.decodeMs() > 18 || m.decodeMs() > 9 && m.decoderBusy() > 0.75) || m.piledUp()
	})
	if len(hits) < 4 {
		return Finding{}
	}
	took := hits.mean((*moment).decodeMs)
	waits := hits.mean(func(m *moment) float64 { return m.viewerStage(bufferStage).Mean })
	harm := max(half(took+waits-10, 50), hits.mean((*moment).unshown))
	stall := hits.mean(func(m *moment) float64 { return m.viewer.Stall })
	list := []string{
		fmt.Sprintf("the viewer took %.0f ms to decode a picture, and pictures waited %.0f ms for it, %s", took, waits, hits.when()),
		fmt.Sprintf("its decoder was at work for %.0f %% of the time, and %.0f %% of the pictures were not shown", 100*hits.mean((*moment).decoderBusy), 100*hits.mean((*moment).unshown)),
	}
	if d := hits[len(hits)-1].viewer.Frames; d.Decoder != "" || d.Efficient != nil {
		kind := "software, as it seems"
		if d.Efficient != nil && *d.Efficient {
			kind = "power-efficient"
		}
		list = append(list, fmt.Sprintf("decoder: %s (%s)", d.Decoder, kind))
	}
	sure := 0.9 - 0.4*half(max(0, stall-30), 80)
	if best := v.bestDecode(); stall > 40 && took > 1.7*best {
		sure *= 0.5 // it became so with the rest of its machine
	}
	return Finding{Severity: (0.15 + 0.85*harm) * v.lasting(hits), Certainty: sure, Evidence: list, at: hits.numbers()}
}

// bestDecode is how long the decoder takes for a picture at its best, ms.
func (v *view) bestDecode() float64 {
	decoded := v.those(func(m *moment) bool { return m.viewed && m.viewerStage(decodeStage).N >= fewPictures })
	return max(1, quantile(decoded.values((*moment).decodeMs), 0.1))
}

// laboured is how much slower than at its best the viewer's machine works, as
// times of decoding and presenting tell: 1 where it is at its best.
func laboured(best float64) func(*moment) float64 {
	return func(m *moment) float64 { return ratio(m.decodeMs(), best) }
}

// even says whether pictures came evenly: those that come together are shown as
// one, by no fault of the viewer's.
func even(m *moment) bool { return m.spike() < 60 && m.loss() < 0.005 }

// frozenMs is how long a page's timer must come late for the browser itself to
// have stood still.
const frozenMs = 1500

// piledUp says whether whole pictures came and waited long for a decoder that took few
// of them, while the page itself was on time.
func (m *moment) piledUp() bool {
	f := m.viewer.Frames
	return m.viewed && f.Received >= 15 && f.Decoded > 0 && 3*f.Decoded < f.Received && m.viewerStage(bufferStage).Mean > 400 && m.viewer.Stall < 100
}

// viewerThrottled: the viewer's machine became slower than it was, or its
// browser stood still.
func viewerThrottled(v *view) Finding {
	best := v.bestDecode()
	slower := laboured(best)
	pressed := func(m *moment) bool {
		d := m.viewer.Device
		return d != nil && (d.Pressure == "serious" || d.Pressure == "critical")
	}
	hits := v.those(func(m *moment) bool {
		late := m.viewer.Stall > 40 || pressed(m)
		return m.viewed && (m.viewer.Stall > frozenMs || late && m.viewerStage(presentStage).P95 > 60 || late && slower(m) > 1.7 && m.decodeMs() > best+3 || late && even(m) && m.unshown() > 0.4 || m.viewer.Stall > 200)
	})
	if len(hits) < 3 && hits.most(func(m *moment) float64 { return m.viewer.Stall }) < frozenMs {
		return Finding{}
	}
	stall := hits.mean(func(m *moment) float64 { return m.viewer.Stall })
	worst := hits.most(func(m *moment) float64 { return m.viewer.Stall })
	factor := hits.mean(slower)
	harm := max(half(stall-20, 100), half(hits.mean((*moment).decodeMs)-8, 40), half(factor-1, 2), half(worst-500, 1500), hits.mean((*moment).unshown))
	weight := max(v.lasting(hits), bound(worst/4000))
	list := []string{fmt.Sprintf("the viewer's page came %.0f ms late to its own timers, up to %.0f, %s", stall, worst, hits.when())}
	if factor > 1.3 {
		list = append(list, fmt.Sprintf("a picture took %.1f times as long to decode as at its best (%.1f ms)", factor, best))
	}
	sure := 0.5 + 0.3*half(factor-1, 0.7) + 0.3*half(stall-30, 60)
	if lost := hits.mean((*moment).unshown); lost > 0.3 {
		sure += 0.2 * lost
		list = append(list, fmt.Sprintf("%.0f %% of the pictures that came were not shown", 100*lost))
	}
	if len(choose(hits, pressed)) > 0 {
		sure += 0.2
		list = append(list, "its browser says that the processor is under pressure")
	}
	if n := len(v.those((*moment).piledUp)); n >= 4 && n > len(hits) {
		sure *= 0.5 // mostly the page was on time, and its decoder was not
	}
	if d := hits[len(hits)-1].viewer.Device; d != nil && d.Charging != nil && !*d.Charging && d.Battery != nil {
		list = append(list, fmt.Sprintf("it runs on battery, with %.0f %% left", 100**d.Battery))
	}
	return Finding{Severity: (0.15 + 0.85*harm) * weight, Certainty: sure, Evidence: list, at: hits.numbers()}
}

// viewerBackground: nobody could see the page, and browsers slow such pages.
func viewerBackground(v *view) Finding {
	hits := choose(v.all, func(m *moment) bool { return m.hidden })
	if len(hits) == 0 {
		return Finding{}
	}
	total := 0.0
	for _, m := range hits {
		hidden := m.viewer.HiddenMs
		if !m.viewed {
			hidden = m.host.SpanMs
		}
		total += hidden / 1000
	}
	share := ratio(total, v.seconds)
	last := v.all[len(v.all)-1]
	atEnd := last.hidden && total > 5
	if share < 0.3 && !atEnd {
		return Finding{}
	}
	f := Finding{
		Severity: bound(0.3 + 0.6*share), Certainty: 0.9, at: hits.numbers(),
		Evidence: []string{fmt.Sprintf("the viewer's page was out of sight for %.0f s of %.0f: nothing is sent for it then", total, v.seconds)},
	}
	if atEnd {
		f.Evidence = append(f.Evidence, "it was so at the end")
	}
	return f
}

// audioHoldsVideo: pictures wait in the viewer for the sound that belongs to
// them, and not for the network or the decoder.
func audioHoldsVideo(v *view) Finding {
	wait := func(m *moment) float64 { return m.viewerStage(bufferStage).Mean }
	hits := v.those(func(m *moment) bool {
		return m.viewer.Audio != nil && wait(m) > 35 && m.viewer.Audio.BufferMs > 60 && m.viewer.Audio.BufferMs > 0.6*wait(m) &&
			wait(m) > 3*m.viewer.Net.JitterMs+15 && m.decoderBusy() < 0.8
	})
	if len(hits) < 4 {
		return Finding{}
	}
	return Finding{
		Severity: half(hits.mean(wait), 80) * v.lasting(hits), Certainty: 0.9, at: hits.numbers(),
		Evidence: []string{fmt.Sprintf("pictures waited %.0f ms in the viewer, where packets came evenly (jitter %.0f ms) and decoding took %.0f ms; the sound waited %.0f ms, %s",
			hits.mean(wait), hits.mean(func(m *moment) float64 { return m.viewer.Net.JitterMs }), hits.mean((*moment).decodeMs),
			hits.mean(func(m *moment) float64 { return m.viewer.Audio.BufferMs }), hits.when())},
	}
}
