package doctor_test

import (
	"slices"
	"time"

	"nearglass/cc"
	"nearglass/telemetry"
)

// picture is one on its way through the viewer.
type picture struct {
	missing  int
	packets  int
	first    time.Time
	complete time.Time
	queued   bool // at the decoder, or past it
}

// want is a packet that the viewer misses.
type want struct {
	media int
	due   time.Time
	tries int
}

// viewerEnd is the viewer: it receives, decodes, shows, reports and records.
type viewerEnd struct {
	w        *world
	log      telemetry.Log
	zero     time.Time
	pictures map[int]*picture
	had      map[int]bool
	next     int // number of the picture to decode next
	decoding bool
	waiting  []int     // complete, for the decoder
	blocked  time.Time // since when the next picture is missing; zero: it is not
	plis     time.Time // when the last key frame was asked for
	hidden   bool
	hiddenAt time.Time
	lastShow time.Time
	told     time.Time // not to tell of a picture before
	clock    *telemetry.Clock

	arrived []cc.Ack
	media   []uint16
	seen    int // first sequence that no report spoke of
	highest int
	wants   []want
	newest  time.Time // arrival

	s      telemetry.ViewerSecond // being counted
	last   time.Time
	sums   struct{ buffer, decode, present, arrive, total, input telemetry.Sum }
	bytes  int
	buffer float64
	hot    float64 // by how much the device is slower
}

func newViewer(w *world) *viewerEnd {
	v := &viewerEnd{w: w, zero: epoch.Add(dur(-180)), pictures: map[int]*picture{}, had: map[int]bool{}, next: 1, highest: -1, last: epoch, hot: 1, lastShow: epoch}
	v.log.Header = telemetry.Header{
		Record: telemetry.KindHeader, Schema: telemetry.SchemaVersion, Stream: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Side: telemetry.ViewerSide,
		StartMs: float64(epoch.Add(dur(-180)).UnixMilli()), Version: "model", Cores: 4,
	}
	w.every(epoch.Add(dur(100)), v.report)
	w.every(epoch.Add(dur(160)), v.ping)
	w.every(epoch.Add(dur(1001)), v.second)
	w.every(epoch.Add(dur(10)), v.nack)
	if f, ok := w.find("key-frame-storm"); ok {
		w.every(w.time(f.From), func() time.Duration {
			if w.amount("key-frame-storm") > 0 {
				v.askKey()
			}
			return dur(f.Amount * 1000)
		})
	}
	if f, ok := w.find("viewer-background"); ok {
		w.at(w.time(f.From), func() { v.turn(true) })
		if f.To < w.scene.Seconds {
			w.at(w.time(f.To), func() { v.turn(false) })
		}
	}
	return v
}

func (v *viewerEnd) event(e telemetry.Event) {
	e.Record, e.T, e.WallMs = telemetry.KindEvent, ms(v.w.now.Sub(v.zero)), float64(v.w.now.UnixMilli())
	v.log.Events = append(v.log.Events, e)
}

// turn hides the page, or shows it again; the host learns it a little later.
func (v *viewerEnd) turn(hidden bool) {
	if v.hidden == hidden {
		return
	}
	v.hidden = hidden
	name := telemetry.EventVisible
	if hidden {
		name, v.hiddenAt = telemetry.EventHidden, v.w.now
	} else {
		v.s.HiddenMs += ms(v.w.now.Sub(later(v.hiddenAt, v.last)))
	}
	v.event(telemetry.Event{Name: name})
	v.w.after(v.w.road.oneWay(), func() {
		h := v.w.host
		h.encoder.hidden = hidden
		h.event(telemetry.Event{Name: name, Who: "viewer"})
		if hidden {
			h.meter.Hidden()
			return
		}
		h.encoder.keyAt = time.Time{}
		h.encoder.askKey(telemetry.KeyResume)
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// expect says how many packets a picture has.
func (v *viewerEnd) expect(frame, packets int) {
	v.pictures[frame] = &picture{missing: packets, packets: packets}
}

// arrive takes a packet.
func (v *viewerEnd) arrive(id int) {
	p := v.w.host.sent[id]
	v.newest = v.w.now
	v.arrived = append(v.arrived, cc.Ack{Sequence: uint64(id), Arrived: v.w.now.Sub(epoch).Truncate(250 * time.Microsecond)})
	v.media = append(v.media, uint16(p.media))
	v.s.Net.Packets++
	v.bytes += p.bytes
	if p.resend {
		v.s.Net.Resends++
	}
	v.wants = slices.DeleteFunc(v.wants, func(w want) bool { return w.media == p.media })
	for m := v.highest + 1; m < p.media; m++ {
		v.wants = append(v.wants, want{media: m, due: v.w.now})
		v.s.Net.Lost++
	}
	if v.highest >= 0 && p.media < v.highest && !v.had[p.media] && !p.resend {
		v.s.Net.Lost--
	}
	v.highest = max(v.highest, p.media)
	if v.had[p.media] || p.frame == 0 {
		return
	}
	v.had[p.media] = true
	pic := v.pictures[p.frame]
	if pic.missing == pic.packets {
		pic.first = v.w.now
	}
	if pic.missing--; pic.missing == 0 {
		pic.complete = v.w.now
		v.s.Frames.Received++
		v.advance()
	}
}

// advance hands the decoder what it can decode, in order.
func (v *viewerEnd) advance() {
	for {
		n := v.next
		p := v.pictures[n]
		if p == nil || p.missing > 0 {
			n = v.key(n)
			if n == 0 {
				break
			}
			p = v.pictures[n]
		}
		p.queued = true
		v.waiting = append(v.waiting, n)
		v.next = n + 1
		v.blocked = time.Time{}
	}
	if len(v.pictures) >= v.next && v.blocked.IsZero() {
		v.blocked = v.w.now
	}
	v.decode()
}

// key finds a complete key frame behind n, or 0.
func (v *viewerEnd) key(n int) int {
	for i := n; i <= len(v.w.host.encoder.units); i++ {
		if p := v.pictures[i]; p != nil && p.missing == 0 && v.w.host.encoder.units[i-1].Key {
			return i
		}
	}
	return 0
}

// slow is by how much the viewer's machine is slower than it could be.
func (v *viewerEnd) slow() float64 {
	a := v.w.amount("viewer-throttled")
	if a == 0 {
		v.hot = 1
		return 1
	}
	v.hot += (a - v.hot) * 0.002
	return v.hot
}

// decode takes the next picture when the decoder is free.
func (v *viewerEnd) decode() {
	if v.decoding || len(v.waiting) == 0 {
		return
	}
	n := v.waiting[0]
	p := v.pictures[n]
	if a := v.w.amount("audio-holds-video"); a > 0 && v.w.scene.Audio {
		if hold := p.complete.Add(dur(a)); v.w.now.Before(hold) {
			v.w.at(hold, v.decode)
			return
		}
	}
	v.waiting = v.waiting[1:]
	v.decoding = true
	u := v.w.host.encoder.units[n-1]
	base := 3.0
	if a := v.w.amount("slow-decoder"); a > 0 {
		base = a
	}
	took := dur(v.w.spread(base*v.w.host.encoder.scale()) * v.slow())
	began := v.w.now
	v.w.after(took, func() { v.decoded(u, p, began) })
	// A receiver that falls behind too far begins anew at a key frame.
	if len(v.waiting) > 120 {
		v.s.Frames.Dropped += len(v.waiting)
		v.waiting = nil
		v.askKey()
	}
}

func (v *viewerEnd) decoded(u unit, p *picture, began time.Time) {
	v.decoding = false
	v.s.Frames.Decoded++
	if u.Key {
		v.s.Frames.Keys++
	}
	v.s.QP += float64(u.QP)
	v.buffer += ms(began.Sub(p.first))
	now := v.w.now
	const vsync = time.Second / 60
	phase := 7 * time.Millisecond
	shown := epoch.Add(phase + (now.Add(dur(1.5*v.slow())).Sub(epoch)/vsync+1)*vsync)
	if shown.Equal(v.lastShow) {
		v.s.Frames.Dropped++ // a newer one for the same refresh
	} else if !v.hidden {
		v.show(u, p, began, now, shown)
	}
	v.decode()
}

// show counts a picture that is put on the screen, and tells the host.
func (v *viewerEnd) show(u unit, p *picture, began, decoded, shown time.Time) {
	v.s.Frames.Shown++
	gap := shown.Sub(v.lastShow)
	v.s.Frames.Gap = max(v.s.Frames.Gap, ms(gap))
	if gap > 250*time.Millisecond && v.w.source.look().every < 50 {
		v.s.Frames.Freezes++
		v.s.Frames.FreezeMs += ms(gap)
	}
	v.lastShow = shown
	captured := u.Captured.Add(v.w.host.slept)
	v.sums.buffer.AddTime(began.Sub(p.complete))
	v.sums.decode.AddTime(decoded.Sub(began))
	v.sums.present.AddTime(shown.Sub(decoded))
	v.sums.arrive.AddTime(p.complete.Sub(captured))
	v.sums.total.AddTime(shown.Sub(captured))
	if !u.input.IsZero() {
		v.sums.input.AddTime(shown.Sub(u.input))
	}
	if v.w.now.Before(v.told) {
		return
	}
	v.told = v.w.now.Add(dur(200)) // the page reports five of them a second
	slept := v.w.host.slept
	host := func(t time.Time) float64 { return ms(t.Add(-slept).Sub(epoch)) }
	r := telemetry.Shown{RTP: u.RTP, ReceivedT: host(p.complete), DecodingT: host(began), DecodedT: host(decoded), ShownT: host(shown)}
	v.w.at(shown.Add(v.w.road.oneWay()), func() { v.w.host.meter.Shown(r) })
}
