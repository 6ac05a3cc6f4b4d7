package e2e

import (
	"errors"
	"fmt"
	"image"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// lossy is a network path that loses packets on their way to the viewer: the
// host lives in a network namespace of its own, and a router in another.
//
//	viewer 10.219.7.1 -- 10.219.7.2 router 10.219.8.1 -- 10.219.8.2 host
type lossy struct {
	t      *testing.T
	router string // names of the namespaces
	host   string
}

// lossyHost is where a host behind the path listens.
const lossyHost = "10.219.8.2:7433"

// newLossy lays the path, or skips the test where that is not allowed.
func newLossy(t *testing.T) *lossy {
	t.Helper()
	if err := desk.Need("ip", "iptables"); err != nil {
		t.Skip(err)
	}
	id := os.Getpid() % 100000
	n := &lossy{t, fmt.Sprintf("ngrouter%d", id), fmt.Sprintf("nghost%d", id)}
	near, far := fmt.Sprintf("ngn%d", id), fmt.Sprintf("ngf%d", id)
	t.Cleanup(func() {
		_ = n.ip("link", "del", near)    // at once; with the namespaces it would go some time later
		_ = n.ip("netns", "del", n.host) // with its end of the path
		_ = n.ip("netns", "del", n.router)
	})
	if err := errors.Join(n.ip("netns", "add", n.router), n.ip("netns", "add", n.host)); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	for _, line := range []string{
		"link add " + near + " type veth peer name toview netns " + n.router,
		"-n " + n.router + " link add tohost type veth peer name " + far + " netns " + n.host,
		"addr add 10.219.7.1/30 dev " + near,
		"link set " + near + " up",
		"-n " + n.router + " addr add 10.219.7.2/30 dev toview",
		"-n " + n.router + " addr add 10.219.8.1/30 dev tohost",
		"-n " + n.router + " link set toview up",
		"-n " + n.router + " link set tohost up",
		"-n " + n.host + " addr add 10.219.8.2/30 dev " + far,
		"-n " + n.host + " link set " + far + " up",
		"-n " + n.host + " link set lo up",
		"-n " + n.host + " route add default via 10.219.8.1",
		"route add 10.219.8.0/30 via 10.219.7.2",
	} {
		must(t, n.ip(strings.Fields(line)...))
	}
	must(t, n.ip("netns", "exec", n.router, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"))
	if err := n.lose(loss{percent: 1, media: 1}); err != nil {
		t.Skipf("no loss on purpose here: %v", err)
	}
	must(t, n.lose(loss{}))
	return n
}

func (n *lossy) ip(args ...string) error {
	_, err := desk.Run(shared.ctx, desk.Command{Name: "ip", Args: args})
	return err
}

// loss says how many percent of the UDP packets to the viewer are lost, at
// random.
type loss struct {
	percent int
	media   int // not 0: only RTP packets of this payload type, so no repairs
}

func (l loss) String() string {
	if l.media != 0 {
		return fmt.Sprintf("%d %% lost but for repairs", l.percent)
	}
	return fmt.Sprintf("%d %% lost", l.percent)
}

// lose sets what is lost from now on; the zero loss is none.
func (n *lossy) lose(l loss) error {
	if err := n.ip("netns", "exec", n.router, "iptables", "-F", "FORWARD"); err != nil || l.percent == 0 {
		return err
	}
	line := []string{"netns", "exec", n.router, "iptables", "-A", "FORWARD", "-i", "tohost", "-p", "udp"}
	if l.media != 0 {
		// The second byte behind the headers of IP and UDP, without its marker.
		line = append(line, "-m", "u32", "--u32", fmt.Sprintf("0>>22&0x3C@8>>16&0x7F=%d", l.media))
	}
	return n.ip(append(line, "-m", "statistic", "--mode", "random", "--probability", fmt.Sprintf("%.2f", float64(l.percent)/100), "-j", "DROP")...)
}

// burst loses everything for a time.
func (n *lossy) burst(t *testing.T, d time.Duration) {
	t.Helper()
	must(t, n.lose(loss{percent: 100}))
	time.Sleep(d)
	must(t, n.lose(loss{}))
}

// browser starts a browser that trusts the host behind the path.
func (n *lossy) browser(t *testing.T, flags map[string]any) *desk.Chromium {
	t.Helper()
	all := map[string]any{"unsafely-treat-insecure-origin-as-secure": "http://" + lossyHost}
	maps.Copy(all, flags)
	b, err := desk.StartChromium(shared.ctx, desk.BrowserOptions{Flags: all})
	must(t, err)
	t.Cleanup(b.Close)
	return b
}

// watch starts a host behind the path and watches its desktop.
func (n *lossy) watch(t *testing.T, b *desk.Chromium, x *desk.X, size image.Point, args ...string) *viewer {
	t.Helper()
	h := startHost(t, desk.HostOptions{Display: x.Name(), Listen: lossyHost, Prefix: n.prefix(), Args: args})
	return n.join(t, b, x, size, h, h.PairURL)
}

// join watches the desktop of a host behind the path once more.
func (n *lossy) join(t *testing.T, b *desk.Chromium, x *desk.X, size image.Point, h *desk.Host, link string) *viewer {
	t.Helper()
	v := &viewer{Page: newPageIn(t, b, size), x: x, host: h}
	pair(t, v.Page, link)
	must(t, v.Run(rememberPeers))
	watch(t, v.Page, "desktop")
	return v
}

// prefix starts a program at the host's end.
func (n *lossy) prefix() []string { return []string{"ip", "netns", "exec", n.host} }
