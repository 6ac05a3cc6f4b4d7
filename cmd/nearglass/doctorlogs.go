package main

import (
	"fmt"
	"os"
	"strings"

	"nearglass/telemetry"
	"nearglass/telemetry/doctor"
	bundle "nearglass/telemetry/report"
)

// diagnosis is what doctor found in the logs of a stream, as JSON has it.
type diagnosis struct {
	Stream  string           `json:"stream"`
	Seconds int              `json:"seconds"` // that were recorded
	Viewer  bool             `json:"viewer"`  // its log is there, too
	Causes  []doctor.Finding `json:"causes"`  // the likeliest first
}

// diagnose reads a report, or the logs of a stream, and says what went wrong.
func (d *doctorCmd) diagnose(e *env) error {
	t, err := readTimeline(d.Logs)
	if err != nil {
		return err
	}
	found := diagnosis{t.Host.Stream, len(t.Seconds), t.Viewer.Record != "", doctor.Diagnose(t)}
	if d.JSON {
		return printJSON(e.out, found)
	}
	found.print(e)
	return nil
}

// readTimeline joins the logs in the files: one report, or the log of the host
// with or without that of the viewer, in any order.
func readTimeline(names []string) (telemetry.Timeline, error) {
	if len(names) == 1 && !strings.HasSuffix(names[0], ".jsonl") {
		r, err := bundle.Open(names[0])
		return r.Timeline(), err
	}
	ends := map[telemetry.Side]telemetry.Log{}
	for _, name := range names {
		l, err := readLog(name)
		if err != nil {
			return telemetry.Timeline{}, err
		}
		if before, twice := ends[l.Header.Side]; twice {
			return telemetry.Timeline{}, fmt.Errorf("%s: that is a second log of the %s", name, before.Header.Side)
		}
		ends[l.Header.Side] = l
	}
	host, viewer := ends[telemetry.HostSide], ends[telemetry.ViewerSide]
	if host.Header.Record == "" {
		return telemetry.Timeline{}, fmt.Errorf("the log of the host is missing: give ID.host.jsonl, too")
	}
	if viewer.Header.Record != "" && viewer.Header.Stream != host.Header.Stream {
		return telemetry.Timeline{}, fmt.Errorf("the logs are of two streams, %s and %s", host.Header.Stream, viewer.Header.Stream)
	}
	return telemetry.Join(host, viewer), nil
}

func readLog(name string) (telemetry.Log, error) {
	f, err := os.Open(name)
	if err != nil {
		return telemetry.Log{}, fmt.Errorf("opening the log: %w", err)
	}
	defer f.Close()
	l, err := telemetry.ReadLog(f)
	if err != nil {
		return l, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

// print writes the causes: the likeliest one first and in full.
func (d diagnosis) print(e *env) {
	about := fmt.Sprintf("Stream %s, %d s recorded", plain(d.Stream), d.Seconds)
	if !d.Viewer {
		about += "; the viewer's log is missing, so its side is not known"
	}
	fmt.Fprintf(e.out, "%s\n", about)
	if len(d.Causes) == 0 {
		fmt.Fprintf(e.out, "\nNothing is found that made this stream bad.\n")
		return
	}
	for i, c := range d.Causes {
		switch i {
		case 0:
			fmt.Fprintf(e.out, "\nThe likely cause\n")
		case 1:
			fmt.Fprintf(e.out, "\nAlso seen\n")
		}
		printCause(e, c)
	}
}

func printCause(e *env, c doctor.Finding) {
	fmt.Fprintf(e.out, "  %s (%s, %.0f %% sure)\n", c.Title, c.Fault, 100*c.Certainty)
	for _, line := range c.Evidence {
		fmt.Fprintf(e.out, "      %s\n", plain(line))
	}
	if because := doctor.Title(c.Because); because != "" {
		fmt.Fprintf(e.out, "      most likely because: %s\n", because)
		return
	}
	fmt.Fprintf(e.out, "      -> %s\n", c.Advice)
}
