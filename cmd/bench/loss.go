package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"nearglass/cmd/bench/losslab"
	"nearglass/server/e2e/desk"
	"nearglass/server/session"
)

// lossCmd measures what each way to repair losses is worth: all paths in virtual
// time, and some of them in a real browser, beside its own sender.
type lossCmd struct {
	Length    time.Duration `help:"Of one stream in virtual time; 0 means 15s, or 9s with --quick." placeholder:"TIME"`
	Real      time.Duration `help:"Of one stream into the browser; 0 means 18s, or 9s with --quick." placeholder:"TIME"`
	NoMatrix  bool          `help:"Measure in the browser alone."`
	NoBrowser bool          `help:"Measure in virtual time alone, which needs no root."`
}

// The paths of the browser's part, and those of a quick run.
var (
	lossReal      = []string{"2%", "burst10", "outage", "80ms"}
	lossQuick     = []string{"80ms", "2M"}
	lossQuickReal = []string{"burst10", "80ms", "2M"}
)

// lossBench is a run of it.
type lossBench struct {
	settings
	lossCmd
	rounds int
	table  lossTable
	report *report
}

// Run measures and writes the report.
func (c lossCmd) Run(ctx context.Context, s settings) error {
	b := &lossBench{settings: s, lossCmd: c, rounds: s.Rounds, report: newReport("loss", s.Quick)}
	b.Length = cmp.Or(c.Length, map[bool]time.Duration{false: 15 * time.Second, true: 9 * time.Second}[s.Quick])
	b.Real = cmp.Or(c.Real, map[bool]time.Duration{false: 18 * time.Second, true: 9 * time.Second}[s.Quick])
	b.rounds = cmp.Or(s.Rounds, map[bool]int{false: 3, true: 1}[s.Quick])
	if err := b.check(); err != nil {
		return err
	}
	err := errors.Join(b.matrix(), b.browser(ctx))
	if err != nil && len(b.report.Rows) == 0 {
		return err
	}
	return errors.Join(err, b.table.write(os.Stdout, s.Out), b.report.write(os.Stdout, s.Out))
}

// check says what is missing, before anything takes its time.
func (b *lossBench) check() error {
	losses, rtts, rates := losslab.Names()
	known := slices.Concat(losses, rtts, rates, lossSenders())
	for _, name := range b.Only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--only %s: there are %q", name, known)
		}
	}
	if b.Length <= losslab.Settle || b.Real <= losslab.Settle {
		return fmt.Errorf("what is measured begins after %v: a stream has to be longer", losslab.Settle)
	}
	if b.NoBrowser {
		return desk.Need("ffmpeg")
	}
	if err := needLink(b.Binary); err != nil {
		return err
	}
	return desk.Need("ffmpeg")
}

// chosen is --only, with what is measured when it names nothing of a kind.
func (b *lossBench) chosen(usual ...string) []string {
	only := slices.Clone(b.Only)
	losses, rtts, rates := losslab.Names()
	for _, kind := range [][]string{losses, rtts, rates} {
		if slices.ContainsFunc(kind, func(k string) bool { return slices.Contains(b.Only, k) }) {
			continue
		}
		for _, name := range usual {
			if slices.Contains(kind, name) {
				only = append(only, name)
			}
		}
	}
	return only
}

// matrix has a test of losslab stream, for time is virtual only in tests.
func (b *lossBench) matrix() error {
	if b.NoMatrix {
		return nil
	}
	only := b.chosen()
	if b.Quick {
		only = b.chosen(lossQuick...)
	}
	m := measuring{"./cmd/bench/losslab", "TestMatrix", "loss", runtime.NumCPU(), 2 * time.Hour}
	runs, err := fromTest[losslab.Figures](m, "-loss-length", b.Length.String(), "-loss-rounds", fmt.Sprint(b.rounds), "-loss-only", strings.Join(only, ","))
	if err != nil {
		return err
	}
	b.add("", losslab.Chosen(only), runs)
	return nil
}

// add makes rows of the streams over some cells.
func (b *lossBench) add(where string, cells []losslab.Cell, runs []losslab.Figures) {
	for _, c := range cells {
		l := lossCell{where: where, cell: c, senders: map[string]lossSum{}}
		for _, sender := range lossSenders() {
			if sum, ok := sumLosses(runs, c, sender); ok {
				l.senders[sender] = sum
			}
		}
		if _, ok := l.senders[lossOurs]; ok {
			l.rows(b.report)
		}
		b.table.cells = append(b.table.cells, l)
	}
	b.table.runs = append(b.table.runs, runs...)
}

// lossOurs is what the host does by itself.
const lossOurs = string(session.RepairAuto)

// lossSenders are the ways of our host and Chromium's own sender.
func lossSenders() []string { return append(losslab.Senders(), chromiumVP8) }
