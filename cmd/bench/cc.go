package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"nearglass/cc/lab"
)

// ccCmd runs the congestion lab: all rows, one scenario, or the ablation.
type ccCmd struct {
	Scenario string        `help:"Run one scenario, by a part of its name, and print its figures." placeholder:"NAME"`
	List     bool          `help:"List the scenarios, controllers and rows."`
	Kind     []string      `help:"The controllers for --scenario; for the rows, baselines to leave in." placeholder:"NAME"`
	Seeds    int           `help:"How many seeds; 0 means 20, or 1 with --quick." placeholder:"N"`
	Seed     uint64        `help:"The first seed." default:"1" placeholder:"N"`
	Ablation bool          `help:"Run the rows with each part of the controller switched off instead."`
	Alone    bool          `help:"Leave the baselines out."`
	Trace    bool          `help:"Print what happened in the first seed's run (--scenario)."`
	Stream   int           `help:"Which stream to trace." placeholder:"N"`
	From     time.Duration `help:"Begin of the trace and the plot." placeholder:"TIME"`
	To       time.Duration `help:"End of the trace and the plot; 0 means the end." placeholder:"TIME"`
	Every    time.Duration `help:"Step of the trace." default:"100ms" placeholder:"TIME"`
	SVG      string        `help:"Plot the first seed's run into this file (--scenario)." placeholder:"FILE"`
}

// seedCount is how many seeds the targets ask for; the quick run is to end
// within a minute.
const (
	seedCount  = 20
	quickSeeds = 1
)

// Run plays one scenario or all rows.
func (c ccCmd) Run(s settings) error {
	if c.Seeds == 0 {
		c.Seeds = map[bool]int{false: seedCount, true: quickSeeds}[s.Quick]
	}
	if c.Scenario == "" && len(s.Only) > 0 && (c.Trace || c.SVG != "") {
		c.Scenario = s.Only[0] // a trace is of one scenario
	}
	switch {
	case c.List:
		c.list()
		return nil
	case c.Scenario != "":
		return c.one()
	case c.Ablation:
		return c.ablate(s)
	}
	return c.table(s)
}

func (c ccCmd) list() {
	for _, s := range lab.Scenarios() {
		fmt.Println("scenario", s.Name)
	}
	for _, k := range lab.Kinds() {
		fmt.Println("controller", k.Name)
	}
	for _, r := range lab.Rows() {
		fmt.Printf("row %s (%s)\n", r.Measure, r.Scenario)
	}
}

// one plays one scenario.
func (c ccCmd) one() error {
	all := lab.Scenarios()
	i := slices.IndexFunc(all, func(s lab.Scenario) bool { return s.Name == c.Scenario })
	if i < 0 {
		i = slices.IndexFunc(all, func(s lab.Scenario) bool { return strings.Contains(s.Name, c.Scenario) })
	}
	if i < 0 {
		return fmt.Errorf("no scenario is called %q; --list shows them", c.Scenario)
	}
	if len(c.Kind) == 0 {
		c.Kind = []string{"ours"}
	}
	for _, name := range c.Kind {
		kind, ok := lab.KindOf(name)
		if !ok {
			return fmt.Errorf("no controller is called %q; --list shows them", name)
		}
		for n := range c.Seeds {
			if err := c.play(all[i], kind, c.Seed+uint64(n), n == 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// play plays one seed, and shows the first of them.
func (c ccCmd) play(s lab.Scenario, kind lab.Kind, seed uint64, first bool) error {
	start := time.Now()
	r := lab.Run(s, kind, seed)
	took := time.Since(start)
	to := c.To
	if to == 0 {
		to = r.Scenario.Length
	}
	if c.Trace && first {
		r.Trace(os.Stdout, c.Stream, c.From, to, c.Every)
	}
	if c.SVG != "" && first {
		if err := os.WriteFile(c.SVG, r.SVG(c.Stream, c.From, to), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%s with %s, seed %d, %v:\n", r.Scenario.Name, kind.Name, r.Seed, took.Round(time.Millisecond))
	for _, f := range r.Figures() {
		fmt.Printf("  %-60s %10.3f %s\n", f.Name, f.Value, f.Unit)
	}
	return nil
}

// chosen gives the rows that --only leaves.
func (c ccCmd) chosen(s settings) ([]lab.Row, error) {
	rows := lab.Rows()
	if len(s.Only) > 0 {
		rows = slices.DeleteFunc(rows, func(r lab.Row) bool {
			return !slices.ContainsFunc(s.Only, func(part string) bool {
				return strings.Contains(r.Scenario, part) || strings.Contains(r.Measure, part)
			})
		})
	}
	if len(rows) == 0 {
		return nil, errors.New("--only leaves no row; --list shows them")
	}
	return rows, nil
}

// figures are those of one controller: a row each, a seed each.
type figures map[string][]float64

// figures runs the rows of one controller on all cores.
func (c ccCmd) figures(rows []lab.Row, kind lab.Kind) figures {
	type task struct {
		job  lab.Job
		seed int
	}
	tasks := make(chan task)
	out := figures{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for t := range tasks {
				values := t.job.Measure(c.Seed + uint64(t.seed))
				mu.Lock()
				for i, r := range t.job.Rows {
					out[r.Measure] = append(out[r.Measure], values[i])
				}
				mu.Unlock()
			}
		})
	}
	start := time.Now()
	for _, j := range lab.Jobs(rows, kind) {
		for n := range c.Seeds {
			tasks <- task{j, n}
		}
	}
	close(tasks)
	wg.Wait()
	fmt.Fprintf(os.Stderr, "%s: %v\n", kind.Name, time.Since(start).Round(time.Second))
	return out
}

// table runs the rows with ours and the baselines and writes the report.
func (c ccCmd) table(s settings) error {
	rows, err := c.chosen(s)
	if err != nil {
		return err
	}
	rep := newReport("cc", s.Quick)
	ours := c.figures(rows, lab.Ours("ours", 0))
	others := map[string]figures{}
	var pionErr error
	if !c.Alone {
		others[lab.AIMD.Name] = c.figures(rows, lab.AIMD)
		if others[pionName], pionErr = c.pion(rows); pionErr != nil {
			fmt.Fprintln(os.Stderr, "bench: pion's gcc could not be run:", pionErr)
			delete(others, pionName)
		}
	}
	for _, r := range rows {
		w := row{Measure: r.Measure, Unit: r.Unit, Better: "lower", Must: r.Must, Goal: r.Goal, Baselines: map[string]float64{}}
		if r.Higher {
			w.Better = "higher"
		}
		var theirs []float64
		for name, f := range others {
			w.Baselines[name] = r.Worst(f[r.Measure])
			theirs = append(theirs, w.Baselines[name])
		}
		if r.Beat && len(theirs) > 0 {
			w.Goal = limit(r.Best(theirs))
		}
		rep.add(w, r.Worst(ours[r.Measure]), nil)
	}
	if len(s.Only) == 0 {
		c.realRows(s, rep)
	}
	return errors.Join(rep.write(os.Stdout, s.Out), pionErr)
}
