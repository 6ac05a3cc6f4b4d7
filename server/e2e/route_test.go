package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"nearglass/server/e2e/desk"
	"nearglass/telemetry"
)

// tunnelled is a network in which a host is reached by an interface that has the
// name and the addresses of Tailscale's, beside a fake of Tailscale's daemon that
// says of it what a test wants. The road itself never changes; the real daemon is
// in package tailnet.
//
//	viewer 100.64.77.1 -- 100.64.77.2 tailscale0 host
type tunnelled struct {
	host string // the namespace
	dir  string // where the daemon's socket lies
	tells
}

// Addresses of the two ends.
const (
	tunnelViewer = "100.64.77.1"
	tunnelHost   = "100.64.77.2"
)

// tells is what the daemon says: a way of answering.
type tells struct {
	now atomic.Pointer[http.HandlerFunc]
}

func (a *tells) say(answer http.HandlerFunc) { a.now.Store(&answer) }

func (a *tells) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*a.now.Load())(w, r) }

// Ways of the daemon to answer. A status is what ipnstate.Status in Tailscale's
// source has of it that matters here.
func carried(current string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/derpmap") {
			fmt.Fprint(w, `{"Regions":{"4":{"RegionCode":"fra","RegionName":"Frankfurt"}}}`)
			return
		}
		fmt.Fprintf(w, `{"BackendState":"Running","TailscaleIPs":[%q],"Peer":{"nodekey:1":{"TailscaleIPs":[%q],"CurAddr":%q,"Relay":"fra"}}}`,
			tunnelHost, tunnelViewer, current)
	}
}

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func nonsense(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>nearly there</html>") }

// newTunnelled lays the network, or skips the test where that is not allowed.
func newTunnelled(t *testing.T) *tunnelled {
	t.Helper()
	if err := desk.Need("ip", "mount"); err != nil {
		t.Skip(err)
	}
	// Short: the path of a socket has at most 108 bytes.
	dir, err := os.MkdirTemp("", "ngts")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	id := os.Getpid() % 100000
	n := &tunnelled{host: fmt.Sprintf("ngtun%d", id), dir: dir}
	near := fmt.Sprintf("ngt%d", id)
	ip := func(line string) error {
		_, err := desk.Run(shared.ctx, desk.Command{Name: "ip", Args: strings.Fields(line)})
		return err
	}
	t.Cleanup(func() {
		_ = ip("link del " + near)
		_ = ip("netns del " + n.host)
	})
	if err := ip("netns add " + n.host); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	for _, line := range []string{
		"link add " + near + " type veth peer name tailscale0 netns " + n.host,
		"addr add " + tunnelViewer + "/30 dev " + near, "link set " + near + " up",
		"-n " + n.host + " addr add " + tunnelHost + "/30 dev tailscale0",
		"-n " + n.host + " link set tailscale0 up mtu 1280", "-n " + n.host + " link set lo up",
	} {
		must(t, ip(line))
	}
	return n
}

// listen starts the daemon; what it gives ends it, as if it were not installed.
func (n *tunnelled) listen(t *testing.T) (stop func()) {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(n.dir, "tailscaled.sock"))
	must(t, err)
	server := &http.Server{Handler: &n.tells}
	go func() { _ = server.Serve(listener) }()
	stop = func() { _ = server.Close() }
	t.Cleanup(stop)
	return stop
}

// prefix starts a program at the host's end, for which the daemon's socket lies
// where the real one has it.
func (n *tunnelled) prefix() []string {
	const script = `mount -t tmpfs none /run && mkdir /run/tailscale && mount --bind "$0" /run/tailscale && exec "$@"`
	return []string{"ip", "netns", "exec", n.host, "sh", "-c", script, n.dir}
}

// watchThrough is a page with the figures open that watches a host behind the
// tunnel, and keeps what it is told in passing.
func (n *tunnelled) watchThrough(t *testing.T) *viewer {
	t.Helper()
	h := startHost(t, desk.HostOptions{Listen: tunnelHost + ":7433", Prefix: n.prefix()})
	p := newPage(t, image.Pt(1280, 720))
	pair(t, p, h.PairURL)
	watch(t, p, "demo")
	clickOn(t, p, "btn-stats")
	must(t, p.Run(`window.said = [];
		const notice = document.querySelector("[data-testid=notice]");
		new MutationObserver(() => notice.hidden || said.push(notice.textContent))
			.observe(notice, { attributes: true, childList: true, subtree: true, characterData: true })`))
	return &viewer{Page: p, host: h}
}

// roadSays waits until the overlay says this of the road.
func (v *viewer) roadSays(t *testing.T, words string) {
	t.Helper()
	err := v.WaitFor(fmt.Sprintf("document.querySelector('[data-testid=stat-route]').parentElement.textContent.includes(%q)", words), patience)
	if err != nil {
		t.Fatalf("%v; the road is %q", err, statsText(t, v.Page, "stat-route"))
	}
}

// goesOn checks that pictures and figures keep coming, in the same stream.
func (v *viewer) goesOn(t *testing.T, while string) {
	t.Helper()
	type seen struct {
		State  string
		Frames int
		T      float64 // of the host's newest second
	}
	look := func() (seen, error) {
		return desk.Eval[seen](v.Page, "nearglass.stats().then((s) => ({ State: nearglass.state, Frames: nearglass.frames, T: s.host.second.t }))")
	}
	before, err := look()
	must(t, err)
	err = desk.Poll(within(t, patience), "pictures and figures", func() (bool, error) {
		s, err := look()
		return s.State == "live" && s.Frames > before.Frames+20 && s.T > before.T+1500, err
	})
	if err != nil || v.sessions() != 1 {
		t.Errorf("while the daemon %s: %v; %d streams", while, err, v.sessions())
	}
}

// TestRouteInTheOverlay: a change of the road in the middle of a stream is told in
// passing and stands in the overlay and in the log, and a daemon that does not
// tell costs nothing but the answer.
func TestRouteInTheOverlay(t *testing.T) {
	n := newTunnelled(t)
	stop := n.listen(t)
	n.say(carried("192.0.2.9:41641"))
	v := n.watchThrough(t)
	v.roadSays(t, "Tailscale direct")
	for _, step := range []struct{ current, words string }{{"", "Tailscale relayed, Frankfurt"}, {"192.0.2.9:41641", "Tailscale direct"}} {
		n.say(carried(step.current))
		must(t, v.WaitFor(fmt.Sprintf("said.some((s) => s == 'Route: %s')", step.words), patience))
		v.roadSays(t, step.words)
		must(t, v.WaitFor("document.querySelector('[data-testid=notice]').hidden", patience))
		must(t, v.Run("said.length = 0"))
	}
	n.say(hangs)
	v.roadSays(t, "its daemon does not answer")
	v.goesOn(t, "hangs")
	n.say(nonsense)
	v.roadSays(t, "its daemon answered what cannot be read")
	v.goesOn(t, "talks nonsense")
	stop()
	v.roadSays(t, "its daemon does not run here")
	v.goesOn(t, "is gone")
	if said, err := desk.Eval[[]string](v.Page, "said"); err != nil || len(said) > 0 {
		t.Errorf("of a road that is not known the page said %q, %v", said, err)
	}
	_, host, _ := recorded(t, v.host.StateDir, "the road", func(host, _ telemetry.Log) bool { return len(host.Host) > 3 })
	var words []string
	for _, e := range host.Events {
		if e.Name == telemetry.EventPath {
			words = append(words, e.Path.Label)
		}
	}
	if got := strings.Join(words, "; "); !strings.Contains(got, "Tailscale direct; Tailscale relayed, Frankfurt; Tailscale direct; Tailscale") {
		t.Errorf("the log's roads are %s", got)
	}
}

// TestStatsForPrograms: a program of a device with control reads the figures of
// all streams, and the host's log as JSON.
func TestStatsForPrograms(t *testing.T) {
	h := startHost(t, desk.HostOptions{Args: []string{"--log-format", "json"}})
	p := newPage(t, image.Pt(1280, 720))
	pair(t, p, h.PairURL)
	watch(t, p, "demo")
	id, _, _ := recorded(t, h.StateDir, "a second", func(host, _ telemetry.Log) bool { return len(host.Host) > 0 })
	ask := func(token string) answer {
		return send(t, h, request{method: "GET", path: "/stats", header: map[string]string{"Authorization": "Bearer " + token}})
	}
	ask(newToken(t, h, "onlooker", "view")).expect(t, "a device that may only watch", 403)
	ask("forged").expect(t, "a forged token", 401)
	a := ask(newToken(t, h, "program", "control"))
	a.expect(t, "a device with control", 200)
	var list []struct {
		ID, Source, Device string
		Figures            telemetry.Snapshot
	}
	must(t, json.Unmarshal([]byte(a.body), &list))
	if len(list) != 1 || list[0].ID != id || list[0].Source != "demo" || list[0].Device == "" || list[0].Figures.Second == nil || list[0].Figures.Route != "this machine" {
		t.Errorf("the figures are %s", a.body)
	}
	if err := logged(h, id); err != nil {
		t.Errorf("%v in\n%s", err, h.Process.Output.String())
	}
}

// logged looks for the JSON line with which a host says that it answered a stream.
func logged(h *desk.Host, stream string) error {
	for line := range strings.Lines(h.Process.Output.String()) {
		var l struct{ Time, Level, Msg, Stream string }
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &l) == nil && l.Stream == stream && l.Msg == "viewer answered" && l.Time != "" && l.Level == "INFO" {
			return nil
		}
	}
	return errors.New("no line says that the stream was answered")
}
