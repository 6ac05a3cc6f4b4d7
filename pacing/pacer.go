package pacing

import (
	"time"

	"nearglass/cc/rate"
)

// Config sets up a Pacer. Zero values mean the defaults named here.
type Config struct {
	// Pace and Pad are the first rates, as for SetRates.
	Pace, Pad rate.Rate
	// Burst is the first burst window, as for SetBurst. Default 5 ms, well
	// below one frame.
	Burst time.Duration
	// MinBurstBytes is what may leave at once at any rate. Default 4800,
	// four full packets, so that a small picture is never spread out.
	MinBurstBytes int
	// FirstSeq is the first media sequence number. RFC 3550 wants it random.
	FirstSeq uint16
	// CachePackets, CacheBytes and CacheAge bound the retransmission cache.
	// Defaults 8192 (rounded up to a power of two, at most 32768), 8 MiB
	// and 1 s. At 50 Mbit/s the second is what counts, and at a round trip
	// of 200 ms it answers four requests for one packet, one after another.
	CachePackets, CacheBytes int
	CacheAge                 time.Duration
	// ResendShare is the part of the pace that resends may take over time,
	// 0 to 1. Default 0.5: beyond it the path is not fit for the rate, and
	// repairing makes it worse.
	ResendShare float64
	// NoRTX says that the receiver takes no RTX: nothing is sent again, and
	// trains are filled with padding.
	NoRTX bool
	// Echo sends twice what is asked for on a path that loses packets one by one.
	Echo bool
	// NoTailGuard switches the tail guard off.
	NoTailGuard bool
}

const (
	defaultBurst         = 5 * time.Millisecond
	defaultMinBurstBytes = 4800
	defaultCachePackets  = 8192
	defaultCacheBytes    = 8 << 20
	defaultCacheAge      = time.Second
	defaultResendShare   = 0.5
	// resendBurst is how much unused resend budget may be saved up. One
	// lost burst of a WiFi outage is about that long.
	resendBurst = 100 * time.Millisecond
	// defaultRTT spaces the resends of one packet until SetRTT is called:
	// the round trip of a home network, with room for the receiver's batching.
	defaultRTT = 20 * time.Millisecond
	// minRTT keeps duplicate NACKs that arrive together from being served
	// twice on a local network.
	minRTT = 5 * time.Millisecond
	// padPacketBytes is the most that RTP can pad, and so the cheapest.
	padPacketBytes = 255
)

// maxAudio bounds the sound that waits, in packets: 2.5 s of 10 ms each. It
// leaves at once, so more than a few mean that nobody calls Next.
const maxAudio = 256

// Pacer releases the packets of one stream. See the package comment.
type Pacer struct {
	cfg       Config
	pace, pad rate.Rate
	window    time.Duration // as SetBurst left it
	rtt       time.Duration

	audio, video ring[Packet]
	audioSince   time.Time // when the oldest waiting audio came
	resend       ring[uint16]
	echoes       echoes
	// repeats are of Repeat and leave at repeatRate, the next at repeatAt; gapShown says
	// that the padding before them has left.
	repeats    ring[uint16]
	repeatRate rate.Rate
	repeatAt   time.Time
	gapShown   bool
	videoBytes int
	cache      cache

	// free is when the budget lets the next packet go. It lies in the past
	// by at most the burst window: saved-up budget. Times instead of byte
	// counts make the deadline exact and need no rounding.
	free       time.Time
	resendFree time.Time
	padFree    time.Time
	path       Bottleneck
	pathFree   time.Time // when nothing waits in front of the bottleneck
	held       time.Time // what free was when a packet had to wait for it
	grain      grain
	// settled is when the budgets were brought near now, and settledWaiting
	// whether packets waited then.
	settled        time.Time
	settledWaiting bool

	// newest is the picture enqueued last and newestNeeds what it depends
	// on; newestGone says that it was dropped.
	newest, newestNeeds uint64
	newestGone          bool
	gone                gone
	needed              []uint64 // memory for Stale

	seq      uint16 // of the next media packet
	owed     uint64 // the oldest picture that the receiver may still need
	keyFrame uint64 // the newest key frame that left, or began to
	audioSeq uint16
	tail     guard
	train    train
	sizing   sizing
	small    uint16 // the newest media packet of at most LeastPayload
	pulse    bool   // a small packet is to leave between two pictures
	counts   Snapshot
}

// New returns a pacer without packets.
func New(c Config) *Pacer {
	setDefault(&c.Burst, defaultBurst)
	setDefault(&c.MinBurstBytes, defaultMinBurstBytes)
	setDefault(&c.CachePackets, defaultCachePackets)
	setDefault(&c.CacheBytes, defaultCacheBytes)
	setDefault(&c.CacheAge, defaultCacheAge)
	setDefault(&c.ResendShare, defaultResendShare)
	return &Pacer{
		cfg: c, pace: max(c.Pace, 0), pad: max(c.Pad, 0), window: min(c.Burst, maxBurst), rtt: defaultRTT, seq: c.FirstSeq,
		cache: newCache(c.CachePackets, c.CacheBytes, c.CacheAge),
		tail:  guard{off: c.NoTailGuard},
	}
}

func setDefault[T int | float64 | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Enqueue adds a packet behind those of its kind. Packets of one picture are
// enqueued in order, and pictures in coding order. The classes Resend and
// Padding are made by the pacer itself; enqueued ones are ignored.
func (p *Pacer) Enqueue(now time.Time, pkt Packet) {
	p.settle(now)
	switch pkt.Class {
	case Audio:
		if p.audio.len() == 0 {
			p.audioSince = now
		}
		if p.audio.len() == maxAudio {
			p.audio.pop()
			p.counts.DroppedAudio++
		}
		p.audio.push(pkt)
	case KeyFrame, Video:
		p.enqueueVideo(&pkt)
	}
}

// Next returns the packet that is due at now, if any. The caller drains it,
// at most 512 packets in a row, before it waits for Deadline: a timer that
// wakes late must not cost throughput.
func (p *Pacer) Next(now time.Time) (Packet, bool) {
	p.settle(now)
	if p.audio.len() > 0 {
		return p.nextAudio(now), true
	}
	if p.trainOn() {
		return p.nextTrain(now)
	}
	for p.repeatDue(now) {
		if pkt, ok := p.nextRepeat(now); ok {
			return pkt, true
		}
	}
	if p.pace <= 0 || now.Before(p.ready()) {
		p.hold()
		return Packet{}, false
	}
	p.unhold(now)
	if pkt, ok := p.nextQueued(now); ok {
		return pkt, true
	}
	return p.nextPadding(now)
}

// nextQueued takes what waits besides audio.
func (p *Pacer) nextQueued(now time.Time) (Packet, bool) {
	for p.resend.len() > 0 {
		if pkt, ok := p.nextResend(now); ok {
			return pkt, true
		}
	}
	if pkt, ok := p.nextEcho(now); ok {
		return pkt, true
	}
	if pkt, ok := p.nextPulse(now); ok {
		return pkt, true
	}
	if p.video.len() > 0 {
		return p.nextVideo(now), true
	}
	return p.nextSizing(now)
}

func (p *Pacer) nextAudio(now time.Time) Packet {
	pkt := p.audio.pop()
	pkt.Seq = p.audioSeq
	p.audioSeq++
	p.charge(pkt.sizeBytes())
	clamp(&p.free, now, maxDebt, maxDebt)
	return pkt
}

func (p *Pacer) nextResend(now time.Time) (Packet, bool) {
	e := p.cache.get(p.resend.pop())
	if e == nil {
		return Packet{}, false // evicted while it waited
	}
	e.queued = false
	if e.pkt.Frame < p.owed {
		return Packet{}, false // given up while it waited
	}
	p.counts.Resent++
	p.echo(now, e)
	return p.repeat(now, e), true
}

// repeat sends a cached packet once more.
func (p *Pacer) repeat(now time.Time, e *cached) Packet {
	e.resent = now
	pkt := e.pkt
	// A lost padding packet is repaired by an RTX packet without payload:
	// the receiver only needs to know that its number carried nothing.
	pkt.Class, pkt.PadBytes = Resend, 0
	p.charge(pkt.sizeBytes())
	return pkt
}

func (p *Pacer) nextVideo(now time.Time) Packet {
	pkt := p.video.pop()
	p.videoBytes -= pkt.sizeBytes()
	if pkt.Class == KeyFrame {
		p.keyFrame = pkt.Frame
	}
	p.release(now, &pkt)
	p.tail.media(now, &pkt, p.video.len() == 0)
	return pkt
}

// release gives a packet its number and keeps it for resends.
func (p *Pacer) release(now time.Time, pkt *Packet) {
	pkt.Seq = p.seq
	p.seq++
	p.cache.add(now, pkt)
	if n := pkt.payload(); n > 0 && n <= LeastPayload {
		p.small = pkt.Seq
	}
	if pkt.Frame < p.owed {
		p.cache.ack(pkt.Seq)
	}
	p.charge(pkt.sizeBytes())
}

// nextPadding serves the tail guard and, after it, the padding rate. Padding
// shares the video's numbers, so it may only stand between pictures.
func (p *Pacer) nextPadding(now time.Time) (Packet, bool) {
	if p.tail.due(p.Settled(), now) {
		return p.nextGuard(now), true
	}
	if p.pad <= 0 || !p.tail.between || now.Before(p.padFree) {
		return Packet{}, false
	}
	p.counts.Padded++
	return p.padding(now, padPacketBytes), true
}

func (p *Pacer) nextGuard(now time.Time) Packet {
	p.tail.step++
	p.counts.Guards++
	if e := p.cache.get(p.tail.seq); e != nil && p.tail.affords(now, p.drainRate().Scale(guardShare).Duration(e.pkt.sizeBytes())) {
		p.again(p.tail.seq)
	}
	return p.padding(now, guardBytes)
}

func (p *Pacer) padding(now time.Time, padBytes uint8) Packet {
	pkt := Packet{Class: Padding, PadBytes: padBytes, Timestamp: p.tail.timestamp, Frame: p.tail.frame}
	p.release(now, &pkt)
	return pkt
}

// Deadline returns when Next is due, which may lie in the past; the zero time
// means that nothing waits. A pace of zero holds everything but audio and a
// train.
func (p *Pacer) Deadline() time.Time {
	switch {
	case p.audio.len() > 0:
		return p.audioSince
	case p.trainOn():
		return p.train.free
	case p.repeats.len() > 0:
		if ready := p.ready(); p.resend.len()+p.video.len() > 0 && p.pace > 0 && ready.Before(p.repeatAt) {
			return ready
		}
		return p.repeatAt
	case p.pace <= 0:
		return time.Time{}
	case p.resend.len()+p.video.len()+p.sizing.left > 0 || p.pulse && p.tail.between:
		return p.ready()
	}
	due := p.tail.deadline(p.Settled())
	if at := p.echoes.at(); due.IsZero() || !at.IsZero() && at.Before(due) {
		due = at
	}
	if p.pad > 0 && p.tail.between && (due.IsZero() || p.padFree.Before(due)) {
		due = p.padFree
	}
	if ready := p.ready(); !due.IsZero() && due.Before(ready) {
		due = ready
	}
	return due
}

// Empty says whether no packet waits; the tail guard may still be armed.
func (p *Pacer) Empty() bool {
	return p.audio.len()+p.resend.len()+p.echoes.waiting.len()+p.repeats.len()+p.video.len()+p.sizing.left == 0
}
