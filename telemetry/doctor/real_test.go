package doctor_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nearglass/telemetry"
	"nearglass/telemetry/doctor"
)

// TestRealStreams reads the logs of real streams, a browser watching a host, into
// which bench faults had put a fault. The machine was busy with other things as
// well, which may be named behind it.
func TestRealStreams(t *testing.T) {
	expected := load[map[string]string](t, "real/expected.json")
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		found := doctor.Diagnose(telemetry.Join(readReal(t, name, telemetry.HostSide), readReal(t, name, telemetry.ViewerSide)))
		var first doctor.Fault
		if len(found) > 0 {
			first = found[0].Fault
		}
		if !slices.Contains(strings.Split(expected[name], " or "), string(first)) {
			t.Errorf("%s: found%s", name, names(found))
		} else {
			t.Logf("%s:%s", name, names(found))
		}
	}
}

func readReal(t *testing.T, name string, side telemetry.Side) telemetry.Log {
	t.Helper()
	f, err := os.Open(filepath.Join(cases, "real", name+"."+string(side)+".jsonl"))
	if side == telemetry.ViewerSide && errors.Is(err, fs.ErrNotExist) {
		return telemetry.Log{} // its viewer was no browser
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := telemetry.ReadLog(f)
	if err != nil || l.Unread > 0 || l.Cut {
		t.Fatalf("%s: %v, %d lines not understood", name, err, l.Unread)
	}
	return l
}

// TestHostAlone: without the viewer's log what the host sees is still named.
func TestHostAlone(t *testing.T) {
	for _, name := range []string{"lossy-link-10", "capped-link-1", "stalled-capture-6", "cpu-starved-6"} {
		expected := load[map[string]doctor.Fault](t, "real/expected.json")[name]
		found := doctor.Diagnose(telemetry.Join(readReal(t, name, telemetry.HostSide), telemetry.Log{}))
		if len(found) == 0 || found[0].Fault != expected {
			t.Errorf("%s: found%s", name, names(found))
		}
	}
	if found := doctor.Diagnose(telemetry.Timeline{}); len(found) > 0 {
		t.Errorf("in nothing it found%s", names(found))
	}
}
