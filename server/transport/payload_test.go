package transport

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

func TestPayloadFollowsThePath(t *testing.T) {
	v4, v6 := netip.MustParseAddrPort("192.0.2.1:5"), netip.MustParseAddrPort("[2001:db8::1]:5")
	mapped := netip.AddrPortFrom(netip.AddrFrom16(v4.Addr().As16()), 5)
	for _, c := range []struct {
		name  string
		local netip.AddrPort
		mtu   int
		want  int
	}{
		{"Ethernet", v4, 1500, MaxPayloadBytes},
		{"Ethernet, IPv6", v6, 1500, MaxPayloadBytes},
		{"loopback", v4, 65536, MaxPayloadBytes},
		{"Tailscale", v4, 1280, MaxPayloadBytes},
		{"Tailscale, IPv6", v6, 1280, MaxPayloadBytes},
		{"just enough", v4, 1228, MaxPayloadBytes},
		{"one byte short", v4, 1227, MaxPayloadBytes - 1},
		{"one byte short, mapped", mapped, 1227, MaxPayloadBytes - 1},
		{"too little for IPv6", v6, 1240, 1240 - 48 - 58},
		{"a tunnel in a tunnel", v4, 1000, 1000 - 28 - 58},
		{"PPP over a modem", v4, 296, 576 - 28 - 58},
		{"unknown", v4, 0, MaxPayloadBytes},
		{"unknown to Windows", v4, -1, MaxPayloadBytes},
		{"no address", netip.AddrPort{}, 1000, 1000 - 28 - 58},
	} {
		if got := (Route{Local: c.local}).maxPayload(c.mtu); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}

func TestInterfaceMTU(t *testing.T) {
	for _, addr := range interfaceAddrs() {
		if mtu := interfaceMTU(addr); mtu <= 0 {
			t.Errorf("%v: MTU %d", addr, mtu)
		}
	}
	if mtu := interfaceMTU(netip.MustParseAddr("192.0.2.77")); mtu != 0 {
		t.Errorf("an address that no interface has: MTU %d", mtu)
	}
	lo, err := net.InterfaceByName("lo")
	if err == nil && interfaceMTU(netip.MustParseAddr("::ffff:127.0.0.1")) != lo.MTU {
		t.Errorf("loopback does not have MTU %d", lo.MTU)
	}
}

func TestPeerTellsItsPayload(t *testing.T) {
	e := listen(t)
	e.mtuOf = func(addr netip.Addr) int {
		if !addr.IsLoopback() {
			t.Errorf("asked for %v", addr)
		}
		return 900
	}
	p := must[*Peer](t)(e.NewPeer(PeerConfig{}))
	if got := p.MaxPayload(); got != MaxPayloadBytes {
		t.Errorf("%d bytes before there is a path, want %d", got, MaxPayloadBytes)
	}
	newViewer(t, viewerConfig{}).connect(p)
	const want = 900 - ipv4Bytes - overheadBytes
	for deadline := time.Now().Add(patience); p.MaxPayload() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes, want %d", p.MaxPayload(), want)
		}
	}
	p.SetMTU(1280)
	if got := p.MaxPayload(); got != MaxPayloadBytes {
		t.Errorf("%d bytes through Tailscale's interface, want %d", got, MaxPayloadBytes)
	}
	p.SetMTU(0)
	if got := p.MaxPayload(); got != MaxPayloadBytes {
		t.Errorf("%d bytes through an interface of unknown MTU, want %d", got, MaxPayloadBytes)
	}
}
