package main

import (
	"fmt"

	"nearglass/server"
)

type doctorCmd struct {
	JSON bool `name:"json" help:"Print JSON, for programs."`
	settings
}

// Help is shown below the flags.
func (*doctorCmd) Help() string {
	return `Tries what a stream needs, with the same settings as serve: captures a picture,
encodes it, opens the ports. It ends with status 1 when something does not work.

Examples:
  nearglass doctor
  nearglass doctor --display :1 --listen :8000
  nearglass doctor --json | jq '.checks[] | select(.verdict != "good")'`
}

// report is what doctor found, as JSON has it.
type report struct {
	Build  buildInfo      `json:"build"`
	Config string         `json:"config"` // the config file that was read; "" for none
	Checks []server.Check `json:"checks"`
}

// Run examines the machine and prints what it found.
func (d *doctorCmd) Run(e *env) error {
	r := report{build(), e.config, server.Examine(e.ctx, d.config(e))}
	if d.JSON {
		if err := printJSON(e.out, r); err != nil {
			return err
		}
	} else {
		r.print(e)
	}
	for _, c := range r.Checks {
		if c.Verdict == server.Bad {
			return errReported
		}
	}
	return nil
}

var marks = map[server.Verdict]string{server.Good: "ok ", server.Limited: " ! ", server.Bad: "NO "}

func (r report) print(e *env) {
	file := r.Config
	if file == "" {
		file = "none"
	}
	fmt.Fprintf(e.out, "nearglass %s for %s, config file: %s\n", r.Build.Version, r.Build.System, file)
	area := ""
	for _, c := range r.Checks {
		if c.Area != area {
			area = c.Area
			fmt.Fprintf(e.out, "\n%s\n", area)
		}
		fmt.Fprintf(e.out, "  %s %-17s %s\n", marks[c.Verdict], c.What, plain(c.Found))
		if c.Advice != "" {
			fmt.Fprintf(e.out, "      %-17s -> %s\n", "", c.Advice)
		}
	}
}
