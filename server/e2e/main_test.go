// Package e2e holds the end-to-end tests: real X servers with real programs, a
// real host, and headless Chromium as its viewer. Nothing is faked; what a test
// sees is what a person would. The parts come from package desk.
//
// Each test starts a display and a host of its own (helpers_test.go) and shares
// one browser, in which every viewer has cookies of its own. Waiting is always
// for something, with a generous limit, so that a busy machine makes a test
// slow and not wrong. Where a time is the claim, the best of a few tries must
// keep it.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// tools must be installed, or no test can run; make test installs them.
var tools = []string{"Xvfb", "xrandr", "xdotool", "xprop", "xterm", "openbox"}

var hostPath = flag.String("host", "", "test this program instead of building the host")

// What all tests share.
var shared struct {
	ctx    context.Context // lives as long as the tests
	binary string          // the host

	once    sync.Once
	browser *desk.Chromium
	err     error
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if err := desk.Need(tools...); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shared.ctx = ctx
	dir, err := os.MkdirTemp("", "nearglass-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if shared.binary, err = host(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: building the host:", err)
		return 1
	}
	defer closeBrowser()
	return m.Run()
}

// host gives the program to test.
func host(ctx context.Context, dir string) (string, error) {
	if *hostPath != "" {
		return *hostPath, nil
	}
	begin := time.Now()
	path, err := desk.BuildHost(ctx, dir)
	fmt.Fprintf(os.Stderr, "e2e: built the host in %.1f s\n", time.Since(begin).Seconds())
	return path, err
}

// browser gives the shared Chromium, started by the first test that asks.
func browser(t *testing.T) *desk.Chromium {
	t.Helper()
	shared.once.Do(func() {
		shared.browser, shared.err = desk.StartChromium(shared.ctx, desk.BrowserOptions{})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.browser
}

func closeBrowser() {
	if shared.browser != nil {
		shared.browser.Close()
	}
}
