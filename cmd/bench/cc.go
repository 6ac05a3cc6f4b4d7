package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"nearglass/cc/lab"
)

// ccCmd runs the congestion lab.
type ccCmd struct {
	Scenario string        `help:"Run one scenario, by a part of its name, and print its metrics." placeholder:"NAME"`
	List     bool          `help:"List the scenarios."`
	Kind     string        `help:"The controller for --scenario." default:"ours" placeholder:"NAME"`
	Seeds    int           `help:"How many seeds; 0 means 20, or 3 with --quick." placeholder:"N"`
	Seed     uint64        `help:"The first seed." default:"1" placeholder:"N"`
	Trace    bool          `help:"Print what happened in the first seed's run (--scenario)."`
	From     time.Duration `help:"Begin of the trace." placeholder:"TIME"`
	To       time.Duration `help:"End of the trace; 0 means the end." placeholder:"TIME"`
	Every    time.Duration `help:"Step of the trace." default:"100ms" placeholder:"TIME"`
}

// Run plays one scenario or all rows.
func (c ccCmd) Run(s settings) error {
	if c.Seeds == 0 {
		c.Seeds = map[bool]int{false: 20, true: 3}[s.Quick]
	}
	if c.List {
		for _, sc := range lab.Scenarios() {
			fmt.Println(sc.Name)
		}
		return nil
	}
	return c.one()
}

// one plays one scenario.
func (c ccCmd) one() error {
	all := lab.Scenarios()
	i := slices.IndexFunc(all, func(s lab.Scenario) bool { return strings.Contains(s.Name, c.Scenario) })
	kind, ok := lab.KindOf(c.Kind)
	if i < 0 || !ok {
		return fmt.Errorf("no scenario %q or controller %q", c.Scenario, c.Kind)
	}
	for n := range c.Seeds {
		start := time.Now()
		r := lab.Run(all[i], kind, c.Seed+uint64(n))
		took := time.Since(start)
		if c.Trace && n == 0 {
			to := c.To
			if to == 0 {
				to = r.Scenario.Length
			}
			r.Trace(os.Stdout, 0, c.From, to, c.Every)
		}
		fmt.Printf("%s with %s, seed %d, %v:\n", r.Scenario.Name, kind.Name, r.Seed, took.Round(time.Millisecond))
		for _, f := range r.Figures() {
			fmt.Printf("  %-28s %10.3f %s\n", f.Name, f.Value, f.Unit)
		}
	}
	return nil
}
