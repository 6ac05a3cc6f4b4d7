package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nearglass/server"
	"nearglass/telemetry"
	bundle "nearglass/telemetry/report"
)

const (
	olderStream = "ABCAAAAAAAAAAAAAAAAAAAAAAA"
	newerStream = "ABDAAAAAAAAAAAAAAAAAAAAAAA"
)

// stateWithLogs is a state folder in which two streams were recorded.
func stateWithLogs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	store := server.OpenStreamLogs(dir)
	begun := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for i, id := range []string{olderStream, newerStream} {
		w, err := store.Begin(begun, telemetry.Header{Stream: id, Side: telemetry.HostSide, Device: "d1", Source: "desktop", StartMs: float64(begun.UnixMilli())})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []any{
			telemetry.Event{Record: telemetry.KindEvent, T: 5, Name: telemetry.EventPath, Path: &telemetry.Path{Label: "local network"}},
			telemetry.HostSecond{Record: telemetry.KindSecond, T: 1000, SpanMs: 1000, Frames: telemetry.HostFrames{Encoded: 57},
				Rate: telemetry.Rate{SentKbps: 5300, TargetKbps: 8000, State: "steady"}},
			telemetry.Event{Record: telemetry.KindEvent, T: 1500, Name: telemetry.EventEnd, Reason: "the viewer left"},
		} {
			if err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		at := begun.Add(time.Duration(i+1) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, server.StreamsFolder, id+".host.jsonl"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// logsCommand runs one command line and gives what it prints.
func logsCommand(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	e := &env{ctx: context.Background(), out: &out, err: &out}
	err := e.command(append([]string{"--state", dir, "logs"}, args...))
	return out.String(), err
}

func TestLogs(t *testing.T) {
	dir := stateWithLogs(t)
	cases := []struct {
		args  string
		wants []string
		fails string
	}{
		{"", []string{"STREAM", newerStream + "  ", olderStream, "desktop", "2m0s", "host\n"}, ""},
		{"list --json", []string{`"stream": "` + newerStream, `"viewer": false`}, ""},
		{"show", []string{newerStream, "57", "5.3", "8.0", "steady", "host: path local network", "1s"}, ""},
		{"show ABC", []string{olderStream}, ""},
		{"show --json", []string{`"t":1000`, `"viewer":null`}, ""},
		{"tail", []string{"steady", "1s"}, ""},
		{"show AB", nil, "several streams"},
		{"show X", nil, "no recorded stream"},
		{"show " + newerStream + "A", nil, "no recorded stream"},
	}
	for _, c := range cases {
		out, err := logsCommand(t, dir, strings.Fields(c.args)...)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("logs %s: %v, want %q", c.args, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("logs %s: %v", c.args, err)
		}
		for _, want := range c.wants {
			if !strings.Contains(out, want) {
				t.Errorf("logs %s lacks %q:\n%s", c.args, want, out)
			}
		}
	}
}

func TestLogsOfNothing(t *testing.T) {
	dir := t.TempDir()
	if out, err := logsCommand(t, dir); err != nil || !strings.Contains(out, "No stream") {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := logsCommand(t, dir, "show"); err == nil || !strings.Contains(err.Error(), "as soon as somebody watches") {
		t.Errorf("%v", err)
	}
}

func TestLogsBundle(t *testing.T) {
	dir := stateWithLogs(t)
	t.Chdir(t.TempDir())
	if out, err := logsCommand(t, dir, "bundle"); err != nil || !strings.Contains(out, "nearglass-abda") {
		t.Fatalf("%q, %v", out, err)
	}
	r, err := bundle.Open("nearglass-" + strings.ToLower(newerStream) + ".zip")
	if err != nil || r.About.Stream != newerStream || len(r.Host.Host) != 1 {
		t.Errorf("%+v, %v", r.About, err)
	}
	if _, err := logsCommand(t, dir, "bundle"); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a second time: %v", err)
	}
	if _, err := logsCommand(t, dir, "bundle", "ABC", "-o", "other.zip"); err != nil {
		t.Error(err)
	}
}
