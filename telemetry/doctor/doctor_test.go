package doctor_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nearglass/telemetry"
	"nearglass/telemetry/doctor"
)

const cases = "../../testdata/faults"

// faultCase is a file of the cases: one fault in several scenes, and so much of
// it at each of three severities.
type faultCase struct {
	Fault   doctor.Fault `json:"fault"`
	Unit    string       `json:"unit"`
	Amounts []float64    `json:"amounts"`
	Scenes  []scene      `json:"scenes"`
}

func load[T any](t *testing.T, name string) T {
	t.Helper()
	var v T
	data, err := os.ReadFile(filepath.Join(cases, name))
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// with gives the scene with so much of its fault.
func (s scene) with(amount float64) scene {
	s.Faults = append([]fault(nil), s.Faults...)
	f := &s.Faults[0]
	f.Amount = amount
	if f.For {
		f.To = f.From + amount
	}
	return s
}

// diagnose plays a scene.
func diagnose(s scene, seed uint64) []doctor.Finding {
	host, viewer := play(s, seed)
	return doctor.Diagnose(telemetry.Join(host, viewer))
}

// names lists what was found, as a line.
func names(found []doctor.Finding) string {
	line := ""
	for _, f := range found {
		line += fmt.Sprintf(" %s %.2f(%.2f*%.2f)", f.Fault, f.Score(), f.Severity, f.Certainty)
		if f.Because != "" {
			line += "<" + string(f.Because)
		}
	}
	if line == "" {
		return " nothing"
	}
	return line
}

var all = []doctor.Fault{
	doctor.SlowDecoder, doctor.LossyLink, doctor.CappedLink, doctor.Bufferbloat, doctor.CompetingTraffic, doctor.RelayedPath, doctor.WrongPath,
	doctor.MTUTrouble, doctor.EncoderOverload, doctor.CPUStarved, doctor.StalledCapture, doctor.SlowSource, doctor.ViewerBackground,
	doctor.ViewerThrottled, doctor.AudioHoldsVideo, doctor.KeyFrameStorm, doctor.ProbeStarvation, doctor.ClockJump, doctor.FlappingWiFi, doctor.HostAsleep,
}

// thorough plays every scene at every severity, which takes minutes; otherwise
// each fault has its first scene at all three and the others at one.
var thorough = flag.Bool("thorough", false, "play every scene at every severity")

func TestEachFaultIsNamedFirst(t *testing.T) {
	for _, name := range all {
		t.Run(string(name), func(t *testing.T) {
			c := load[faultCase](t, string(name)+".json")
			for i, s := range c.Scenes {
				for n, amount := range c.Amounts {
					if i > 0 && n != i%len(c.Amounts) && !*thorough {
						continue
					}
					found := diagnose(s.with(amount), uint64(i+1))
					if len(found) == 0 || found[0].Fault != name {
						t.Errorf("scene %d (%s) with %v %s: found%s", i, s.Source, amount, c.Unit, names(found))
					} else {
						t.Logf("scene %d (%s) with %v %s:%s", i, s.Source, amount, c.Unit, names(found))
					}
				}
			}
		})
	}
}

func TestHealthyStreamsHaveNoName(t *testing.T) {
	for i, s := range load[[]scene](t, "healthy.json") {
		if found := diagnose(s, uint64(i+1)); len(found) > 0 {
			t.Errorf("%s: found%s\n%v", s.Name, names(found), found[0].Evidence)
		}
	}
}

// TestPairsOfFaults plays two faults at once, of the same severity: one of the
// two has to be named first.
func TestPairsOfFaults(t *testing.T) {
	for i, pair := range load[[][2]doctor.Fault](t, "pairs.json") {
		a, b := load[faultCase](t, string(pair[0])+".json"), load[faultCase](t, string(pair[1])+".json")
		for level := range a.Amounts {
			if level != i%len(a.Amounts) && !*thorough {
				continue
			}
			s := a.Scenes[0].with(a.Amounts[level])
			other := b.Scenes[0].with(b.Amounts[level])
			s = s.and(other)
			found := diagnose(s, uint64(i+1))
			if len(found) == 0 || found[0].Fault != pair[0] && found[0].Fault != pair[1] {
				t.Errorf("%s and %s, severity %d: found%s", pair[0], pair[1], level+1, names(found))
			} else {
				t.Logf("%s and %s, severity %d:%s", pair[0], pair[1], level+1, names(found))
			}
		}
	}
}

// and adds the faults of another scene, and what they need.
func (s scene) and(o scene) scene {
	s.Faults = append(s.Faults, o.Faults...)
	s.Audio = s.Audio || o.Audio
	s.Seconds = max(s.Seconds, o.Seconds)
	s.QueueMs = max(s.QueueMs, o.QueueMs)
	if o.Cores != 0 {
		s.Cores = o.Cores
	}
	if s.Path == "" {
		s.Path, s.Label = o.Path, o.Label
	}
	if o.Source == "after" {
		s.Source = o.Source
	}
	return s
}
