package server

import (
	"net/netip"
	"testing"

	"nearglass/telemetry/netpath"
)

func keyOver(device string, p netpath.Path, remote string) routeKey {
	a, _ := netip.ParseAddr(remote) // the zero Addr for one that hides
	return routeKeyOf(device, p, a)
}

var (
	homePath    = netpath.Path{Kind: netpath.LocalNetwork, Interface: "wlan0", MTU: 1500, Local: netip.MustParseAddr("192.168.1.2")}
	directPath  = netpath.Path{Kind: netpath.TailscaleDirect, Interface: "tailscale0", MTU: 1280, Outer: "198.51.100.9:41641"}
	relayedPath = netpath.Path{Kind: netpath.TailscaleRelayed, Interface: "tailscale0", MTU: 1280, RegionCode: "fra", Region: "Frankfurt"}
	vaguePath   = netpath.Path{Kind: netpath.Tailscale, Interface: "tailscale0", MTU: 1280, Unknown: "its daemon does not answer"}
)

// TestRouteKey: what is learned over one way is not used over another.
func TestRouteKey(t *testing.T) {
	home := keyOver("a", homePath, "192.168.1.7")
	other := homePath
	other.Interface, other.Local = "eth0", netip.MustParseAddr("192.168.1.3")
	small := homePath
	small.MTU = 1400
	for name, tt := range map[string]struct {
		key  routeKey
		same bool
	}{
		"another lease":              {keyOver("a", homePath, "192.168.1.80"), true},
		"mapped into IPv6":           {keyOver("a", homePath, "::ffff:192.168.1.7"), true},
		"another MTU":                {keyOver("a", small, "192.168.1.7"), true},
		"another device":             {keyOver("b", homePath, "192.168.1.7"), false},
		"through another interface":  {keyOver("a", other, "192.168.1.7"), false},
		"from another network":       {keyOver("a", homePath, "203.0.113.9"), false},
		"from an address that hides": {keyOver("a", homePath, ""), false},
		"by another road":            {keyOver("a", relayedPath, "192.168.1.7"), false},
	} {
		if (tt.key == home) != tt.same {
			t.Errorf("%s: %+v beside %+v", name, tt.key, home)
		}
	}
	if keyOver("a", directPath, "100.64.0.1") == keyOver("a", relayedPath, "100.64.0.1") {
		t.Error("direct and relayed share a memory")
	}
	if one, two := keyOver("a", homePath, "fd7a::2:3"), keyOver("a", homePath, "fd7a::4:5"); one != two {
		t.Errorf("two addresses of one IPv6 network: %+v, %+v", one, two)
	}
}

// TestRoad: a change is one of the way that packets take, and not one of what
// is known of it; a daemon that is silent meanwhile does not hide it.
func TestRoad(t *testing.T) {
	type step struct {
		path    netpath.Path
		remote  string
		changed bool
	}
	for name, steps := range map[string][]step{
		"from direct to relayed and back": {{directPath, "100.64.0.1", false}, {relayedPath, "100.64.0.1", true}, {relayedPath, "100.64.0.1", false}, {directPath, "100.64.0.1", true}},
		"becomes known":                   {{vaguePath, "100.64.0.1", false}, {directPath, "100.64.0.1", false}, {relayedPath, "100.64.0.1", true}},
		"silent for a while":              {{directPath, "100.64.0.1", false}, {vaguePath, "100.64.0.1", false}, {directPath, "100.64.0.1", false}},
		"changed behind a silence":        {{directPath, "100.64.0.1", false}, {vaguePath, "100.64.0.1", false}, {relayedPath, "100.64.0.1", true}},
		"leaves the tunnel":               {{vaguePath, "100.64.0.1", false}, {homePath, "192.168.1.7", true}},
		"leaves the tunnel in silence":    {{directPath, "100.64.0.1", false}, {vaguePath, "100.64.0.1", false}, {homePath, "192.168.1.7", true}},
		"viewer moves":                    {{homePath, "192.168.1.7", false}, {homePath, "192.168.1.8", false}, {homePath, "192.168.7.8", true}},
	} {
		var r road
		for i, s := range steps {
			var changed bool
			if r, changed = r.next(s.path, keyOver("a", s.path, s.remote)); changed != s.changed {
				t.Errorf("%s, step %d: changed %t", name, i, changed)
			}
			if r.path != s.path {
				t.Errorf("%s, step %d: %+v", name, i, r.path)
			}
		}
	}
}
