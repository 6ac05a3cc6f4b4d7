package pacing

import (
	"time"

	"nearglass/cc/rate"
)

// Train is a probe: packets that leave at a rate of their own, so that the
// spacing in which they arrive tells what the path can carry.
type Train struct {
	// ID marks the packets of the train; 0 is no train.
	ID uint32
	// Rate is how fast they leave.
	Rate rate.Rate
	// Bytes is how much is to leave, as UDP payload; the packet that reaches
	// it is the last. More than 1 MiB, or than 250 ms of Rate, is cut.
	Bytes int
}

const (
	// A train holds video to its own clock, so it has to end soon. The
	// longest of libwebrtc's probe clusters take 25 ms; ten times that leaves
	// room for a slow start, and 1 MiB for 33 Mbit/s over all of it.
	maxTrainTime  = 250 * time.Millisecond
	maxTrainBytes = 1 << 20
	// trainPatience is how long a train waits for something to send, or for
	// its own clock. What asked for it is out of date by then.
	trainPatience = time.Second
	// fillerScan bounds the search for a packet to fill a train with: about
	// what 20 ms at 40 Mbit/s make up.
	fillerScan = 64
)

// train is the one under way.
type train struct {
	Train
	left   int       // bytes yet to leave; 0: none is under way
	free   time.Time // when the next packet is due
	begun  bool
	cursor uint16 // where in the cache the next filler is looked for, downwards
}

// Probe begins a train as soon as there is something to send. It takes the
// place of one that has not finished. An ID that was the last one's is
// ignored, so a caller may repeat its order.
//
// The packets leave on the train's own clock, whatever the pace, and leave the
// pace no debt; while the train lasts, its clock alone decides. They are
// resends and waiting video first. The rest is filler: the newest packets once
// more by RTX, as in libwebrtc, which the receiver drops as duplicates. RTP
// padding is at most 255 bytes a packet and has to use media sequence numbers,
// so it may stand between pictures only; it fills a train when the cache holds
// nothing larger. Before the first picture there is nothing to send, and the
// train waits a second for it.
func (p *Pacer) Probe(now time.Time, t Train) {
	if t.ID == 0 || t.ID == p.train.ID {
		return
	}
	p.train = train{
		Train: t, left: min(max(t.Bytes, 0), t.Rate.Bytes(maxTrainTime), maxTrainBytes),
		free: now, cursor: p.seq,
	}
}

// trainOn says whether a train is under way that has something to send.
func (p *Pacer) trainOn() bool {
	return p.train.left > 0 &&
		(p.resend.len()+p.video.len() > 0 || p.tail.between || p.filler() != nil)
}

// settleTrain gives a train up that waits too long, and lets it catch up with
// a late timer but not with a longer silence.
func (p *Pacer) settleTrain(now time.Time) {
	t := &p.train
	if t.left == 0 {
		return
	}
	switch late := now.Sub(t.free); {
	case late > trainPatience || late < -trainPatience:
		t.left = 0
	case late > maxLate && t.begun:
		t.free = now.Add(-maxLate)
	}
}

// nextTrain returns the train's next packet, if it is due.
func (p *Pacer) nextTrain(now time.Time) (Packet, bool) {
	t := &p.train
	if now.Before(t.free) {
		return Packet{}, false
	}
	before := p.free
	pkt, ok := p.trainPacket(now)
	if !ok {
		return Packet{}, false
	}
	p.free = before
	if p.free.Before(now) {
		p.free = now
	}
	if !t.begun {
		t.begun, t.free = true, now
		p.counts.Trains++
	}
	sizeBytes := pkt.sizeBytes()
	t.left = max(t.left-sizeBytes, 0)
	t.free = t.free.Add(t.Rate.Duration(sizeBytes))
	pkt.Probe = t.ID
	return pkt, true
}

// trainPacket chooses what the train sends.
func (p *Pacer) trainPacket(now time.Time) (Packet, bool) {
	if pkt, ok := p.nextQueued(now); ok {
		return pkt, true
	}
	if p.tail.due(p.Settled(), now) {
		return p.nextGuard(now), true
	}
	if e := p.filler(); e != nil {
		return p.nextFiller(now, e), true
	}
	if !p.tail.between {
		return Packet{}, false
	}
	p.counts.Fillers++
	return p.padding(now, padPacketBytes), true
}

// filler finds the packet to repeat next: from the newest down and round
// again, those that carry more than a padding packet.
func (p *Pacer) filler() *cached {
	c := &p.cache
	if p.cfg.NoRTX {
		return nil
	}
	newest := c.oldest + uint16(c.n) - 1
	seq := p.train.cursor
	for range min(c.n, fillerScan) {
		if int(newest-seq) >= c.n {
			seq = newest
		}
		if e := c.slot(seq); e.live && e.pkt.sizeBytes() > overheadBytes+padPacketBytes {
			return e
		}
		seq--
	}
	return nil
}

// nextFiller repeats a packet that nobody asked for.
func (p *Pacer) nextFiller(now time.Time, e *cached) Packet {
	p.train.cursor = e.pkt.Seq - 1
	p.counts.Fillers++
	pkt := p.repeat(now, e)
	pkt.Filler = true
	return pkt
}
