package server

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func allLines(logLine) bool { return true }

func TestHostLogIsDiscreet(t *testing.T) {
	dir := t.TempDir()
	log := withFile(slog.New(slog.DiscardHandler), dir)
	log.With("name", "Ann's phone").Info("device paired", "device", "d1", "title", "secret.txt", "host", "ann.example")
	log.Warn("request refused", "path", "/whep/session/SECRETSESSION", "origin", "https://evil.example", "status", 404)
	log.Debug("message refused", "err", "secret")
	got, err := lastLines(dir, allLines)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"Ann", "secret", "SECRET", "example"} {
		if strings.Contains(string(got), bad) {
			t.Errorf("%q is in the host's log:\n%s", bad, got)
		}
	}
	for _, want := range []string{"device paired", `"device":"d1"`, `"path":"/whep/session/"`, `"status":404`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is not in the host's log:\n%s", want, got)
		}
	}
}

// A report has what is about its stream, or about nobody.
func TestHostLogOfAStream(t *testing.T) {
	dir := t.TempDir()
	log := withFile(slog.New(slog.DiscardHandler), dir)
	log.Info("serving")
	for _, device := range []string{"d1", "d2"} {
		log.Info("paired "+device, "device", device)
		log.With("device", device).With("stream", "S"+device).Info("viewer " + device)
	}
	got, err := lastLines(dir, func(l logLine) bool { return l.concerns("Sd1", "d1") })
	if err != nil || strings.Contains(string(got), "d2") || strings.Count(string(got), "\n") != 3 {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestHostLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	log := withFile(slog.New(slog.DiscardHandler), dir)
	for i := range 12_000 {
		log.Info("a line of the log that says something of some length", "number", i)
	}
	var total int64
	for _, name := range []string{HostLogName, HostLogName + ".1"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 2*hostLogBytes+1000 {
		t.Errorf("the log has %d bytes", total)
	}
	got, err := lastLines(dir, allLines)
	if err != nil || strings.Count(string(got), "\n") != mostLines || !strings.Contains(string(got), fmt.Sprint(`"number":`, 11_999)) {
		t.Errorf("%d lines, %v", strings.Count(string(got), "\n"), err)
	}
}

// A folder that cannot be written to costs the file and nothing else.
func TestHostLogWithoutAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	withFile(slog.New(slog.DiscardHandler), dir).Info("lost")
	if got, err := lastLines(dir, allLines); err != nil || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
}
