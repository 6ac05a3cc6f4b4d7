package telemetry

import (
	"cmp"
	"math"
	"slices"
)

// Timeline is the two logs of one stream on one clock, the host's.
type Timeline struct {
	Host   Header
	Viewer Header // zero where the viewer's log is missing
	// Seconds are in order of time. In most of them both ends speak; where one
	// was silent, its pointer is nil.
	Seconds []Second
	Events  []TimelineEvent
	// Matched says how the clocks were brought together.
	Matched Match
	// BoundMs is how wrong the viewer's times can be where the match is best,
	// in the middle of all seconds; infinite when nothing bounds it.
	BoundMs float64
}

// Match says what the viewer's times in a Timeline rest on.
type Match string

// Matches, the best first.
const (
	ByPing Match = "ping" // pings on the control channel
	ByWall Match = "wall" // both wall clocks, which may differ by anything
	ByNone Match = ""     // one of the logs is missing
)

// Second is what both ends say of the same second.
type Second struct {
	T      float64 // its end, ms since the host's time 0
	Host   *HostSecond
	Viewer *ViewerSecond
	// BoundMs is how wrong the viewer's place in time can be; 0 without one.
	BoundMs float64
}

// TimelineEvent is an event and who saw it.
type TimelineEvent struct {
	Event         // its own T is the writer's
	At    float64 // ms since the host's time 0
	Side  Side
}

// Join puts the logs of both ends into one timeline. Either may be empty. A
// viewer's record stands beside the host's record that ends nearest to it, if
// that is less than three quarters of a second away, and alone otherwise.
func Join(host, viewer Log) Timeline {
	t := Timeline{Host: host.Header, Viewer: viewer.Header}
	clocks := clockMap(host, viewer)
	t.Matched, t.BoundMs = clocks.match, clocks.middleBound()
	for i := range host.Host {
		h := &host.Host[i]
		t.Seconds = append(t.Seconds, Second{T: h.T, Host: h})
	}
	t.addViewer(viewer.Viewer, clocks)
	for _, e := range host.Events {
		t.Events = append(t.Events, TimelineEvent{e, e.T, HostSide})
	}
	for _, e := range viewer.Events {
		at, _ := clocks.host(e.T)
		t.Events = append(t.Events, TimelineEvent{e, at, ViewerSide})
	}
	slices.SortStableFunc(t.Events, func(a, b TimelineEvent) int { return cmp.Compare(a.At, b.At) })
	return t
}

// nearMs is how far two records may end apart and still be of one second. Each
// end writes once a second; half of it and the lateness of a busy machine.
const nearMs = 750

// addViewer places the viewer's records beside the host's. It goes through both
// in order of time, so that each of the host's records is used once.
func (t *Timeline) addViewer(records []ViewerSecond, m mapping) {
	hosts := len(t.Seconds)
	next := 0
	for i := range records {
		v := &records[i]
		at, bound := m.host(v.T)
		for next+1 < hosts && math.Abs(t.Seconds[next+1].T-at) <= math.Abs(t.Seconds[next].T-at) {
			next++
		}
		if next < hosts && t.Seconds[next].Viewer == nil && math.Abs(t.Seconds[next].T-at) < nearMs {
			t.Seconds[next].Viewer, t.Seconds[next].BoundMs = v, bound
			continue
		}
		t.Seconds = append(t.Seconds, Second{T: at, Viewer: v, BoundMs: bound})
	}
	slices.SortStableFunc(t.Seconds, func(a, b Second) int { return cmp.Compare(a.T, b.T) })
}

// mapping turns the viewer's times into the host's.
type mapping struct {
	match Match
	wall  float64 // offset by the wall clocks
	marks []mark
}

// mark is an estimate of the offset at one time of the viewer.
type mark struct{ at, offset, bound float64 }

func clockMap(host, viewer Log) mapping {
	if host.Header.Record == "" || viewer.Header.Record == "" {
		return mapping{}
	}
	m := mapping{match: ByWall, wall: viewer.Header.StartMs - host.Header.StartMs}
	for _, v := range viewer.Viewer {
		if v.Clock != nil {
			m.marks = append(m.marks, mark{v.T, v.Clock.OffsetMs, v.Clock.BoundMs})
		}
	}
	slices.SortStableFunc(m.marks, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	if len(m.marks) > 0 {
		m.match = ByPing
	}
	return m
}

// mostDriftMs is how much two clocks may drift apart in a millisecond. Quartz is
// within 100 parts in a million, and one that is being corrected within 500.
const mostDriftMs = 500e-6

// host is where a time of the viewer lies on the host's clock, and how wrong
// that can be.
func (m mapping) host(t float64) (at, bound float64) {
	switch m.match {
	case ByNone:
		return t, math.Inf(1)
	case ByWall:
		return t + m.wall, math.Inf(1)
	}
	i, _ := slices.BinarySearchFunc(m.marks, t, func(k mark, t float64) int { return cmp.Compare(k.at, t) })
	if i == len(m.marks) || i > 0 && t-m.marks[i-1].at < m.marks[i].at-t {
		i--
	}
	k := m.marks[i]
	return t + k.offset, k.bound + mostDriftMs*math.Abs(t-k.at)
}

func (m mapping) middleBound() float64 {
	if len(m.marks) == 0 {
		return math.Inf(1)
	}
	bounds := make([]float64, len(m.marks))
	for i, k := range m.marks {
		bounds[i] = k.bound
	}
	slices.Sort(bounds)
	return bounds[len(bounds)/2]
}
