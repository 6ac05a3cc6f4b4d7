package doctor_test

import (
	"slices"
	"testing"

	"nearglass/telemetry"
	"nearglass/telemetry/doctor"
)

// pieceMs is how long a piece of a long stream is.
const pieceMs = 22_000

// long joins recorded streams to one of hours.
func long(t *testing.T, names []string) telemetry.Timeline {
	host, viewer := readReal(t, names[0], telemetry.HostSide), readReal(t, names[0], telemetry.ViewerSide)
	host.Host, viewer.Viewer = nil, nil
	pieces := map[string][2]telemetry.Log{}
	for i, name := range names {
		p, ok := pieces[name]
		if !ok {
			p = [2]telemetry.Log{readReal(t, name, telemetry.HostSide), readReal(t, name, telemetry.ViewerSide)}
			pieces[name] = p
		}
		shift := float64(i) * pieceMs
		for _, s := range p[0].Host {
			if s.T < pieceMs {
				s.T += shift
				host.Host = append(host.Host, s)
			}
		}
		for _, s := range p[1].Viewer {
			if s.T < pieceMs {
				s.T += shift
				viewer.Viewer = append(viewer.Viewer, s)
			}
		}
	}
	return telemetry.Join(host, viewer)
}

// TestLongStreams: two minutes of a fault are named in a stream of an hour that
// was well otherwise, and a passing moment in each quarter of an hour is not.
func TestLongStreams(t *testing.T) {
	well := slices.Repeat([]string{"healthy-film", "healthy-still", "healthy-film"}, 40)
	for _, name := range []string{
		"lossy-link-5", "capped-link-0.6", "competing-traffic-3", "bufferbloat-600", "flapping-wifi-350", "mtu-trouble-700", "cpu-starved-6",
		"stalled-capture-6", "slow-source-300", "slow-decoder", "viewer-throttled-30", "host-frozen-5", "key-frame-storm-900",
	} {
		expected := load[map[string]doctor.Fault](t, "real/expected.json")[name]
		found := doctor.Diagnose(long(t, slices.Insert(slices.Clone(well), 70, slices.Repeat([]string{name}, 5)...)))
		if len(found) == 0 || found[0].Fault != expected {
			t.Errorf("%s: found%s %+v", name, names(found), found)
		}
	}
	if found := doctor.Diagnose(long(t, well)); len(found) > 0 {
		t.Errorf("in an hour without a fault it found%s\n%v", names(found), found[0].Evidence)
	}
}
