package main

import (
	"fmt"
	"os"
	"time"
)

// repairCmd measures what becomes of a stream when packets are lost, through
// the real stack and through pion's default chain. As with rampCmd it is a test
// in server/transport that streams.
type repairCmd struct {
	Length  time.Duration `help:"How long each stream is. 0 means 3m, or 20s with --quick."`
	Streams int           `help:"How many streams of each kind there are at once. 0 means 4, or 1 with --quick."`
}

// repair is one stream, as the test in server/transport writes it.
type repair struct {
	Stack    string  `json:"stack"`
	Content  string  `json:"content"`
	Loss     float64 `json:"loss"`
	Seconds  float64 `json:"seconds"`
	Pictures int     `json:"pictures"`
	Shown    int     `json:"shown"`
	Keys     int     `json:"keys"`
	Bytes    int     `json:"bytes"`
	Besides  int     `json:"besides"`
	Late     float64 `json:"late"`
	Longest  float64 `json:"longest"`
}

// The two stacks by the names that the test and the table give them.
const (
	repairOurs   = "ours"
	repairTheirs = "pion"
	repairName   = "pion's default"
)

// Run measures and writes the report.
func (c repairCmd) Run(s settings) error {
	if c.Length == 0 {
		c.Length = map[bool]time.Duration{false: 3 * time.Minute, true: 20 * time.Second}[s.Quick]
	}
	if c.Streams == 0 {
		c.Streams = map[bool]int{false: 4, true: 1}[s.Quick]
	}
	rep := newReport("repair", s.Quick)
	runs, err := fromTest[repair](inTransport("TestRepair", "repair", c.Length+5*time.Minute),
		"-repair-time", c.Length.String(), "-repair-count", fmt.Sprint(c.Streams))
	if err != nil {
		return err
	}
	kinds, sums := sumRepairs(runs)
	for _, kind := range kinds {
		addRepair(rep, kind, sums[kind][repairOurs], sums[kind][repairTheirs])
	}
	return rep.write(os.Stdout, s.Out)
}

// sumRepairs adds the streams of a kind up, by stack, and lists the kinds in
// order.
func sumRepairs(runs []repair) ([]string, map[string]map[string]repair) {
	var kinds []string
	sums := map[string]map[string]repair{}
	for _, r := range runs {
		kind := fmt.Sprintf("%s, %g %% lost", r.Content, 100*r.Loss)
		if sums[kind] == nil {
			kinds = append(kinds, kind)
			sums[kind] = map[string]repair{}
		}
		sum := sums[kind][r.Stack]
		sum.Seconds += r.Seconds
		sum.Pictures += r.Pictures
		sum.Shown += r.Shown
		sum.Keys += r.Keys
		sum.Bytes += r.Bytes
		sum.Besides += r.Besides
		sum.Late = max(sum.Late, r.Late)
		sum.Longest = max(sum.Longest, r.Longest)
		sums[kind][r.Stack] = sum
	}
	return kinds, sums
}

// addRepair adds the rows of one kind of stream.
func addRepair(rep *report, kind string, ours, theirs repair) {
	add := func(w row, figure func(repair) float64) {
		w.Measure = kind + ": " + w.Measure
		w.Baselines = map[string]float64{repairName: figure(theirs)}
		rep.add(w, figure(ours), nil)
	}
	add(higher("shown in time", "%", nil, nil), func(r repair) float64 { return 100 * float64(r.Shown) / float64(max(1, r.Pictures)) })
	add(lower("key frames", "a minute", nil, nil), func(r repair) float64 { return 60 * float64(r.Keys) / max(1, r.Seconds) })
	if theirs.Keys > 0 {
		rep.add(lower(kind+": key frames, ours over pion's", "ratio", nil, nil), float64(ours.Keys)/float64(theirs.Keys), nil)
	}
	add(lower("resends and padding", "% of the pictures' bytes", nil, nil), func(r repair) float64 { return 100 * float64(r.Besides) / float64(max(1, r.Bytes)) })
	add(lower("longest without a new picture", "ms", nil, nil), func(r repair) float64 { return r.Longest })
	add(lower("the link itself late by at most", "ms", nil, nil), func(r repair) float64 { return r.Late })
}
