package transport

import (
	"encoding/binary"
	"time"

	"github.com/pion/rtcp"

	"nearglass/cc"
)

// transportFeedback is a packet of
// draft-holmer-rmcat-transport-wide-cc-extensions-01, section 3.1. It is read
// here and not by pion because that makes an object for each packet reported,
// and for each one that a forged packet claims to report.
type transportFeedback struct {
	base      uint16 // the first packet that it speaks of
	count     int    // how many packets it speaks of
	reference uint32 // in steps of 64 ms, 24 bits
	chunks    []byte // states of the packets, two bytes each chunk
	deltas    []byte // arrivals, each after the one before
}

const (
	feedbackHeaderBytes = 20
	deltaStep           = 250 * time.Microsecond
)

// isTransportFeedback looks at the header of an RTCP packet.
func isTransportFeedback(b []byte) bool {
	return rtcp.PacketType(b[1]) == rtcp.TypeTransportSpecificFeedback && b[0]&0x1f == rtcp.FormatTCC
}

// readTransportFeedback finds the parts of a packet; false when it is cut short.
func readTransportFeedback(b []byte) (transportFeedback, bool) {
	if len(b) < feedbackHeaderBytes {
		return transportFeedback{}, false
	}
	f := transportFeedback{
		base: binary.BigEndian.Uint16(b[12:]), count: int(binary.BigEndian.Uint16(b[14:])),
		reference: binary.BigEndian.Uint32(b[16:]) >> 8,
	}
	rest := b[feedbackHeaderBytes:]
	position, arrivalBytes := 0, 0
	for left := f.count; left > 0; position += 2 {
		if len(rest) < position+2 {
			return transportFeedback{}, false
		}
		c := statusChunk(binary.BigEndian.Uint16(rest[position:]))
		n := min(c.len(), left)
		for i := range n {
			arrivalBytes += deltaBytes(c.symbol(i))
		}
		left -= n
	}
	f.chunks, f.deltas = rest[:position], rest[position:]
	return f, arrivalBytes <= len(f.deltas)
}

// statusChunk gives the states of a row of packets (sections 3.1.3 and 3.1.4).
type statusChunk uint16

// len is how many packets it speaks of.
func (c statusChunk) len() int {
	switch {
	case c&0x8000 == 0:
		return int(c & 0x1fff)
	case c&0x4000 == 0:
		return 14
	}
	return 7
}

// symbol is the state of its packet i.
func (c statusChunk) symbol(i int) uint16 {
	switch {
	case c&0x8000 == 0:
		return uint16(c>>13) & 3
	case c&0x4000 == 0:
		return uint16(c>>(13-i)) & 1
	}
	return uint16(c>>(12-2*i)) & 3
}

// deltaBytes is how long a state's arrival is.
func deltaBytes(symbol uint16) int {
	switch symbol {
	case rtcp.TypeTCCPacketReceivedSmallDelta:
		return 1
	case rtcp.TypeTCCPacketReceivedLargeDelta:
		return 2
	}
	return 0
}

// nextDelta takes the next arrival, relative to the one before.
func (f *transportFeedback) nextDelta(symbol uint16) time.Duration {
	n := deltaBytes(symbol)
	b := f.deltas[:n]
	f.deltas = f.deltas[n:]
	if n == 1 {
		return time.Duration(b[0]) * deltaStep
	}
	return time.Duration(int16(binary.BigEndian.Uint16(b))) * deltaStep
}

// acks adds what transport feedback says of packets that were sent. A packet
// that is known to have arrived is never reported lost again: an older report
// may come late.
func (r *rtcpReader) acks(f transportFeedback, into *Feedback) {
	w := r.writer
	next := unwrapSequence(f.base, w.sequence)
	if next == 0 {
		return // it speaks of what was never sent
	}
	at := r.arrival.start(f.reference)
	left := f.count
	for ; len(f.chunks) > 0; f.chunks = f.chunks[2:] {
		c := statusChunk(binary.BigEndian.Uint16(f.chunks))
		n := min(c.len(), left)
		left -= n
		for i := range n {
			symbol := c.symbol(i)
			arrived := deltaBytes(symbol) > 0
			if arrived {
				at += f.nextDelta(symbol)
			}
			record := w.sent(next)
			next++
			switch {
			case record == nil:
			case arrived:
				record.arrived = true
				into.Acks = append(into.Acks, cc.Ack{Sequence: record.sequence, Arrived: at})
				into.Received = append(into.Received, record.media)
			case symbol == rtcp.TypeTCCPacketNotReceived && !record.arrived:
				into.Acks = append(into.Acks, cc.Ack{Sequence: record.sequence, Lost: true})
			}
		}
	}
}

// unwrapSequence finds the sequence number below next that ends in the 16
// bits of wire; zero, which is never sent, when there is none.
func unwrapSequence(wire uint16, next uint64) uint64 {
	newest := next - 1
	behind := uint64(uint16(newest) - wire)
	if behind > newest {
		return 0
	}
	return newest - behind
}

// arrivalClock unwraps the reference time of transport feedback, which counts
// 64 ms in 24 bits and so wraps after 12 days.
type arrivalClock struct {
	begun bool
	last  uint32
	ticks int64
}

// start returns the reference time of a feedback packet as a running time.
func (c *arrivalClock) start(wire uint32) time.Duration {
	const tick = 64 * time.Millisecond
	if !c.begun {
		c.begun, c.last = true, wire
	}
	// Sign-extend the 24-bit difference: feedback may come reordered.
	c.ticks += int64(int32((wire-c.last)<<8) >> 8)
	c.last = wire
	return time.Duration(c.ticks) * tick
}
