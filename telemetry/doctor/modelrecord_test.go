package doctor_test

import (
	"slices"
	"time"

	"nearglass/cc"
	"nearglass/telemetry"
)

// report tells the host what arrived, as transport-cc does.
func (v *viewerEnd) report() time.Duration {
	if len(v.arrived) == 0 {
		return dur(100)
	}
	slices.SortFunc(v.arrived, func(a, b cc.Ack) int { return int(int64(a.Sequence) - int64(b.Sequence)) })
	var r report
	for _, a := range v.arrived {
		for ; v.seen < int(a.Sequence); v.seen++ {
			r.acks = append(r.acks, cc.Ack{Sequence: uint64(v.seen), Lost: true})
		}
		v.seen = max(v.seen, int(a.Sequence)+1)
		r.acks = append(r.acks, a)
	}
	r.received, r.last = v.media, v.newest
	v.arrived, v.media = nil, nil
	v.w.road.reply(r)
	return dur(95 + 10*v.w.rand.Float64())
}

// nack asks for what is missing, and for a key frame when nothing else helps.
func (v *viewerEnd) nack() time.Duration {
	var r report
	const tries, again = 10, 100
	for i := range v.wants {
		m := &v.wants[i]
		if !v.w.now.Before(m.due) {
			r.nacks = append(r.nacks, uint16(m.media))
			m.tries++
			m.due = v.w.now.Add(dur(again))
		}
	}
	given := len(v.wants)
	v.wants = slices.DeleteFunc(v.wants, func(m want) bool { return m.tries >= tries })
	v.s.Net.Nacks += len(r.nacks)
	if len(r.nacks) > 0 {
		v.w.road.reply(r)
	}
	stuck := !v.blocked.IsZero() && v.w.now.Sub(v.blocked) > 900*time.Millisecond && len(v.waiting) == 0
	if (given > len(v.wants) || stuck) && v.w.now.Sub(v.plis) > 200*time.Millisecond {
		v.askKey()
	}
	return dur(10)
}

func (v *viewerEnd) askKey() {
	v.plis = v.w.now
	v.s.Net.PLIs++
	v.w.road.reply(report{key: true})
}

// ping compares the clocks.
func (v *viewerEnd) ping() time.Duration {
	if v.w.host.asleep() {
		return dur(2000)
	}
	rtt := 2*ms(v.w.road.oneWay()) + v.w.road.w.rand.Float64() + ms(v.w.road.out.QueueDelay(v.w.now))
	truth := ms(v.w.host.now().Sub(epoch)) - ms(v.w.now.Sub(v.zero))
	if v.clock != nil && v.clock.OffsetMs-truth > 1000 {
		v.event(telemetry.Event{Name: telemetry.EventClockStep, AmountMs: truth - v.clock.OffsetMs})
	}
	v.clock = &telemetry.Clock{OffsetMs: hundredth(truth + rtt/4), BoundMs: hundredth(rtt / 2), RTTMs: hundredth(rtt), Pings: 1}
	return dur(2000)
}

// second records, and says when to do so again: in a page out of sight, and on
// a busy machine, late.
func (v *viewerEnd) second() time.Duration {
	now := v.w.now
	s := &v.s
	span := now.Sub(v.last)
	s.Record, s.T, s.SpanMs, s.WallMs = telemetry.KindSecond, ms(now.Sub(v.zero)), ms(span), float64(now.UnixMilli())
	s.State, s.Focused, s.Clock = "live", !v.hidden, v.clock
	s.Width, s.Height = v.w.scene.Width*v.w.host.encoder.percent/100, v.w.scene.Height*v.w.host.encoder.percent/100
	if v.hidden {
		s.HiddenMs += ms(now.Sub(later(v.hiddenAt, v.last)))
	}
	b := &v.sums
	s.Delay = telemetry.Delay{Buffer: b.buffer.Take(), Decode: b.decode.Take(), Present: b.present.Take(), Arrive: b.arrive.Take(), Total: b.total.Take()}
	s.Input = b.input.Take()
	s.Frames.Gap = max(s.Frames.Gap, ms(now.Sub(v.lastShow)))
	s.Net.Kbps = hundredth(float64(v.bytes) * 8 / ms(span))
	if n := float64(s.Frames.Decoded); n > 0 {
		s.QP = hundredth(s.QP / n)
		s.Net.BufferMs = hundredth(v.buffer / n)
	}
	s.Net.RTTMs = hundredth(2 * ms(v.w.road.oneWay()))
	s.Net.LocalType, s.Net.RemoteType = "host", "host"
	slow := v.slow()
	s.Stall = hundredth(v.w.spread(2 + 14*(slow-1)))
	if v.w.scene.Radio != "" {
		s.Device = &telemetry.Device{Network: v.w.scene.Radio, RefreshHz: 60}
	}
	v.sound(s)
	v.log.Viewer = append(v.log.Viewer, *s)
	v.s, v.last, v.bytes, v.buffer = telemetry.ViewerSecond{}, now, 0, 0
	late := dur(v.w.spread(1) + 20*(slow-1)*v.w.rand.Float64())
	if v.hidden {
		late += dur(600 * v.w.rand.Float64())
	}
	return time.Second - now.Sub(epoch)%time.Second + late
}

// sound is what the viewer says of it.
func (v *viewerEnd) sound(s *telemetry.ViewerSecond) {
	if !v.w.scene.Audio {
		return
	}
	a := &telemetry.ViewerAudio{BufferMs: hundredth(25 + 5*v.w.rand.Float64()), SkewMs: hundredth(10*v.w.rand.Float64() - 5)}
	if hold := v.w.amount("audio-holds-video"); hold > 0 {
		a.BufferMs += hold
	}
	s.Audio = a
}
