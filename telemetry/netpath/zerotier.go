package netpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ZeroTierStatus is what ZeroTier's daemon says of its networks and paths. The
// zero value is a daemon that nobody asked.
type ZeroTierStatus struct {
	Known bool   // the rest is its answer
	Why   string // why nothing is known, in words
	// TCPFallback says that it reaches nobody by UDP and sends everything
	// through a TCP relay.
	TCPFallback bool
	Devices     map[string]uint64 // the networks' ids by the names of their interfaces
	Nodes       map[uint64]ZeroTierNode
	// Neighbours are the MAC addresses of machines on its networks, from the
	// system's table; a node's number can be read from one.
	Neighbours map[netip.Addr]uint64
}

// ZeroTierNode is another machine.
type ZeroTierNode struct {
	Direct string // the address that packets to it go to; empty when they are relayed
}

// parseZeroTierStatus reads the answer to /status.
func parseZeroTierStatus(data []byte, s *ZeroTierStatus) error {
	var a struct {
		Address     string `json:"address"`
		TCPFallback bool   `json:"tcpFallbackActive"`
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return fmt.Errorf("reading ZeroTier's status: %w", err)
	}
	if a.Address == "" {
		return errors.New("reading ZeroTier's status: it names no address")
	}
	s.TCPFallback = a.TCPFallback
	return nil
}

// parseZeroTierNetworks reads the answer to /network. Older daemons write the
// id as "nwid".
func parseZeroTierNetworks(data []byte, s *ZeroTierStatus) error {
	var list []struct {
		ID     string `json:"id"`
		Old    string `json:"nwid"`
		Device string `json:"portDeviceName"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("reading ZeroTier's networks: %w", err)
	}
	s.Devices = map[string]uint64{}
	for _, n := range list {
		id := n.ID
		if id == "" {
			id = n.Old
		}
		number, err := strconv.ParseUint(id, 16, 64)
		if err != nil || n.Device == "" {
			continue // a network that is not joined yet has no interface
		}
		s.Devices[n.Device] = number
	}
	return nil
}

// parseZeroTierPeers reads the answer to /peer.
func parseZeroTierPeers(data []byte, s *ZeroTierStatus) error {
	var list []struct {
		Address  string `json:"address"`
		Tunneled bool   `json:"tunneled"`
		Paths    []struct {
			Active    bool   `json:"active"`
			Expired   bool   `json:"expired"`
			Preferred bool   `json:"preferred"`
			Address   string `json:"address"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("reading ZeroTier's peers: %w", err)
	}
	s.Nodes = map[uint64]ZeroTierNode{}
	for _, p := range list {
		number, err := strconv.ParseUint(p.Address, 16, 40)
		if err != nil {
			return fmt.Errorf("reading ZeroTier's peers: %q is no address of a node", p.Address)
		}
		var node ZeroTierNode
		for _, way := range p.Paths {
			usable := way.Active && !way.Expired && !p.Tunneled
			if usable && (node.Direct == "" || way.Preferred) {
				node.Direct = strings.Replace(way.Address, "/", ":", 1)
			}
		}
		s.Nodes[number] = node
	}
	return nil
}

// zeroTierNames begin the names that the daemon gives its interfaces: on Linux
// and BSD, on macOS, and on Windows.
var zeroTierNames = []string{"zt", "feth", "zerotier"}

// is says whether an interface is ZeroTier's. The daemon can give it any name.
func (z ZeroTierStatus) is(i Interface) bool {
	if i.Name == "" {
		return false
	}
	_, ours := z.Devices[i.Name]
	return ours || i.named(zeroTierNames)
}

// describe fills in how ZeroTier carries the packets to the pair's remote.
func (z ZeroTierStatus) describe(path *Path, p Pair, i Interface) {
	path.Kind = ZeroTier
	number, named := z.nodeOf(p.Remote, z.Devices[i.Name])
	node, ok := z.Nodes[number]
	switch {
	case !z.Known:
		path.Unknown = "direct or relayed is not known: " + z.Why
	case z.TCPFallback:
		path.Kind = ZeroTierRelayed
	case !named:
		path.Unknown = "direct or relayed is not known: which of ZeroTier's machines the viewer is does not show"
	case !ok:
		path.Unknown = fmt.Sprintf("direct or relayed is not known: ZeroTier does not list the viewer's machine %010x", number)
	case node.Direct != "":
		path.Kind, path.Outer = ZeroTierDirect, node.Direct
	default:
		path.Kind = ZeroTierRelayed
	}
}

// nodeOf finds the number of the node that has an address on a network. Two
// kinds of IPv6 address contain it; of others the system's table of neighbours
// has the MAC address, which is made of it and the network's id.
func (z ZeroTierStatus) nodeOf(a netip.Addr, network uint64) (uint64, bool) {
	if a.Is6() {
		b := a.As16()
		switch {
		case b[0] == 0xfd && b[9] == 0x99 && b[10] == 0x93:
			return number40(b[11:16]), true
		case b[0] == 0xfc:
			return number40(b[5:10]), true
		}
	}
	mac, ok := z.Neighbours[a]
	if !ok || network == 0 {
		return 0, false
	}
	return nodeOfMAC(mac, network), true
}

func number40(b []byte) uint64 {
	n := uint64(0)
	for _, x := range b[:5] {
		n = n<<8 | uint64(x)
	}
	return n
}

// nodeOfMAC undoes how ZeroTier makes a MAC address: the low 40 bits are the
// node's number, masked with bytes 1 to 5 of the network's id, lowest first.
func nodeOfMAC(mac, network uint64) uint64 {
	mask := uint64(0)
	for i := range 5 {
		mask = mask<<8 | network>>(8*(i+1))&0xff
	}
	return mac&(1<<40-1) ^ mask
}
