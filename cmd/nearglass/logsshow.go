package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"nearglass/telemetry"
)

type logsShowCmd struct {
	streamArg
	JSON bool `name:"json" help:"Print the joined timeline as JSON, one second a line, for programs."`
}

// Run prints a stream's timeline.
func (l *logsShowCmd) Run(e *env) error {
	store, id, err := l.find(e)
	if err != nil {
		return err
	}
	host, viewer, err := readLogs(store, id)
	if err != nil {
		return err
	}
	t := telemetry.Join(host, viewer)
	if l.JSON {
		return printTimeline(e.out, t)
	}
	fmt.Fprintf(e.out, "stream %s, begun %s, %s\n\n", id, day(time.UnixMilli(int64(host.Header.StartMs))), plain(host.Header.Source))
	w := newTimelineWriter(e.out)
	w.write(t, math.Inf(-1))
	return w.tab.Flush()
}

type logsTailCmd struct{ streamArg }

// tailSeconds is how much of the past tail shows.
const tailSeconds = 10

// Run prints the newest seconds, and each further one until the context ends.
func (l *logsTailCmd) Run(e *env) error {
	store, id, err := l.find(e)
	if err != nil {
		return err
	}
	w := newTimelineWriter(e.out)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	from := math.NaN()
	for {
		host, viewer, err := readLogs(store, id)
		if err != nil {
			return err
		}
		t := telemetry.Join(host, viewer)
		if n := len(t.Seconds); math.IsNaN(from) && n > 0 {
			from = t.Seconds[max(0, n-tailSeconds)].T - 1
		}
		from = w.write(t, from)
		if err := w.tab.Flush(); err != nil || over(t) {
			return err
		}
		select {
		case <-e.ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// over says whether the host has written that the stream ended.
func over(t telemetry.Timeline) bool {
	for _, e := range t.Events {
		if e.Name == telemetry.EventEnd && e.Side == telemetry.HostSide {
			return true
		}
	}
	return false
}

// timelineWriter prints seconds and events in the order of time.
type timelineWriter struct{ tab *tabwriter.Writer }

func newTimelineWriter(to io.Writer) timelineWriter {
	w := timelineWriter{tabwriter.NewWriter(to, 7, 0, 2, ' ', tabwriter.AlignRight)}
	fmt.Fprintln(w.tab, "TIME\tDELAY\tFPS\tSHOWN\tMBIT/S\tOF\tPATH\tRTT\tLOSS\tQP\tCPU\t STATE")
	return w
}

// write prints what is after a time and gives the time of the last second.
func (w timelineWriter) write(t telemetry.Timeline, after float64) float64 {
	next, last := 0, after
	for _, s := range t.Seconds {
		for ; next < len(t.Events) && t.Events[next].At <= s.T; next++ {
			if e := t.Events[next]; e.At > after {
				fmt.Fprintf(w.tab, "%s\t\t\t\t\t\t\t\t\t\t\t %s: %s %s\n", clockOf(e.At), e.Side, plain(e.Name), plain(e.Reason+pathLabel(e.Path)))
			}
		}
		if s.T > after {
			fmt.Fprintln(w.tab, row(s))
			last = max(last, s.T)
		}
	}
	return last
}

func pathLabel(p *telemetry.Path) string {
	if p == nil {
		return ""
	}
	return p.Label
}

func row(s telemetry.Second) string {
	delay, shown := "", ""
	if v := s.Viewer; v != nil {
		shown = fmt.Sprint(v.Frames.Shown)
		if t := v.Delay.Total; t != nil {
			delay = fmt.Sprintf("%.0f", t.Mean)
		}
	}
	h := s.Host
	if h == nil {
		return fmt.Sprintf("%s\t%s\t\t%s\t\t\t\t\t\t\t\t ", clockOf(s.T), delay, shown)
	}
	loss := 0.0
	if n := h.Packets.Acked + h.Packets.Lost; n > 0 {
		loss = 100 * float64(h.Packets.Lost) / float64(n)
	}
	return fmt.Sprintf("%s\t%s\t%d\t%s\t%.1f\t%.1f\t%.1f\t%.0f\t%.1f\t%.0f\t%.0f\t %s", clockOf(s.T), delay, h.Frames.Encoded, shown,
		h.Rate.SentKbps/1000, h.Rate.TargetKbps/1000, h.Rate.PathKbps/1000, h.RTT.OrZero().Mean, loss, h.QP.OrZero().Mean, h.CPU.Process, plain(h.Rate.State))
}

// clockOf writes a time of the stream as hours, minutes and seconds.
func clockOf(ms float64) string {
	return (time.Duration(ms/1000) * time.Second).String()
}

// printTimeline prints the joined seconds, one a line.
func printTimeline(to io.Writer, t telemetry.Timeline) error {
	for _, s := range t.Seconds {
		line, err := telemetry.AppendLine(nil, map[string]any{"t": s.T, "host": s.Host, "viewer": s.Viewer, "boundMs": finite(s.BoundMs)})
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// finite is nil for what JSON cannot hold.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}
