package netpath

import (
	"fmt"
	"net"
	"net/netip"
)

// Interfaces lists the machine's interfaces that are up.
func Interfaces() ([]Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("listing the network interfaces: %w", err)
	}
	var list []Interface
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			continue // it went away meanwhile
		}
		f := Interface{Name: i.Name, MTU: i.MTU, Flags: i.Flags, Software: softwareTunnel(i.Name)}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				f.Prefixes = append(f.Prefixes, p)
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// SourceTo asks the system from which address packets to remote leave; the zero
// Addr where there is no way. A socket is connected for that, and nothing sent.
func SourceTo(remote netip.Addr) netip.Addr {
	if !remote.IsValid() {
		return netip.Addr{}
	}
	const discard = 9 // the port does not matter
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(remote, discard)))
	if err != nil {
		return netip.Addr{}
	}
	defer conn.Close()
	return plain(conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr())
}
