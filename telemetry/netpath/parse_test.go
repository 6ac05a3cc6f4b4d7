package netpath

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

// vector reads a document as a daemon wrote it.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParseTailscale(t *testing.T) {
	s, err := parseTailscale(vector(t, "tailscale-status.json"))
	if err != nil || !s.Known || s.State != "Running" || len(s.Peers) != 1 || len(s.Addrs) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	p := s.Peers[0]
	if len(p.Addrs) != 2 || !tailscaleRange(p.Addrs[0]) || p.Direct == "" || p.Relay != "test" {
		t.Errorf("the peer: %+v", p)
	}
	for _, bad := range []string{"", "null", "[]", "{}", `{"BackendState":1}`, `{"BackendState":"Running","TailscaleIPs":["x"]}`, `{"BackendState":"Running","Peer":[]}`, "<html>"} {
		if s, err := parseTailscale([]byte(bad)); err == nil {
			t.Errorf("%q gives %+v", bad, s)
		}
	}
}

func TestParseRegions(t *testing.T) {
	names, err := parseRegions(vector(t, "tailscale-derpmap.json"))
	if err != nil || names["test"] != "Frankfurt" {
		t.Errorf("%v, %v", names, err)
	}
	names, err = parseRegions([]byte(`{"Regions":{"1":{"RegionCode":"fra","RegionName":"Frankfurt"},"2":null,"3":{}}}`))
	if err != nil || len(names) != 1 || names["fra"] != "Frankfurt" {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := parseRegions([]byte(`{"Regions":[]}`)); err == nil {
		t.Error("a list was taken for a map")
	}
}

func TestParseZeroTier(t *testing.T) {
	var s ZeroTierStatus
	for name, parse := range map[string]func([]byte, *ZeroTierStatus) error{
		"zerotier-status.json": parseZeroTierStatus, "zerotier-network.json": parseZeroTierNetworks, "zerotier-peer.json": parseZeroTierPeers,
	} {
		if err := parse(vector(t, name), &s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, bad := range []string{"", "null{", `"x"`, "7", "[7]", "<html>"} {
			var other ZeroTierStatus
			if err := parse([]byte(bad), &other); err == nil {
				t.Errorf("%s: %q was read", name, bad)
			}
		}
	}
	if s.TCPFallback || s.Devices["ztabcdefgh"] != ztNetwork || len(s.Devices) != 1 {
		t.Errorf("status and networks: %+v", s)
	}
	for number, direct := range map[uint64]string{
		0x87c29dbef6: "198.51.100.9:21007", // the preferred one of two
		0x2222222222: "",                   // no paths
		0x3333333333: "",                   // expired
		0x4444444444: "",                   // by TCP
	} {
		if node, ok := s.Nodes[number]; !ok || node.Direct != direct {
			t.Errorf("node %010x: %+v, %t", number, node, ok)
		}
	}
}

func TestNodeOf(t *testing.T) {
	z := ZeroTierStatus{Neighbours: map[netip.Addr]uint64{netip.MustParseAddr("10.147.17.9"): ztMAC}}
	for addr, want := range map[string]uint64{
		"10.147.17.9": ztNode,
		"fd80:56c2:e21c:84a0:2799:9387:c29d:bef6": ztNode, // ZeroTier's RFC 4193 addresses
		"fc9c:d246:8587:c29d:bef6::1":             ztNode, // and its 6PLANE ones
		"10.147.17.10":                            0,
		"fd80::1":                                 0,
	} {
		if got, ok := z.nodeOf(netip.MustParseAddr(addr), ztNetwork); got != want || ok != (want != 0) {
			t.Errorf("%s: %010x, %t", addr, got, ok)
		}
	}
	if _, ok := z.nodeOf(netip.MustParseAddr("10.147.17.9"), 0); ok {
		t.Error("a MAC address told the node without its network")
	}
}

func FuzzTailscale(f *testing.F) {
	f.Add(vector(f, "tailscale-status.json"))
	f.Add([]byte(`{"BackendState":"Running","Peer":{"a":null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseTailscale(data)
		if err != nil {
			return
		}
		for _, c := range classifyCases {
			checkPath(t, Classify(c.pair(), World{Interfaces: c.on, Tailscale: s}))
		}
	})
}

func FuzzZeroTier(f *testing.F) {
	for part, name := range []string{"zerotier-status.json", "zerotier-network.json", "zerotier-peer.json"} {
		f.Add(part, vector(f, name))
	}
	parsers := []func([]byte, *ZeroTierStatus) error{parseZeroTierStatus, parseZeroTierNetworks, parseZeroTierPeers}
	f.Fuzz(func(t *testing.T, part int, data []byte) {
		s := ztWorld(ZeroTierNode{})
		_ = parsers[uint(part)%uint(len(parsers))](data, &s)
		for _, c := range classifyCases {
			checkPath(t, Classify(c.pair(), World{Interfaces: c.on, ZeroTier: s}))
		}
	})
}

func FuzzRegions(f *testing.F) {
	f.Add(vector(f, "tailscale-derpmap.json"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if names, err := parseRegions(data); err == nil && names == nil {
			t.Error("no names and no error")
		}
	})
}

// checkPath holds any path to what those who show it rely on.
func checkPath(t *testing.T, p Path) {
	if kindWords[p.Kind] == "" || p.Kind.Vague() && p.Unknown == "" {
		t.Errorf("%+v", p)
	}
	if _, err := json.Marshal(p); err != nil {
		t.Error(err)
	}
	if p.Differs(p) {
		t.Errorf("differs from itself: %+v", p)
	}
}
