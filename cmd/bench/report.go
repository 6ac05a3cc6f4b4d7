package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// row is one measure of a bench. Ours is nil when it could not be measured, and
// Reason then says why. Must and Goal are nil where none is set.
type row struct {
	Measure   string             `json:"measure"`
	Unit      string             `json:"unit"`
	Better    string             `json:"better"` // "lower" or "higher"
	Ours      *float64           `json:"ours"`
	Baselines map[string]float64 `json:"baselines"`
	Must      *float64           `json:"must"`
	Goal      *float64           `json:"goal"`
	Holds     bool               `json:"holds"`
	Reason    string             `json:"reason,omitempty"`
}

// report is what a bench writes.
type report struct {
	Bench   string `json:"bench"`
	Commit  string `json:"commit"`
	Machine string `json:"machine"`
	Load    string `json:"load"` // one-minute load average before and after
	Quick   bool   `json:"quick,omitempty"`
	Rows    []row  `json:"rows"`
}

func newReport(bench string, quick bool) *report {
	return &report{Bench: bench, Commit: commit(), Machine: machine(), Load: load(), Quick: quick}
}

// add judges a row and appends it. An error takes the place of ours; a row that
// comes with a reason has nothing to be judged by, and does not hold.
func (r *report) add(w row, ours float64, err error) {
	if w.Baselines == nil {
		w.Baselines = map[string]float64{}
	}
	for name, v := range w.Baselines {
		w.Baselines[name] = rounded(v)
	}
	if err != nil {
		w.Reason = err.Error()
	} else {
		ours = rounded(ours)
		w.Ours = &ours
		w.Holds = w.Reason == "" && (w.Must == nil || *w.Must == ours || (*w.Must > ours) == (w.Better == "lower"))
	}
	r.Rows = append(r.Rows, w)
}

// rounded keeps four digits: no figure here is better than that.
func rounded(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return short
}

// limit is a figure for Must or Goal.
func limit(v float64) *float64 { v = rounded(v); return &v }

// write prints the table and stores the JSON.
func (r *report) write(out io.Writer, dir string) error {
	r.Load += " to " + load()
	r.table(out)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, r.Bench+".json")
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n", path)
	return nil
}

func (r *report) table(out io.Writer) {
	names := r.baselines()
	fmt.Fprintf(out, "\nbench %s, commit %s, %s, load %s\n\n", r.Bench, r.Commit, r.Machine, r.Load)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(slices.Concat([]string{"measure", "unit", "ours"}, names, []string{"must", "goal", "holds"}), "\t"))
	for _, w := range r.Rows {
		cells := []string{w.Measure, w.Unit, figure(w.Ours)}
		for _, name := range names {
			v, ok := w.Baselines[name]
			cells = append(cells, figure(map[bool]*float64{true: &v}[ok]))
		}
		holds := map[bool]string{true: "yes", false: "NO"}[w.Holds]
		cells = append(cells, figure(w.Must), figure(w.Goal), holds+map[bool]string{true: " (" + w.Reason + ")"}[w.Reason != ""])
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	_ = t.Flush()
}

// baselines names all that appear, in the order of their first row.
func (r *report) baselines() []string {
	var names []string
	for _, w := range r.Rows {
		var here []string
		for name := range w.Baselines {
			if !slices.Contains(names, name) {
				here = append(here, name)
			}
		}
		slices.Sort(here)
		names = append(names, here...)
	}
	return names
}

func figure(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=10").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func machine() string {
	name := runtime.GOARCH
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			name = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%d x %s", runtime.NumCPU(), name)
}

func load() string {
	data, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(data), " ")
	return first
}
