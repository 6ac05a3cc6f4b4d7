package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"slices"
	"time"

	"nearglass/cmd/bench/encodelab"
	"nearglass/cmd/bench/losslab"
	"nearglass/gpu/capture"
	"nearglass/server/e2e/desk"
)

const (
	// sceneSettle is how long a stream runs on its link before it is measured: two
	// scenes.
	sceneSettle = 4 * time.Second
	// sceneGap is how long a picture stands for the next one to count as late.
	sceneGap = 33 * time.Millisecond
)

// sceneStream is a host with a viewer, and what the host's screen shows.
type sceneStream struct {
	linkStream
	painter *painter
	clock   pageClock
	picture func(pix []byte, stride int) []image.Rectangle
}

// start brings up what a stream needs, at rest on the workload's first picture.
func (b *sceneBench) start(ctx context.Context, control string) (s *sceneStream, err error) {
	s = &sceneStream{}
	w, err := b.workload()
	if err != nil {
		return s, err
	}
	s.picture = w.Play()
	if s.painter, err = newPainter(b.source.name, glassSize, nil); err != nil {
		return s, err
	}
	s.stops = append(s.stops, s.painter.close)
	s.painter.paintPart(s.picture)
	said, err := os.Create(b.stage.log)
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, func() { _ = said.Close() })
	s.host, err = desk.StartHost(ctx, desk.HostOptions{Binary: b.Binary, Display: b.source.name, Listen: b.stage.listens(), Prefix: b.stage.wire.Near.Prefix(),
		Args: []string{"--log-level=debug", "--full-size", "--rate-control=" + control}, Log: said})
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, s.host.Close)
	browser, err := b.stage.browser(ctx, b.stage.wire.Far)
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, browser.Close)
	s.viewer = browser.FirstPage()
	if err := watchPictures(s.viewer, losslab.Layout{Width: glassSize.X, Side: capture.PatchBounds.Dx() / 8, NumberX: patchAt.X, NumberY: patchAt.Y, Tiles: [][2]int{}}); err != nil {
		return s, err
	}
	if err := s.viewer.Open(s.host.PairURL); err != nil {
		return s, err
	}
	s.begin = func() error { return errors.Join(watchDesktop(s.viewer), s.clock.sample(s.viewer)) }
	return s, s.viewer.WaitFor(`window.nearglass?.state === "sources"`, 20*time.Second)
}

// seen is when each number was decoded first.
func (s *sceneStream) seen() (sightings, error) {
	if err := s.clock.sample(s.viewer); err != nil {
		return nil, err
	}
	all, err := desk.Eval[lossPictures](s.viewer, "({ pictures: bench.pictures, failed: bench.failed })")
	if err == nil && all.Failed != "" {
		err = errors.New(all.Failed)
	}
	seen := sightings{}
	for _, p := range all.Pictures {
		n := uint32(p[1])
		if _, again := seen[n]; !again && p[1] >= 0 {
			seen[n] = s.clock.time(p[0])
		}
	}
	return seen, err
}

// workload is the one of the command line.
func (b *sceneBench) workload() (encodelab.Workload, error) {
	all := encodelab.Workloads(glassSize)
	i := slices.IndexFunc(all, func(w encodelab.Workload) bool { return w.Name == b.Workload && w.Size == glassSize })
	if i < 0 {
		return encodelab.Workload{}, fmt.Errorf("--workload %s: bench encode has none of this name that fills a screen", b.Workload)
	}
	return all[i], nil
}

// play paints for a time, at the workload's rate.
func (s *sceneStream) play(ctx context.Context, d time.Duration) error {
	due := time.Now()
	for end := due.Add(d); due.Before(end); {
		s.painter.paintPart(s.picture)
		due = due.Add(time.Second / encodelab.FPS)
		if err := sleepUntil(ctx, due); err != nil {
			return err
		}
	}
	return nil
}

// sceneRun is what the viewer decoded of one stream.
type sceneRun struct {
	delays series  // from painting to sight
	gaps   int     // times that a picture stood too long
	shown  float64 // of those painted, %
}

// newSceneRun compares what was painted with what was seen.
func newSceneRun(painted map[uint32]time.Time, seen sightings, from, to time.Time) (r sceneRun) {
	for n, at := range painted {
		if at.Before(from) || at.After(to) {
			delete(painted, n)
		}
	}
	r.delays = seen.delays(painted)
	r.shown = 100 * float64(len(r.delays)) / float64(max(len(painted), 1))
	var times []time.Time
	for n, at := range seen {
		if _, ok := painted[n]; ok {
			times = append(times, at)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	for i := 1; i < len(times); i++ {
		if times[i].Sub(times[i-1]) > sceneGap {
			r.gaps++
		}
	}
	return r
}

// String tells of a run in a line.
func (r sceneRun) String() string {
	p50, _ := r.delays.percentile(50)
	p99, err := r.delays.percentile(99)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.0f / %.0f ms at p50 / p99, %d gaps, %.1f %% shown", p50, p99, r.gaps, r.shown)
}

// rows turns the runs into the report: medians of the rounds. Ours is held to what x264
// does by itself.
func (b *sceneBench) rows(rep *report) {
	for _, link := range b.links() {
		b.row(rep, link, "gaps over 33 ms", "", "lower", true, func(r sceneRun) (float64, error) { return float64(r.gaps), nil })
		b.row(rep, link, "delay p50", "ms", "lower", false, func(r sceneRun) (float64, error) { return r.delays.percentile(50) })
		b.row(rep, link, "delay p99", "ms", "lower", true, func(r sceneRun) (float64, error) { return r.delays.percentile(99) })
		b.row(rep, link, "pictures shown", "%", "higher", false, func(r sceneRun) (float64, error) { return r.shown, nil })
	}
}

func (b *sceneBench) row(rep *report, link sceneLink, measure, unit, better string, held bool, f func(sceneRun) (float64, error)) {
	w := row{Measure: link.what + ": " + measure, Unit: unit, Better: better, Baselines: map[string]float64{}}
	var own float64
	err := errNone
	for i, control := range sceneControls {
		var all []float64
		for _, r := range b.runs[link.name+control.what] {
			if v, err := f(r); err == nil {
				all = append(all, v)
			}
		}
		v, failed := median(all)
		switch {
		case i == 0:
			own, err = v, failed
		case failed == nil:
			w.Baselines[control.what] = v
			if held && control.name == "crf" {
				w.Must = limit(v)
			}
		}
	}
	rep.add(w, own, err)
}
