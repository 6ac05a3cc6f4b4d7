// Package wire joins two network namespaces by a link in user space, so that
// real programs can be measured over a bottleneck whose queue is known exactly.
//
//	near [eth0] -- TUN -- sim.Link -- TUN -- [eth0] far
//
// Each namespace has one TUN device, loopback, and nothing else. A thread reads
// both devices, hands every packet to the simulated link of its direction
// (nearglass/cc/sim, driven by the clock instead of virtual time) and writes it
// to the other device when it is due. The link notes for every packet on its
// way forward, from near to far, what queue it found at the bottleneck: not an
// estimate from outside, but the link's own figure.
//
// The devices are called eth0 because browsers judge an interface by its name
// and take tun0 for a VPN, whose candidates they put last.
//
// It needs Linux and root. Namespaces carry the process's ID in their names
// and are removed by Close; what a killed process has left is removed by the
// next Open.
package wire

import (
	"net/netip"

	"nearglass/cc/sim"
)

// Shape is what a link does in both directions.
type Shape struct {
	Forward, Back sim.LinkConfig
	Seed          uint64
}

// End is one of the two namespaces.
type End struct {
	Name string     // of the namespace
	Addr netip.Addr // of its eth0
}

// Prefix is the command that runs another one in the namespace.
func (e End) Prefix() []string { return []string{"ip", "netns", "exec", e.Name} }

// The addresses of the two ends. Nothing outside the namespaces sees them.
var (
	nearAddr = netip.MustParseAddr("10.219.9.1")
	farAddr  = netip.MustParseAddr("10.219.9.2")
)

// mtu is that of a path over Ethernet.
const mtu = 1500
