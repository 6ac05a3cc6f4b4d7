// Package netpath names the road that a stream's packets take: this machine,
// the local network, ZeroTier, another VPN, Tailscale (direct, through a peer
// relay, or relayed, and by which region), a TURN relay, or the internet.
//
// It knows from three things: the addresses in use, the interfaces that own
// them, and the local interfaces of the Tailscale and ZeroTier daemons. Classify
// is the pure function from these to a Path. A Watcher asks the system and the
// daemons and holds their answers; it asks in the background and with short
// timeouts, so that looking at a path never waits for anybody.
//
// What could not be known is part of a Path, with the reason.
package netpath

import (
	"maps"
	"net/netip"
	"strconv"
	"strings"
)

// Kind is one of the roads. Its text is what logs and messages carry.
type Kind string

// The kinds. Tailscale and ZeroTier without more are those networks where how
// they carry the packets is not known; Path.Unknown then says why.
const (
	Unknown            Kind = "unknown"
	Loopback           Kind = "loopback"
	LocalNetwork       Kind = "lan"
	ZeroTier           Kind = "zerotier"
	ZeroTierDirect     Kind = "zerotier-direct"
	ZeroTierRelayed    Kind = "zerotier-relayed"
	VPN                Kind = "vpn"
	Tailscale          Kind = "tailscale"
	TailscaleDirect    Kind = "tailscale-direct"
	TailscalePeerRelay Kind = "tailscale-peer-relay"
	TailscaleRelayed   Kind = "tailscale-relayed"
	TURN               Kind = "turn"
	Internet           Kind = "internet"
)

// kindWords are the kinds as people read them.
var kindWords = map[Kind]string{
	Unknown: "unknown", Loopback: "this machine", LocalNetwork: "local network",
	ZeroTier: "ZeroTier", ZeroTierDirect: "ZeroTier direct", ZeroTierRelayed: "ZeroTier relayed",
	VPN: "VPN", Tailscale: "Tailscale", TailscaleDirect: "Tailscale direct",
	TailscalePeerRelay: "Tailscale peer relay", TailscaleRelayed: "Tailscale relayed",
	TURN: "TURN relay", Internet: "internet",
}

// Relayed says whether a program of somebody else's passes the packets on.
func (k Kind) Relayed() bool {
	return k == TailscaleRelayed || k == TailscalePeerRelay || k == ZeroTierRelayed || k == TURN
}

// Vague says whether how the packets travel within the kind is not known.
func (k Kind) Vague() bool { return k == Unknown || k == Tailscale || k == ZeroTier }

// family is the kind without how its network carries the packets.
func (k Kind) family() Kind {
	switch k {
	case TailscaleDirect, TailscalePeerRelay, TailscaleRelayed:
		return Tailscale
	case ZeroTierDirect, ZeroTierRelayed:
		return ZeroTier
	}
	return k
}

// Pair is the two addresses that a stream's packets go between. The types are
// ICE's: "host", "srflx", "prflx" or "relay". Either address may be invalid, as
// the remote one is where the viewer hides it.
type Pair struct {
	Local, Remote         netip.Addr
	LocalType, RemoteType string
	// Bound says that the socket is bound to Local. Where one socket serves all
	// addresses, the system chooses for each packet, and Local is only what ICE
	// takes it to be.
	Bound bool
}

func (p Pair) plain() Pair {
	p.Local, p.Remote = plain(p.Local), plain(p.Remote)
	return p
}

func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// Path is the road of one stream's packets.
type Path struct {
	Kind Kind `json:"kind"`
	// RegionCode and Region name the DERP region of TailscaleRelayed, as in
	// "fra" and "Frankfurt". Region is empty where only the code is known.
	RegionCode string `json:"regionCode,omitempty"`
	Region     string `json:"region,omitempty"`
	// Interface is the interface by which packets leave, MTU what it takes in
	// bytes and Local its address; zero values where they are not known.
	Interface string     `json:"interface,omitempty"`
	MTU       int        `json:"mtu,omitempty"`
	Local     netip.Addr `json:"local,omitzero"`
	// Outer is the address that a tunnel itself sends to, as its daemon writes
	// it; empty where it has none or does not say.
	Outer string `json:"outer,omitempty"`
	// Unknown says in words what could not be known, and why; else it is empty.
	Unknown string `json:"unknown,omitempty"`
}

// Words names the path for people, as in "Tailscale relayed, Frankfurt".
func (p Path) Words() string {
	words := kindWords[p.Kind]
	if words == "" {
		words = kindWords[Unknown]
	}
	place := p.Region
	if place == "" {
		place = p.RegionCode
	}
	switch {
	case place != "":
		return words + ", " + place
	case p.Kind == VPN && p.Interface != "":
		return words + " (" + p.Interface + ")"
	}
	return words
}

// Details are what else is known of the path, for a log.
func (p Path) Details() map[string]string {
	all := map[string]string{"interface": p.Interface, "region": p.RegionCode, "outer": p.Outer}
	if p.Local.IsValid() {
		all["local"] = p.Local.String()
	}
	if p.MTU > 0 {
		all["mtu"] = strconv.Itoa(p.MTU)
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// Differs says whether packets that took path q would meet another network than
// on p. That more or less becomes known of the same path is no difference.
func (p Path) Differs(q Path) bool {
	if p.Kind == q.Kind {
		return p.Network() != q.Network()
	}
	if p.Kind == Unknown || q.Kind == Unknown {
		return false
	}
	vague := p.Kind.Vague() || q.Kind.Vague()
	return !vague || p.Kind.family() != q.Kind.family()
}

// Network is what a path shares with those over the same networks, for
// comparing: whatever is learned of one holds for the other. The viewer's own
// address is not in it.
type Network struct {
	Kind      Kind
	Region    string
	Interface string
	Local     netip.Addr
	Outer     netip.Prefix // the network that a tunnel sends to
}

// Network gives the networks of the path.
func (p Path) Network() Network {
	return Network{p.Kind, p.RegionCode, p.Interface, p.Local, outerNetwork(p.Outer)}
}

// outerNetwork is the network of an address as a daemon writes it: with a port,
// and behind that, for a peer relay, the number of a virtual network.
func outerNetwork(outer string) netip.Prefix {
	address, _, _ := strings.Cut(outer, ":vni:")
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Prefix{}
	}
	return NetworkOf(at.Addr())
}

// What a home or an office has: the addresses within one share what lies
// between them and here.
const (
	network4Bits = 24
	network6Bits = 64
)

// NetworkOf is the network that an address is likely in; the zero Prefix for no
// address.
func NetworkOf(a netip.Addr) netip.Prefix {
	a = plain(a)
	bits := network6Bits
	if a.Is4() {
		bits = network4Bits
	}
	network, _ := a.Prefix(bits)
	return network
}
