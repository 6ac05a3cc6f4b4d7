package netpath

import (
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// insideEnv has this program be the one in the namespace.
const insideEnv = "NETPATH_INSIDE"

// TestRealInterfaces looks at interfaces that the kernel really has: in a
// network namespace of its own, with a cable, TUN and TAP devices and their
// routes.
func TestRealInterfaces(t *testing.T) {
	if os.Getenv(insideEnv) == "" {
		again(t)
		return
	}
	for _, line := range []string{
		"link set lo up",
		"link add cable type veth peer name far", "addr add 192.168.7.2/24 dev cable", "link set cable up", "link set far up",
		"tuntap add dev office mode tun", "addr add 10.9.0.2/24 dev office", "link set office up mtu 1400",
		"tuntap add dev bridge7 mode tap", "addr add 10.10.0.2/24 dev bridge7", "link set bridge7 up",
		"tuntap add dev tailscale0 mode tun", "addr add 100.64.0.1/32 dev tailscale0", "link set tailscale0 up mtu 1280", "route add 100.64.0.0/10 dev tailscale0",
		"tuntap add dev ztabcdefgh mode tap", "addr add 10.147.17.5/24 dev ztabcdefgh", "link set ztabcdefgh up mtu 2800",
		"route add default via 192.168.7.1", "route add 172.16.0.0/12 dev office",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	w := NewWatcher(Config{
		Tailscale: NewTailscaleDaemon("/nowhere/tailscaled.sock").Ask,
	})
	defer w.Close()
	for remote, want := range map[string]struct {
		words, by string
		mtu       int
	}{
		"127.0.0.1":   {"this machine", "lo", 65536},
		"192.168.7.2": {"this machine", "lo", 65536},
		"192.168.7.9": {"local network", "cable", 1500},
		"203.0.113.9": {"internet", "cable", 1500},
		"10.9.0.1":    {"VPN (office)", "office", 1400},
		"172.20.0.9":  {"VPN (office)", "office", 1400},
		"10.10.0.1":   {"VPN (bridge7)", "bridge7", 1500},
		"100.64.0.2":  {"Tailscale", "tailscale0", 1280},
		"10.147.17.9": {"ZeroTier", "ztabcdefgh", 2800},
	} {
		got, _ := w.Look(time.Now(), Pair{Remote: netip.MustParseAddr(remote), LocalType: "host", RemoteType: "prflx"})
		own := want.words == "this machine" // the kernel may leave from the address itself
		if got.Words() != want.words || !own && (got.Interface != want.by || got.MTU != want.mtu) {
			t.Errorf("%s: %q by %s with %d bytes: %+v", remote, got.Words(), got.Interface, got.MTU, got)
		}
	}
}

// again runs this test in a namespace, or skips it where that is not allowed.
func again(t *testing.T) {
	for _, name := range []string{"unshare", "ip", "mount"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	if err := exec.Command("unshare", "-n", "-m", "mount", "-t", "sysfs", "none", "/sys").Run(); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// What the system says of interfaces is of the namespace that mounted it.
	cmd := exec.Command("unshare", "-n", "-m", "sh", "-c", `mount -t sysfs none /sys && exec "$0" -test.run='^TestRealInterfaces$'`, self)
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
