package telemetry

import (
	"math"
	"testing"
)

// hostLog has a second's record at each of the times given.
func hostLog(at ...float64) Log {
	l := Log{Header: hostHeader}
	for _, t := range at {
		l.Host = append(l.Host, HostSecond{Record: KindSecond, T: t})
	}
	return l
}

// viewerLog is written by a clock that started later than the host's by start
// and runs faster by drift.
func viewerLog(start, drift, bound float64, hostTimes ...float64) Log {
	l := Log{Header: viewerHeader}
	l.Header.StartMs += 3 * 3600e3 // the wall clock is three hours wrong
	for _, at := range hostTimes {
		t := (at - start) * (1 + drift)
		v := ViewerSecond{Record: KindSecond, T: t}
		if bound > 0 {
			v.Clock = &Clock{OffsetMs: at - t, BoundMs: bound}
		}
		l.Viewer = append(l.Viewer, v)
	}
	return l
}

func TestJoinBringsSecondsTogether(t *testing.T) {
	host := hostLog(1000, 2000, 3000, 4000)
	viewer := viewerLog(740, 200e-6, 1, 1990, 3010, 4005)
	tl := Join(host, viewer)
	if tl.Matched != ByPing || tl.BoundMs != 1 || len(tl.Seconds) != 4 {
		t.Fatalf("%+v", tl)
	}
	for i, s := range tl.Seconds {
		if s.Host == nil || (s.Viewer == nil) != (i == 0) {
			t.Errorf("second %d: %+v", i, s)
		}
	}
	if got := tl.Seconds[1].Viewer; got != &viewer.Viewer[0] {
		t.Errorf("beside the host's second 2000 stands %+v", got)
	}
}

// Each end's record appears once, wherever the other was silent and however the
// two timers beat against each other.
func TestJoinLosesNothing(t *testing.T) {
	cases := map[string]struct{ host, viewer []float64 }{
		"the viewer begins earlier":    {[]float64{5000, 6000}, []float64{1000, 2000, 5100, 6100, 7100}},
		"the host was stopped":         {[]float64{1000, 9000}, []float64{1000, 2000, 3000, 4000, 9000}},
		"the viewer ticks faster":      {[]float64{1000, 2000, 3000}, []float64{600, 1200, 1800, 2400, 3000}},
		"the viewer was held for long": {[]float64{1000, 2000, 3000, 4000}, []float64{1000, 3900}},
		"no host record":               {nil, []float64{1000, 2000}},
		"no viewer record":             {[]float64{1000}, nil},
	}
	for name, c := range cases {
		tl := Join(hostLog(c.host...), viewerLog(0, 0, 1, c.viewer...))
		host, viewer, last := 0, 0, math.Inf(-1)
		for _, s := range tl.Seconds {
			if s.Host != nil {
				host++
			}
			if s.Viewer != nil {
				viewer++
			}
			if s.T < last {
				t.Errorf("%s: %v after %v", name, s.T, last)
			}
			last = s.T
		}
		if host != len(c.host) || viewer != len(c.viewer) {
			t.Errorf("%s: %d and %d records, want %d and %d", name, host, viewer, len(c.host), len(c.viewer))
		}
	}
}

func TestJoinOrdersEventsOnTheHostsClock(t *testing.T) {
	host := hostLog(1000, 2000)
	host.Events = []Event{{T: 10, Name: EventStart}, {T: 1500, Name: EventKey}}
	viewer := viewerLog(740, 0, 2, 1000, 2000)
	viewer.Events = []Event{{T: 100, Name: EventConnected}}
	tl := Join(host, viewer)
	var names []string
	for _, e := range tl.Events {
		names = append(names, e.Name)
	}
	if len(names) != 3 || names[1] != EventConnected || tl.Events[1].At != 840 || tl.Events[1].Side != ViewerSide {
		t.Errorf("%+v", tl.Events)
	}
}

// Without pings the wall clocks are all there is, and the timeline says so.
func TestJoinWithoutPings(t *testing.T) {
	tl := Join(hostLog(1000), viewerLog(0, 0, 0, 1000))
	if tl.Matched != ByWall || !math.IsInf(tl.BoundMs, 1) {
		t.Errorf("matched by %q within %v", tl.Matched, tl.BoundMs)
	}
	if tl := Join(hostLog(1000), Log{}); tl.Matched != ByNone || len(tl.Seconds) != 1 {
		t.Errorf("one log alone: %+v", tl)
	}
}

// The offset of the time at hand counts: the two clocks move apart when one end
// was asleep.
func TestJoinFollowsTheOffset(t *testing.T) {
	viewer := Log{Header: viewerHeader, Viewer: []ViewerSecond{
		{T: 1000, Clock: &Clock{OffsetMs: 0, BoundMs: 1}},
		{T: 2000, Clock: &Clock{OffsetMs: -60000, BoundMs: 1}},
	}}
	viewer.Events = []Event{{T: 1100}, {T: 1990}}
	tl := Join(hostLog(1000), viewer)
	if a, b := tl.Events[0].At, tl.Events[1].At; a != 1990-60000 || b != 1100 {
		t.Errorf("events at %v and %v", a, b)
	}
}
