package tailnet

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	hostPort = "7433"
	patience = 3 * time.Minute // for everything; never waited out unless something is wrong
	// mostLate is how long after Tailscale's own change the host may name it. A
	// busy machine makes one slow, so the best of a few must keep it.
	mostLate = 2 * time.Second
	rounds   = 3
)

// What the two roads are called.
const (
	direct  = "Tailscale direct"
	relayed = "Tailscale relayed, " + regionName
)

// stream is one over the tailnet, with what host and viewer say of it.
type stream struct {
	*bed
	command   []string // the host's program and its state
	tailscale *node    // at the host
	far       *node    // at the viewer
	token     string   // that the viewer may watch with
	host      *program
	viewer    *program
}

// TestPathOverTailnet: the stream's road reads "Tailscale direct", and when UDP
// is cut "Tailscale relayed" with the region, and direct again when it is not.
func TestPathOverTailnet(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := newStream(ctx, t, 0)
	s.watch()
	s.follow(ctx, direct)
	best := map[string]time.Duration{direct: time.Hour, relayed: time.Hour}
	for range rounds {
		s.must(s.cut())
		best[relayed] = min(best[relayed], s.follow(ctx, relayed))
		s.must(s.mend())
		best[direct] = min(best[direct], s.follow(ctx, direct))
	}
	for words, late := range best {
		if late > mostLate {
			t.Errorf("%q was named %s after Tailscale's change, at best", words, late)
		}
	}
}

// newStream sets everything up but the viewer. The relay is that far away.
func newStream(ctx context.Context, t *testing.T, away time.Duration) *stream {
	t.Helper()
	b := newBed(t)
	b.build()
	control := b.start([]string{roleEnv + "=control", awayEnv + "=" + away.String()}, append([]string{"ip", "netns", "exec", b.middle}, role(b, "Control")...)...)
	address := "http" + strings.SplitN(control.await(ctx, t, "control at ").text, "http", 2)[1]
	s := &stream{bed: b, command: []string{filepath.Join(b.dir, "nearglass"), "--state", filepath.Join(b.dir, "state")}}
	s.tailscale, s.far = b.join(ctx, b.host, address), b.join(ctx, b.viewer, address)
	s.host = b.start(nil, s.tailscale.inside(s.line("serve", "--listen", ":"+hostPort)...)...)
	s.host.await(ctx, t, "Code")
	s.token = strings.TrimSpace(s.ask(ctx, "pair", "token", "viewer"))
	return s
}

// role is this program as something else than the tests.
func role(b *bed, name string) []string {
	self, err := os.Executable()
	b.must(err)
	return []string{self, "-test.run=^Test" + name + "$", "-test.v", "-test.timeout=0"}
}

// line is a command of the host's program.
func (s *stream) line(args ...string) []string { return append(slices.Clone(s.command), args...) }

// ask runs a command of the host's program and gives what it prints.
func (s *stream) ask(ctx context.Context, args ...string) string {
	s.t.Helper()
	line := s.line(args...)
	out, err := exec.CommandContext(ctx, line[0], line[1:]...).Output()
	s.must(err)
	return string(out)
}

// watch starts the viewer.
func (s *stream) watch() {
	env := []string{roleEnv + "=viewer", "TAILNET_HOST=http://" + net.JoinHostPort(s.tailscale.addr, hostPort), "TAILNET_TOKEN=" + s.token}
	s.viewer = s.start(env, s.far.inside(role(s.bed, "Viewer")...)...)
}

// follow waits until Tailscale says that it carries the packets so, and gives how
// much later the host named it. The viewer hears of it when its messages get
// through again.
func (s *stream) follow(ctx context.Context, words string) time.Duration {
	s.t.Helper()
	begin := time.Now()
	s.poll(ctx, words, func() bool { return s.tailscale.words(ctx) == words })
	at := time.Now()
	named := s.host.await(ctx, s.t, "msg=path", `words="`+words+`"`)
	told := s.viewer.await(ctx, s.t, `"type":"path"`, `"words":"`+words+`"`)
	since := func(t time.Time) time.Duration { return t.Sub(at).Round(time.Millisecond) }
	s.t.Logf("%q: Tailscale changed after %s, the host named it %s later, the viewer knew %s later",
		words, at.Sub(begin).Round(time.Millisecond), since(named.at), since(told.at))
	return named.at.Sub(at)
}

// pollEvery is how often the test asks Tailscale itself.
const pollEvery = 20 * time.Millisecond

func (b *bed) poll(ctx context.Context, what string, is func() bool) {
	b.t.Helper()
	for !is() {
		select {
		case <-ctx.Done():
			b.t.Fatalf("no %s: %v", what, context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
}

// leftOut are parts of the daemon that take long to build and have no say in how
// packets travel.
const leftOut = "ts_omit_aws,ts_omit_kube,ts_omit_netstack,ts_omit_gro,ts_omit_ssh,ts_omit_webclient,ts_omit_taildrop," +
	"ts_omit_drive,ts_omit_tap,ts_omit_acme,ts_omit_clientupdate,ts_omit_tpm,ts_omit_networkmanager,ts_omit_syspolicy"

// build makes the daemon of the module's version, and the host of this tree.
func (b *bed) build() {
	b.t.Helper()
	b.must(run("go", "build", "-tags", leftOut, "-o", b.dir, "tailscale.com/cmd/tailscaled"))
	root := filepath.Join("..", "..", "..")
	tags, err := exec.Command(filepath.Join(root, "cmd", "setup", "tags.sh")).Output()
	b.must(err)
	b.must(run("go", "build", "-C", root, "-tags", strings.TrimSpace(string(tags)), "-o", filepath.Join(b.dir, "nearglass"), "./cmd/nearglass"))
}
