package doctor_test

import (
	"time"

	"nearglass/cc"
	"nearglass/pacing"
	"nearglass/telemetry"
)

const (
	payloadBytes  = 1150
	overheadBytes = 48 // RTP header, extensions, SRTP tag
	mostQueued    = 50 * time.Millisecond
	hostFPS       = 60
)

// packet is one that left.
type packet struct {
	frame  int
	media  int // number of the media packet that it carries; -1: padding
	bytes  int
	at     time.Time
	resend bool
}

// hostEnd is the host: its loop, and what it records.
type hostEnd struct {
	w       *world
	log     telemetry.Log
	meter   *telemetry.Meter
	control *cc.Controller
	update  cc.Update
	pacer   *pacing.Pacer
	encoder *encoder
	sent    []packet
	size    pacing.PathSize
	heardAt time.Time
	pulseAt time.Time
	byMedia []int // id of the packet that carried it first
	heard   []report
	blocked time.Time // until then the loop has no core
	due     time.Time // when it wanted to run
	rttAt   time.Time
	slept   time.Duration
	wakes   time.Time
	jump    time.Duration // of the wall clock
	limit   float64       // Mbit/s, of a controller that starves; 0: none
	quiet   time.Time     // since when little is sent
	lastT   time.Time
	waited  float64 // ms, of threads of ours for a core, this second
}

func newHost(w *world) *hostEnd {
	h := &hostEnd{w: w, meter: telemetry.NewMeter(epoch), pacer: pacing.New(pacing.Config{}), lastT: epoch, quiet: epoch}
	h.log.Header = telemetry.Header{
		Record: telemetry.KindHeader, Schema: telemetry.SchemaVersion, Stream: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Side: telemetry.HostSide,
		StartMs: float64(epoch.UnixMilli()), Version: "model", Source: "desktop", FPS: hostFPS, Cores: w.scene.Cores,
	}
	relayed := w.scene.Path == "tailscale-relayed"
	h.control = cc.New(cc.Config{Relayed: relayed})
	h.encoder = &encoder{h: h, percent: 100, wantKey: telemetry.KeyStart}
	h.event(telemetry.Event{Name: telemetry.EventStart})
	w.at(epoch.Add(dur(120)), func() {
		h.path(w.scene.Path, w.scene.Label)
		h.event(telemetry.Event{Name: telemetry.EventConnected})
		h.apply(h.control.OnTick(h.now()))
	})
	h.meter.Sized(100, "")
	w.every(epoch.Add(time.Second), h.second)
	h.plan()
	return h
}

// plan arranges for what happens to the host at a time.
func (h *hostEnd) plan() {
	if f, ok := h.w.find("host-asleep"); ok {
		h.w.at(h.w.time(f.From), func() { h.wakes = h.w.time(f.From + f.Amount) })
		h.w.at(h.w.time(f.From+f.Amount), func() {
			h.slept += dur(f.Amount * 1000)
			h.event(telemetry.Event{Name: telemetry.EventAsleep, AmountMs: f.Amount * 1000})
		})
	}
	if f, ok := h.w.find("clock-jump"); ok {
		h.w.at(h.w.time(f.From), func() {
			h.jump = dur(f.Amount * 1000)
			h.event(telemetry.Event{Name: telemetry.EventClockJump, AmountMs: f.Amount * 1000})
		})
	}
	for kind, names := range map[string][2]string{
		"relayed-path": {"tailscale-relayed", "Tailscale relayed, Frankfurt"}, "wrong-path": {"vpn", "VPN (tun0)"},
	} {
		if f, ok := h.w.find(kind); ok && f.From > 0 {
			h.w.at(h.w.time(f.From+0.4), func() {
				h.path(names[0], names[1])
				h.apply(h.control.RouteChanged(h.now(), cc.Memory{}, kind == "relayed-path"))
			})
		}
	}
}

func (h *hostEnd) path(kind, label string) {
	h.event(telemetry.Event{Name: telemetry.EventPath, Path: &telemetry.Path{Kind: kind, Label: label}})
}

func (h *hostEnd) event(e telemetry.Event) {
	e.Record, e.T, e.WallMs = telemetry.KindEvent, ms(h.now().Sub(epoch)), float64(h.w.now.Add(h.jump).UnixMilli())
	h.log.Events = append(h.log.Events, e)
}

// now is the host's clock that never steps and stands still while it sleeps.
func (h *hostEnd) now() time.Time { return h.w.now.Add(-h.slept) }

func (h *hostEnd) asleep() bool { return h.w.now.Before(h.wakes) }

// stretch is by how much work takes longer because others want the cores.
func (h *hostEnd) stretch() float64 {
	const ours = 2.5
	others := h.w.amount("cpu-starved")
	return max(1, (others+ours)/float64(h.w.scene.Cores))
}

// step is a turn of the loop.
func (h *hostEnd) step() {
	if h.asleep() || h.w.now.Before(h.blocked) {
		return
	}
	now := h.now()
	if !h.due.IsZero() && h.due.Before(now) {
		h.meter.Late(now.Sub(h.due))
	}
	for _, r := range h.heard {
		h.take(r)
	}
	h.heard = h.heard[:0]
	if d := h.control.Deadline(); !d.IsZero() && !now.Before(d) {
		h.apply(h.control.OnTick(now))
	}
	h.drain(now)
	h.encoder.hand()
	h.drain(now)
	if s := h.stretch(); s > 1 && h.w.rand.Float64() < 0.1 {
		wait := 4 * (s - 1) * h.w.rand.ExpFloat64()
		h.blocked = h.w.now.Add(dur(wait))
		h.waited += wait
	}
}

func (h *hostEnd) drain(now time.Time) {
	h.pulse(now)
	for range 512 {
		p, ok := h.pacer.Next(now)
		if !ok {
			break
		}
		h.release(now, &p)
	}
	h.due = earliest(h.pacer.Deadline(), h.control.Deadline())
}

// next is when the loop has something to do.
func (h *hostEnd) next() time.Time {
	if h.asleep() {
		return h.wakes
	}
	if h.w.now.Before(h.blocked) {
		return h.blocked
	}
	if h.due.IsZero() {
		return h.due
	}
	return h.due.Add(h.slept)
}

// release is the write to the socket.
func (h *hostEnd) release(now time.Time, p *pacing.Packet) {
	size := overheadBytes + int(p.HeadLen) + len(p.Body) + int(p.PadBytes)
	k := packet{frame: int(p.Frame), bytes: size, at: h.w.now, media: -1}
	id := len(h.sent)
	switch p.Class {
	case pacing.Resend:
		k.resend, k.media = true, len(h.byMedia)-int(uint16(len(h.byMedia))-p.Seq)
	case pacing.Padding:
		k.media = len(h.byMedia)
		h.byMedia = append(h.byMedia, id)
		k.frame = 0
	default:
		k.media = len(h.byMedia)
		h.byMedia = append(h.byMedia, id)
	}
	h.sent = append(h.sent, k)
	h.size.Sent(uint64(id), p.PayloadBytes())
	padding := p.Class == pacing.Padding || p.Filler
	h.meter.Sent(now, size, k.resend && !padding, padding)
	last := p.Marker && !k.resend && !padding
	h.control.OnSent(now, cc.Sent{Sequence: uint64(id), SizeBytes: size, At: now, Frame: uint64(k.frame), Last: last, Resend: k.resend, Probe: p.Probe})
	if last {
		h.meter.Left(now, p.Frame)
	}
	h.w.road.send(id, size)
}

// hear takes what the viewer reports, when the loop runs next.
func (h *hostEnd) hear(r report) {
	if !h.asleep() {
		h.heard = append(h.heard, r)
	}
}

func (h *hostEnd) take(r report) {
	now := h.now()
	sum := telemetry.Report{Nacks: len(r.nacks), KeyAsked: r.key}
	newest := -1
	h.fit(now, r)
	for _, a := range r.acks {
		large := h.sent[a.Sequence].bytes >= telemetry.LargePacketBytes
		count(&sum, a.Lost, large)
		if !a.Lost {
			newest = max(newest, int(a.Sequence))
		}
	}
	if len(r.nacks) > 0 {
		sum.Unserved = len(r.nacks) - h.pacer.Resend(now, r.nacks)
		if h.pacer.BeyondRepair(r.nacks) {
			h.encoder.askKey(telemetry.KeyLoss)
		}
	}
	h.meter.Report(now, sum)
	if r.key {
		h.encoder.askKey(telemetry.KeyViewer)
	}
	if newest >= 0 && h.w.now.Sub(h.rttAt) > 700*time.Millisecond {
		h.rttAt = h.w.now
		rtt := r.last.Sub(h.sent[newest].at) + h.w.now.Sub(r.at)
		h.pacer.SetRTT(rtt)
		h.meter.Path(rtt, 0)
	}
	if len(r.acks) > 0 {
		h.pacer.Acked(r.received...)
		h.apply(h.control.OnFeedback(now, r.acks))
	}
	if dropped, _ := h.pacer.Stale(now); dropped > 0 {
		h.meter.Dropped(dropped)
	}
	if h.pacer.NeedsKey() {
		h.encoder.askKey(telemetry.KeyDropped)
	}
}

// pulse sends small packets while no report comes, or large ones are lost.
func (h *hostEnd) pulse(now time.Time) {
	silent := h.heardAt.IsZero() || now.Sub(h.heardAt) >= 300*time.Millisecond
	if (silent || h.size.Suspects()) && !h.pacer.Empty() && now.Sub(h.pulseAt) >= 40*time.Millisecond {
		h.pulseAt = now
		h.pacer.Pulse()
	}
}

// fit keeps packets as small as the path asks for.
func (h *hostEnd) fit(now time.Time, r report) {
	for _, a := range r.acks {
		h.heardAt = now
		if h.size.Reported(now, a.Sequence, a.Lost) {
			h.pacer.Shrink(pacing.LeastPayload)
			h.apply(h.control.RouteChanged(now, h.control.Memory(now), h.w.scene.Path == "tailscale-relayed"))
			h.encoder.askKey(telemetry.KeyLoss)
		}
	}
	if size := h.size.Wanted(now, payloadBytes); size > 0 && h.pacer.ProbeSize(size) {
		h.size.Probing(now, size)
	}
}

// apply puts a controller's answer into force.
func (h *hostEnd) apply(u cc.Update) {
	h.starve(&u)
	h.update = u
	now := h.now()
	h.pacer.SetRates(now, u.Pace, u.Pad)
	h.pacer.SetBottleneck(now, pacing.Bottleneck{Rate: u.Path.Rate, Depth: u.Path.Depth, Queue: u.Path.Queue})
	h.pacer.Probe(now, pacing.Train{ID: u.Probe.ID, Rate: u.Probe.Rate, Bytes: u.Probe.Bytes})
	h.meter.Control(telemetry.Control{
		TargetKbps: float64(u.Target) / 1000, PaceKbps: float64(u.Pace) / 1000, PathKbps: float64(u.Path.Rate) / 1000,
		State: u.State, Reason: u.Reason, PathQueue: u.Path.Queue, Probe: u.Probe.ID, ProbeKbps: float64(u.Probe.Rate) / 1000,
	})
}

// starve makes the controller one that forgets what the path carries while
// little is sent, and learns it again from what the stream happens to send.
func (h *hostEnd) starve(u *cc.Update) {
	amount := h.w.amount("probe-starvation")
	if amount == 0 {
		return
	}
	dt := h.w.now.Sub(h.lastT).Seconds()
	h.lastT = h.w.now
	if h.encoder.busyness > 0.2 {
		h.quiet = h.w.now
	}
	switch {
	case h.w.now.Sub(h.quiet) > 3*time.Second:
		h.limit = amount
	case h.limit > 0:
		h.limit *= 1 + 0.12*min(dt, 1)
	}
	u.Probe = cc.Probe{}
	if h.limit > 0 {
		u.Target = min(u.Target, mbps(h.limit))
		u.Path.Rate = min(u.Path.Rate, mbps(h.limit*1.1))
		u.Pace = min(u.Pace, mbps(h.limit*3))
	}
}

// second records, and says when to do so again.
func (h *hostEnd) second() time.Duration {
	if h.asleep() {
		return h.wakes.Sub(h.w.now)
	}
	s := h.meter.Second(h.now())
	s.WallMs = float64(h.w.now.Add(h.jump).UnixMilli())
	s.Capture = h.w.source.capture(s.Capture)
	if s.Packets.MTU = h.size.Most(payloadBytes); s.Packets.MTU < payloadBytes {
		s.Packets.Interface = payloadBytes
	}
	s.CPU = h.cpu(s.SpanMs)
	if other := h.w.scene.OtherMs; other > 0 {
		s.OtherRTTMs = &other
	}
	if h.w.scene.Audio {
		s.Audio = &telemetry.HostAudio{Kbps: 64, Packets: 50}
	}
	h.log.Host = append(h.log.Host, s)
	rest := time.Second - h.now().Sub(epoch)%time.Second
	return rest + dur(0.3*h.w.rand.Float64())
}

// cpu is how busy the host's machine was.
func (h *hostEnd) cpu(spanMs float64) telemetry.CPU {
	e := h.encoder
	cores := float64(h.w.scene.Cores)
	others := h.w.amount("cpu-starved")
	process := 2 + 100*1.5*e.busy/spanMs
	c := telemetry.CPU{Process: hundredth(process), Wait: hundredth(100 * (h.waited + e.waited) / spanMs)}
	c.Host = hundredth(min(100, 3+(process+min(100*others, 100*cores-process/h.stretch()))/cores))
	if s := h.stretch(); s > 1 {
		c.Pressure = hundredth(min(95, 40+25*(s-1)))
	}
	e.busy, e.waited, h.waited = 0, 0, 0
	return c
}

// count counts a packet that a report speaks of.
func count(r *telemetry.Report, lost, large bool) {
	if lost {
		r.Lost++
	} else {
		r.Acked++
	}
	if large {
		r.Large++
	}
	if large && lost {
		r.LargeLost++
	}
}
