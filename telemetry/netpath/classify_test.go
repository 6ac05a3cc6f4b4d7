package netpath

import (
	"maps"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// Interfaces as systems have them.
var (
	plainFlags = net.FlagUp | net.FlagBroadcast | net.FlagMulticast | net.FlagRunning
	pointFlags = net.FlagUp | net.FlagPointToPoint | net.FlagMulticast | net.FlagRunning

	lo     = Interface{Name: "lo", MTU: 65536, Flags: net.FlagUp | net.FlagLoopback, Prefixes: prefixes("127.0.0.1/8", "::1/128")}
	eth    = Interface{Name: "eth0", MTU: 1500, Flags: plainFlags, Prefixes: prefixes("192.168.1.2/24", "2001:db8:5:6::2/64", "fe80::1/64")}
	office = Interface{Name: "enp3s0", MTU: 1500, Flags: plainFlags, Prefixes: prefixes("10.20.30.40/16")}
	rented = Interface{Name: "ens3", MTU: 1500, Flags: plainFlags, Prefixes: prefixes("203.0.113.5/32")}
	carry  = Interface{Name: "eth1", MTU: 1500, Flags: plainFlags, Prefixes: prefixes("100.72.0.9/16")}
	modem  = Interface{Name: "wwan0", MTU: 1500, Flags: pointFlags, Prefixes: prefixes("10.93.1.7/30")}
	dsl    = Interface{Name: "ppp0", MTU: 1492, Flags: pointFlags, Prefixes: prefixes("198.51.100.7/32")}
	pptp   = Interface{Name: "ppp1", MTU: 1400, Flags: pointFlags, Prefixes: prefixes("10.11.0.4/32")}
	wg     = Interface{Name: "wg0", MTU: 1420, Flags: pointFlags, Prefixes: prefixes("10.6.0.2/24"), Software: true}
	work   = Interface{Name: "work", MTU: 1400, Flags: plainFlags, Prefixes: prefixes("10.9.0.2/24"), Software: true}
	tsLin  = Interface{Name: "tailscale0", MTU: 1280, Flags: pointFlags, Prefixes: prefixes("100.101.102.103/32", "fd7a:115c:a1e0::1/128"), Software: true}
	tsMac  = Interface{Name: "utun4", MTU: 1280, Flags: pointFlags, Prefixes: prefixes("100.101.102.103/32")}
	tsWin  = Interface{Name: "Tailscale", MTU: 1280, Flags: plainFlags, Prefixes: prefixes("100.101.102.103/32")}
	tsOwn  = Interface{Name: "tun7", MTU: 1280, Flags: pointFlags, Prefixes: prefixes("10.77.0.3/32")} // a control server with other addresses
	ztLin  = Interface{Name: "ztabcdefgh", MTU: 2800, Flags: plainFlags, Prefixes: prefixes("10.147.17.5/24", "fd80:56c2:e21c:84a0:2799:9387:c29d:bef6/88"), Software: true}
	ztMap  = Interface{Name: "home", MTU: 2800, Flags: plainFlags, Prefixes: prefixes("10.147.17.5/24"), Software: true}
)

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// tailnet is a tailnet of which this machine is 100.101.102.103, with a peer for
// each way to reach one.
func tailnet() TailscaleStatus {
	peer := func(addr string) TailscalePeer { return TailscalePeer{Addrs: addrs(addr), Relay: "fra"} }
	direct, byPeer, relayed, silent, router, exit := peer("100.64.0.1"), peer("100.64.0.2"), peer("100.64.0.3"), peer("100.64.0.4"), peer("100.64.0.5"), peer("100.64.0.6")
	direct.Addrs = addrs("100.64.0.1", "fd7a:115c:a1e0::2")
	direct.Direct, direct.PeerRelay = "198.51.100.9:41641", "192.0.2.1:7777:vni:4"
	byPeer.PeerRelay = "192.0.2.1:7777:vni:5"
	silent.Relay = ""
	router.Routes, router.Direct = prefixes("172.16.0.0/12", "172.20.0.0/16"), "198.51.100.8:41641"
	exit.ExitNode, exit.Relay = true, "sfo"
	return TailscaleStatus{
		Known: true, State: "Running", Addrs: addrs("100.101.102.103", "fd7a:115c:a1e0::1"),
		Peers:   []TailscalePeer{direct, byPeer, relayed, silent, router, exit},
		Regions: map[string]string{"fra": "Frankfurt"},
	}
}

func addrs(list ...string) (out []netip.Addr) {
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

// The network and the MAC address are from a daemon's own answers; the number
// of the node that they belong to was in the same.
const (
	ztNetwork = 0x8056c2e21c84a027
	ztMAC     = 0x262746815c34
	ztNode    = 0x87c29dbef6
)

func ztWorld(node ZeroTierNode) ZeroTierStatus {
	return ZeroTierStatus{
		Known: true, Devices: map[string]uint64{"ztabcdefgh": ztNetwork, "home": ztNetwork},
		Nodes:      map[uint64]ZeroTierNode{ztNode: node},
		Neighbours: map[netip.Addr]uint64{netip.MustParseAddr("10.147.17.9"): ztMAC},
	}
}

// classifyCase is one road. The zero remote type is "prflx".
type classifyCase struct {
	name          string
	local, remote string
	remoteType    string
	on            []Interface
	tailscale     TailscaleStatus
	zeroTier      ZeroTierStatus
	words         string
	unknown       string // in Path.Unknown; "" for none
}

var classifyCases = []classifyCase{
	{name: "loopback", local: "127.0.0.1", remote: "127.0.0.1", on: []Interface{lo}, words: "this machine"},
	{name: "loopback, IPv6", local: "::1", remote: "::1", on: []Interface{lo}, words: "this machine"},
	{name: "own address", local: "192.168.1.2", remote: "192.168.1.2", on: []Interface{lo, eth}, words: "this machine"},
	{name: "own address in the tailnet", local: "100.101.102.103", remote: "100.101.102.103", on: []Interface{lo, tsLin}, tailscale: tailnet(), words: "this machine"},
	{name: "home", local: "192.168.1.2", remote: "192.168.1.7", on: []Interface{lo, eth}, words: "local network"},
	{name: "home, mapped into IPv6", local: "::ffff:192.168.1.2", remote: "::ffff:192.168.1.7", on: []Interface{eth}, words: "local network"},
	{name: "home, public IPv6 of one network", local: "2001:db8:5:6::2", remote: "2001:db8:5:6::77", on: []Interface{eth}, words: "local network"},
	{name: "home, link-local", local: "fe80::1%eth0", remote: "fe80::9%eth0", on: []Interface{eth}, words: "local network"},
	{name: "office, another floor", local: "10.20.30.40", remote: "10.99.1.1", on: []Interface{office}, words: "local network"},
	{name: "hidden address", local: "192.168.1.2", on: []Interface{eth}, words: "local network", unknown: "hides its address"},
	{name: "nothing known", on: []Interface{eth}, words: "unknown", unknown: "neither"},
	{name: "interface gone", local: "192.168.9.9", remote: "192.168.1.7", on: []Interface{eth}, words: "local network", unknown: "192.168.9.9"},
	{name: "internet", local: "192.168.1.2", remote: "203.0.113.9", on: []Interface{eth}, words: "internet"},
	{name: "internet, IPv6", local: "2001:db8:5:6::2", remote: "2001:db8:9::1", on: []Interface{eth}, words: "internet"},
	{name: "internet from a rented server", local: "203.0.113.5", remote: "203.0.113.9", on: []Interface{rented}, words: "internet"},
	{name: "internet over a modem", local: "10.93.1.7", remote: "203.0.113.9", on: []Interface{modem}, words: "internet"},
	{name: "internet over DSL", local: "198.51.100.7", remote: "203.0.113.9", on: []Interface{dsl}, words: "internet"},
	{name: "carrier's NAT is no tailnet", local: "192.168.1.2", remote: "100.72.0.1", on: []Interface{eth}, tailscale: tailnet(), words: "internet"},
	{name: "carrier's network is no tailnet", local: "100.72.0.9", remote: "100.72.0.1", on: []Interface{carry}, tailscale: tailnet(), words: "local network"},
	{name: "TURN at the viewer", local: "192.168.1.2", remote: "203.0.113.9", remoteType: "relay", on: []Interface{eth}, words: "TURN relay"},
	{name: "TURN in the local network", local: "192.168.1.2", remote: "192.168.1.9", remoteType: "relay", on: []Interface{eth}, words: "TURN relay"},

	{name: "WireGuard", local: "10.6.0.2", remote: "10.6.0.7", on: []Interface{eth, wg}, words: "VPN (wg0)"},
	{name: "everything through WireGuard", local: "10.6.0.2", remote: "203.0.113.9", on: []Interface{eth, wg}, words: "VPN (wg0)"},
	{name: "tap of another name", local: "10.9.0.2", remote: "10.9.0.1", on: []Interface{eth, work}, words: "VPN (work)"},
	{name: "PPTP", local: "10.11.0.4", remote: "10.11.0.1", on: []Interface{pptp}, words: "VPN (ppp1)"},
	{name: "VPN beside a tailnet", local: "10.6.0.2", remote: "10.6.0.7", on: []Interface{wg, tsLin}, tailscale: tailnet(), words: "VPN (wg0)"},

	{name: "Tailscale direct", local: "100.101.102.103", remote: "100.64.0.1", on: []Interface{eth, tsLin}, tailscale: tailnet(), words: "Tailscale direct"},
	{name: "Tailscale direct, IPv6", local: "fd7a:115c:a1e0::1", remote: "fd7a:115c:a1e0::2", on: []Interface{tsLin}, tailscale: tailnet(), words: "Tailscale direct"},
	{name: "Tailscale peer relay", local: "100.101.102.103", remote: "100.64.0.2", on: []Interface{tsLin}, tailscale: tailnet(), words: "Tailscale peer relay"},
	{name: "Tailscale relayed", local: "100.101.102.103", remote: "100.64.0.3", on: []Interface{tsLin}, tailscale: tailnet(), words: "Tailscale relayed, Frankfurt"},
	{name: "Tailscale on macOS", local: "100.101.102.103", remote: "100.64.0.3", on: []Interface{tsMac}, tailscale: tailnet(), words: "Tailscale relayed, Frankfurt"},
	{name: "Tailscale on Windows", local: "100.101.102.103", remote: "100.64.0.3", on: []Interface{tsWin}, tailscale: tailnet(), words: "Tailscale relayed, Frankfurt"},
	{name: "exit node, region without a name", local: "100.101.102.103", remote: "203.0.113.9", on: []Interface{tsLin}, tailscale: tailnet(), words: "Tailscale relayed, sfo"},
	{name: "subnet router", local: "100.101.102.103", remote: "172.20.1.1", on: []Interface{tsLin}, tailscale: tailnet(), words: "Tailscale direct"},
	{name: "tailnet of other addresses", local: "10.77.0.3", remote: "10.77.0.4", on: []Interface{tsOwn}, words: "Tailscale relayed, test",
		tailscale: TailscaleStatus{Known: true, State: "Running", Addrs: addrs("10.77.0.3"), Peers: []TailscalePeer{{Addrs: addrs("10.77.0.4"), Relay: "test"}}}},
	{name: "no path yet", local: "100.101.102.103", remote: "100.64.0.4", on: []Interface{tsLin}, tailscale: tailnet(), words: "Tailscale", unknown: "no path to the viewer yet"},
	{name: "stranger in the tailnet", local: "100.101.102.103", remote: "100.64.9.9", on: []Interface{tsLin}, tailscale: tailnet(), words: "Tailscale", unknown: "no machine with the address 100.64.9.9"},
	{name: "Tailscale, viewer hidden", local: "100.101.102.103", on: []Interface{tsLin}, tailscale: tailnet(), words: "Tailscale", unknown: "hides its address"},
	{name: "Tailscale stopped", local: "100.101.102.103", remote: "100.64.0.1", on: []Interface{tsLin}, tailscale: TailscaleStatus{Known: true, State: "Stopped"}, words: "Tailscale", unknown: "not connected (Stopped)"},
	{name: "Tailscale hangs", local: "100.101.102.103", remote: "100.64.0.1", on: []Interface{tsLin}, tailscale: TailscaleStatus{Why: errHangs.Error()}, words: "Tailscale", unknown: "its daemon does not answer"},
	{name: "Tailscale hangs, macOS", local: "100.101.102.103", remote: "100.64.0.1", on: []Interface{tsMac}, tailscale: TailscaleStatus{Why: errHangs.Error()}, words: "Tailscale", unknown: "its daemon does not answer"},
	{name: "Tailscale, interface unknown", remote: "100.64.0.1", tailscale: tailnet(), words: "Tailscale direct"},

	{name: "ZeroTier direct", local: "10.147.17.5", remote: "10.147.17.9", on: []Interface{ztLin}, zeroTier: ztWorld(ZeroTierNode{"198.51.100.9:9993"}), words: "ZeroTier direct"},
	{name: "ZeroTier relayed", local: "10.147.17.5", remote: "10.147.17.9", on: []Interface{ztLin}, zeroTier: ztWorld(ZeroTierNode{}), words: "ZeroTier relayed"},
	{name: "ZeroTier of another name", local: "10.147.17.5", remote: "10.147.17.9", on: []Interface{ztMap}, zeroTier: ztWorld(ZeroTierNode{"198.51.100.9:9993"}), words: "ZeroTier direct"},
	{name: "ZeroTier, IPv6 made of the node", local: "fd80:56c2:e21c:84a0:2799:9387:c29d:bef6", remote: "fd80:56c2:e21c:84a0:2799:9387:c29d:bef7", on: []Interface{ztLin}, zeroTier: ztWorld(ZeroTierNode{}), words: "ZeroTier", unknown: "does not list the viewer's machine 87c29dbef7"},
	{name: "ZeroTier, viewer's node unknown", local: "10.147.17.5", remote: "10.147.17.33", on: []Interface{ztLin}, zeroTier: ztWorld(ZeroTierNode{}), words: "ZeroTier", unknown: "does not show"},
	{name: "ZeroTier over TCP", local: "10.147.17.5", remote: "10.147.17.33", on: []Interface{ztLin}, zeroTier: ZeroTierStatus{Known: true, TCPFallback: true}, words: "ZeroTier relayed"},
	{name: "ZeroTier's token not readable", local: "10.147.17.5", remote: "10.147.17.9", on: []Interface{ztLin}, zeroTier: ZeroTierStatus{Why: errSecret.Error()}, words: "ZeroTier", unknown: "only administrators"},
	{name: "ZeroTier of another name, daemon mute", local: "10.147.17.5", remote: "10.147.17.9", on: []Interface{ztMap}, zeroTier: ZeroTierStatus{Why: errHangs.Error()}, words: "VPN (home)"},
}

func (c classifyCase) pair() Pair {
	p := Pair{LocalType: "host", RemoteType: c.remoteType}
	if p.RemoteType == "" {
		p.RemoteType = "prflx"
	}
	if c.local != "" {
		p.Local = netip.MustParseAddr(c.local)
	}
	if c.remote != "" {
		p.Remote = netip.MustParseAddr(c.remote)
	}
	return p
}

func TestClassify(t *testing.T) {
	for _, c := range classifyCases {
		got := Classify(c.pair(), World{c.on, c.tailscale, c.zeroTier})
		if got.Words() != c.words {
			t.Errorf("%s: %q, want %q (%+v)", c.name, got.Words(), c.words, got)
		}
		if (c.unknown == "") != (got.Unknown == "") || !strings.Contains(got.Unknown, c.unknown) {
			t.Errorf("%s: unknown: %q, want %q", c.name, got.Unknown, c.unknown)
		}
		if c.local != "" && c.unknown != "192.168.9.9" && (got.Interface == "") != (len(c.on) == 0) {
			t.Errorf("%s: by interface %q", c.name, got.Interface)
		}
	}
}

// TestEveryKindIsTested keeps the table complete, and each kind worded.
func TestEveryKindIsTested(t *testing.T) {
	seen := map[Kind]bool{}
	for _, c := range classifyCases {
		seen[Classify(c.pair(), World{c.on, c.tailscale, c.zeroTier}).Kind] = true
	}
	for k := range kindWords {
		if !seen[k] {
			t.Errorf("no case gives %s", k)
		}
	}
	if (Path{Kind: "later"}).Words() != "unknown" {
		t.Error("a kind that is not known has other words")
	}
}

func TestPathTellsTheTunnel(t *testing.T) {
	got := Classify(Pair{Local: addrs("100.101.102.103")[0], Remote: addrs("100.64.0.3")[0]}, World{Interfaces: []Interface{tsLin}, Tailscale: tailnet()})
	want := Path{Kind: TailscaleRelayed, RegionCode: "fra", Region: "Frankfurt", Interface: "tailscale0", MTU: 1280, Local: addrs("100.101.102.103")[0]}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got = Classify(Pair{Local: addrs("100.101.102.103")[0], Remote: addrs("100.64.0.1")[0]}, World{Interfaces: []Interface{tsLin}, Tailscale: tailnet()})
	if got.Outer != "198.51.100.9:41641" || got.Region != "" || got.RegionCode != "" {
		t.Errorf("a direct path: %+v", got)
	}
}

func TestDetails(t *testing.T) {
	got := Path{Kind: TailscaleRelayed, RegionCode: "fra", Region: "Frankfurt", Interface: "tailscale0", MTU: 1280, Local: addrs("100.64.0.1")[0]}.Details()
	want := map[string]string{"interface": "tailscale0", "region": "fra", "mtu": "1280", "local": "100.64.0.1"}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := (Path{Kind: Internet}).Details(); len(got) != 0 {
		t.Errorf("of nothing known: %v", got)
	}
}

func TestDiffers(t *testing.T) {
	direct := Path{Kind: TailscaleDirect, Interface: "tailscale0", Outer: "192.168.1.7:41641"}
	relayed := Path{Kind: TailscaleRelayed, Interface: "tailscale0", RegionCode: "fra"}
	vague := Path{Kind: Tailscale, Interface: "tailscale0", Unknown: "the answer is awaited"}
	with := func(p Path, change func(*Path)) Path { change(&p); return p }
	for name, tt := range map[string]struct {
		p, q    Path
		differs bool
	}{
		"same":                           {direct, direct, false},
		"direct, then relayed":           {direct, relayed, true},
		"another region":                 {relayed, with(relayed, func(p *Path) { p.RegionCode = "sfo" }), true},
		"region's name learned":          {relayed, with(relayed, func(p *Path) { p.Region = "Frankfurt" }), false},
		"another port":                   {direct, with(direct, func(p *Path) { p.Outer = "192.168.1.7:50000" }), false},
		"another network outside":        {direct, with(direct, func(p *Path) { p.Outer = "198.51.100.9:41641" }), true},
		"becomes known":                  {vague, relayed, false},
		"is no longer known":             {relayed, vague, false},
		"why it is not known changes":    {vague, with(vague, func(p *Path) { p.Unknown = "its daemon does not answer" }), false},
		"another interface":              {Path{Kind: LocalNetwork, Interface: "eth0"}, Path{Kind: LocalNetwork, Interface: "wlan0"}, true},
		"out of the tunnel":              {vague, Path{Kind: LocalNetwork}, true},
		"from nothing known":             {Path{Kind: Unknown}, direct, false},
		"smaller MTU":                    {direct, with(direct, func(p *Path) { p.MTU = 1200 }), false},
		"another peer relay's network":   {Path{Kind: TailscalePeerRelay, Outer: "192.0.2.1:7:vni:4"}, Path{Kind: TailscalePeerRelay, Outer: "198.51.100.1:7:vni:4"}, true},
		"another number at a peer relay": {Path{Kind: TailscalePeerRelay, Outer: "192.0.2.1:7:vni:4"}, Path{Kind: TailscalePeerRelay, Outer: "192.0.2.1:7:vni:5"}, false},
	} {
		if tt.p.Differs(tt.q) != tt.differs || tt.q.Differs(tt.p) != tt.differs {
			t.Errorf("%s: not %t both ways", name, tt.differs)
		}
	}
}

func TestRelayed(t *testing.T) {
	for k := range kindWords {
		want := strings.Contains(string(k), "relay") || k == TURN
		if k.Relayed() != want {
			t.Errorf("%s: relayed %t", k, k.Relayed())
		}
	}
}
