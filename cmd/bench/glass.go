package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"slices"
	"time"

	"nearglass/server/e2e/desk"
	"nearglass/server/transport"
)

// glassSize is the size of both screens.
var glassSize = image.Pt(1280, 720)

// pointerRest is where the viewer's pointer lies while delays are measured.
var pointerRest = image.Pt(700, 400)

// glassTimes says how long one visit to a peer measures.
type glassTimes struct {
	rounds                 int
	motion, small, changes time.Duration
	still, units           time.Duration
	presses, grabs         int
	fixed                  []int // kbit/s of the fixed-bitrate pipelines
}

var (
	glassFull = glassTimes{rounds: 3, motion: 8 * time.Second, small: 5 * time.Second, changes: 12 * time.Second,
		still: 10 * time.Second, units: 8 * time.Second, presses: 20, grabs: 4, fixed: []int{fixedKbps, int(benchRate / 1000)}}
	glassQuick = glassTimes{rounds: 1, motion: 2 * time.Second, small: time.Second, changes: 2500 * time.Millisecond,
		still: 2 * time.Second, units: time.Second, presses: 4, grabs: 2, fixed: []int{fixedKbps}}
)

// quickPeers are those of a quick run.
var quickPeers = []string{ours, x0vnc, defaultReceiver}

// glassCmd measures from screen to screen.
type glassCmd struct{}

// glass is a run of it: a source screen on which the painter paints, and a
// viewer screen that a browser fills.
type glass struct {
	settings
	times   glassTimes
	source  *screen
	viewer  *screen
	picture *moving
	painter *painter
	fingers *fingers // at the viewer
	page    *desk.Page
	results map[string]*result
	units   map[string]*result
}

// Run measures and writes the report.
func (glassCmd) Run(ctx context.Context, s settings) error {
	g := &glass{settings: s, times: glassFull, picture: newMoving(glassSize, image.Pt(2, 1)), results: map[string]*result{}, units: map[string]*result{}}
	if s.Quick {
		g.times = glassQuick
		if len(g.Only) == 0 {
			g.Only = quickPeers
		}
	}
	if s.Rounds > 0 {
		g.times.rounds = s.Rounds
	}
	if err := desk.Need("Xvfb", "openbox", "ffmpeg"); err != nil {
		return err
	}
	rep := newReport("glass", s.Quick)
	stop, err := g.open(ctx)
	defer stop()
	if err != nil {
		return err
	}
	for round := range g.times.rounds {
		g.measureUnitRows(ctx)
		for _, p := range glassPeers {
			if len(g.Only) > 0 && !slices.Contains(g.Only, p.name) {
				continue
			}
			fmt.Fprintf(os.Stderr, "round %d, load %s: %s\n", round+1, load(), p.name)
			g.results[p.name] = g.visit(ctx, p, g.results[p.name])
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	g.rows(ctx, rep)
	return rep.write(os.Stdout, s.Out)
}

// open sets the stage up; the function that it gives takes it down, also after
// an error.
func (g *glass) open(ctx context.Context) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range slices.Backward(stops) {
			f()
		}
	}
	if g.source, err = startScreen(ctx, glassSize); err != nil {
		return stop, err
	}
	stops = append(stops, g.source.close)
	if g.viewer, err = startScreen(ctx, glassSize); err != nil {
		return stop, err
	}
	stops = append(stops, g.viewer.close)
	if g.painter, err = newPainter(g.source.name, glassSize, g.picture); err != nil {
		return stop, err
	}
	stops = append(stops, g.painter.close)
	if g.fingers, err = newFingers(g.viewer.name); err != nil {
		return stop, err
	}
	stops = append(stops, g.fingers.close)
	// Without a window manager the browser leaves a rim of a pixel or two free,
	// and everything would be scaled to fit.
	if _, err = desk.StartOpenbox(ctx, g.viewer.name); err != nil {
		return stop, err
	}
	b, err := desk.StartChromium(ctx, desk.BrowserOptions{Display: g.viewer.name, Kiosk: true, Size: glassSize})
	if err != nil {
		return stop, err
	}
	stops = append(stops, b.Close)
	g.page = b.FirstPage()
	return stop, installPlainReceiver(g.page)
}

// measureUnitRows measures the row of the access unit, with the receiver as we
// set it and as the browser likes it.
func (g *glass) measureUnitRows(ctx context.Context) {
	for name, c := range map[string]transport.PeerConfig{ours: {}, defaultReceiver: {NoPlayoutDelay: true}} {
		r := orNew(g.units[name])
		g.units[name] = r
		d, err := measureUnits(ctx, g.page, g.viewer, c, g.times.units)
		r.motion.delays = append(r.motion.delays, d...)
		r.fail(err)
	}
}

// visit measures one peer once and adds to its result.
func (g *glass) visit(ctx context.Context, p peer, r *result) *result {
	r = orNew(r)
	if err := desk.Need(p.programs...); err != nil {
		r.fail(err)
		return r
	}
	s, err := p.serve(ctx, g.Binary, g.source.name)
	if err != nil {
		r.fail(fmt.Errorf("start %s: %w", p.name, err))
		return r
	}
	defer s.stop()
	err = g.page.Open(s.url)
	if err == nil {
		err = s.ready(g.page)
	}
	if err == nil {
		err = g.settle(ctx)
	}
	if err == nil {
		err = g.measure(ctx, s, r)
	}
	r.fail(err)
	if err := g.page.Open("about:blank"); err != nil {
		r.fail(err)
	}
	return r
}

// settle shows a picture, waits until the viewer has it, and lets it move for
// a moment, so that the start of the stream is not measured.
func (g *glass) settle(ctx context.Context) error {
	g.painter.paint(0)
	want := g.painter.react(false)
	g.fingers.moveTo(pointerRest)
	if _, ok := awaitNumber(g.viewer, patchAt, 15*time.Second, func(n uint32) bool { return n == want }); !ok {
		return errors.New("the source's picture did not appear on the viewer's screen at its own size")
	}
	ctx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
	defer cancel()
	g.painter.move(ctx, true)
	return nil
}
