package server

import (
	"net/netip"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	ip := func(list ...string) (out []netip.Addr) {
		for _, s := range list {
			out = append(out, netip.MustParseAddr(s))
		}
		return out
	}
	lo := iface{"lo", ip("127.0.0.1", "::1")}
	lan := iface{"eth0", ip("192.168.1.20", "2001:db8::20", "fe80::1")}
	ts := iface{"tailscale0", ip("100.101.102.103", "fd7a:115c:a1e0::6")}
	zt := iface{"ztabcdef01", ip("10.147.20.5")}
	docker := iface{"docker0", ip("172.17.0.1")}
	public := iface{"eth0", ip("203.0.113.9", "fd00::2")}
	tests := []struct {
		name   string
		ifaces []iface
		bound  string
		names  []string // of the certificate; nil is plain HTTP
		want   string
	}{
		{"all", []iface{lo, zt, docker, ts, lan}, "[::]:7433", nil,
			"http://192.168.1.20:7433/ local network, http://100.101.102.103:7433/ Tailscale, http://10.147.20.5:7433/ ZeroTier, http://localhost:7433/ this machine"},
		{"tailnet alone", []iface{lo, ts}, "[::]:7433", nil, "http://100.101.102.103:7433/ Tailscale, http://localhost:7433/ this machine"},
		{"no network", []iface{lo}, "0.0.0.0:80", nil, "http://localhost:80/ this machine"},
		{"public, plain", []iface{lo, public}, "[::]:1", nil, "http://[fd00::2]:1/ local network, http://localhost:1/ this machine"},
		{"public, plain, IPv4 alone", []iface{lo, public}, "0.0.0.0:1", nil, "http://localhost:1/ this machine"},
		{"public, TLS", []iface{lo, public}, "[::]:1", []string{}, "https://203.0.113.9:1/ internet, https://localhost:1/ this machine"},
		{"named", []iface{lan}, "[::]:1", []string{"desk.example.com", "*.example.com"},
			"https://desk.example.com:1/ name, https://192.168.1.20:1/ local network, https://localhost:1/ this machine"},
		{"bound to one", []iface{lo, lan, ts}, "100.101.102.103:7433", nil, "http://100.101.102.103:7433/ Tailscale"},
		{"bound to loopback", []iface{lo, lan}, "127.0.0.1:7433", nil, "http://127.0.0.1:7433/ this machine"},
		{"IPv6 alone", []iface{{"eth0", ip("fd00::5", "fe80::5")}}, "[::]:7433", nil,
			"http://[fd00::5]:7433/ local network, http://localhost:7433/ this machine"},
	}
	for _, tt := range tests {
		var got []string
		for _, a := range addresses(tt.ifaces, netip.MustParseAddrPort(tt.bound), tt.names != nil, tt.names) {
			got = append(got, a.URL+" "+a.Network)
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, s, tt.want)
		}
	}
}
