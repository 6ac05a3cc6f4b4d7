package doctor_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"nearglass/telemetry"
	"nearglass/telemetry/doctor"
)

// FuzzDiagnose: logs come from strangers. Whatever they hold, each cause that is
// found lies within the scale and comes in order.
func FuzzDiagnose(f *testing.F) {
	for _, name := range []string{"lossy-link-10", "host-frozen-5", "healthy-glance-away"} {
		f.Add(ends(f, name+".host.jsonl"), ends(f, name+".viewer.jsonl"))
	}
	f.Fuzz(func(t *testing.T, host, viewer []byte) {
		h, _ := telemetry.ReadLog(bytes.NewReader(host))
		v, _ := telemetry.ReadLog(bytes.NewReader(viewer))
		found := doctor.Diagnose(telemetry.Join(h, v))
		for i, c := range found {
			if !(c.Score() > 0 && c.Score() <= 1) || i > 0 && c.Score() > found[i-1].Score() {
				t.Errorf("found%s", names(found))
			}
			if c.Title == "" || c.Advice == "" || len(c.Evidence) == 0 {
				t.Errorf("%s says nothing: %+v", c.Fault, c)
			}
		}
	})
}

// ends is a recorded log without its middle, so that changing it is quick.
func ends(f *testing.F, name string) []byte {
	data, err := os.ReadFile(filepath.Join(cases, "real", name))
	if err != nil {
		f.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	const kept = 6
	return bytes.Join(append(lines[:kept], lines[max(kept, len(lines)-kept):]...), nil)
}
