package main

import (
	"fmt"

	"nearglass/server"
)

type doctorCmd struct {
	Logs []string `arg:"" optional:"" type:"path" name:"report" help:"A report on a stream, or its logs (.jsonl): say what went wrong in it, instead of checking this machine."`
	JSON bool     `name:"json" help:"Print JSON, for programs."`
	settings
}

// Help is shown below the flags.
func (*doctorCmd) Help() string {
	return `Tries what a stream needs, with the same settings as serve: captures a picture,
encodes it, opens the ports. It ends with status 1 when something does not work.

With a report, as the viewer's menu or nearglass logs bundle makes it, it names
what made that stream bad, the likeliest cause first, with the evidence and what
to do. The log of the host with or without that of the viewer will do as well.

Examples:
  nearglass doctor
  nearglass doctor --display :1 --listen :8000
  nearglass doctor nearglass-7QX.zip
  nearglass doctor 7QX.host.jsonl 7QX.viewer.jsonl
  nearglass doctor --json | jq '.checks[] | select(.verdict != "good")'`
}

// report is what doctor found, as JSON has it.
type report struct {
	Build  buildInfo      `json:"build"`
	Config string         `json:"config"` // the config file that was read; "" for none
	Checks []server.Check `json:"checks"`
}

// Run examines the machine, or the stream whose report is given, and prints what
// it found.
func (d *doctorCmd) Run(e *env) error {
	if len(d.Logs) > 0 {
		return d.diagnose(e)
	}
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
