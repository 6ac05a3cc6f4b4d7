package wire

import (
	"encoding/binary"
	"time"
)

// Kind is what a packet is to a bench.
type Kind uint8

// The kinds of packets.
const (
	Other    Kind = iota // ICE, DTLS, data channels, HTTP
	Media                // RTP: video, resends, padding
	Feedback             // RTCP
	Bulk                 // TCP from or to BulkPort
)

// BulkPort is the TCP port whose packets are the competing bulk flow.
const BulkPort = 5201

// bulkFlow is a bulk packet's sim.Packet.Flow; all others have 0.
const bulkFlow = 1

// Packet is one that was given to the link on its way forward.
type Packet struct {
	Kind  Kind
	Size  int           // in bytes, IP header included
	In    time.Duration // when the link took it, counted from Shape
	Out   time.Duration // when it was due at the far end; 0: lost, or still on the way
	Found time.Duration // the queue that it met at the bottleneck; only with Out
	Late  time.Duration // how much later than Out it was written; the fault of the machine
	Tail  bool          // refused by a full queue (or lost before it, where the link does that)

	// Of Media alone, from the RTP header.
	SSRC      uint32
	Timestamp uint32
}

// The parts of the headers that are read here.
const (
	ipv4Header, udpHeader, tcpHeader, rtpHeader = 20, 8, 20, 12
	protocolTCP, protocolUDP                    = 6, 17
)

// read says what an IP packet is. Whatever is not understood is Other. RTP and
// RTCP are told apart from the rest by RFC 7983, from each other by RFC 5761.
func read(b []byte) Packet {
	p := Packet{Size: len(b)}
	if len(b) < ipv4Header || b[0]>>4 != 4 {
		return p
	}
	const fragment = 0x3fff // more to come, or not the first
	header := int(b[0]&15) * 4
	if header < ipv4Header || header > len(b) || binary.BigEndian.Uint16(b[6:])&fragment != 0 {
		return p
	}
	switch body := b[header:]; b[9] {
	case protocolUDP:
		p.readUDP(body)
	case protocolTCP:
		if len(body) >= tcpHeader && (binary.BigEndian.Uint16(body) == BulkPort || binary.BigEndian.Uint16(body[2:]) == BulkPort) {
			p.Kind = Bulk
		}
	}
	return p
}

func (p *Packet) readUDP(b []byte) {
	if len(b) < udpHeader+rtpHeader {
		return
	}
	b = b[udpHeader:]
	if b[0]>>6 != 2 {
		return
	}
	if t := b[1] & 0x7f; t >= 64 && t < 96 {
		p.Kind = Feedback
		return
	}
	p.Kind = Media
	p.Timestamp = binary.BigEndian.Uint32(b[4:])
	p.SSRC = binary.BigEndian.Uint32(b[8:])
}

func (p *Packet) flow() int {
	if p.Kind == Bulk {
		return bulkFlow
	}
	return 0
}
