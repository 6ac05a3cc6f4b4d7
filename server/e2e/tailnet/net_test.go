package tailnet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The addresses: of the control server, and of the two ends of each cable.
const (
	controlAddr  = "10.218.0.1"
	hostAddr     = "10.218.1.2"
	viewerAddr   = "10.218.2.2"
	hostRouter   = "10.218.1.1"
	viewerRouter = "10.218.2.1"
)

// bed is three network namespaces in a row: host, middle, viewer.
type bed struct {
	t                    *testing.T
	host, middle, viewer string
	dir                  string // for sockets and programs
}

// newBed lays the namespaces and cables, or skips where that is not allowed.
func newBed(t *testing.T) *bed {
	t.Helper()
	for _, name := range []string{"ip", "iptables", "unshare", "nsenter", "mount"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	id := os.Getpid() % 100000
	b := &bed{t, fmt.Sprintf("ngtsh%d", id), fmt.Sprintf("ngtsm%d", id), fmt.Sprintf("ngtsv%d", id), t.TempDir()}
	for _, name := range []string{b.host, b.middle, b.viewer} {
		if err := run("ip", "netns", "add", name); err != nil {
			t.Skipf("no network namespaces here: %v", err)
		}
		t.Cleanup(func() { _ = run("ip", "netns", "del", name) })
	}
	for _, line := range []string{
		"-n " + b.middle + " link add tohost type veth peer name wire netns " + b.host,
		"-n " + b.middle + " link add toview type veth peer name wire netns " + b.viewer,
		"-n " + b.middle + " addr add " + controlAddr + "/32 dev lo",
		"-n " + b.middle + " addr add " + hostRouter + "/24 dev tohost",
		"-n " + b.middle + " addr add " + viewerRouter + "/24 dev toview",
		"-n " + b.host + " addr add " + hostAddr + "/24 dev wire",
		"-n " + b.viewer + " addr add " + viewerAddr + "/24 dev wire",
		"-n " + b.middle + " link set lo up", "-n " + b.host + " link set lo up", "-n " + b.viewer + " link set lo up",
		"-n " + b.middle + " link set tohost up", "-n " + b.middle + " link set toview up",
		"-n " + b.host + " link set wire up", "-n " + b.viewer + " link set wire up",
		"-n " + b.host + " route add default via " + hostRouter,
		"-n " + b.viewer + " route add default via " + viewerRouter,
	} {
		b.must(run("ip", strings.Fields(line)...))
	}
	b.must(run("ip", "netns", "exec", b.middle, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"))
	// The stream takes the tailnet and no shorter way.
	for _, port := range []string{"--dport", "--sport"} {
		b.must(b.filter("-A", "FORWARD", "-p", "udp", port, hostPort, "-j", "DROP"))
	}
	return b
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// filter changes what the middle forwards.
func (b *bed) filter(args ...string) error {
	return run("ip", append([]string{"netns", "exec", b.middle, "iptables"}, args...)...)
}

// cut drops UDP between host and viewer; mend lets it through again.
func (b *bed) cut() error  { return b.filter("-I", "FORWARD", "-p", "udp", "-j", "DROP") }
func (b *bed) mend() error { return b.filter("-D", "FORWARD", "-p", "udp", "-j", "DROP") }

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// program is one that runs until the test ends.
type program struct {
	cmd   *exec.Cmd
	lines chan line // of its output; the newest are dropped while nobody reads
}

// line is one of a program's output, and when it came.
type line struct {
	at   time.Time
	text string
}

// start runs a program until the test ends, and then it and its children end.
func (b *bed) start(env []string, command ...string) *program {
	b.t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	b.must(cmd.Start())
	p := &program{cmd, make(chan line, 10_000)}
	var reading sync.WaitGroup
	reading.Go(func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			select {
			case p.lines <- line{time.Now(), s.Text()}:
			default:
			}
		}
	})
	b.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		stop := time.AfterFunc(5*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		_ = cmd.Wait()
		stop.Stop()
		_ = in.Close()
		reading.Wait()
	})
	return p
}

// await gives the next line of the output that has all the words.
func (p *program) await(ctx context.Context, t *testing.T, words ...string) line {
	t.Helper()
	lacks := func(l line) bool {
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(l.text, w) })
	}
	for {
		select {
		case l := <-p.lines:
			if !lacks(l) {
				return l
			}
		case <-ctx.Done():
			t.Fatalf("%s: nothing with %q: %v", p.cmd.Args, words, context.Cause(ctx))
		}
	}
}
