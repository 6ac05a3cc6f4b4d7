package pacing

import (
	"slices"
	"time"
)

// maxQueued bounds the video queue in packets, 3 s at 50 Mbit/s. The session
// holds the encoder back long before; a pace of zero must not fill the memory.
const maxQueued = 1 << 14

// maxGone is how many dropped pictures are remembered one by one.
const maxGone = 64

// gone remembers the pictures that were dropped since the last key frame came,
// so that those which need them are known. The zero value is empty.
type gone struct {
	frames [maxGone]uint64
	n      int
	// From lowest to highest all count as gone: with that many dropped it
	// errs on the side that a key frame repairs.
	lowest, highest uint64
}

func (g *gone) clear() { *g = gone{} }

func (g *gone) add(frame uint64) {
	if g.has(frame) {
		return
	}
	if g.n == maxGone {
		if g.highest == 0 {
			g.lowest = frame
		}
		g.lowest = min(g.lowest, slices.Min(g.frames[:]))
		g.highest = max(g.highest, slices.Max(g.frames[:]))
		g.n = 0
	}
	g.frames[g.n] = frame
	g.n++
}

// has says whether a picture was dropped; 0 is none.
func (g *gone) has(frame uint64) bool {
	switch {
	case frame == 0:
		return false
	case g.highest > 0 && g.lowest <= frame && frame <= g.highest:
		return true
	}
	return slices.Contains(g.frames[:g.n], frame)
}

// enqueueVideo adds a packet, unless its picture needs one that was dropped.
func (p *Pacer) enqueueVideo(pkt *Packet) {
	if pkt.Frame != p.newest {
		p.newPicture(pkt)
	}
	if p.newestGone {
		return
	}
	if p.video.len() >= maxQueued {
		p.overflow()
		return
	}
	pkt.DependsOn = p.newestNeeds
	p.video.push(*pkt)
	p.videoBytes += pkt.sizeBytes()
}

// overflow drops the newest picture, which may have come in part. If it has
// also begun to leave, its rest is lost.
func (p *Pacer) overflow() {
	if n, _ := p.drop(func(pkt *Packet) bool { return pkt.Frame == p.newest }); n == 0 {
		p.counts.Dropped++
	}
	p.newestGone = true
	p.gone.add(p.newest)
}

// newPicture notes what the picture needs that begins with pkt, and whether
// that is still to be had.
func (p *Pacer) newPicture(pkt *Packet) {
	needs := pkt.DependsOn
	switch {
	case pkt.Class == KeyFrame:
		needs = 0
		p.gone.clear()
	case needs == 0:
		needs = p.newest
	}
	p.newest, p.newestNeeds, p.newestGone = pkt.Frame, needs, p.gone.has(needs)
	if p.newestGone {
		p.gone.add(pkt.Frame)
		p.counts.Dropped++
	}
}

// Drop removes from the queue the picture frame and those that need it,
// directly or not; a picture that depends only on others stays, as does all
// from the next key frame on. A picture of which a packet has already left
// stays itself, for the receiver would wait for its rest. It returns how many
// pictures went and, if any, whether the stream goes on without help: that is
// so while the newest picture is not among them, for the next one builds on
// it. Otherwise the caller has to have a key frame encoded, or a picture that
// names a reference which was not dropped; what comes before that is dropped
// on arrival, and NeedsKey says so.
func (p *Pacer) Drop(frame uint64) (dropped int, goesOn bool) {
	begun := p.begun()
	return p.drop(func(pkt *Packet) bool {
		return pkt.Frame == frame || frame == begun && frame != 0 && pkt.DependsOn == frame
	})
}

// Stale drops the pictures whose Deadline has passed at now, as far as the
// decoder can do without them: those that the newest waiting picture does not
// need, such as all before a waiting key frame. What needs one of them goes
// with it. It returns what Drop returns.
func (p *Pacer) Stale(now time.Time) (dropped int, goesOn bool) {
	p.needed = p.needed[:0]
	for i := p.video.len() - 1; i >= 0; i-- {
		pkt := p.video.at(i)
		if n := len(p.needed); n == 0 {
			p.needed = append(p.needed, pkt.Frame, pkt.DependsOn)
		} else if pkt.Frame == p.needed[n-1] && pkt.DependsOn != pkt.Frame {
			p.needed = append(p.needed, pkt.DependsOn)
		}
	}
	return p.drop(func(pkt *Packet) bool {
		return !pkt.Deadline.IsZero() && pkt.Deadline.Before(now) && !slices.Contains(p.needed, pkt.Frame)
	})
}

// NeedsKey says whether the newest picture was dropped, so that the next one
// can be decoded only if it is a key frame or names an older reference.
func (p *Pacer) NeedsKey() bool { return p.newestGone }

// begun is the picture at the head of the queue if some of it has left, else 0.
func (p *Pacer) begun() uint64 {
	if p.video.len() == 0 || p.video.at(0).First {
		return 0
	}
	return p.video.at(0).Frame
}

// drop removes the pictures that root names, by their first packet, and all
// that need them.
func (p *Pacer) drop(root func(*Packet) bool) (dropped int, goesOn bool) {
	begun, last, dropping := p.begun(), uint64(0), false
	p.video.keep(func(pkt *Packet) bool {
		if pkt.Frame != last {
			last = pkt.Frame
			dropping = last != begun && (root(pkt) || p.gone.has(pkt.DependsOn))
			if dropping {
				dropped++
				p.gone.add(last)
			}
		}
		if dropping {
			p.videoBytes -= pkt.sizeBytes()
		}
		return !dropping
	})
	p.newestGone = p.newestGone || p.gone.has(p.newest)
	p.counts.Dropped += uint64(dropped)
	return dropped, dropped > 0 && !p.newestGone
}
