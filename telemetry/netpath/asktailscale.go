package netpath

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// TailscaleDaemon asks Tailscale's daemon on this machine, over the interface
// that its own command line uses: HTTP over a local socket. The answers are the
// ones that Tailscale's client library reads; three fields of a peer are all
// that is needed of them, so that library's twenty modules stay out of the
// build.
type TailscaleDaemon struct {
	client *http.Client
	secret func() string // of the daemons that ask for one
	// regions are asked for seldom: they change with Tailscale's releases.
	regions   map[string]string
	regionsAt time.Time
}

// regionsAge is how long the names of regions are good for.
const regionsAge = 10 * time.Minute

// NewTailscaleDaemon prepares to ask the daemon behind a socket; the empty
// string stands for where it is on this system. Nothing is opened yet.
func NewTailscaleDaemon(socket string) *TailscaleDaemon {
	way := tailscaleWayOf(socket)
	return &TailscaleDaemon{client: localClient(way.dial), secret: way.secret}
}

// tailscaleWay is how a daemon is reached.
type tailscaleWay struct {
	dial   func(context.Context) (net.Conn, error)
	secret func() string
}

// localClient speaks HTTP over whatever dial opens. One connection is kept: a
// stream asks twice a second.
func localClient(dial func(context.Context) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConns:    1,
		IdleConnTimeout: time.Minute,
		Proxy:           nil,
	}}
}

// Ask gets the daemon's status. Not safe for concurrent use. Errors are worded
// for people.
func (d *TailscaleDaemon) Ask(ctx context.Context, now time.Time) (TailscaleStatus, error) {
	data, err := d.get(ctx, "status")
	if err != nil {
		return TailscaleStatus{}, err
	}
	s, err := parseTailscale(data)
	if err != nil {
		return TailscaleStatus{}, fmt.Errorf("%w (%v)", errStrange, err)
	}
	s.Regions = d.regionNames(ctx, now, s)
	return s, nil
}

// regionNames gives the names of regions once a peer is relayed. Without them
// their codes are shown.
func (d *TailscaleDaemon) regionNames(ctx context.Context, now time.Time, s TailscaleStatus) map[string]string {
	known := d.regions != nil && now.Sub(d.regionsAt) < regionsAge
	if known || !s.relays() {
		return d.regions
	}
	if data, err := d.get(ctx, "derpmap"); err == nil {
		if names, err := parseRegions(data); err == nil {
			d.regions, d.regionsAt = names, now
		}
	}
	return d.regions
}

// relays says whether a peer may be reached through a relay.
func (t TailscaleStatus) relays() bool {
	for _, p := range t.Peers {
		if p.Direct == "" && p.PeerRelay == "" && p.Relay != "" {
			return true
		}
	}
	return false
}

// get asks for a document. The host name is the one that the daemon insists on.
func (d *TailscaleDaemon) get(ctx context.Context, what string) ([]byte, error) {
	return ask(ctx, d.client, "http://local-tailscaled.sock/localapi/v0/"+what, func(r *http.Request) {
		if secret := d.secret(); secret != "" {
			r.SetBasicAuth("", secret)
		}
	})
}

// Close lets go of the connection.
func (d *TailscaleDaemon) Close() { d.client.CloseIdleConnections() }

func noSecret() string { return "" }
