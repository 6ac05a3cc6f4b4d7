package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"time"

	"nearglass/server/e2e/desk"
)

// hostSize is the screen of the host.
var hostSize = image.Pt(1920, 1080)

// scroll is what the page on it moves a picture, in pixels.
var scroll = image.Pt(0, 12)

// hostTimes says how much is measured.
type hostTimes struct {
	starts        int
	memory, still time.Duration
	pictures      int // for the stages
}

var (
	hostFull  = hostTimes{starts: 5, memory: 20 * time.Second, still: 120 * time.Second, pictures: 600}
	hostQuick = hostTimes{starts: 3, memory: 4 * time.Second, still: 15 * time.Second, pictures: 90}
)

// hostCmd measures what the host costs.
type hostCmd struct{}

// hostBench is a run of it.
type hostBench struct {
	settings
	times   hostTimes
	source  *screen
	painter *painter
	browser *desk.Chromium
	report  *report
}

// Run measures and writes the report.
func (hostCmd) Run(ctx context.Context, s settings) error {
	b := &hostBench{settings: s, times: hostFull, report: newReport("host", s.Quick)}
	if s.Quick {
		b.times = hostQuick
	}
	var err error
	if b.source, err = startScreen(ctx, hostSize); err != nil {
		return err
	}
	defer b.source.close()
	if b.painter, err = newPainter(b.source.name, hostSize, newMoving(hostSize, scroll)); err != nil {
		return err
	}
	defer b.painter.close()
	b.painter.paint(0)
	if b.browser, err = desk.StartChromium(ctx, desk.BrowserOptions{Size: hostSize}); err != nil {
		return err
	}
	defer b.browser.Close()
	for _, part := range []func(context.Context){b.start, b.still, b.memory, b.stages} {
		part(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return b.report.write(os.Stdout, s.Out)
}

func (b *hostBench) say(what string) { fmt.Fprintf(os.Stderr, "load %s: %s\n", load(), what) }

// start measures the time from the start of the process to its printed address.
func (b *hostBench) start(ctx context.Context) {
	b.say("start")
	var took []float64
	var first error
	for range b.times.starts {
		h, err := desk.StartHost(ctx, desk.HostOptions{Binary: b.Binary, Display: b.source.name})
		if err != nil {
			first = errors.Join(first, err)
			continue
		}
		took = append(took, h.Started.Seconds())
		h.Close()
	}
	v, err := median(took)
	if first != nil {
		err = first
	}
	b.report.add(lower(fmt.Sprintf("start to printed address, median of %d", b.times.starts), "s", limit(1.5), limit(0.5)), v, err)
}

// watchers starts a host and opens pages on it, each as a device of its own.
func (b *hostBench) watchers(ctx context.Context, count int) (*desk.Host, error) {
	h, err := desk.StartHost(ctx, desk.HostOptions{Binary: b.Binary, Display: b.source.name})
	if err != nil {
		return nil, err
	}
	for range count {
		link, pairErr := h.Pair(ctx, "control")
		p, pageErr := b.browser.NewPage()
		if err = errors.Join(pairErr, pageErr); err == nil {
			err = errors.Join(p.Viewport(desk.Viewport{Width: hostSize.X, Height: hostSize.Y}), p.Open(link))
		}
		if err == nil {
			err = watchDesktop(p)
		}
		if err != nil {
			h.Close()
			return nil, fmt.Errorf("open a viewer: %w", err)
		}
	}
	return h, nil
}

// memory reads the resident memory while two viewers watch a moving screen; the
// most that it reached counts.
func (b *hostBench) memory(ctx context.Context) {
	b.say("memory with two viewers")
	w := lower("resident memory, two viewers at 1920x1080, moving", "MB", limit(250), limit(150))
	h, err := b.watchers(ctx, 2)
	if err != nil {
		b.report.add(w, 0, err)
		return
	}
	defer h.Close()
	moving, stop := context.WithTimeout(ctx, b.times.memory)
	defer stop()
	done := make(chan struct{})
	go func() { defer close(done); b.painter.move(moving, true) }()
	most := 0
	for moving.Err() == nil {
		n, readErr := residentBytes(h.Process.Pid())
		most, err = max(most, n), errors.Join(err, readErr)
		time.Sleep(200 * time.Millisecond)
	}
	<-done
	b.report.add(w, float64(most)/1e6, err)
}

// still measures the CPU that a still screen with one viewer costs, beside that
// of a peer that was never sent a picture, over the same time.
func (b *hostBench) still(ctx context.Context) {
	b.say("still screen")
	plain, idle, err := b.stillCPU(ctx)
	name := fmt.Sprintf("CPU, still screen, one viewer, over %v", b.times.still)
	w := lower(name+", less an idle peer", "% of a core", limit(1), limit(0.3))
	w.Baselines = map[string]float64{"idle peer": idle}
	b.report.add(w, max(plain-idle, 0), err)
	w = lower(name, "% of a core", nil, nil)
	w.Baselines = map[string]float64{"idle peer": idle}
	b.report.add(w, plain, err)
}

// stillCPU gives both in percent of a core.
func (b *hostBench) stillCPU(ctx context.Context) (plain, idle float64, err error) {
	h, err := b.watchers(ctx, 1)
	if err != nil {
		return 0, 0, err
	}
	defer h.Close()
	p, err := b.browser.NewPage()
	if err != nil {
		return 0, 0, err
	}
	defer p.Close()
	peer, err := startIdlePeer(ctx, p)
	if err != nil {
		return 0, 0, err
	}
	defer peer.Stop()
	time.Sleep(5 * time.Second) // for the picture to be sharpened and all to settle
	ours, other, start := groupCPU(h.Process.Pid()), groupCPU(peer.Pid()), time.Now()
	select {
	case <-time.After(b.times.still):
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	wall := time.Since(start)
	plain = 100 * cores(groupCPU(h.Process.Pid())-ours, wall)
	idle = 100 * cores(groupCPU(peer.Pid())-other, wall)
	return plain, idle, peer.Err()
}
