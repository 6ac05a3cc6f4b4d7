package lab

import "time"

// Figure is one number of a run.
type Figure struct {
	Name  string
	Value float64
	Unit  string
}

// Figures gives the figures that any run has, for its first stream, and those
// of the scenario's rows.
func (r *Result) Figures() []Figure {
	list := r.common()
	for _, row := range Rows() {
		if row.Scenario == r.Scenario.Name {
			list = append(list, Figure{row.Measure, row.value(r), row.Unit})
		}
	}
	return list
}

func (r *Result) common() []Figure {
	l, end := r.Flows[0], r.Scenario.Length
	after := min(5*time.Second, end/2)
	return []Figure{
		{"utilization", r.utilization(0, after, end), "%"},
		{"standing queue p95", millis(percentile(l.standing(after, end), 95)), "ms"},
		{"standing queue p99", millis(percentile(l.standing(after, end), 99)), "ms"},
		{"worst queue", millis(l.worst(0, end)), "ms"},
		{"frame delivery p95", frames(percentile(l.deliveries(after, end), 95)), "frames"},
		{"dropped", float64(len(l.Dropped)), "packets"},
		{"frames", float64(len(l.Frames)), ""},
		{"packets", float64(len(l.Sent)), ""},
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// frames gives a time in frame intervals.
func frames(d time.Duration) float64 { return float64(d) / float64(frameInterval) }
