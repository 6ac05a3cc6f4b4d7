package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"nearglass/telemetry"
	"nearglass/telemetry/doctor"
)

// cause is what the doctor found, as the page tells it.
type cause struct {
	Title    string
	Sure     string // how sure that is, and when it was
	Evidence []string
	Advice   []piece
	Because  string // what brings it about, in words; empty where it stands for itself
}

// piece is a part of a text; code is set as such.
type piece struct {
	Text string
	Code bool
}

func causesOf(found []doctor.Finding) []cause {
	var list []cause
	for _, f := range found {
		list = append(list, cause{
			Title: f.Title, Sure: fmt.Sprintf("%.0f %% sure, from %s to %s", 100*f.Certainty, wholeAt(f.FromMs), wholeAt(f.ToMs)),
			Evidence: f.Evidence, Advice: pieces(f.Advice), Because: doctor.Title(f.Because),
		})
	}
	return list
}

// wholeAt is a time of the stream without tenths.
func wholeAt(ms float64) string { return strings.TrimSuffix(at(math.Round(ms/1000)*1000), ".0") }

// pieces cuts a text at its backticks: what stands between two is code.
func pieces(text string) []piece {
	var list []piece
	for i, part := range strings.Split(text, "`") {
		if part != "" {
			list = append(list, piece{part, i%2 == 1})
		}
	}
	return list
}

// mostShaded is the share of a chart from which on a shade says nothing.
const mostShaded = 0.8

// shade marks on each chart when the likeliest cause was there, behind the lines.
func shade(list []chart, t telemetry.Timeline, found []doctor.Finding) {
	if len(found) == 0 {
		return
	}
	from, to := spanOf(t)
	sc := scale{from: from, to: to}
	left, right := sc.x(max(found[0].FromMs, from)), sc.x(min(found[0].ToMs, to))
	if right <= left || right-left > mostShaded*chartWidth {
		return
	}
	band := fmt.Sprintf(`<rect class="when" x="%.1f" y="0" width="%.1f" height="%.0f"/>`, left, right-left, chartHeight)
	for i := range list {
		list[i].Drawn = template.HTML(band) + list[i].Drawn
		list[i].Shaded = true
	}
}
