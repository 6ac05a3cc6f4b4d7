package e2e

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

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
	t.Cleanup(func() {
		_ = n.ip("netns", "del", n.host) // with its end of the path, and so the path
		_ = n.ip("netns", "del", n.router)
	})
	if err := errors.Join(n.ip("netns", "add", n.router), n.ip("netns", "add", n.host)); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	near, far := fmt.Sprintf("ngn%d", id), fmt.Sprintf("ngf%d", id)
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
	if err := n.lose(1); err != nil {
		t.Skipf("no random loss here: %v", err)
	}
	must(t, n.lose(0))
	return n
}

func (n *lossy) ip(args ...string) error {
	_, err := desk.Run(shared.ctx, desk.Command{Name: "ip", Args: args})
	return err
}

// lose sets how many percent of the UDP packets to the viewer are lost, and
// which at random.
func (n *lossy) lose(percent int) error {
	if err := n.ip("netns", "exec", n.router, "iptables", "-F", "FORWARD"); err != nil || percent == 0 {
		return err
	}
	return n.ip("netns", "exec", n.router, "iptables", "-A", "FORWARD", "-i", "tohost", "-p", "udp",
		"-m", "statistic", "--mode", "random", "--probability", fmt.Sprintf("0.%02d", percent), "-j", "DROP")
}

// prefix starts a program at the host's end.
func (n *lossy) prefix() []string { return []string{"ip", "netns", "exec", n.host} }
