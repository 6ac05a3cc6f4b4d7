package tailnet

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"tailscale.com/client/local"
	"tailscale.com/derp/derpserver"
	"tailscale.com/ipn"
	"tailscale.com/net/stun/stuntest"
	"tailscale.com/tailcfg"
	"tailscale.com/tstest/integration/testcontrol"
	"tailscale.com/types/key"
	"tailscale.com/types/logger"
	"tailscale.com/types/preftype"
)

// regionName is what the region of the relay is called; its code is "test".
const regionName = "Frankfurt"

// roleEnv has this program be something else than the tests; awayEnv is how long
// packets take to the relay or from it, as if it were far away.
const (
	roleEnv = "TAILNET_ROLE"
	awayEnv = "TAILNET_RELAY_AWAY"
)

// TestControl is the control server, the relay and STUN, in the namespace that it
// is started in. Tailscale's own test servers need a test to live in.
func TestControl(t *testing.T) {
	if os.Getenv(roleEnv) != "control" {
		t.Skip("runs as a program of the other test")
	}
	control := &testcontrol.Server{DERPMap: relays(t), Logf: logger.Discard, AllOnline: true}
	control.HTTPTestServer = serverAt(t, control)
	control.HTTPTestServer.Start()
	fmt.Println("control at", control.HTTPTestServer.URL)
	<-t.Context().Done() // until it is ended
}

// serverAt makes a server at the address of the middle.
func serverAt(t *testing.T, handler http.Handler) *httptest.Server {
	listener, err := net.Listen("tcp", net.JoinHostPort(controlAddr, "0"))
	if err != nil {
		t.Fatal(err)
	}
	return &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
}

// relays starts a relay and STUN, and gives the map that names them.
func relays(t *testing.T) *tailcfg.DERPMap {
	relay := derpserver.New(key.NewNode(), logger.Discard)
	s := serverAt(t, derpserver.Handler(relay))
	s.Config.ErrorLog = logger.StdLogger(logger.Discard)
	s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){} // the relay takes over connections of HTTP/1
	s.StartTLS()
	stun, _ := stuntest.Serve(t)
	away, _ := time.ParseDuration(os.Getenv(awayEnv))
	node := &tailcfg.DERPNode{
		Name: "t1", RegionID: 1, HostName: controlAddr, IPv4: controlAddr, IPv6: "none",
		STUNPort: stun.Port, DERPPort: distant(t, s.Listener.Addr().String(), away),
		InsecureForTests: true, STUNTestIP: controlAddr,
	}
	return &tailcfg.DERPMap{Regions: map[int]*tailcfg.DERPRegion{
		1: {RegionID: 1, RegionCode: "test", RegionName: regionName, Nodes: []*tailcfg.DERPNode{node}},
	}}
}

// node is one of the two machines: a namespace with Tailscale's daemon in it.
type node struct {
	name   string
	daemon *program
	client *local.Client
	addr   string // in the tailnet
}

// join starts a daemon in a namespace and has it join the tailnet. It gets a
// /run of its own, so that it listens where daemons listen.
func (b *bed) join(ctx context.Context, name, control string) *node {
	b.t.Helper()
	daemon := filepath.Join(b.dir, "tailscaled")
	n := &node{name: name}
	n.daemon = b.start([]string{"TS_NO_LOGS_NO_SUPPORT=true", "TS_LOGS_DIR=/run/tailscale"}, "ip", "netns", "exec", name, "unshare", "-m", "sh", "-c",
		`mount -t tmpfs none /run && mkdir /run/tailscale && echo >/run/resolv.conf &&
		mount --bind /run/resolv.conf /etc/resolv.conf &&
		exec "$0" --no-logs-no-support --tun=tailscale0 --state=mem: --statedir=/run/tailscale --port=0`, daemon)
	socket := filepath.Join("/proc", strconv.Itoa(n.daemon.cmd.Process.Pid), "root/run/tailscale/tailscaled.sock")
	n.client = &local.Client{Socket: socket, UseSocketOnly: true}
	b.poll(ctx, "the daemon's socket", func() bool { _, err := n.client.StatusWithoutPeers(ctx); return err == nil })
	prefs := ipn.NewPrefs()
	prefs.ControlURL, prefs.Hostname, prefs.WantRunning = control, name, true
	prefs.CorpDNS, prefs.NetfilterMode = false, preftype.NetfilterOff
	b.must(n.client.Start(ctx, ipn.Options{UpdatePrefs: prefs}))
	b.must(n.client.StartLoginInteractive(ctx))
	b.poll(ctx, "an address in the tailnet", func() bool {
		s, err := n.client.Status(ctx)
		if err != nil || len(s.TailscaleIPs) == 0 || len(s.Peer) == 0 && name != b.host {
			return false
		}
		n.addr = s.TailscaleIPs[0].String()
		return s.BackendState == "Running"
	})
	return n
}

// inside runs a program beside the daemon.
func (n *node) inside(line ...string) []string {
	return append([]string{"nsenter", "-t", strconv.Itoa(n.daemon.cmd.Process.Pid), "-n", "-m"}, line...)
}

// words names how the daemon reaches its only peer, from its own client's answer;
// empty while it says nothing.
func (n *node) words(ctx context.Context) string {
	s, err := n.client.Status(ctx)
	if err != nil {
		return ""
	}
	for _, p := range s.Peer {
		switch {
		case p.CurAddr != "":
			return "Tailscale direct"
		case p.PeerRelay == "" && p.Relay == "test":
			return "Tailscale relayed, " + regionName
		}
	}
	return ""
}
