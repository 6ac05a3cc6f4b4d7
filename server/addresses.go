package server

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Networks by which a viewer can come, as Address names them.
const (
	NetworkNamed     = "name" // a name of the TLS certificate
	NetworkLAN       = "local network"
	NetworkTailscale = "Tailscale"
	NetworkZeroTier  = "ZeroTier"
	NetworkPublic    = "internet"
	NetworkLoopback  = "this machine"
)

// reach orders the networks by how well a phone in the same room gets there.
// The local network comes before a VPN: the phone may not have that switched on.
var reach = []string{NetworkNamed, NetworkLAN, NetworkTailscale, NetworkZeroTier, NetworkPublic, NetworkLoopback}

// Address is one way to open the page of a host.
type Address struct {
	URL     string `json:"url"`
	Network string `json:"network"`
}

// Local reports whether the address works on the host itself alone.
func (a Address) Local() bool { return a.Network == NetworkLoopback }

// Addresses lists how a host that listens on bound can be opened, the best for
// a phone first. With TLS, certNames are the names that its certificate is for.
func Addresses(bound netip.AddrPort, secure bool, certNames []string) []Address {
	return addresses(interfaces(), bound, secure, certNames)
}

// iface is a network interface that is up.
type iface struct {
	name  string
	addrs []netip.Addr
}

func interfaces() []iface {
	all, _ := net.Interfaces() // none: loopback is listed all the same
	var out []iface
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		f := iface{name: i.Name}
		list, _ := i.Addrs()
		for _, a := range list {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				f.addrs = append(f.addrs, p.Addr().Unmap())
			}
		}
		out = append(out, f)
	}
	return out
}

func addresses(ifaces []iface, bound netip.AddrPort, secure bool, certNames []string) []Address {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	port := strconv.Itoa(int(bound.Port()))
	var list []Address
	add := func(host, network string) {
		a := Address{URL: scheme + "://" + net.JoinHostPort(host, port) + "/", Network: network}
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	for _, n := range certNames {
		if secure && !strings.Contains(n, "*") {
			add(n, NetworkNamed)
		}
	}
	for _, f := range ifaces {
		for _, a := range f.reachable(bound.Addr(), secure) {
			add(a.String(), networkOf(f.name, a))
		}
	}
	if b := bound.Addr(); !b.IsValid() || b.IsUnspecified() {
		add("localhost", NetworkLoopback)
	}
	slices.SortStableFunc(list, func(a, b Address) int {
		return slices.Index(reach, a.Network) - slices.Index(reach, b.Network)
	})
	return list
}

// reachable are the interface's addresses at which a listener bound there is of
// use to a viewer: the IPv4 ones, and the IPv6 ones where it has no such other.
func (f iface) reachable(bound netip.Addr, secure bool) []netip.Addr {
	anywhere := !bound.IsValid() || bound.IsUnspecified()
	var v4, v6 []netip.Addr
	for _, a := range f.addrs {
		network := networkOf(f.name, a)
		switch {
		case !anywhere && a != bound.Unmap():
		case anywhere && (a.IsLoopback() || a.IsLinkLocalUnicast()):
		case network == "", network == NetworkPublic && !secure:
		case a.Is4():
			v4 = append(v4, a)
		case bound != netip.IPv4Unspecified():
			v6 = append(v6, a)
		}
	}
	if len(v4) > 0 {
		return v4
	}
	return v6
}

var (
	tailscale4 = netip.MustParsePrefix("100.64.0.0/10")
	tailscale6 = netip.MustParsePrefix("fd7a:115c:a1e0::/48")
)

// machineInside are interfaces of containers and virtual machines, by which no
// phone comes.
var machineInside = []string{"docker", "br-", "veth", "virbr", "lxc", "lxd", "cni", "podman", "vmnet"}

// networkOf names the network of an interface's address; "" for one that does
// not lead off the machine.
func networkOf(name string, a netip.Addr) string {
	for _, p := range machineInside {
		if strings.HasPrefix(name, p) {
			return ""
		}
	}
	switch {
	case a.IsLoopback():
		return NetworkLoopback
	case tailscale4.Contains(a), tailscale6.Contains(a):
		return NetworkTailscale
	case strings.HasPrefix(name, "zt"):
		return NetworkZeroTier
	case a.IsPrivate(), a.IsLinkLocalUnicast():
		return NetworkLAN
	}
	return NetworkPublic
}
