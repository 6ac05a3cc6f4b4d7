package report

import "nearglass/telemetry"

// charts draws what the timeline says.
func charts(t telemetry.Timeline) []chart {
	return []chart{
		stacked(t, "Delay by stage, mean of the second", "ms",
			stage("wait", "capture wait", func(d telemetry.Delay) *telemetry.Spread { return d.Wait }),
			stage("convert", "convert", func(d telemetry.Delay) *telemetry.Spread { return d.Convert }),
			stage("encode", "encode", func(d telemetry.Delay) *telemetry.Spread { return d.Encode }),
			stage("handoff", "wait for the pacer", func(d telemetry.Delay) *telemetry.Spread { return d.Handoff }),
			stage("queue", "pacer queue", func(d telemetry.Delay) *telemetry.Spread { return d.Queue }),
			stage("network", "network", func(d telemetry.Delay) *telemetry.Spread { return d.Network }),
			stage("buffer", "jitter buffer", func(d telemetry.Delay) *telemetry.Spread { return d.Buffer }),
			stage("decode", "decode", func(d telemetry.Delay) *telemetry.Spread { return d.Decode }),
			stage("present", "present", func(d telemetry.Delay) *telemetry.Spread { return d.Present })),
		lines(t, "Capture to screen", "ms",
			viewerLine("total", "longest", func(v *telemetry.ViewerSecond) float64 { return v.Delay.Total.OrZero().Max }),
			viewerLine("mean", "mean", func(v *telemetry.ViewerSecond) float64 { return v.Delay.Total.OrZero().Mean })),
		lines(t, "Rate", "Mbit/s",
			hostLine("path", "believed of the path", func(h *telemetry.HostSecond) float64 { return h.Rate.PathKbps / 1000 }),
			hostLine("target", "allowed to the encoder", func(h *telemetry.HostSecond) float64 { return h.Rate.TargetKbps / 1000 }),
			hostLine("sent", "sent", func(h *telemetry.HostSecond) float64 { return h.Rate.SentKbps / 1000 })),
		lines(t, "Pictures a second", "",
			hostLine("captured", "captured", func(h *telemetry.HostSecond) float64 { return perSecond(h.Frames.Captured, h.SpanMs) }),
			hostLine("encoded", "encoded", func(h *telemetry.HostSecond) float64 { return perSecond(h.Frames.Encoded, h.SpanMs) }),
			viewerLine("shown", "shown", func(v *telemetry.ViewerSecond) float64 { return perSecond(v.Frames.Shown, v.SpanMs) })),
		lines(t, "Packets lost and asked for, of those sent", "%",
			hostLine("lost", "lost", func(h *telemetry.HostSecond) float64 { return share(h.Packets.Lost, h.Packets.Lost+h.Packets.Acked) }),
			hostLine("nack", "asked for again", func(h *telemetry.HostSecond) float64 { return share(h.Packets.Nacks, h.Packets.Sent) })),
		lines(t, "Round trip, and what stands in front of the narrowest link", "ms",
			hostLine("rtt", "round trip", func(h *telemetry.HostSecond) float64 { return h.RTT.OrZero().Mean }),
			viewerLine("shown", "host to viewer, by the viewer", down),
			hostLine("queue", "standing queue", func(h *telemetry.HostSecond) float64 { return h.Rate.PathQueue.OrZero().Mean })),
		lines(t, "Quantizer (lower is sharper)", "QP",
			hostLine("qp", "mean", func(h *telemetry.HostSecond) float64 { return h.QP.OrZero().Mean })),
		lines(t, "Processors of the host", "%",
			hostLine("machine", "whole machine, of all cores", func(h *telemetry.HostSecond) float64 { return h.CPU.Host }),
			hostLine("process", "nearglass, of one core", func(h *telemetry.HostSecond) float64 { return h.CPU.Process }),
			hostLine("cpuwait", "waiting for a core", func(h *telemetry.HostSecond) float64 { return h.CPU.Wait })),
	}
}

// stage takes a stage from where it was measured for the same pictures; without
// the viewer's reports the host's own stages are all there is.
func stage(class, name string, of func(telemetry.Delay) *telemetry.Spread) series {
	return series{class, name, func(s telemetry.Second) (float64, bool) {
		if s.Host == nil {
			return 0, false
		}
		from := s.Host.Shown
		if from.Total == nil {
			from = s.Host.Delay
		}
		d := of(from)
		return d.OrZero().Mean, d != nil
	}}
}

func hostLine(class, name string, of func(*telemetry.HostSecond) float64) series {
	return series{class, name, func(s telemetry.Second) (float64, bool) {
		if s.Host == nil {
			return 0, false
		}
		return of(s.Host), true
	}}
}

func viewerLine(class, name string, of func(*telemetry.ViewerSecond) float64) series {
	return series{class, name, func(s telemetry.Second) (float64, bool) {
		if s.Viewer == nil {
			return 0, false
		}
		return of(s.Viewer), true
	}}
}

// down is how long an answer of the host was on its way; 0 where that is not known.
func down(v *telemetry.ViewerSecond) float64 {
	if v.Clock == nil {
		return 0
	}
	return v.Clock.DownMs
}

func perSecond(n int, spanMs float64) float64 {
	if spanMs <= 0 {
		return 0
	}
	return float64(n) * 1000 / spanMs
}

func share(part, whole int) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
