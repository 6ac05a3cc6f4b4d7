package pacing

import "time"

// sizing is packets of a size that the path may or may not carry, for PathSize.
type sizing struct {
	seq     uint16 // of the packet that is repeated
	payload int
	left    int
}

// ProbeSize has packets leave with a payload of that size, behind all that waits:
// one that left before, by RTX and padded, which the receiver drops as a duplicate.
// False says that none is near enough in size, or that the receiver takes no RTX.
func (p *Pacer) ProbeSize(payload int) bool {
	if p.cfg.NoRTX {
		return false
	}
	c := &p.cache
	for i := range min(c.n, fillerScan) {
		e := c.slot(c.oldest + uint16(c.n-1-i))
		if n := e.pkt.payload(); e.live && n > 0 && n < payload && n+padPacketBytes >= payload {
			p.sizing = sizing{seq: e.pkt.Seq, payload: payload, left: SizeProbePackets}
			return true
		}
	}
	return false
}

// nextSizing takes the next of them.
func (p *Pacer) nextSizing(now time.Time) (Packet, bool) {
	if p.sizing.left == 0 {
		return Packet{}, false
	}
	p.sizing.left--
	e := p.cache.get(p.sizing.seq)
	if e == nil {
		p.sizing.left = 0
		return Packet{}, false
	}
	pkt := p.repeat(now, e)
	pkt.Filler, pkt.PadBytes = true, uint8(p.sizing.payload-e.pkt.payload())
	p.charge(int(pkt.PadBytes))
	return pkt, true
}

// Pulse has a small packet leave next, so that the receiver has something to report
// where nothing large arrives: padding between two pictures, and within one a packet
// that left before, by RTX.
func (p *Pacer) Pulse() { p.pulse = true }

// nextPulse takes it, if there is one.
func (p *Pacer) nextPulse(now time.Time) (Packet, bool) {
	switch {
	case !p.pulse:
		return Packet{}, false
	case p.tail.between:
		p.pulse = false
		return p.padding(now, guardBytes), true
	}
	e := p.cache.get(p.small)
	if e == nil || p.cfg.NoRTX || e.pkt.payload() == 0 || e.pkt.payload() > LeastPayload {
		return Packet{}, false
	}
	p.pulse = false
	pkt := p.repeat(now, e)
	pkt.Filler = true
	return pkt, true
}

// Shrink has nothing leave any more with a payload of more than most bytes: what was
// sent is not sent again, and what waits is dropped, for the path does not carry it.
// What NeedsKey and BeyondRepair say follows from that.
func (p *Pacer) Shrink(most int) {
	p.cache.forget(most)
	p.drop(func(*Packet) bool { return true })
}
