package lab

import (
	"time"

	"nearglass/cc/rate"
)

// Row is one measure: a figure of each run of a scenario, of which the worst
// over all seeds counts.
type Row struct {
	Scenario string
	Measure  string
	Unit     string
	Higher   bool     // more is better
	Must     *float64 // nil: it only informs
	Goal     *float64
	// Beat makes it the goal to be better than every baseline.
	Beat  bool
	value func(*Result) float64
}

// Better says whether a figure is better than another by the row's measure.
func (r Row) Better(a, b float64) bool { return (a > b) == r.Higher && a != b }

// Worst gives the worst of the figures; there must be one.
func (r Row) Worst(figures []float64) float64 {
	worst := figures[0]
	for _, v := range figures[1:] {
		if r.Better(worst, v) {
			worst = v
		}
	}
	return worst
}

// Best gives the best of the figures; there must be one.
func (r Row) Best(figures []float64) float64 {
	best := figures[0]
	for _, v := range figures[1:] {
		if r.Better(v, best) {
			best = v
		}
	}
	return best
}

type valueOf func(*Result) float64

// low is a row that has to be at or below must.
func low(scenario, measure, unit string, must, goal float64, v valueOf) Row {
	return Row{Scenario: scenario, Measure: measure, Unit: unit, Must: &must, Goal: &goal, value: v}
}

// high is a row that has to be at or above must.
func high(scenario, measure, unit string, must, goal float64, v valueOf) Row {
	return Row{Scenario: scenario, Measure: measure, Unit: unit, Must: &must, Goal: &goal, Higher: true, value: v}
}

// tell is a row that informs. Lower is better.
func tell(scenario, measure, unit string, v valueOf) Row {
	return Row{Scenario: scenario, Measure: measure, Unit: unit, value: v}
}

// Rows lists all measures, in the order of the table.
func Rows() []Row {
	var rows []Row
	for _, suffix := range []string{"", desktopSuffix} {
		for _, r := range contentRows(suffix) {
			r.Scenario += suffix
			r.Measure += suffix
			rows = append(rows, r)
		}
	}
	rows = append(rows, ownRows()...)
	rows = append(rows, rfcRows()...)
	return append(rows, wirelessRows()...)
}

// contentRows are measured with steady content and with a desktop's.
func contentRows(suffix string) []Row {
	var rows []Row
	rows = append(rows, steadyRows("steady 5", "5 Mbit/s", 80, suffix)...)
	rows = append(rows, steadyRows("steady 10", "10 Mbit/s", 82, suffix)...)
	rows = append(rows, steadyRows("steady 50", "50 Mbit/s", 85, suffix)...)
	rows = append(rows, startRows()...)
	rows = append(rows, dropRows()...)
	rows = append(rows, shareRows()...)
	rows = append(rows, badRows()...)
	return append(rows, feedbackRows()...)
}

// steadyRows are what a constant link gives after the first seconds. Pictures
// of a desktop differ in size, so that their delivery tells of the path only
// beyond what the largest take on any link.
func steadyRows(scenario, name string, must float64, suffix string) []Row {
	delivery := low(scenario, "frame delivery p95, "+name, "frames", 1.5, 1.1, func(r *Result) float64 {
		return frames(percentile(r.Flows[0].deliveries(settled, r.Scenario.Length), 95))
	})
	if suffix == desktopSuffix {
		delivery = low(scenario, "frame delivery beyond serialisation p95, "+name, "frames", 0.5, 0.1, func(r *Result) float64 {
			return frames(percentile(r.lateness(0, settled, r.Scenario.Length), 95))
		})
	}
	return []Row{
		high(scenario, "utilization, "+name, "%", must, 90, used),
		low(scenario, "standing queue p95, "+name, "ms", 8, 3, standing(95)),
		low(scenario, "standing queue p99, "+name, "ms", 20, 10, standing(99)),
		delivery,
	}
}

// used is the utilization in the steady state.
func used(r *Result) float64 { return r.utilization(0, settled, r.Scenario.Length) }

func standing(p float64) valueOf {
	return func(r *Result) float64 {
		return millis(percentile(r.Flows[0].standing(settled, r.Scenario.Length), p))
	}
}

// startRows are about the first second.
func startRows() []Row {
	start := func(want rate.Rate) valueOf {
		return func(r *Result) float64 {
			moves := r.Scenario.Flows[0].Content.moves()
			return r.Flows[0].reached(moves, r.Scenario.Length, want).Seconds()
		}
	}
	overshoot := func(r *Result) float64 {
		return millis(r.Flows[0].worst(0, r.Scenario.Flows[0].Content.moves()+3*time.Second))
	}
	again := func(r *Result) float64 {
		old := r.Before.Flows[0].updateAt(r.Before.Scenario.Length).Target
		return millis(r.Flows[0].targetAbove(0, r.Scenario.Length, old.Scale(0.8)))
	}
	return []Row{
		low("loopback", "ramp to 18 Mbit/s, loopback", "s", 1, 0.5, start(18*rate.Mbps)),
		low("slow", "the same start on 1 Mbit/s: queue", "ms", 150, 80, func(r *Result) float64 {
			return millis(r.Flows[0].worst(0, r.Scenario.Length))
		}),
		low("steady 10", "ramp to 80 % of 10 Mbit/s", "s", 1, 0.5, start(8*rate.Mbps)),
		low("steady 10", "queue at overshoot, 10 Mbit/s", "ms", 40, 20, overshoot),
		low("steady 50", "ramp to 80 % of 50 Mbit/s", "s", 1.5, 0.8, start(40*rate.Mbps)),
		low("steady 50", "queue at overshoot, 50 Mbit/s", "ms", 40, 20, overshoot),
		low("reconnect", "reconnect: 80 % of the old estimate", "ms", 300, 200, again),
		low("reconnect, quarter", "reconnect, path a quarter: at or below it", "ms", 500, 300, func(r *Result) float64 {
			return millis(r.Flows[0].targetBelow(0, r.Scenario.Length, 2500*rate.Kbps))
		}),
	}
}

// dropRows are about 10 to 3 Mbit/s and back.
func dropRows() []Row {
	return []Row{
		low("drop", "drop 10 to 3: target below 3 after the first feedback", "ms", 100, 0, reaction),
		low("drop", "drop 10 to 3: queue under 20 ms", "s", 1.5, 0.8, drainedAfterDrop),
		low("drop", "drop 10 to 3: peak queue", "ms", 240, 200, peakAfterDrop),
		low("drop", "drop 10 to 3: packets tail-dropped", "packets", 0, 0, droppedAfterDrop),
		low("drop", "recovery 3 to 10: 8 Mbit/s", "s", 3, 1.5, func(r *Result) float64 {
			return r.Flows[0].reached(recoverAt, r.Scenario.Length, 8*rate.Mbps).Seconds()
		}),
	}
}

// reaction is how long after the first feedback that showed the drop the target
// was below the new rate.
func reaction(r *Result) float64 {
	l := r.Flows[0]
	shown := l.shows(dropAt)
	below := dropAt + l.targetBelow(dropAt, recoverAt, 3*rate.Mbps-1)
	return millis(max(0, below-shown))
}

func drainedAfterDrop(r *Result) float64 {
	return r.Flows[0].drained(dropAt, recoverAt, 20*time.Millisecond).Seconds()
}

func peakAfterDrop(r *Result) float64 { return millis(r.Flows[0].worst(dropAt, recoverAt)) }

func droppedAfterDrop(r *Result) float64 {
	n := 0
	for _, at := range r.Flows[0].Dropped {
		if at >= dropAt && at < recoverAt {
			n++
		}
	}
	return float64(n)
}

// shareRows are about others on the same link.
func shareRows() []Row {
	share := func(r *Result) float64 {
		from := cubicAt + settled
		own := float64(r.Flows[0].delivered(from, cubicEnd))
		return 100 * own / (own + float64(r.Cross[0].delivered(from, cubicEnd)))
	}
	least := high("cubic", "beside one Cubic flow: smallest share", "%", 25, 40, share)
	most := low("cubic", "beside one Cubic flow: largest share", "%", 65, 60, share)
	return []Row{
		least, most,
		low("cubic", "back at 80 % after it ends", "s", 5, 2, func(r *Result) float64 {
			return r.Flows[0].reached(cubicEnd, r.Scenario.Length, 16*rate.Mbps).Seconds()
		}),
		low("late", "two streams: Jain's index 0.95", "s", 10, 5, func(r *Result) float64 {
			return r.fair(lateAt, r.Scenario.Length, 0.95).Seconds()
		}),
	}
}

// badRows are about paths that lose, delay and hold up packets.
func badRows() []Row {
	left := func(percent float64) valueOf {
		return func(r *Result) float64 { return used(r) / (1 - percent/100) }
	}
	return []Row{
		high("loss 2", "random loss 2 %: used of what it leaves", "%", 85, 90, left(2)),
		high("loss 5", "random loss 5 %: used of what it leaves", "%", 70, 80, left(5)),
		high("loss 10", "random loss 10 %: used of what it leaves", "%", 45, 60, left(10)),
		high("jitter", "jitter of 10 ms: utilization", "%", 70, 80, used),
		high("outages", "100 ms outage in every 200 ms: utilization", "%", 60, 80, used),
		low("policer", "policer 5 to 0.256 Mbit/s: loss", "%", 10, 5, func(r *Result) float64 {
			return r.Flows[0].lossShare(policeAt, r.Scenario.Length)
		}),
	}
}

// feedbackRows tell what other feedback intervals give.
func feedbackRows() []Row {
	var rows []Row
	for _, every := range []string{"50ms", "250ms"} {
		name := ", feedback " + every
		util := tell("steady 10"+name, "utilization, 10 Mbit/s"+name, "%", used)
		util.Higher = true
		peak := tell("drop"+name, "drop 10 to 3: peak queue"+name, "ms", peakAfterDrop)
		if every == "50ms" {
			goal := 130.0
			peak.Goal = &goal
		}
		rows = append(rows, util,
			tell("steady 10"+name, "standing queue p95, 10 Mbit/s"+name, "ms", standing(95)),
			tell("drop"+name, "drop 10 to 3: target below 3"+name, "ms", reaction),
			tell("drop"+name, "drop 10 to 3: queue under 20 ms"+name, "s", drainedAfterDrop),
			peak,
			tell("drop"+name, "drop 10 to 3: packets tail-dropped"+name, "packets", droppedAfterDrop))
	}
	return rows
}
