package netpath

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
)

// TailscaleStatus is what Tailscale's daemon says of its paths. The zero value
// is a daemon that nobody asked.
type TailscaleStatus struct {
	Known bool   // the rest is its answer
	Why   string // why nothing is known, in words
	State string // "Running" when it is connected; else "Stopped", "NeedsLogin" and others
	Addrs []netip.Addr
	Peers []TailscalePeer
	// Regions names the DERP regions by their codes; nil where the daemon was
	// not asked for them or did not say.
	Regions map[string]string
}

// TailscalePeer is another machine of the tailnet.
type TailscalePeer struct {
	Addrs  []netip.Addr
	Routes []netip.Prefix // of networks that it leads to
	// Direct is the address that packets to it go to, PeerRelay that of the peer
	// relay, Relay the code of its DERP region. Relay is set in any case: it is
	// where packets go when the others are empty.
	Direct, PeerRelay, Relay string
	ExitNode                 bool // it is the one in use
}

// tailscaleAnswer is the part of the daemon's status that matters, as it writes
// it (ipnstate.Status in Tailscale's source).
type tailscaleAnswer struct {
	BackendState string
	TailscaleIPs []netip.Addr
	Peer         map[string]struct {
		TailscaleIPs  []netip.Addr
		PrimaryRoutes []netip.Prefix
		CurAddr       string
		PeerRelay     string
		Relay         string
		ExitNode      bool
	}
}

// parseTailscale reads the answer to /localapi/v0/status.
func parseTailscale(data []byte) (TailscaleStatus, error) {
	var a tailscaleAnswer
	if err := json.Unmarshal(data, &a); err != nil {
		return TailscaleStatus{}, fmt.Errorf("reading Tailscale's status: %w", err)
	}
	if a.BackendState == "" {
		return TailscaleStatus{}, fmt.Errorf("reading Tailscale's status: it names no state")
	}
	s := TailscaleStatus{Known: true, State: a.BackendState, Addrs: a.TailscaleIPs}
	for _, p := range a.Peer {
		s.Peers = append(s.Peers, TailscalePeer{
			Addrs: p.TailscaleIPs, Routes: p.PrimaryRoutes,
			Direct: p.CurAddr, PeerRelay: p.PeerRelay, Relay: p.Relay, ExitNode: p.ExitNode,
		})
	}
	return s, nil
}

// parseRegions reads the answer to /localapi/v0/derpmap.
func parseRegions(data []byte) (map[string]string, error) {
	var a struct {
		Regions map[string]*struct{ RegionCode, RegionName string }
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("reading Tailscale's map of relays: %w", err)
	}
	names := map[string]string{}
	for _, r := range a.Regions {
		if r != nil && r.RegionCode != "" {
			names[r.RegionCode] = r.RegionName
		}
	}
	return names, nil
}

// is says whether an interface is Tailscale's. The daemon knows; where it did
// not answer, name and addresses have to do.
func (t TailscaleStatus) is(i Interface, p Pair) bool {
	if i.Name == "" {
		return p.Remote.IsValid() && tailscaleRange(p.Remote)
	}
	for _, a := range t.Addrs {
		if i.has(plain(a)) {
			return true
		}
	}
	if strings.HasPrefix(strings.ToLower(i.Name), "tailscale") {
		return true
	}
	if t.Known || !i.tunnel() {
		return false
	}
	for _, prefix := range i.Prefixes {
		if tailscaleRange(plain(prefix.Addr())) {
			return true
		}
	}
	return false
}

// describe fills in how Tailscale carries the packets to the pair's remote.
func (t TailscaleStatus) describe(path *Path, p Pair) {
	path.Kind = Tailscale
	peer, ok := t.peerOf(p.Remote)
	switch {
	case !t.Known:
		path.Unknown = "direct or relayed is not known: " + t.Why
	case t.State != "Running":
		path.Unknown = fmt.Sprintf("direct or relayed is not known: Tailscale is not connected (%s)", t.State)
	case !p.Remote.IsValid():
		path.Unknown = "direct or relayed is not known: the viewer hides its address"
	case !ok:
		path.Unknown = fmt.Sprintf("direct or relayed is not known: Tailscale has no machine with the address %s", p.Remote)
	case peer.Direct != "":
		path.Kind, path.Outer = TailscaleDirect, peer.Direct
	case peer.PeerRelay != "":
		path.Kind, path.Outer = TailscalePeerRelay, peer.PeerRelay
	case peer.Relay != "":
		path.Kind, path.RegionCode, path.Region = TailscaleRelayed, peer.Relay, t.Regions[peer.Relay]
	default:
		path.Unknown = "direct or relayed is not known: Tailscale has no path to the viewer yet"
	}
}

// peerOf finds the machine that packets to an address go through: that which
// has it, else that which leads to the smallest network around it, else the exit
// node in use.
func (t TailscaleStatus) peerOf(remote netip.Addr) (TailscalePeer, bool) {
	var best TailscalePeer
	bits := -1
	for _, p := range t.Peers {
		for _, a := range p.Addrs {
			if plain(a) == remote {
				return p, true
			}
		}
		for _, r := range p.Routes {
			if r.Contains(remote) && r.Bits() > bits {
				best, bits = p, r.Bits()
			}
		}
	}
	if bits >= 0 {
		return best, true
	}
	for _, p := range t.Peers {
		if p.ExitNode && remote.IsValid() && !tailscaleRange(remote) {
			return p, true
		}
	}
	return TailscalePeer{}, false
}
