// Command screenshots takes the pictures of the README: it arranges a desktop
// of real programs on an Xvfb, starts the built host on it, and photographs
// what a browser shows of it on a desktop and on a phone. It needs what
// `make test` installs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"nearglass/server/e2e/desk"
)

// limit bounds the whole run; it takes about a minute on two cores.
const limit = 8 * time.Minute

func main() {
	host := flag.String("host", "build/nearglass", "the built host")
	out := flag.String("out", "docs/images", "folder of the pictures")
	only := flag.String("only", "", "take the pictures whose name has this in it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done within %v", limit))
	defer cancel()
	if err := run(ctx, *host, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out, only string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	scene, err := setScene(ctx)
	if err != nil {
		return fmt.Errorf("arrange the desktop: %w", err)
	}
	defer scene.close()
	host, err := desk.StartHost(ctx, desk.HostOptions{
		Binary: binary, Display: scene.x.Name(), Args: []string{"--name", "studio", "--log-level", "warn"}, Log: os.Stderr,
	})
	if err != nil {
		return err
	}
	defer host.Close()
	browser, err := desk.StartChromium(ctx, desk.BrowserOptions{})
	if err != nil {
		return err
	}
	defer browser.Close()
	return (&studio{ctx: ctx, scene: scene, host: host, browser: browser, out: out, only: only}).all()
}
