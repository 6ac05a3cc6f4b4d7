package netpath

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// softwareTunnel says whether the kernel has the interface for a TUN or TAP
// device or for WireGuard's.
func softwareTunnel(name string) bool {
	dir := filepath.Join("/sys/class/net", name)
	if _, err := os.Stat(filepath.Join(dir, "tun_flags")); err == nil {
		return true
	}
	event, err := os.ReadFile(filepath.Join(dir, "uevent"))
	return err == nil && bytes.Contains(event, []byte("DEVTYPE=wireguard"))
}

// neighbours reads the kernel's table of IPv4 neighbours; nil when it cannot.
func neighbours() map[netip.Addr]uint64 {
	table, err := os.ReadFile("/proc/net/arp")
	if err != nil {
		return nil
	}
	return parseNeighbours(string(table))
}

// parseNeighbours reads lines of address, type, flags, MAC address, mask and
// device below a headline. An entry whose flags are 0 has no answer yet.
func parseNeighbours(table string) map[netip.Addr]uint64 {
	found := map[netip.Addr]uint64{}
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) != 6 || f[2] == "0x0" {
			continue
		}
		addr, err := netip.ParseAddr(f[0])
		if err != nil || len(f[3]) != len("00:00:00:00:00:00") {
			continue
		}
		if mac, err := strconv.ParseUint(strings.ReplaceAll(f[3], ":", ""), 16, 48); err == nil {
			found[addr] = mac
		}
	}
	return found
}
