package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"nearglass/server/e2e/desk"
)

// The peers that are measured. Their names head the columns of the table.
const (
	ours            = "nearglass"
	defaultReceiver = "default receiver"
	x0vnc           = "x0vnc+noVNC"
	x11vnc          = "x11vnc+noVNC"
)

// served is a peer that shows the source.
type served struct {
	url    string
	groups []int // process groups whose CPU is the peer's
	ready  func(*desk.Page) error
	stop   func()
}

// peer is a way to bring the source to the viewer.
type peer struct {
	name     string
	programs []string
	serve    func(ctx context.Context, binary, display string) (served, error)
}

// glassPeers in the order in which they are visited.
var glassPeers = []peer{
	{ours, nil, func(ctx context.Context, binary, display string) (served, error) {
		return serveOurs(ctx, binary, display, "")
	}},
	{x0vnc, []string{"X0tigervnc", "websockify"}, func(ctx context.Context, _, display string) (served, error) {
		return serveVNC(ctx, func(port string) desk.Command {
			return desk.Command{Name: "X0tigervnc", Args: []string{"-display", display, "-SecurityTypes", "None", "-localhost", "-rfbport", port}}
		})
	}},
	{defaultReceiver, nil, func(ctx context.Context, binary, display string) (served, error) {
		return serveOurs(ctx, binary, display, "?receiver=default")
	}},
	{x11vnc, []string{"x11vnc", "websockify"}, func(ctx context.Context, _, display string) (served, error) {
		return serveVNC(ctx, func(port string) desk.Command {
			return desk.Command{Name: "x11vnc", Args: []string{"-display", display, "-nopw", "-localhost", "-rfbport", port, "-forever", "-shared", "-quiet"}}
		})
	}},
}

// serveOurs starts the host. The page is opened by its pairing link.
func serveOurs(ctx context.Context, binary, display, query string) (served, error) {
	h, err := desk.StartHost(ctx, desk.HostOptions{Binary: binary, Display: display})
	if err != nil {
		return served{}, err
	}
	return served{
		url:    h.URL + query + "#pair=" + h.Code,
		groups: []int{h.Process.Pid()},
		ready:  watchDesktop,
		stop:   h.Close,
	}, nil
}

// watchDesktop opens the source once the page has paired by its link.
func watchDesktop(p *desk.Page) error {
	if err := p.WaitFor(`window.nearglass?.state === "sources"`, 15*time.Second); err != nil {
		return err
	}
	if err := p.Run(`location.hash = "#/watch/desktop"`); err != nil {
		return err
	}
	return p.WaitFor(`nearglass.state === "live" && nearglass.frames > 0`, 15*time.Second)
}

// serveVNC starts a VNC server and the bridge that brings it to a browser.
func serveVNC(ctx context.Context, server func(port string) desk.Command) (served, error) {
	vncPort, err1 := freePort()
	webPort, err2 := freePort()
	if err := errors.Join(err1, err2); err != nil {
		return served{}, err
	}
	vnc, err := desk.Start(ctx, server(strconv.Itoa(vncPort)))
	if err != nil {
		return served{}, err
	}
	bridge, err := desk.Start(ctx, desk.Command{Name: "websockify", Args: []string{"--web", "/usr/share/novnc",
		fmt.Sprintf("127.0.0.1:%d", webPort), fmt.Sprintf("127.0.0.1:%d", vncPort)}})
	if err != nil {
		vnc.Stop()
		return served{}, err
	}
	stop := func() { bridge.Stop(); vnc.Stop() }
	if err := errors.Join(awaitPort(ctx, vnc, vncPort), awaitPort(ctx, bridge, webPort)); err != nil {
		stop()
		return served{}, err
	}
	return served{
		url:    fmt.Sprintf("http://127.0.0.1:%d/vnc.html?autoconnect=1&resize=off&reconnect=0", webPort),
		groups: []int{vnc.Pid(), bridge.Pid()},
		ready: func(p *desk.Page) error {
			return p.WaitFor(`document.documentElement.classList.contains("noVNC_connected")`, 15*time.Second)
		},
		stop: stop,
	}, nil
}

// plainReceiver makes the page of our own host offer no playout-delay, and
// leaves the jitter buffer alone, where the address says receiver=default: the
// stream is then received as any page receives one.
const plainReceiver = `if (location.search.includes("receiver=default")) {
	const ask = window.fetch;
	window.fetch = (url, o) => ask(url, o && typeof o.body === "string"
		? { ...o, body: o.body.replace(/a=extmap:\d+ http:\/\/www\.webrtc\.org\/experiments\/rtp-hdrext\/playout-delay\r\n/g, "") } : o);
	Object.defineProperty(RTCRtpReceiver.prototype, "jitterBufferTarget", { set() {}, get() { return null } });
}`

// installPlainReceiver has every page that is opened from now on run
// plainReceiver first.
func installPlainReceiver(p *desk.Page) error {
	_, err := chromedp.Call(p.Context(), page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: plainReceiver})
	return err
}
