package doctor_test

import (
	"math"
	"time"

	"nearglass/pacing"
	"nearglass/telemetry"
)

// unit is an encoded picture.
type unit struct {
	telemetry.Picture
	input time.Time
}

// encoder makes pictures of what the source drew. It has one at a time in work,
// and one that waits until the pacer has room.
type encoder struct {
	h        *hostEnd
	working  bool
	ready    *unit
	units    []unit // all that were handed over, by frame number less one
	frame    uint64
	wantKey  string // why; empty: none
	keyAt    time.Time
	hidden   bool
	credit   float64 // bits that may be spent
	creditAt time.Time
	percent  int
	qp       float64 // smoothed
	rungAt   time.Time
	busy     float64 // ms in work, this second
	waited   float64 // ms of it without a core
	busyness float64 // smoothed, Mbit/s
}

const (
	leastQP, mostQP = 20, 48
	keyBits         = 1.6e6 // of a key frame of 1080p at QP 26
	leastKeyEvery   = 300 * time.Millisecond
)

// scale is how large sent pictures are, in pictures of 1080p.
func (e *encoder) scale() float64 {
	s := e.h.w.scene
	p := float64(e.percent) / 100
	return float64(s.Width*s.Height) / (1920 * 1080) * p * p
}

// askKey has the next picture made a key frame, unless one is on its way.
func (e *encoder) askKey(why string) {
	if e.wantKey != "" || e.h.w.now.Sub(e.keyAt) < leastKeyEvery {
		return
	}
	e.wantKey = why
	e.begin()
}

// begin takes the newest picture if there is one and time for it.
func (e *encoder) begin() {
	w := e.h.w
	src := w.source
	if e.working || e.ready != nil || e.hidden || e.h.asleep() || src.number == 0 || !src.fresh && e.wantKey == "" {
		return
	}
	e.working = true
	again := !src.fresh
	d := src.newest
	src.fresh = false
	if again {
		d.at, d.changed = w.now, 0
	} else {
		e.h.meter.Taken(d.number, d.changed)
	}
	why := e.wantKey
	e.wantKey = ""
	base := 7.0
	if a := w.amount("encoder-overload"); a > 0 {
		base = a
	}
	work := w.spread(base*e.scale()*(0.15+0.85*math.Sqrt(d.changed))) + 0.5
	convert := 0.8 * e.scale()
	if why != "" {
		e.keyAt = w.now
		work = max(work, base*e.scale()*1.1)
	}
	took := (work + convert) * e.h.stretch()
	e.busy += work + convert
	e.waited += (took - work - convert) * 1.5
	taken := w.now
	w.after(dur(took), func() { e.done(d, again, why, taken, dur(convert), dur(took-convert)) })
}

func (e *encoder) done(d drawing, again bool, why string, taken time.Time, convert, encode time.Duration) {
	e.working = false
	e.frame++
	qp, bits := e.choose(d, why != "")
	slept := e.h.slept
	p := telemetry.Picture{
		Frame: e.frame, RTP: uint32(d.at.Add(-slept).Sub(epoch) * 90 / time.Millisecond), SizeBytes: int(bits/8) + 60, QP: qp, Key: why != "", Why: why, Again: again,
		Width: e.h.w.scene.Width * e.percent / 100, Height: e.h.w.scene.Height * e.percent / 100,
		Captured: d.at.Add(-slept), Wait: taken.Sub(d.at), Convert: convert, Encode: encode, Converted: e.h.now().Add(-encode), Encoded: e.h.now(),
	}
	e.h.meter.Encoded(e.h.now(), p)
	if why != "" {
		e.h.event(telemetry.Event{Name: telemetry.EventKey, Who: why})
	}
	e.ready = &unit{p, d.input}
	e.ladder(float64(qp))
	e.h.step()
}

// choose gives the sharpest QP that the rate allows, and what the picture then
// takes.
func (e *encoder) choose(d drawing, key bool) (qp int, bits float64) {
	now := e.h.w.now
	target := float64(e.h.update.Target)
	e.credit = min(e.credit+target*now.Sub(e.creditAt).Seconds(), target*0.1)
	e.creditAt = now
	allowed := max(e.credit, target/120)
	at26 := d.bits * e.scale()
	if key {
		at26 = keyBits * e.scale() * e.h.w.source.level
		allowed = target * 0.25
	}
	exact := 26 + 6*math.Log2(max(at26, 1)/max(allowed, 1))
	qp = int(math.Ceil(min(max(exact, leastQP), mostQP)))
	bits = at26 * math.Exp2((26-float64(qp))/6) * (0.9 + 0.2*e.h.w.rand.Float64())
	e.credit -= bits
	e.busyness += (bits*hostFPS/1e6 - e.busyness) / 30
	if d.changed < 0.01 {
		e.busyness = min(e.busyness, 0.1)
	}
	return qp, bits
}

// ladder sends smaller pictures where even the coarsest are too much.
func (e *encoder) ladder(qp float64) {
	e.qp += (qp - e.qp) / 40
	since := e.h.w.now.Sub(e.rungAt)
	was := e.percent
	switch {
	case e.qp > 44 && e.percent > 50 && since > 2*time.Second:
		e.percent -= 25
		e.h.meter.Sized(e.percent, "the coarsest pictures are too much for the link")
	case e.qp < 30 && e.percent < 100 && since > 5*time.Second:
		e.percent += 25
		e.h.meter.Sized(e.percent, "the link carries more again")
	}
	if e.percent != was {
		e.rungAt, e.qp = e.h.w.now, 36
		e.h.event(telemetry.Event{Name: telemetry.EventSize, Width: e.h.w.scene.Width * e.percent / 100, Height: e.h.w.scene.Height * e.percent / 100})
		e.wantKey = telemetry.KeyStart
	}
}

// blank is what payloads consist of.
var blank [payloadBytes]byte

// hand gives the picture that is ready to the pacer, if there is room.
func (e *encoder) hand() {
	if e.ready == nil || e.h.pacer.QueueDelay() > mostQueued {
		return
	}
	u := *e.ready
	e.ready = nil
	e.units = append(e.units, u)
	now := e.h.now()
	class := pacing.Video
	if u.Key {
		class = pacing.KeyFrame
	}
	most := e.h.size.Most(payloadBytes)
	n := (u.SizeBytes + most - 1) / most
	for i := range n {
		part := u.SizeBytes*(i+1)/n - u.SizeBytes*i/n
		e.h.pacer.Enqueue(now, pacing.Packet{
			Class: class, Frame: u.Frame, First: i == 0, Marker: i == n-1, Timestamp: u.RTP, Captured: u.Captured,
			Deadline: now.Add(500 * time.Millisecond), Body: blank[:part],
		})
	}
	e.h.meter.Queued(now, u.Frame, n)
	e.h.w.viewer.expect(int(u.Frame), n)
	e.begin()
}
