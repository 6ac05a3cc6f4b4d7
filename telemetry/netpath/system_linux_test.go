package netpath

import (
	"net/netip"
	"testing"
)

func TestParseNeighbours(t *testing.T) {
	table := "IP address       HW type     Flags       HW address            Mask     Device\n" +
		"10.147.17.9      0x1         0x2         26:27:46:81:5c:34     *        ztabcdefgh\n" +
		"10.147.17.10     0x1         0x0         00:00:00:00:00:00     *        ztabcdefgh\n" +
		"x                0x1         0x2         26:27:46:81:5c:34     *        eth0\n" +
		"10.0.0.1         0x1         0x2         26:27:46              *        eth0\n"
	got := parseNeighbours(table)
	if len(got) != 1 || got[netip.MustParseAddr("10.147.17.9")] != ztMAC {
		t.Errorf("%x", got)
	}
}

func FuzzNeighbours(f *testing.F) {
	f.Add("10.147.17.9 0x1 0x2 26:27:46:81:5c:34 * ztabcdefgh\n")
	f.Fuzz(func(t *testing.T, table string) {
		for addr, mac := range parseNeighbours(table) {
			if !addr.IsValid() || mac >= 1<<48 {
				t.Errorf("%s has %x", addr, mac)
			}
		}
	})
}

// TestSystem looks at the machine that the tests run on: it has loopback.
func TestSystem(t *testing.T) {
	list, err := Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	local := netip.MustParseAddr("127.0.0.1")
	i, ok := ownerOf(list, local)
	if !ok || i.tunnel() || i.MTU <= 0 {
		t.Errorf("%s is of %+v", local, i)
	}
	if got := SourceTo(local); got != local {
		t.Errorf("packets to %s leave from %s", local, got)
	}
	if got := SourceTo(netip.Addr{}); got.IsValid() {
		t.Errorf("packets to nowhere leave from %s", got)
	}
}
