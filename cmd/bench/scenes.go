package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/cmd/bench/wire"
)

// scenesCmd measures the whole path over shaped links while a screen changes as a
// whole every 2 s.
type scenesCmd struct {
	Length   time.Duration `help:"Of one run; 0 means 22s, or 6s with --quick." placeholder:"TIME"`
	Workload string        `help:"What the screen shows, by its name in bench encode." default:"scene changes"`
}

// sceneLink is a path, and how long packets take on either way.
type sceneLink struct {
	name, what string
	rate       rate.Rate
	delay      time.Duration
}

// sceneLinks are the narrow ones of bench encode.
var sceneLinks = []sceneLink{
	{"5", "5 Mbit/s, 60 ms", 5 * rate.Mbps, 30 * time.Millisecond},
	{"10", "10 Mbit/s, 40 ms", 10 * rate.Mbps, 20 * time.Millisecond},
}

// sceneControl is a way to control the encoder: as the host takes it, and for the table.
type sceneControl struct{ name, what string }

// sceneControls are all of them, ours first.
var sceneControls = []sceneControl{{"qp", ours}, {"crf", "CRF 23 + VBV"}, {"cbr", "ABR, 1-frame VBV"}}

// sceneBench is a run of it.
type sceneBench struct {
	settings
	scenesCmd
	stage  linkStage
	source *screen
	runs   map[string][]sceneRun // by link and control
}

// Run measures and writes the report.
func (c scenesCmd) Run(ctx context.Context, s settings) error {
	b := &sceneBench{settings: s, scenesCmd: c, runs: map[string][]sceneRun{}}
	b.Rounds = cmp.Or(s.Rounds, map[bool]int{false: 3, true: 1}[s.Quick])
	b.Length = cmp.Or(c.Length, map[bool]time.Duration{false: 22 * time.Second, true: 6 * time.Second}[s.Quick])
	if err := needLink(s.Binary); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.Out, "scenes"), 0o755); err != nil {
		return err
	}
	// The forwarding thread must never wait for one of Go's processors.
	runtime.GOMAXPROCS(runtime.NumCPU() + 2)
	rep := newReport("scenes", s.Quick)
	err := b.open(ctx)
	if err == nil {
		err = b.all(ctx)
	}
	if err = errors.Join(err, b.close()); err != nil {
		return err
	}
	b.rows(rep)
	return rep.write(os.Stdout, s.Out)
}

// open sets up the link and the host's screen.
func (b *sceneBench) open(ctx context.Context) (err error) {
	b.stage = linkStage{binary: b.Binary}
	if b.stage.dir, err = os.MkdirTemp("", "nearglass-bench-"); err != nil {
		return err
	}
	if b.stage.wire, err = wire.Open(ctx); err != nil {
		return err
	}
	b.stage.trusted = "http://" + b.stage.listens()
	b.source, err = startScreen(ctx, glassSize)
	return err
}

func (b *sceneBench) close() (err error) {
	if b.source != nil {
		b.source.close()
	}
	if b.stage.wire != nil {
		err = b.stage.wire.Close()
	}
	return errors.Join(err, os.RemoveAll(b.stage.dir))
}

// all visits every control on every link, round by round, so that what changes on the
// machine meanwhile falls on all alike.
func (b *sceneBench) all(ctx context.Context) error {
	for round := range b.Rounds {
		for _, link := range b.links() {
			for _, control := range named(sceneControls, b.Only, func(c sceneControl) string { return c.name }) {
				run, err := b.one(ctx, link, control.name, round+1)
				if err != nil {
					return fmt.Errorf("%s, %s, round %d: %w", link.what, control.what, round+1, err)
				}
				fmt.Fprintf(os.Stderr, "%s, %s, round %d: %v\n", link.what, control.what, round+1, run)
				key := link.name + control.what
				b.runs[key] = append(b.runs[key], run)
			}
		}
	}
	return nil
}

// links are those of --only; without it a quick run has the narrowest.
func (b *sceneBench) links() []sceneLink {
	links := named(sceneLinks, b.Only, func(l sceneLink) string { return l.name })
	if b.Quick && len(links) == len(sceneLinks) {
		return links[:1]
	}
	return links
}

// named are those whose names are among some, or all where none is.
func named[T any](all []T, names []string, name func(T) string) (some []T) {
	for _, v := range all {
		if slices.Contains(names, name(v)) {
			some = append(some, v)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// one measures one control on one link. The page loads on an open link; the stream begins
// on the one under test.
func (b *sceneBench) one(ctx context.Context, link sceneLink, control string, round int) (run sceneRun, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.Length+2*time.Minute)
	defer cancel()
	b.stage.wire.Shape(wire.Shape{})
	b.stage.log = filepath.Join(b.Out, "scenes", fmt.Sprintf("%s-%s-%d.log", link.name, control, round))
	s, err := b.start(ctx, control)
	defer s.stop()
	if err != nil {
		return run, fmt.Errorf("start: %w", err)
	}
	runtime.GC()
	b.stage.wire.Shape(wire.Shape{
		Forward: sim.LinkConfig{Rates: []sim.Step{{Rate: link.rate}}, Delay: link.delay, Queue: sim.Queue{Limit: linkQueue}},
		Back:    sim.LinkConfig{Delay: link.delay}, Seed: uint64(round),
	})
	if err := errors.Join(s.begin(), s.play(ctx, sceneSettle)); err != nil {
		return run, err
	}
	from := time.Now()
	err = s.play(ctx, b.Length)
	to := time.Now()
	time.Sleep(tail)
	seen, failed := s.seen()
	return newSceneRun(s.painter.log(), seen, from, to), errors.Join(err, failed)
}
