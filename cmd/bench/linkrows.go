package main

import (
	"errors"
	"fmt"
	"math"
)

// linkRow is a row of the table for the cases that it applies to.
type linkRow struct {
	key, what, unit string
	more            bool                // more is better
	judged          bool                // by the baseline of the same run
	of              func(linkCase) bool // nil: all
}

func dips(c linkCase) bool    { return c.dip > 0 }
func hasBulk(c linkCase) bool { return c.bulk }

// linkRows in their order. The judged ones are those of the comparison: ahead
// in queue, at least equal in use.
var linkRows = []linkRow{
	{key: usedShare, what: "used, from 5 s on", unit: "%", more: true, judged: true},
	{key: queueP50, what: "queue found, p50", unit: "ms"},
	{key: queueP95, what: "queue found, p95", unit: "ms", judged: true},
	{key: frontP95, what: "queue found by a picture's first packet, p95", unit: "ms", judged: true},
	{key: pictureP95, what: "picture's way through the link, p95", unit: "ms"},
	{key: tailShare, what: "packets refused by the full queue", unit: "%"},
	{key: otherShare, what: "resends and padding", unit: "%"},
	{key: fillTime, what: "80 % of the link after", unit: "s"},
	{key: fillPeak, what: "longest queue in the first 5 s", unit: "ms"},
	{key: fallPeak, what: "10 to 3: longest queue", unit: "ms", of: dips},
	{key: fallBelow, what: "10 to 3: sends less than 3 after", unit: "s", of: dips},
	{key: fallSettle, what: "10 to 3: queue below 20 ms after", unit: "s", of: dips},
	{key: riseTime, what: "3 to 10: 8 carried after", unit: "s", of: dips},
	{key: besideShare, what: "share beside the TCP flow", unit: "%", more: true, of: hasBulk},
	{key: bulkShare, what: "the TCP flow's share", unit: "%", more: true, of: hasBulk},
	{key: backTime, what: "80 % again after the TCP flow's end", unit: "s", of: hasBulk},
	{key: shownFPS, what: "shown of 60", unit: "fps", more: true},
	{key: freezeCount, what: "freezes", unit: "a run"},
	{key: frozenTime, what: "frozen", unit: "s"},
	{key: lateP99, what: "lateness of the link itself, p99", unit: "ms"},
	{key: ownCores, what: "use by sender, viewer and link", unit: "cores"},
	{key: busyCores, what: "the whole machine's use", unit: "cores"},
}

// linkRuns are the figures by case, then by peer, a run each.
type linkRuns map[string]map[string][]linkFigures

// rows makes the report's rows of the cases that were measured.
func (runs linkRuns) rows(rep *report, cases []linkCase, peers []linkPeer, failed map[string]error) {
	for _, c := range cases {
		for _, l := range linkRows {
			if l.of == nil || l.of(c) {
				w, v, err := runs.row(c, l, peers)
				if err != nil && failed[c.name] != nil {
					err = failed[c.name]
				}
				rep.add(w, v, err)
			}
		}
	}
}

// judge names the baseline that ours is judged by on a link: the one that used
// most of it.
func (runs linkRuns) judge(c linkCase) (name string) {
	best := -1.0
	for _, p := range linkPeers {
		if v, err := middle(runs[c.name][p.name], usedShare); err == nil && p.name != ours && v > best {
			name, best = p.name, v
		}
	}
	return name
}

// row gives one row with the medians of all peers.
func (runs linkRuns) row(c linkCase, l linkRow, peers []linkPeer) (row, float64, error) {
	w := lower(c.what+": "+l.what, l.unit, nil, nil)
	if l.more {
		w.Better = "higher"
	}
	w.Baselines = map[string]float64{}
	for _, p := range peers {
		if p.name == ours {
			continue
		}
		if v, err := middle(runs[c.name][p.name], l.key); err == nil {
			w.Baselines[p.name] = v
			if l.judged && p.name == runs.judge(c) {
				w.Must = limit(v)
			}
		}
	}
	v, err := middle(runs[c.name][ours], l.key)
	return w, v, err
}

// errNever is a figure that most runs never reached.
var errNever = errors.New("not reached in most runs")

// middle is the median of a figure over some runs. A run without it, such as
// one that never filled the link, counts as later than all that have it.
func middle(runs []linkFigures, key string) (float64, error) {
	var all []float64
	for _, f := range runs {
		v, ok := f[key]
		if !ok {
			v = math.Inf(1)
		}
		all = append(all, v)
	}
	v, err := median(all)
	if math.IsInf(v, 1) {
		err = errNever
	}
	return v, err
}

// line tells a run's main figures while the bench goes on.
func (f linkFigures) line() string {
	return fmt.Sprintf("used %.0f %%, queue %.1f / %.1f ms (picture's first %.1f), %.0f fps, %.0f freezes, link late %.2f ms, %.1f of %.1f cores",
		f[usedShare], f[queueP50], f[queueP95], f[frontP95], f[shownFPS], f[freezeCount], f[lateP99], f[ownCores], f[busyCores])
}
