//go:build !linux

package netpath

import "net/netip"

// softwareTunnel cannot tell; flags and names have to do.
func softwareTunnel(string) bool { return false }

// neighbours are not read here.
func neighbours() map[netip.Addr]uint64 { return nil }
