package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nearglass/cmd/bench/losslab"
)

// lossSum is what a sender gave on a path: medians over its streams, and of what
// must not be at all the most.
type lossSum struct {
	longest, delay, shown, kbytes float64
	wrong, keys                   float64
}

// sumLosses sums a sender's streams over a path up; false when there are none.
func sumLosses(runs []losslab.Figures, c losslab.Cell, sender string) (lossSum, bool) {
	var mine []losslab.Figures
	for _, f := range runs {
		if f.Loss == c.Loss.Name && f.RTT == losslab.RTTName(c.RTT) && f.Rate == losslab.RateName(c.Rate) && f.Sender == sender {
			mine = append(mine, f)
		}
	}
	if len(mine) == 0 {
		return lossSum{}, false
	}
	all := func(of func(losslab.Figures) float64) (list []float64) {
		for _, f := range mine {
			list = append(list, of(f))
		}
		return list
	}
	middle := func(of func(losslab.Figures) float64) float64 {
		v, _ := median(all(of))
		return v
	}
	return lossSum{
		longest: middle(func(f losslab.Figures) float64 { return f.Longest }),
		delay:   middle(func(f losslab.Figures) float64 { return f.Delay }),
		shown:   middle(func(f losslab.Figures) float64 { return 100 * float64(f.Shown) / float64(max(f.Of, 1)) }),
		kbytes:  middle(func(f losslab.Figures) float64 { return float64(f.Bytes) / 1000 }),
		wrong:   slices.Max(all(func(f losslab.Figures) float64 { return float64(f.Wrong) })),
		keys:    slices.Max(all(func(f losslab.Figures) float64 { return float64(f.Keys) })),
	}, true
}

// lossCell is a path with what all senders gave.
type lossCell struct {
	where   string // "": in virtual time
	cell    losslab.Cell
	senders map[string]lossSum
}

// lossSlack is by how much the combination may stand still for longer than the best
// of its parts: a frame time.
const lossSlack = time.Second / losslab.FPS

// rows adds what is judged and what informs.
func (l lossCell) rows(rep *report) {
	best := -1.0
	for name, sum := range l.senders {
		if name != lossOurs && name != chromiumVP8 && (best < 0 || sum.longest < best) {
			best = sum.longest
		}
	}
	longest := lower("longest without a new picture", "ms", nil, nil)
	if best >= 0 {
		longest.Must = limit(best + milliseconds(lossSlack))
	}
	add := func(w row, of func(lossSum) float64) {
		w.Measure = l.where + l.cell.String() + ": " + w.Measure
		w.Baselines = map[string]float64{}
		for name, sum := range l.senders {
			if name != lossOurs {
				w.Baselines[name] = of(sum)
			}
		}
		rep.add(w, of(l.senders[lossOurs]), nil)
	}
	add(longest, func(s lossSum) float64 { return s.longest })
	add(lower("wrong pictures", "a stream", limit(0), nil), func(s lossSum) float64 { return s.wrong })
	add(lower("key frames", "a stream", limit(0), nil), func(s lossSum) float64 { return s.keys })
	add(higher("shown", "%", nil, nil), func(s lossSum) float64 { return s.shown })
	add(lower("delay, p95", "ms", nil, nil), func(s lossSum) float64 { return s.delay })
	add(lower("on the wire", "kB", nil, nil), func(s lossSum) float64 { return s.kbytes })
}

// lossTable is all that was measured, for reading.
type lossTable struct {
	cells []lossCell
	runs  []losslab.Figures
}

// write prints the table as Markdown and stores it, and each stream's own figures
// beside it.
func (t *lossTable) write(out io.Writer, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text := t.markdown()
	fmt.Fprintf(out, "\n%s\n", text)
	data, err := json.MarshalIndent(t.runs, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "loss-runs.json"), data, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "loss.md"), []byte(text), 0o644)
}

// markdown is a line a path, with the senders' figures side by side.
func (t *lossTable) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Each cell: %s.\n\n", strings.Join(lossSenders(), " / "))
	b.WriteString("| path | longest freeze, ms | key frames | wrong | shown, % | delay p95, ms | kB |\n|---|---|---|---|---|---|---|\n")
	for _, l := range t.cells {
		side := func(of func(lossSum) float64) string {
			var list []string
			for _, name := range lossSenders() {
				if sum, ok := l.senders[name]; ok {
					list = append(list, fmt.Sprintf("%.0f", of(sum)))
				}
			}
			return strings.Join(list, " / ")
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s | %s | %s | %s |\n", l.where, l.cell,
			side(func(s lossSum) float64 { return s.longest }), side(func(s lossSum) float64 { return s.keys }),
			side(func(s lossSum) float64 { return s.wrong }), side(func(s lossSum) float64 { return s.shown }),
			side(func(s lossSum) float64 { return s.delay }), side(func(s lossSum) float64 { return s.kbytes }))
	}
	return b.String()
}
