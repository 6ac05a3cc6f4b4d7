package cc

import "time"

// historySize is how many sent packets are remembered: 1.6 s at 50 Mbit/s, more
// than any feedback takes that is still of use.
const historySize = 8192

// ipOverheadBytes is what IPv4 and UDP add to a packet.
const ipOverheadBytes = 28

// packet is what is remembered of a sent packet.
type packet struct {
	Sent
	live, acked, lost bool
	wireBytes         int
	// foreseen is the queue that the packet should have met, had the path
	// carried nothing else.
	foreseen time.Duration
	first    bool // of its train
}

// history remembers what was sent.
type history struct {
	packets [historySize]packet
	next    uint64 // after the newest sequence; 0: nothing was sent yet
}

// add remembers a packet. Sequence numbers that do not rise are refused.
func (h *history) add(s Sent) (*packet, bool) {
	if s.Sequence < h.next || s.SizeBytes <= 0 {
		return nil, false
	}
	if s.Sequence-h.next >= historySize || h.next == 0 {
		h.packets = [historySize]packet{}
	} else {
		for ; h.next < s.Sequence; h.next++ {
			h.packets[h.next%historySize] = packet{}
		}
	}
	p := &h.packets[s.Sequence%historySize]
	*p = packet{Sent: s, live: true, wireBytes: s.SizeBytes + ipOverheadBytes}
	h.next = s.Sequence + 1
	return p, true
}

// get returns a remembered packet, or nil.
func (h *history) get(sequence uint64) *packet {
	p := &h.packets[sequence%historySize]
	if !p.live || p.Sequence != sequence {
		return nil
	}
	return p
}

// before returns the packet sent just before p, or nil.
func (h *history) before(p *packet) *packet {
	if p.Sequence == 0 {
		return nil
	}
	return h.get(p.Sequence - 1)
}
