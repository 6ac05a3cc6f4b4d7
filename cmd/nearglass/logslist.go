package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"nearglass/server"
	"nearglass/telemetry"
)

type logsListCmd struct {
	JSON bool `name:"json" help:"Print JSON, for programs."`
}

// logRow is a stream as the list shows it.
type logRow struct {
	Stream    string    `json:"stream"`
	Begun     time.Time `json:"begun"`
	Written   time.Time `json:"written"` // when its newest line was
	Source    string    `json:"source"`
	Device    string    `json:"device"`
	SizeBytes int64     `json:"sizeBytes"`
	Viewer    bool      `json:"viewer"` // the viewer's log is there as well
}

// Run lists the recorded streams, newest first.
func (l *logsListCmd) Run(e *env) error {
	dir, err := e.stateDir()
	if err != nil {
		return err
	}
	rows, err := logRows(server.OpenStreamLogs(dir))
	if err != nil {
		return err
	}
	if l.JSON {
		return printJSON(e.out, rows)
	}
	if len(rows) == 0 {
		fmt.Fprintln(e.out, "No stream was recorded yet.")
		return nil
	}
	t := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STREAM\tBEGUN\tLENGTH\tSOURCE\tDEVICE\tKB\tLOGS OF")
	for _, r := range rows {
		ends := "host"
		if r.Viewer {
			ends = "host, viewer"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", r.Stream, day(r.Begun), r.Written.Sub(r.Begun).Round(time.Second),
			plain(r.Source), r.Device, (r.SizeBytes+1023)/1024, ends)
	}
	return t.Flush()
}

func logRows(store *telemetry.Store) ([]logRow, error) {
	list, err := store.List()
	if err != nil {
		return nil, err
	}
	rows := []logRow{}
	for _, s := range list {
		h, err := store.Header(s.Stream)
		if err != nil {
			continue // the beginning of the log is gone or damaged
		}
		rows = append(rows, logRow{
			Stream: s.Stream, Begun: time.UnixMilli(int64(h.StartMs)), Written: s.Written, Source: h.Source, Device: h.Device,
			SizeBytes: s.SizeBytes, Viewer: s.Viewer,
		})
	}
	return rows, nil
}
