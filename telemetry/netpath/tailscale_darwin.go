package netpath

import (
	"context"
	"net"
	"os"
	"path/filepath"
)

// Where Tailscale listens on macOS: the daemon of the open-source package at a
// socket, the standalone app at a TCP port that it writes down beside its
// secret, readable for administrators. The App Store's app keeps both to itself.
const (
	tailscaleSocket = "/var/run/tailscaled.socket"
	tailscaleShared = "/Library/Tailscale"
)

func tailscaleWayOf(socket string) tailscaleWay {
	if socket != "" {
		return tailscaleWay{dialUnix(socket), noSecret}
	}
	return tailscaleWay{func(ctx context.Context) (net.Conn, error) {
		if port, _, err := appPort(); err == nil {
			var d net.Dialer
			if conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
				return conn, nil
			}
		}
		return dialUnix(tailscaleSocket)(ctx)
	}, func() string {
		_, secret, _ := appPort()
		return secret
	}}
}

func dialUnix(socket string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
}

// appPort reads where the standalone app listens, and its secret.
func appPort() (port, secret string, err error) {
	if port, err = os.Readlink(filepath.Join(tailscaleShared, "ipnport")); err != nil {
		return "", "", err
	}
	secret, err = readSecret([]string{filepath.Join(tailscaleShared, "sameuserproof-"+filepath.Base(port))})
	return port, secret, err
}
