package netpath

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// World is what is known of a machine's networks at one moment.
type World struct {
	Interfaces []Interface
	Tailscale  TailscaleStatus
	ZeroTier   ZeroTierStatus
}

// Addresses that Tailscale gives out: the range of carriers' NATs (RFC 6598),
// of which it takes most, and its own part of the private IPv6 range.
var (
	tailscale4 = netip.MustParsePrefix("100.64.0.0/10")
	tailscale6 = netip.MustParsePrefix("fd7a:115c:a1e0::/48")
)

func tailscaleRange(a netip.Addr) bool { return tailscale4.Contains(a) || tailscale6.Contains(a) }

// Classify names the path of a pair. It asks nobody: the same arguments give
// the same path.
func Classify(p Pair, w World) Path {
	p = p.plain()
	i, owned := ownerOf(w.Interfaces, p.Local)
	path := Path{Interface: i.Name, MTU: i.MTU, Local: p.Local}
	switch {
	case p.LocalType == "relay" || p.RemoteType == "relay":
		path.Kind = TURN
	case p.Remote.IsLoopback() || p.Remote.IsValid() && owns(w.Interfaces, p.Remote):
		path.Kind = Loopback
	case w.ZeroTier.is(i):
		w.ZeroTier.describe(&path, p, i)
	case w.Tailscale.is(i, p):
		w.Tailscale.describe(&path, p)
	case i.tunnel():
		path.Kind = VPN
	default:
		byRange(&path, p, i)
	}
	if p.Local.IsValid() && !owned && path.Unknown == "" {
		path.Unknown = fmt.Sprintf("no interface of this machine has the address %s any more", p.Local)
	}
	return path
}

// byRange is what the addresses alone tell.
func byRange(path *Path, p Pair, i Interface) {
	switch {
	case !p.Remote.IsValid() && i.Name == "":
		path.Kind, path.Unknown = Unknown, "neither the viewer's address nor the interface is known"
	case !p.Remote.IsValid():
		// Names of multicast DNS reach no further than the network does.
		path.Kind, path.Unknown = LocalNetwork, "the viewer hides its address behind a name of the local network"
	case p.Remote.IsPrivate() || p.Remote.IsLinkLocalUnicast() || i.near(p.Remote):
		path.Kind = LocalNetwork
	default:
		path.Kind = Internet
	}
}

// Interface is a network interface that is up.
type Interface struct {
	Name     string
	MTU      int // bytes
	Flags    net.Flags
	Prefixes []netip.Prefix // its addresses, each with the network it is in
	// Software says that the system knows the interface for a tunnel that a
	// program feeds, whatever its name.
	Software bool
}

func ownerOf(all []Interface, a netip.Addr) (Interface, bool) {
	for _, i := range all {
		if a.IsValid() && i.has(a) {
			return i, true
		}
	}
	return Interface{}, false
}

func owns(all []Interface, a netip.Addr) bool {
	_, ok := ownerOf(all, a)
	return ok
}

func (i Interface) has(a netip.Addr) bool {
	return slices.ContainsFunc(i.Prefixes, func(p netip.Prefix) bool { return plain(p.Addr()) == a })
}

// near says whether an address is in a network of the interface.
func (i Interface) near(a netip.Addr) bool {
	return slices.ContainsFunc(i.Prefixes, func(p netip.Prefix) bool {
		return p.Bits() > 0 && netip.PrefixFrom(plain(p.Addr()), p.Bits()).Contains(a)
	})
}

// named says whether the interface's name begins with one of these, in any case.
func (i Interface) named(starts []string) bool {
	name := strings.ToLower(i.Name)
	return slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(name, s) })
}

// Names of interfaces: those of VPN programs, where neither the flags nor the
// system tell (taps, and all of Windows), and modems, which are point-to-point
// links and no tunnels.
var (
	vpnNames = []string{"tun", "tap", "wg", "utun", "ipsec", "wireguard", "openvpn", "tap-windows", "nordlynx", "nordtun",
		"proton", "mullvad", "wt", "nebula", "ham", "gpd", "cscotun", "vpn", "l2tp", "pptp", "sstp", "tinc"}
	modemNames = []string{"ppp", "wwan", "rmnet", "wwp", "pdp_ip", "usb"}
)

// tunnel says whether what leaves by the interface is packed into other packets.
func (i Interface) tunnel() bool {
	if i.Flags&net.FlagLoopback != 0 {
		return false
	}
	if i.Software || i.named(vpnNames) {
		return true
	}
	return i.Flags&net.FlagPointToPoint != 0 && (!i.named(modemNames) || i.private())
}

// private says whether the interface has only private addresses: a modem's is
// then one that a VPN over PPP made, or one behind a carrier's NAT.
func (i Interface) private() bool {
	public := func(p netip.Prefix) bool {
		a := plain(p.Addr())
		return !a.IsPrivate() && !a.IsLinkLocalUnicast() && !tailscale4.Contains(a)
	}
	return i.named([]string{"ppp"}) && len(i.Prefixes) > 0 && !slices.ContainsFunc(i.Prefixes, public)
}
