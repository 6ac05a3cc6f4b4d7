package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nearglass/cmd/bench/wire"
	"nearglass/server/e2e/desk"
	"nearglass/telemetry"
	"nearglass/telemetry/doctor"
	bundle "nearglass/telemetry/report"
)

// faultsCmd puts faults into real streams and asks the product what was wrong.
type faultsCmd struct {
	Length time.Duration `help:"Of one run; 0 means 22s, or 12s with --quick." placeholder:"TIME"`
	Keep   string        `help:"Keep the logs of both ends in this folder." placeholder:"DIR"`
}

// faultsSize is the screen: small enough that host, browser and fault fit on two
// cores.
var faultsSize = image.Pt(800, 450)

// faultsBench is a run of it.
type faultsBench struct {
	settings
	faultsCmd
	wire   *wire.Wire
	scene  *moving
	dir    string // for what is needed while it runs
	report *report
}

// Run measures and writes the report.
func (f faultsCmd) Run(ctx context.Context, s settings) (err error) {
	if f.Length == 0 {
		f.Length = map[bool]time.Duration{false: 22 * time.Second, true: 12 * time.Second}[s.Quick]
	}
	b := &faultsBench{settings: s, faultsCmd: f, scene: newMoving(faultsSize, image.Pt(0, 3)), report: newReport("faults", s.Quick)}
	if b.dir, err = os.MkdirTemp("", "nearglass-faults-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.wire, err = wire.Open(ctx); err != nil {
		return err
	}
	defer b.wire.Close()
	for _, c := range faultCases {
		if !b.wanted(c) {
			continue
		}
		fmt.Fprintf(os.Stderr, "load %s: %s\n", load(), c.name)
		found, runErr := b.run(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.judge(c, found, runErr)
	}
	return b.report.write(os.Stdout, s.Out)
}

func (b *faultsBench) wanted(c faultCase) bool {
	if len(b.Only) == 0 {
		return !b.Quick || c.quick
	}
	return slices.ContainsFunc(b.Only, func(o string) bool { return strings.Contains(c.name, o) })
}

// judge adds a row: 1 where the fault was named first, or, where there was none,
// nothing was named.
func (b *faultsBench) judge(c faultCase, found []doctor.Finding, err error) {
	var first doctor.Fault
	if len(found) > 0 {
		first = found[0].Fault
	}
	right := 0.0
	if first == c.fault || slices.Contains(c.or, first) {
		right = 1
	}
	w := higher(c.name, "named", limit(1), limit(1))
	b.report.add(w, right, err)
	fmt.Fprintf(os.Stderr, "    want %q, found %s\n", c.fault, brief(found))
}

// brief lists what was found.
func brief(found []doctor.Finding) string {
	line := ""
	for _, f := range found {
		line += fmt.Sprintf("%s %.2f  ", f.Fault, f.Score())
	}
	if line == "" {
		return "nothing"
	}
	return line
}

// faultRun is one stream under way.
type faultRun struct {
	*faultsBench
	screen  *screen
	painter *painter
	host    *desk.Host
	browser *desk.Chromium
	page    *desk.Page
	length  time.Duration
	stops   []func()
}

func (r *faultRun) stop() {
	for _, s := range slices.Backward(r.stops) {
		s()
	}
}

// run plays a case and gives what the doctor finds in its report.
func (b *faultsBench) run(ctx context.Context, c faultCase) ([]doctor.Finding, error) {
	r := &faultRun{faultsBench: b, length: b.Length}
	defer r.stop()
	b.wire.Shape(wire.Shape{})
	if err := r.start(ctx, c); err != nil {
		return nil, err
	}
	if err := r.play(ctx, c); err != nil {
		return nil, err
	}
	b.wire.Shape(wire.Shape{})
	if err := r.leave(ctx); err != nil {
		return nil, err
	}
	return r.diagnose(ctx, c)
}

// start brings up screen, host and viewer, up to the list of sources.
func (r *faultRun) start(ctx context.Context, c faultCase) (err error) {
	if r.screen, err = startScreen(ctx, faultsSize); err != nil {
		return err
	}
	r.stops = append(r.stops, r.screen.close)
	if r.painter, err = newPainter(r.screen.name, faultsSize, r.scene); err != nil {
		return err
	}
	r.stops = append(r.stops, r.painter.close)
	listen := r.wire.Near.Addr.String() + ":7433"
	if c.beside {
		listen = ":7433"
		if err := r.layCable(ctx); err != nil {
			return err
		}
	}
	r.host, err = desk.StartHost(ctx, desk.HostOptions{Binary: r.Binary, Display: r.screen.name, Listen: listen,
		Args: c.args, Prefix: append(r.wire.Near.Prefix(), c.prefix...)})
	if err != nil {
		return err
	}
	r.stops = append(r.stops, r.host.Close)
	return r.browse(ctx, c)
}

// browse starts the viewer's browser and opens the host's page in it.
func (r *faultRun) browse(ctx context.Context, c faultCase) (err error) {
	stage := linkStage{wire: r.wire, dir: r.dir}
	if r.browser, err = stage.browser(ctx, r.wire.Far); err != nil {
		return err
	}
	r.stops = append(r.stops, r.browser.Close)
	r.page = r.browser.FirstPage()
	if err := r.page.Viewport(desk.Viewport{Width: faultsSize.X, Height: faultsSize.Y}); err != nil {
		return err
	}
	if c.script != "" {
		if err := allow(r.page, c.script); err != nil {
			return err
		}
	}
	if err := r.page.Open(r.host.PairURL); err != nil {
		return err
	}
	return r.page.WaitFor(`window.nearglass?.state === "sources"`, 20*time.Second)
}

// play streams, with the fault.
func (r *faultRun) play(ctx context.Context, c faultCase) error {
	r.wire.Shape(c.shape)
	playing, end := context.WithTimeout(ctx, r.length)
	defer end()
	painted := make(chan struct{})
	go func() { defer close(painted); r.paint(playing, c.every) }()
	err := r.page.Run(`location.hash = "#/watch/desktop"`)
	if err == nil && c.inject != nil {
		err = c.inject(playing, r)
	}
	if err != nil && playing.Err() == nil {
		end()
	}
	<-playing.Done()
	<-painted
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// paint moves the whole picture once in every, or changes a little of it now and
// then when that is 0.
func (r *faultRun) paint(ctx context.Context, every time.Duration) {
	due := time.Now()
	for state := 0; ctx.Err() == nil; state++ {
		if every > 0 {
			r.painter.prepare(state)
			r.painter.show()
			due = due.Add(every)
		} else {
			r.painter.prepare(state / 30)
			r.painter.put(image.Rect(0, 0, 8, 16))
			due = due.Add(500 * time.Millisecond)
		}
		if late := time.Since(due); late > time.Second {
			due = time.Now()
		}
		_ = sleepUntil(ctx, due)
	}
}

// leave ends the stream as a person does, and waits for both logs to end.
func (r *faultRun) leave(ctx context.Context) error {
	if err := r.page.Run(`location.hash = "#/"`); err != nil {
		return err
	}
	store := telemetry.OpenStore(filepath.Join(r.host.StateDir, "streams"), telemetry.Limits{})
	limit, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	return desk.Poll(limit, "both logs to end", func() (bool, error) {
		list, err := store.List()
		if err != nil || len(list) == 0 {
			return false, err
		}
		l, err := store.Read(list[0].Stream, telemetry.ViewerSide)
		n := len(l.Events)
		return err == nil && n > 0 && l.Events[n-1].Name == telemetry.EventEnd, nil
	})
}

// diagnose has the host's program make the report and read it.
func (r *faultRun) diagnose(ctx context.Context, c faultCase) ([]doctor.Finding, error) {
	file := filepath.Join(r.dir, "report.zip")
	defer os.Remove(file)
	if _, err := r.host.Run(ctx, "logs", "bundle", "-o", file); err != nil {
		return nil, err
	}
	if r.Keep != "" {
		if err := keep(file, filepath.Join(r.Keep, strings.ReplaceAll(c.name, " ", "-"))); err != nil {
			return nil, err
		}
	}
	out, err := r.host.Run(ctx, "doctor", "--json", file)
	if err != nil {
		return nil, err
	}
	var answer struct{ Causes []doctor.Finding }
	err = json.Unmarshal([]byte(out), &answer)
	return answer.Causes, err
}

// keep writes the logs of a report into two files.
func keep(file, as string) error {
	r, err := bundle.Open(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(as), 0o755); err != nil {
		return err
	}
	return errors.Join(keepLog(as+".host.jsonl", r.Host), keepLog(as+".viewer.jsonl", r.Viewer))
}

func keepLog(name string, l telemetry.Log) error {
	data, err := telemetry.AppendLine(nil, l.Header)
	add := func(record any) {
		if err == nil {
			data, err = telemetry.AppendLine(data, record)
		}
	}
	for _, s := range l.Host {
		add(s)
	}
	for _, s := range l.Viewer {
		add(s)
	}
	for _, e := range l.Events {
		add(e)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
