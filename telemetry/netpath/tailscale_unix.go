//go:build !windows && !darwin

package netpath

import (
	"context"
	"net"
)

// tailscaleSocket is where the daemon listens; any user may read its status.
const tailscaleSocket = "/var/run/tailscale/tailscaled.sock"

func tailscaleWayOf(socket string) tailscaleWay {
	if socket == "" {
		socket = tailscaleSocket
	}
	return tailscaleWay{func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}, noSecret}
}
