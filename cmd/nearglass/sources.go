package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"nearglass/gpu/capture"
)

type sourcesCmd struct {
	JSON    bool   `name:"json" help:"Print JSON, for programs."`
	Display string `help:"X display (default: $DISPLAY)." placeholder:":N" env:"NEARGLASS_DISPLAY"`
}

// Help is shown below the flags.
func (*sourcesCmd) Help() string {
	return `Displays, windows and the two built-in sources, with the ids by which
--source and the page's address know them.

Examples:
  nearglass sources
  nearglass sources --json | jq -r '.[] | select(.kind == "window") | .id'`
}

// Run lists the sources of every backend that answers.
func (s *sourcesCmd) Run(e *env) error {
	backends := []capture.Backend{capture.NewDemo(), capture.NewPattern()}
	if x, err := capture.OpenX11(s.Display); err == nil {
		backends = append([]capture.Backend{x}, backends...)
	} else {
		fmt.Fprintf(e.err, "the built-in sources alone: %v (nearglass doctor says more)\n", err)
	}
	list := []capture.Source{}
	for _, b := range backends {
		found, err := b.List(e.ctx)
		if err != nil {
			fmt.Fprintf(e.err, "%s: %v\n", b.Name(), err)
		}
		list = append(list, found...)
		_ = b.Close()
	}
	if s.JSON {
		return printJSON(e.out, list)
	}
	return sourceTable(e, list)
}

func sourceTable(e *env, list []capture.Source) error {
	t := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSIZE\tAT\tSCALE\tTITLE")
	for _, s := range list {
		title := plain(s.Title)
		if s.App != "" && s.App != s.Title {
			title += " (" + plain(s.App) + ")"
		}
		if s.Unavailable != "" {
			title += " - " + s.Unavailable
		}
		b := s.Bounds
		fmt.Fprintf(t, "%s\t%dx%d\t%d,%d\t%g\t%s\n", s.ID, b.Dx(), b.Dy(), b.Min.X, b.Min.Y, s.Scale, title)
	}
	return t.Flush()
}

// plain keeps a window's title from writing to the terminal on its own.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || (r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, s)
}
