package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"nearglass/cmd/bench/wire"
	"nearglass/server/e2e/desk"
)

// chromiumMax is what Chromium's own sender may use: well above every link.
const chromiumMax = 30_000_000

// The senders measured beside ours.
const (
	chromiumVP8  = "chromium-vp8"
	chromiumH264 = "chromium-h264"
)

// linkPeer is a sender on the near side, and the browser that watches it.
type linkPeer struct {
	name  string
	whole bool // left out of a quick run
	start func(ctx context.Context, g *linkStage) (*linkStream, error)
}

var linkPeers = []linkPeer{
	{name: ours, start: streamOurs},
	{name: chromiumVP8, start: func(ctx context.Context, g *linkStage) (*linkStream, error) { return streamChromium(ctx, g, "VP8") }},
	{name: chromiumH264, whole: true, start: func(ctx context.Context, g *linkStage) (*linkStream, error) { return streamChromium(ctx, g, "H264") }},
}

func defaultPeers(quick bool) (peers []linkPeer) {
	for _, p := range linkPeers {
		if !quick || !p.whole {
			peers = append(peers, p)
		}
	}
	return peers
}

// linkStage is what the peers stand on.
type linkStage struct {
	wire     *wire.Wire
	binary   string
	hostArgs []string
	grain    *grain
	dir      string // for the wrappers that start browsers in a namespace
	log      string // file for what our host says in the next run
	trusted  string // origin that browsers take for a secure one; "": none
}

// linkStream is a peer that is ready and not yet sending.
type linkStream struct {
	viewer *desk.Page
	begin  func() error
	sender *desk.Page // of Chromium's own sender; nil of ours
	host   *desk.Host // of ours
	stops  []func()
}

func (s *linkStream) stop() {
	for i := range s.stops {
		s.stops[len(s.stops)-1-i]()
	}
}

// listens is where our host does.
func (g *linkStage) listens() string { return g.wire.Near.Addr.String() + ":7433" }

// browser starts Chromium at one end, without a screen.
func (g *linkStage) browser(ctx context.Context, e wire.End) (*desk.Chromium, error) {
	return g.launch(ctx, e, desk.BrowserOptions{Size: grainSize})
}

// launch starts Chromium at one end as the options say.
func (g *linkStage) launch(ctx context.Context, e wire.End, o desk.BrowserOptions) (*desk.Chromium, error) {
	path := filepath.Join(g.dir, e.Name)
	program, err := desk.FindChromium()
	if err != nil {
		return nil, err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s %s \"$@\"\n", strings.Join(e.Prefix(), " "), program)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		return nil, err
	}
	o.Path, o.Flags = path, map[string]any{
		// Otherwise a host's address is a name that nobody in the namespaces
		// resolves. The first two are the harness's own.
		"disable-features": "Translate,BlinkGenPropertyTrees,WebRtcHideLocalIpsWithMdns",
	}
	if g.trusted != "" {
		o.Flags["unsafely-treat-insecure-origin-as-secure"] = g.trusted
	}
	return desk.StartChromium(ctx, o)
}

// viewer starts the browser at the far end, with a page that is watched.
func (g *linkStage) viewer(ctx context.Context, s *linkStream) error {
	b, err := g.browser(ctx, g.wire.Far)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, b.Close)
	s.viewer = b.FirstPage()
	return watchReceiver(s.viewer)
}

// streamOurs starts the host at the near end, on a screen with the grain, and
// our own viewer at the far end.
func streamOurs(ctx context.Context, g *linkStage) (s *linkStream, err error) {
	s = &linkStream{}
	if err := g.screen(ctx, s); err != nil {
		return s, err
	}
	if err := g.viewer(ctx, s); err != nil {
		return s, err
	}
	if err := s.viewer.Open(s.host.PairURL); err != nil {
		return s, err
	}
	s.begin = func() error { return s.viewer.Run(`location.hash = "#/watch/desktop"`) }
	return s, s.viewer.WaitFor(`window.nearglass?.state === "sources"`, 20*time.Second)
}

// screen starts a screen, its painter, and the host that shows it.
func (g *linkStage) screen(ctx context.Context, s *linkStream) error {
	x, err := startScreen(ctx, grainSize)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, x.close)
	p, err := newPainter(x.name, grainSize, g.grain)
	if err != nil {
		return err
	}
	painting, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); paintGrain(painting, p) }()
	s.stops = append(s.stops, func() { cancel(); <-done; p.close() })
	said, err := os.Create(g.log)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, func() { _ = said.Close() })
	// At this level the host says each time why its rate is what it is.
	args := append([]string{"--log-level=debug"}, g.hostArgs...)
	s.host, err = desk.StartHost(ctx, desk.HostOptions{Binary: g.binary, Display: x.name, Listen: g.listens(),
		Args: args, Prefix: g.wire.Near.Prefix(), Log: said})
	if err != nil {
		return err
	}
	s.stops = append(s.stops, s.host.Close)
	return nil
}

// streamChromium starts a browser that sends and one that receives.
func streamChromium(ctx context.Context, g *linkStage, codec string) (*linkStream, error) {
	s := &linkStream{}
	if err := g.viewer(ctx, s); err != nil {
		return s, err
	}
	return s, g.sendTo(ctx, s, "data:text/html,<!doctype html><body>", codec, openSender)
}

// sendTo starts the browser at the near end, which sends to the viewer: on empty
// pages of an address, of which open makes the one that paints.
func (g *linkStage) sendTo(ctx context.Context, s *linkStream, blank, codec string, open func(*desk.Page) error) error {
	b, err := g.browser(ctx, g.wire.Near)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, b.Close)
	s.sender = b.FirstPage()
	if err := errors.Join(s.viewer.Open(blank), s.sender.Open(blank)); err != nil {
		return err
	}
	s.begin = func() error { return connect(s.sender, s.viewer, codec, chromiumMax) }
	return errors.Join(s.viewer.Run(receiverPage), open(s.sender))
}

// needLink says what of the programs is missing.
func needLink(binary string) error {
	if _, err := exec.LookPath(binary); err != nil {
		return fmt.Errorf("the host to measure: %w; make build builds it", err)
	}
	_, err := desk.FindChromium()
	return errors.Join(desk.Need("ip", "Xvfb"), err)
}
