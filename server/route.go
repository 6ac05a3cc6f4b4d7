package server

import (
	"fmt"

	"nearglass/server/transport"
)

// routeInWords names the road that the packets take, as far as the addresses
// tell it.
func routeInWords(r transport.Route) string {
	remote := r.Remote.Addr().Unmap()
	switch {
	case r.LocalType == "relay" || r.RemoteType == "relay":
		return "TURN relay"
	case remote.IsLoopback():
		return "this machine"
	case tailscale4.Contains(remote) || tailscale6.Contains(remote):
		return "Tailscale"
	case remote.IsPrivate() || remote.IsLinkLocalUnicast():
		return "local network"
	}
	return fmt.Sprintf("internet (%s)", remote)
}
