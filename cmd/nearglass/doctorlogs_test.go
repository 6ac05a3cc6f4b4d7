package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nearglass/telemetry"
)

// writeLog writes a log into a file of that name and gives its path.
func writeLog(t *testing.T, dir, name string, records ...any) string {
	t.Helper()
	var data []byte
	var err error
	for _, r := range records {
		if data, err = telemetry.AppendLine(data, r); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sleepyLogs are the logs of a stream whose host slept.
func sleepyLogs(t *testing.T, dir string) (host, viewer string) {
	header := telemetry.Header{Record: telemetry.KindHeader, Stream: olderStream, Side: telemetry.HostSide}
	host = writeLog(t, dir, "a.host.jsonl", header,
		telemetry.HostSecond{Record: telemetry.KindSecond, T: 1000, SpanMs: 1000},
		telemetry.HostSecond{Record: telemetry.KindSecond, T: 2000, SpanMs: 1000},
		telemetry.Event{Record: telemetry.KindEvent, T: 2100, Name: telemetry.EventAsleep, AmountMs: 60_000},
		telemetry.HostSecond{Record: telemetry.KindSecond, T: 3000, SpanMs: 1000})
	header.Side = telemetry.ViewerSide
	viewer = writeLog(t, dir, "a.viewer.jsonl", header, telemetry.ViewerSecond{Record: telemetry.KindSecond, T: 1000, SpanMs: 1000})
	return host, viewer
}

func doctorCommand(args ...string) (string, error) {
	var out bytes.Buffer
	e := &env{ctx: context.Background(), out: &out, err: &out}
	err := e.command(append([]string{"doctor"}, args...))
	return out.String(), err
}

func TestDoctorReadsLogs(t *testing.T) {
	host, viewer := sleepyLogs(t, t.TempDir())
	out, err := doctorCommand(viewer, host)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{olderStream + ", 3 s recorded\n", "The likely cause\n  The host's machine slept (host-asleep", "slept for 60 s", "-> Keep it awake"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	out, err = doctorCommand("--json", host)
	var found diagnosis
	if err != nil || json.Unmarshal([]byte(out), &found) != nil || len(found.Causes) != 1 || found.Viewer {
		t.Errorf("%v: %s", err, out)
	}
}

func TestDoctorReadsAReport(t *testing.T) {
	dir := stateWithLogs(t)
	file := filepath.Join(t.TempDir(), "r.zip")
	if out, err := logsCommand(t, dir, "bundle", newerStream, "-o", file); err != nil {
		t.Fatal(err, out)
	}
	out, err := doctorCommand(file)
	if err != nil || !strings.Contains(out, newerStream) || !strings.Contains(out, "the viewer's log is missing") || !strings.Contains(out, "Nothing is found") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestDoctorRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	host, viewer := sleepyLogs(t, dir)
	other := writeLog(t, dir, "b.viewer.jsonl", telemetry.Header{Record: telemetry.KindHeader, Stream: newerStream, Side: telemetry.ViewerSide})
	for _, c := range []struct {
		want string
		args []string
	}{
		{"log of the host is missing", []string{viewer}},
		{"second log of the host", []string{host, host}},
		{"of two streams", []string{host, other}},
		{"no report of nearglass", []string{writeLog(t, dir, "c.zip", telemetry.Header{})}},
		{"it is a folder", []string{dir}},
		{"no such file", []string{filepath.Join(dir, "d.host.jsonl")}},
	} {
		if out, err := doctorCommand(c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, not %q; it printed %s", c.args, err, c.want, out)
		}
	}
}
