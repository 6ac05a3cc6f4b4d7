package transport

import (
	"net"
	"net/netip"
)

// Sizes of a packet. packetBytes is what a packet of ours has at most under UDP.
// With IPv6 and UDP headers that is 1248 bytes and fits IPv6's least MTU, 1280,
// which is also what Tailscale's interface has. Around the payload are the RTP
// header (12), header extensions (28: the first packet of a key frame has 4 more,
// and it holds parameter sets alone), the RTX number (2) and the SRTP tag (16).
const (
	packetBytes   = 1200
	overheadBytes = 12 + 28 + 2 + 16
	ipv4Bytes     = 20 + 8 // with UDP's
	ipv6Bytes     = 40 + 8
	// leastMTU is what every IPv4 host takes (RFC 1122, 3.3.2); on an
	// interface that says it has less, IP had better cut the packets.
	leastMTU = 576
)

// MaxPayloadBytes is the most RTP payload, Head and Body, that a packet holds on
// a usual path. (*Peer).MaxPayload says what the path at hand takes.
const MaxPayloadBytes = packetBytes - overheadBytes

// MaxPayload is the most RTP payload, Head and Body, that a packet to this
// viewer should hold: MaxPayloadBytes, or less where the packets leave through an
// interface with a small MTU, as some tunnels have. It follows the path, so the
// session asks for each picture; that costs nothing. Safe for concurrent use.
func (p *Peer) MaxPayload() int { return int(p.payload.Load()) }

// maxPayload is the most RTP payload on a route through an interface with the
// MTU given, in bytes; zero or less is an MTU that is not known.
func (r Route) maxPayload(mtu int) int {
	if mtu <= 0 {
		return MaxPayloadBytes
	}
	headers := ipv4Bytes
	if r.Local.Addr().Is6() && !r.Local.Addr().Is4In6() {
		headers = ipv6Bytes
	}
	return min(packetBytes, max(mtu, leastMTU)-headers) - overheadBytes
}

// interfaceMTU finds the MTU of the interface that has an address; zero where
// none has it.
func interfaceMTU(addr netip.Addr) int {
	interfaces, err := net.Interfaces()
	if err != nil {
		return 0
	}
	addr = addr.Unmap().WithZone("")
	for _, i := range interfaces {
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			prefix, ok := a.(*net.IPNet)
			if !ok {
				continue
			}
			if ip, ok := netip.AddrFromSlice(prefix.IP); ok && ip.Unmap() == addr {
				return i.MTU
			}
		}
	}
	return 0
}
