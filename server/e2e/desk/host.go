package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// HostOptions says how to start a host. Only Binary is needed.
type HostOptions struct {
	Binary   string   // from BuildHost
	Display  string   // X display to show; "" means none, which is the demo desktop
	Listen   string   // "" means a free port on 127.0.0.1
	StateDir string   // "" means a fresh one that Close removes
	Args     []string // more flags of serve
	Env      []string
	Prefix   []string  // a command that runs the host, such as ip netns exec NAME
	Log      io.Writer // receives what the host writes
}

// Host is a running host.
type Host struct {
	Process  *Process
	URL      string        // its best address, ending in /
	Code     string        // the code that it printed, as 123-456
	PairURL  string        // URL with the code: opening it pairs the browser
	Started  time.Duration // from its start to the printed address
	StateDir string

	binary  string
	env     []string
	prefix  []string
	ownsDir bool
}

// The lines that the host prints, with the address and the code.
var (
	openLine = regexp.MustCompile(`(?m)^\s+Open\s+(https?://\S+)`)
	codeLine = regexp.MustCompile(`(?m)^\s+Code\s+(\d{3}-\d{3})`)
)

// StartHost starts a host and waits until it has printed its address and code.
func StartHost(ctx context.Context, o HostOptions) (*Host, error) {
	h := &Host{StateDir: o.StateDir, binary: o.Binary, prefix: o.Prefix, env: append([]string{"DISPLAY=" + o.Display, "WAYLAND_DISPLAY="}, o.Env...)}
	if h.StateDir == "" {
		dir, err := os.MkdirTemp("", "nearglass-")
		if err != nil {
			return nil, err
		}
		h.StateDir, h.ownsDir = dir, true
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	begin := time.Now()
	var err error
	h.Process, err = Start(ctx, h.command(append([]string{"serve", "--listen", o.Listen}, o.Args...), o.Log))
	if err != nil {
		h.Close()
		return nil, err
	}
	if err := h.readGreeting(ctx, begin); err != nil {
		h.Close()
		return nil, fmt.Errorf("start the host: %w", err)
	}
	return h, nil
}

// command is the host's program with its state folder and these arguments.
func (h *Host) command(args []string, log io.Writer) Command {
	line := append(append([]string{}, h.prefix...), h.binary, "--state", h.StateDir)
	line = append(line, args...)
	return Command{Name: line[0], Args: line[1:], Env: h.env, Log: log}
}

func (h *Host) readGreeting(ctx context.Context, begin time.Time) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, fmt.Errorf("nothing within 30 s"))
	defer cancel()
	address, err := h.Process.Output.Wait(ctx, openLine)
	if err != nil {
		return err
	}
	h.Started = time.Since(begin)
	code, err := h.Process.Output.Wait(ctx, codeLine)
	if err != nil {
		return err
	}
	h.URL = strings.TrimRight(address[1], "/") + "/"
	h.Code = code[1]
	h.PairURL = h.URL + "#pair=" + strings.ReplaceAll(h.Code, "-", "")
	return nil
}

// Run runs another command of the same program against this host's state
// folder, such as "pair", "list", and gives its standard output.
func (h *Host) Run(ctx context.Context, args ...string) (string, error) {
	return Run(ctx, h.command(args, nil))
}

// Pair asks the host for another code, of the given rights ("view" or
// "control"), and gives the link that pairs a browser.
func (h *Host) Pair(ctx context.Context, rights string) (link string, err error) {
	out, err := h.Run(ctx, "pair", "--rights", rights, "--json")
	if err != nil {
		return "", err
	}
	var answer struct{ Link string }
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		return "", fmt.Errorf("read the answer of pair: %w", err)
	}
	return answer.Link, nil
}

// Close ends the host and removes the state folder that StartHost made.
func (h *Host) Close() {
	if h.Process != nil {
		h.Process.Stop()
	}
	if h.ownsDir {
		_ = os.RemoveAll(h.StateDir)
	}
}

// BuildHost builds the host into dir with the tags that suit this machine, as
// make build does, and gives the program's path.
func BuildHost(ctx context.Context, dir string) (string, error) {
	root, err := Run(ctx, Command{Name: "go", Args: []string{"list", "-m", "-f", "{{.Dir}}"}})
	if err != nil {
		return "", err
	}
	root = strings.TrimSpace(root)
	tags, err := Run(ctx, Command{Name: filepath.Join(root, "cmd", "setup", "tags.sh"), Env: []string{"QUIET=1"}})
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "nearglass")
	_, err = Run(ctx, Command{Name: "go", Dir: root, Args: []string{"build", "-tags", strings.TrimSpace(tags), "-o", bin, "./cmd/nearglass"}})
	return bin, err
}
