package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"nearglass/cmd/bench/wire"
	"nearglass/server/e2e/desk"
)

// linkCmd measures over a shaped link between two namespaces.
type linkCmd struct {
	Length  time.Duration `help:"Of one run; 0 means 60s, or 15s with --quick." placeholder:"TIME"`
	HostArg []string      `name:"host-arg" help:"Another argument of our host's serve, such as --host-arg=--bitrate=4M." placeholder:"ARG"`
}

// linkBench is a run of it.
type linkBench struct {
	settings
	length time.Duration
	rounds int
	cases  []linkCase
	peers  []linkPeer
	stage  linkStage
	runs   linkRuns
	failed map[string]error // the last failure of ours, by case
	notes  []linkNote
	begun  time.Time
	done   int
}

// linkNote is what one run leaves in link-runs.json.
type linkNote struct {
	Case    string      `json:"case"`
	Peer    string      `json:"peer"`
	Round   int         `json:"round"`
	Figures linkFigures `json:"figures,omitempty"`
	Sending *sending    `json:"sending,omitempty"`
	Series  string      `json:"series,omitempty"` // file
	Error   string      `json:"error,omitempty"`
}

// Run measures and writes the report.
func (l linkCmd) Run(ctx context.Context, s settings) error {
	b := &linkBench{settings: s, length: l.Length, rounds: s.Rounds, runs: linkRuns{}, failed: map[string]error{}, begun: time.Now()}
	if b.length == 0 {
		b.length = map[bool]time.Duration{false: time.Minute, true: 15 * time.Second}[s.Quick]
	}
	if b.rounds == 0 {
		b.rounds = map[bool]int{false: 3, true: 1}[s.Quick]
	}
	var err error
	if b.cases, b.peers, err = chosen(s.Only, s.Quick); err != nil {
		return err
	}
	if err := needLink(s.Binary); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.Out, "link"), 0o755); err != nil {
		return err
	}
	// The forwarding thread must never wait for one of Go's processors.
	runtime.GOMAXPROCS(runtime.NumCPU() + 2)
	b.stage = linkStage{binary: s.Binary, hostArgs: l.HostArg, grain: newGrain()}
	if b.stage.dir, err = os.MkdirTemp("", "nearglass-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.stage.dir)
	return b.run(ctx)
}

// run measures all between the two namespaces. When it is interrupted it shows
// what it has, and keeps the last whole run's file.
func (b *linkBench) run(ctx context.Context) (err error) {
	rep := newReport("link", b.Quick)
	if b.stage.wire, err = wire.Open(ctx); err != nil {
		return err
	}
	err = errors.Join(b.all(ctx), b.stage.wire.Close())
	b.runs.rows(rep, b.cases, b.peers, b.failed)
	if err != nil {
		if b.done > 0 {
			rep.Load += " to " + load()
			rep.table(os.Stdout)
		}
		return err
	}
	return errors.Join(b.writeNotes(), rep.write(os.Stdout, b.Out))
}

// all visits every peer on every link, round by round, so that what changes on
// the machine meanwhile falls on all alike.
func (b *linkBench) all(ctx context.Context) error {
	for round := range b.rounds {
		for _, c := range b.cases {
			if b.runs[c.name] == nil {
				b.runs[c.name] = map[string][]linkFigures{}
			}
			for _, p := range b.peers {
				note := b.one(ctx, c, p, round+1)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				b.tell(c, note)
				b.notes = append(b.notes, note)
				if note.Error == "" {
					b.runs[c.name][p.name] = append(b.runs[c.name][p.name], note.Figures)
				} else if p.name == ours {
					b.failed[c.name] = errors.New(note.Error)
				}
			}
		}
	}
	return nil
}

// tell prints a run's outcome and how long the rest will take.
func (b *linkBench) tell(c linkCase, n linkNote) {
	b.done++
	all := b.rounds * len(b.cases) * len(b.peers)
	left := time.Since(b.begun) / time.Duration(b.done) * time.Duration(all-b.done)
	outcome := n.Figures.line()
	if n.Error != "" {
		outcome = n.Error
	}
	fmt.Fprintf(os.Stderr, "[%d/%d] %s, %s, round %d: %s; %v left\n", b.done, all, c.what, n.Peer, n.Round, outcome, left.Round(time.Second))
}

// one measures a peer on a link once.
func (b *linkBench) one(ctx context.Context, c linkCase, p linkPeer, round int) (note linkNote) {
	note = linkNote{Case: c.name, Peer: p.name, Round: round}
	file := fmt.Sprintf("link/%s-%s-%d", c.name, p.name, round)
	b.stage.log = filepath.Join(b.Out, file+".log")
	run, err := b.measure(ctx, c, p, round, &note)
	if err == nil {
		var seen linkFigures
		seen, err = run.figures()
		for key, v := range seen {
			note.Figures[key] = v
		}
	}
	if run != nil {
		note.Series = file + ".csv"
		err = errors.Join(err, run.writeSeries(filepath.Join(b.Out, note.Series)))
	}
	if err != nil {
		note.Error = err.Error()
	}
	return note
}

// measure runs a peer over a link. It begins on an open link, on which pages
// load; the stream begins on the shaped one.
func (b *linkBench) measure(ctx context.Context, c linkCase, p linkPeer, round int, note *linkNote) (*linkRun, error) {
	w := b.stage.wire
	w.Shape(wire.Shape{})
	ctx, cancel := context.WithTimeout(ctx, b.length+2*time.Minute)
	defer cancel()
	s, err := p.start(ctx, &b.stage)
	defer s.stop()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	// While the collector stops the world, the link's thread would wait with all
	// others, which on a busy machine takes milliseconds.
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	run := &linkRun{linkCase: c, length: b.length, origin: w.Shape(c.shape(b.length, uint64(round)))}
	if err := s.begin(); err != nil {
		return nil, fmt.Errorf("begin the stream of %s: %w", p.name, err)
	}
	bulk := make(chan error, 1)
	go func() { bulk <- b.beside(ctx, run) }()
	busy, own := machineBusy(), familyCPU(os.Getpid())
	if err := errors.Join(sleepUntil(ctx, run.origin.Add(b.length+4*linkQueue)), <-bulk); err != nil {
		return nil, err
	}
	took := time.Since(run.origin).Seconds()
	note.Figures = linkFigures{busyCores: (machineBusy() - busy).Seconds() / took, ownCores: (familyCPU(os.Getpid()) - own).Seconds() / took}
	run.packets = w.Passed()
	if s.sender != nil {
		if said, err := desk.Eval[sending](s.sender, "sending()"); err == nil {
			note.Sending = &said
		}
	}
	run.samples, err = desk.Eval[[]sample](s.viewer, "bench.samples")
	return run, err
}

// beside runs the TCP flow of a run that has one.
func (b *linkBench) beside(ctx context.Context, r *linkRun) error {
	if !r.bulk {
		return nil
	}
	begin, end := r.bulked(r.length)
	return runBulk(ctx, b.stage.wire, r.origin, begin, end)
}

// writeNotes stores every run's own figures.
func (b *linkBench) writeNotes() error {
	data, err := json.MarshalIndent(b.notes, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.Out, "link-runs.json"), append(data, '\n'), 0o644)
}
