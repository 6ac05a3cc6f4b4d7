package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"nearglass/cmd/bench/losslab"
	"nearglass/cmd/bench/wire"
	"nearglass/server/e2e/desk"
)

// lossStage is what the streams into a browser stand on.
type lossStage struct {
	linkStage
	scene *losslab.Scene
}

// lossStream is a sender that is ready and not yet sending.
type lossStream struct {
	linkStream
	clock pageClock // the viewer's
	// painted says when each number was painted.
	painted func() ([]time.Time, error)
}

// browser measures in a real browser, over a real link, sender by sender.
func (b *lossBench) browser(ctx context.Context) (err error) {
	if b.NoBrowser {
		return nil
	}
	// The forwarding thread must never wait for one of Go's processors.
	runtime.GOMAXPROCS(runtime.NumCPU() + 2)
	stage := &lossStage{scene: losslab.NewScene()}
	stage.binary = b.Binary
	if stage.dir, err = os.MkdirTemp("", "nearglass-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(stage.dir)
	if err := os.MkdirAll(filepath.Join(b.Out, "loss"), 0o755); err != nil {
		return err
	}
	if stage.wire, err = wire.Open(ctx); err != nil {
		return err
	}
	stage.trusted = "http://" + stage.listens()
	only := b.chosen(lossReal...)
	if b.Quick {
		only = b.chosen(lossQuickReal...)
	}
	cells := losslab.Chosen(only)
	runs := b.streams(ctx, stage, cells, only)
	b.add("in Chromium: ", cells, runs)
	return errors.Join(ctx.Err(), stage.wire.Close())
}

// streams visits every sender on every path, round by round. One that fails is told
// of and left out.
func (b *lossBench) streams(ctx context.Context, g *lossStage, cells []losslab.Cell, only []string) (runs []losslab.Figures) {
	for round := range b.rounds {
		for _, c := range cells {
			for _, sender := range lossSenders() {
				if !losslab.Wanted(only, sender, lossSenders()) || ctx.Err() != nil {
					continue
				}
				g.log = filepath.Join(b.Out, "loss", fmt.Sprintf("%s-%s-%s-%s-%d.log", c.Loss.Name, losslab.RTTName(c.RTT), losslab.RateName(c.Rate), sender, round+1))
				f, err := b.stream(ctx, g, c, sender, round+1)
				if err != nil {
					fmt.Fprintf(os.Stderr, "%s, %s, round %d: %v\n", c, sender, round+1, err)
					continue
				}
				fmt.Fprintf(os.Stderr, "%s, %s, round %d: longest %.0f ms, %d wrong, %d key frames, %d of %d shown\n",
					c, sender, round+1, f.Longest, f.Wrong, f.Keys, f.Shown, f.Of)
				runs = append(runs, f)
			}
		}
	}
	return runs
}

// stream measures one sender on one path. Pages load on an open link; the stream
// begins on the one under test.
func (b *lossBench) stream(ctx context.Context, g *lossStage, c losslab.Cell, sender string, round int) (losslab.Figures, error) {
	f := losslab.Figures{Loss: c.Loss.Name, RTT: losslab.RTTName(c.RTT), Rate: losslab.RateName(c.Rate), Sender: sender, Round: round}
	g.wire.Shape(wire.Shape{})
	ctx, cancel := context.WithTimeout(ctx, b.Real+2*time.Minute)
	defer cancel()
	start := g.ours
	if sender == chromiumVP8 {
		start = g.chromium
	}
	s, err := start(ctx, sender)
	defer s.stop()
	if err != nil {
		return f, fmt.Errorf("start: %w", err)
	}
	if err := s.clock.sample(s.viewer); err != nil {
		return f, err
	}
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	origin := g.wire.Shape(wire.Shape{Forward: c.Forward(), Back: c.Back(), Seed: uint64(round)})
	if err := s.begin(); err != nil {
		return f, fmt.Errorf("begin the stream: %w", err)
	}
	if err := sleepUntil(ctx, origin.Add(losslab.Settle)); err != nil {
		return f, err
	}
	before, err := desk.Eval[lossStats](s.viewer, "bench.stats()")
	if err = errors.Join(err, sleepUntil(ctx, origin.Add(b.Real))); err != nil {
		return f, err
	}
	after, err := desk.Eval[lossStats](s.viewer, "bench.stats()")
	f.Keys, f.Asked = after.Keys-before.Keys, after.PLIs-before.PLIs
	f.Bytes = g.sent(b.Real)
	return f, errors.Join(err, s.count(&f, origin, b.Real))
}

// sent is how many bytes of RTP were sent over the link, after its beginning.
func (g *lossStage) sent(length time.Duration) (sum int) {
	for _, p := range g.wire.Passed() {
		if p.Kind == wire.Media && p.In >= losslab.Settle && p.In < length {
			sum += p.Size
		}
	}
	return sum
}

// errUnseen is a stream of which nothing was decoded.
var errUnseen = errors.New("no picture was decoded")

// count fills in what became of the pictures.
func (s *lossStream) count(f *losslab.Figures, origin time.Time, length time.Duration) error {
	seen, err := desk.Eval[lossPictures](s.viewer, "({ pictures: bench.pictures, failed: bench.failed })")
	if err == nil && seen.Failed != "" {
		err = errors.New(seen.Failed)
	}
	if err == nil && len(seen.Pictures) == 0 {
		err = errUnseen
	}
	if err != nil {
		return err
	}
	painted, err := s.painted()
	if err = errors.Join(err, s.clock.sample(s.viewer)); err != nil {
		return err
	}
	var all []losslab.Sighting
	newest := -1
	for _, p := range seen.Pictures {
		n := int(p[1])
		switch {
		case n < 0 || n >= len(painted) || p[2] > 0:
			f.Wrong++
		case n > newest:
			newest = n
			all = append(all, losslab.Sighting{Captured: painted[n].Sub(origin), At: s.clock.time(p[0]).Sub(origin)})
		}
	}
	f.Count(all, length)
	return nil
}

// watcher starts the browser at the far end, with a page that is watched.
func (g *lossStage) watcher(ctx context.Context, s *lossStream) error {
	b, err := g.browser(ctx, g.wire.Far)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, b.Close)
	s.viewer = b.FirstPage()
	return watchPictures(s.viewer, losslab.NewLayout())
}

// ours starts our host at the near end, which repairs losses in one of its ways, and
// our viewer at the far end.
func (g *lossStage) ours(ctx context.Context, way string) (*lossStream, error) {
	s := &lossStream{}
	x, err := startScreen(ctx, losslab.Size)
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, x.close)
	if err := s.paint(ctx, x.name, g.scene); err != nil {
		return s, err
	}
	said, err := os.Create(g.log)
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, func() { _ = said.Close() })
	s.host, err = desk.StartHost(ctx, desk.HostOptions{Binary: g.binary, Display: x.name, Listen: g.listens(), Prefix: g.wire.Near.Prefix(), Log: said,
		Args: []string{"--log-level=debug", "--full-size", "--repair=" + way}})
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, s.host.Close)
	if err := g.watcher(ctx, s); err != nil {
		return s, err
	}
	if err := s.viewer.Open(s.host.PairURL); err != nil {
		return s, err
	}
	s.begin = func() error { return s.viewer.Run(`location.hash = "#/watch/desktop"`) }
	return s, s.viewer.WaitFor(`window.nearglass?.state === "sources"`, 20*time.Second)
}

// drawn is a scene for a painter.
type drawn struct{ *losslab.Scene }

func (d drawn) draw(pix []byte, stride, n int) { d.Draw(pix, stride, n) }

// paint begins to paint on a display, and notes when each picture was asked for.
func (s *lossStream) paint(ctx context.Context, display string, scene *losslab.Scene) error {
	p, err := newPainter(display, losslab.Size, drawn{scene})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var at []time.Time
	s.painted = func() ([]time.Time, error) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(at), nil
	}
	painting, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		due := time.Now()
		for n := 0; painting.Err() == nil; n++ {
			p.prepare(n)
			mu.Lock()
			at = append(at, time.Now())
			mu.Unlock()
			p.show()
			due = due.Add(time.Second / losslab.FPS)
			time.Sleep(time.Until(due))
		}
	}()
	s.stops = append(s.stops, func() { cancel(); <-done; p.close() })
	return nil
}

// chromium starts a browser that sends and one that receives. Their pages are files,
// which are as secure to a browser as it asks.
func (g *lossStage) chromium(ctx context.Context, _ string) (*lossStream, error) {
	s := &lossStream{}
	if err := g.watcher(ctx, s); err != nil {
		return s, err
	}
	blank := filepath.Join(g.dir, "blank.html")
	if err := os.WriteFile(blank, []byte("<!doctype html><body>"), 0o644); err != nil {
		return s, err
	}
	var clock pageClock // the sender's
	s.painted = func() (at []time.Time, err error) {
		ms, err := desk.Eval[[]float64](s.sender, "painted")
		err = errors.Join(err, clock.sample(s.sender))
		for _, v := range ms {
			at = append(at, clock.time(v))
		}
		return at, err
	}
	err := g.sendTo(ctx, &s.linkStream, "file://"+blank, "VP8", func(p *desk.Page) error { return openScene(p, g.scene) })
	if err != nil {
		return s, err
	}
	return s, clock.sample(s.sender)
}
