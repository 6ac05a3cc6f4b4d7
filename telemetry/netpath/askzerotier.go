package netpath

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// ZeroTierDaemon asks ZeroTier's daemon on this machine over its service API
// (https://docs.zerotier.com/api-service): HTTP at a port of the loopback
// interface, with a token that administrators can read.
type ZeroTierDaemon struct {
	client *http.Client
	port   func() string
	tokens []string
}

// zeroTierPort is the port where the daemon has written down no other.
const zeroTierPort = "9993"

// NewZeroTierDaemon prepares to ask the daemon whose working folder is dir; the
// empty string stands for where that is on this system. Nothing is opened yet.
func NewZeroTierDaemon(dir string) *ZeroTierDaemon {
	dirs := []string{dir}
	if dir == "" {
		dirs = zeroTierDirs()
	}
	d := &ZeroTierDaemon{port: func() string { return readPort(dirs) }}
	for _, dir := range dirs {
		d.tokens = append(d.tokens, dir+string(os.PathSeparator)+"authtoken.secret")
	}
	d.client = localClient(func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", d.port()))
	})
	return d
}

// readPort reads the port that the daemon wrote down, which anybody may.
func readPort(dirs []string) string {
	for _, dir := range dirs {
		data, err := os.ReadFile(dir + string(os.PathSeparator) + "zerotier-one.port")
		port := strings.TrimSpace(string(data))
		if n, bad := strconv.ParseUint(port, 10, 16); err == nil && bad == nil && n > 0 {
			return port
		}
	}
	return zeroTierPort
}

// Ask gets the daemon's networks and paths. Errors are worded for people.
func (d *ZeroTierDaemon) Ask(ctx context.Context) (ZeroTierStatus, error) {
	s := ZeroTierStatus{Known: true}
	token, err := readSecret(d.tokens)
	if err != nil {
		return ZeroTierStatus{}, err
	}
	for _, part := range []struct {
		what string
		read func([]byte, *ZeroTierStatus) error
	}{{"status", parseZeroTierStatus}, {"network", parseZeroTierNetworks}, {"peer", parseZeroTierPeers}} {
		data, err := ask(ctx, d.client, "http://127.0.0.1/"+part.what, func(r *http.Request) { r.Header.Set("X-ZT1-Auth", token) })
		if err != nil {
			return ZeroTierStatus{}, err
		}
		if err := part.read(data, &s); err != nil {
			return ZeroTierStatus{}, fmt.Errorf("%w (%v)", errStrange, err)
		}
	}
	s.Neighbours = neighbours()
	return s, nil
}

// Close lets go of the connection.
func (d *ZeroTierDaemon) Close() { d.client.CloseIdleConnections() }
