// Package server builds a host from a Config and runs it: it joins the sources
// that can be watched, the viewers that watch them, the HTTP side that lets
// viewers in, and the commands on this machine.
//
// A source is captured once however many viewers watch it (stage.go); each
// viewer has its own connection, encoder and session (viewer.go). The access
// package alone decides who may do what.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"nearglass/client/web"
	"nearglass/gpu/capture"
	"nearglass/gpu/encode"
	"nearglass/server/access"
	"nearglass/server/transport"
	"nearglass/telemetry"
	"nearglass/telemetry/netpath"
	"nearglass/telemetry/usage"
)

// Host serves the desktop of this machine. Its methods are safe for concurrent
// use; Run is called once.
type Host struct {
	cfg      Config
	log      *slog.Logger
	store    *access.Store
	front    *front
	endpoint *transport.Endpoint
	display  *display // nil where no display is configured
	demo     *demoDesk
	stages   *stages
	routes   routeMemory
	paths    *netpath.Watcher
	logs     *telemetry.Store
	usage    usage.Watch

	mu      sync.Mutex
	viewers map[*viewer]struct{}
	closing bool
	running sync.WaitGroup // one for each viewer
}

// New opens the ports and the state folder. Run serves; a host that is not
// going to run is given up with Close. A nil log discards.
func New(cfg Config, log *slog.Logger) (*Host, error) {
	cfg, err := cfg.WithDefaults()
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log = withFile(log, cfg.StateDir)
	h := &Host{cfg: cfg, log: log, demo: newDemoDesk(), viewers: map[*viewer]struct{}{}, logs: OpenStreamLogs(cfg.StateDir)}
	if name := displayName(cfg.Display); name != "" {
		h.display = newDisplay(name)
	}
	h.stages = newStages(h, log)
	h.paths = netpath.NewWatcher(netpath.Config{})
	if h.store, err = access.Open(cfg.StateDir, log); err != nil {
		return nil, err
	}
	if h.front, err = newFront(cfg, h.store, h, streamLogs{cfg, h.logs}, web.Handler(), h.watching, log); err != nil {
		return nil, err
	}
	// UDP takes the port that TCP got, so that one number opens both.
	h.endpoint, err = transport.Listen(transport.Config{Addr: h.front.addr().String(), Log: log})
	if err != nil {
		h.front.close()
		return nil, err
	}
	return h, nil
}

// Pair opens a pairing code and says where to use it.
func (h *Host) Pair(rights access.Rights) (Pairing, error) { return h.front.pair(rights) }

// Run serves until the context ends, which returns nil, or until a listener
// fails. When it returns, every viewer has been told and nothing runs any more.
func (h *Host) Run(ctx context.Context) error {
	h.logStart()
	var looking sync.WaitGroup
	looking.Go(func() { h.logSources(ctx) })
	err := h.front.run(ctx)
	looking.Wait()
	h.closeViewers(errStopped)
	return errors.Join(err, h.closeParts())
}

// Close gives up a host that was never run.
func (h *Host) Close() error {
	h.front.close()
	return h.closeParts()
}

func (h *Host) closeParts() error {
	h.stages.close()
	h.paths.Close()
	if h.display != nil {
		h.display.close()
	}
	return h.endpoint.Close()
}

// logStart records what this host works with, and warns where it is slow.
func (h *Host) logStart() {
	c := encode.Probe()
	h.log.Info("serving", "listen", h.front.addr().String(), "encoder", encode.Describe(), "display", displayName(h.cfg.Display))
	if c.Warning != "" {
		h.log.Warn("slow encoder", "advice", c.Warning)
	}
}

// lookTime is how long logSources waits for a display server that hangs.
const lookTime = 5 * time.Second

// logSources says what a person should know before the first viewer does: that
// there is no display to show, or no source of the configured name.
func (h *Host) logSources(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if _, err := h.onDisplay(ctx); err != nil || h.display == nil {
		h.log.Warn("no display can be shown: viewers get the built-in demo desktop", "err", err, "advice", "nearglass doctor says what to do")
	}
	if h.cfg.Source == "" {
		return
	}
	b, err := h.backend(h.cfg.Source)
	if err == nil {
		_, err = b.Open(ctx, h.cfg.Source, capture.Options{})
	}
	if err != nil && ctx.Err() == nil {
		h.log.Warn("the source to open with cannot be shown now", "source", h.cfg.Source, "err", err, "advice", "nearglass sources lists them")
	}
}

// backend finds who can capture a source.
func (h *Host) backend(id string) (capture.Backend, error) {
	switch kindOf(id) {
	case capture.KindDemo:
		return h.demo.Demo, nil
	case capture.KindPattern:
		return capture.NewPattern(), nil
	}
	if h.display == nil {
		return nil, fmt.Errorf("%w: %q needs a display, and this host has none (set $DISPLAY or --display)", capture.ErrNotFound, id)
	}
	return h.display.backend()
}

// inputs gives what numbers the inputs of a source; nil where the source does.
func (h *Host) inputs(id string) func() uint64 {
	switch kindOf(id) {
	case capture.KindDemo, capture.KindPattern:
		return nil
	}
	if h.display == nil {
		return nil
	}
	return h.display.inputs.Load
}

// lost drops the connection to a display server that went away.
func (h *Host) lost(b capture.Backend) {
	if h.display != nil {
		h.display.lost(b)
	}
}

func (h *Host) watching() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.viewers)
}

// admit counts a viewer in, unless the host is stopping.
func (h *Host) admit(v *viewer) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return false
	}
	h.viewers[v] = struct{}{}
	h.running.Add(1)
	return true
}

func (h *Host) dismiss(v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.viewers, v)
	h.running.Done()
}

func (h *Host) closeViewers(reason error) {
	h.mu.Lock()
	h.closing = true
	for v := range h.viewers {
		v.end(reason)
	}
	h.mu.Unlock()
	h.running.Wait()
}
