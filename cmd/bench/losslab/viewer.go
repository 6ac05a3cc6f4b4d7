package losslab

import (
	"time"

	"nearglass/cc"
	"nearglass/pacing"
)

// packet is one on its way to the viewer.
type packet struct {
	class            pacing.Class
	sequence         uint64 // transport-wide
	media            int64
	frame, reference uint64
	first, last      bool
	timestamp        uint32
	captured         time.Time

	report bool // an RTCP sender report, that
	left   time.Time
}

func (p *packet) resent() bool  { return p.class == pacing.Resend }
func (p *packet) payload() bool { return p.class != pacing.Padding }

// message is one on its way back.
type message struct {
	acks         []cc.Ack
	received     []uint16
	nacks        []uint16
	key          bool
	reported     bool
	lossFraction float64
	asked        time.Time // when the sender report left that is answered
	held         time.Duration
	shown        []uint32 // RTP timestamps, over a data channel
}

// sizeBytes is about what it weighs: a transport feedback of two bits of status and
// a byte of time a packet, a NACK of an entry for each run of 17, or a line of JSON
// in SCTP and DTLS.
func (m *message) sizeBytes() int {
	if m.shown != nil {
		return 90 + 11*len(m.shown)
	}
	return 64 + len(m.acks)/4 + len(m.received) + 4*((len(m.nacks)+16)/17)
}

const (
	// decodeTime is what a picture of this size takes in software.
	decodeTime = 3 * time.Millisecond
	// showTime is how long after that the page learns that it is shown: half a
	// refresh of the screen.
	showTime = 8 * time.Millisecond
	// shownNamed is how many of the pictures shown last our page names each time.
	shownNamed = 6
)

// When libwebrtc asks for a key frame (VideoReceiveStream2): it waits so long for
// the first one, and so long for any picture that can be decoded, unless no packet
// came for longer than silence.
const (
	keyWait   = 200 * time.Millisecond
	frameWait = 3 * time.Second
	silence   = 5 * time.Second
)

// viewer is a browser with our page.
type viewer struct {
	asks    asks
	frames  frames
	reports reports

	decoding *picture  // nil: nothing is
	ready    time.Time // when it will be
	awaited  time.Time // since when a picture is
	packetAt time.Time // when the newest packet came
	telling  []telling // what the page has not said yet
	last     []uint32  // shown last
	shown    []shown
	requests int // for key frames
}

// shown is a picture that was decoded.
type shown struct {
	frame        uint64
	captured, at time.Time
}

type telling struct {
	at        time.Time
	timestamp uint32
}

func newViewer(origin time.Time, descriptors bool) *viewer {
	return &viewer{frames: newFrames(descriptors), reports: newReports(origin), awaited: origin}
}

// take is the arrival of a packet.
func (v *viewer) take(now time.Time, p *packet) {
	v.reports.take(now, p)
	if p.report {
		return
	}
	v.packetAt = now
	v.asks.arrived(now, p.media, p.payload(), p.resent())
	v.asks.passed(v.frames.take(p))
}

// turn does what is due, and gives what the viewer says.
func (v *viewer) turn(now time.Time) []message {
	v.decode(now)
	list := v.reports.say(now)
	if nacks := v.asks.take(now); len(nacks) > 0 {
		list = append(list, message{nacks: nacks})
	}
	if v.wantsKey(now) {
		v.requests++
		list = append(list, message{key: true})
	}
	for len(v.telling) > 0 && !now.Before(v.telling[0].at) {
		v.last = append(v.last, v.telling[0].timestamp)
		v.last = v.last[max(0, len(v.last)-shownNamed):]
		v.telling = v.telling[1:]
		list = append(list, message{shown: append([]uint32(nil), v.last...)})
	}
	return list
}

// decode ends and begins decoding, one picture at a time.
func (v *viewer) decode(now time.Time) {
	for {
		if v.decoding != nil {
			if now.Before(v.ready) {
				return
			}
			p := v.decoding
			v.shown = append(v.shown, shown{p.frame, p.captured, v.ready})
			v.telling = append(v.telling, telling{v.ready.Add(showTime), p.timestamp})
			v.decoding = nil
		}
		p, ok := v.frames.next()
		if !ok {
			return
		}
		v.decoding, v.ready, v.awaited = &p, now.Add(decodeTime), now
	}
}

// waits is how long a picture may be waited for.
func (v *viewer) waits() time.Duration {
	if v.frames.newest == 0 {
		return keyWait
	}
	return frameWait
}

// wantsKey says whether a key frame is to be asked for now.
func (v *viewer) wantsKey(now time.Time) bool {
	if now.Before(v.awaited.Add(v.waits())) {
		return false
	}
	v.awaited = now
	return !v.packetAt.IsZero() && now.Sub(v.packetAt) < silence
}

// due is when turn is to be called again at the latest.
func (v *viewer) due() time.Time {
	at := earliest(v.reports.due(), v.asks.due())
	at = earliest(at, v.awaited.Add(v.waits()))
	if v.decoding != nil {
		at = earliest(at, v.ready)
	}
	if len(v.telling) > 0 {
		at = earliest(at, v.telling[0].at)
	}
	return at
}
