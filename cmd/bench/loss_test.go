package main

import (
	"slices"
	"strings"
	"testing"

	"nearglass/cmd/bench/losslab"
)

// lossRuns are three rounds of some senders over one path, whose freezes are given.
func lossRuns(c losslab.Cell, freezes map[string][3]float64) (list []losslab.Figures) {
	for sender, all := range freezes {
		for round, longest := range all {
			list = append(list, losslab.Figures{
				Loss: c.Loss.Name, RTT: losslab.RTTName(c.RTT), Rate: losslab.RateName(c.Rate), Sender: sender, Round: round + 1,
				Shown: 590, Of: 600, Longest: longest, Delay: 30, Bytes: 2_000_000,
			})
		}
	}
	return list
}

// TestCombinationIsJudgedByItsParts: by the best of them and a frame time, and never
// by Chromium's sender.
func TestCombinationIsJudgedByItsParts(t *testing.T) {
	c := losslab.Cells()[0]
	for _, x := range []struct {
		ours  [3]float64
		holds bool
	}{{[3]float64{50, 96, 400}, true}, {[3]float64{50, 97, 400}, false}} {
		b := &lossBench{report: newReport("loss", true)}
		b.add("", []losslab.Cell{c}, lossRuns(c, map[string][3]float64{
			lossOurs: x.ours, "rtx": {80, 60, 300}, "idr": {200, 210, 220}, "reference": {90, 90, 90}, chromiumVP8: {10, 10, 10},
		}))
		row := b.report.Rows[0]
		if row.Holds != x.holds || *row.Must != 96.67 || len(row.Baselines) != 4 {
			t.Errorf("%v: %+v, must %v", x.ours, row, *row.Must)
		}
		if text := b.table.markdown(); !strings.Contains(text, "/ 80 / 210 / 90 / 10 |") {
			t.Error(text)
		}
	}
}

// TestOneWrongPictureIsTooMany: medians would hide it.
func TestOneWrongPictureIsTooMany(t *testing.T) {
	c := losslab.Cells()[0]
	runs := lossRuns(c, map[string][3]float64{lossOurs: {50, 50, 50}})
	runs[1].Wrong, runs[2].Keys = 1, 2
	b := &lossBench{report: newReport("loss", true)}
	b.add("", []losslab.Cell{c}, runs)
	for i, want := range []float64{50, 1, 2} {
		if row := b.report.Rows[i]; *row.Ours != want || row.Holds != (i == 0) {
			t.Errorf("%+v", row)
		}
	}
}

// TestLossChoice: what --only names of a kind takes the place of the usual.
func TestLossChoice(t *testing.T) {
	b := &lossBench{settings: settings{Only: []string{"200ms", "rtx"}}}
	if got := b.chosen(lossReal...); !slices.Equal(got, []string{"200ms", "rtx", "2%", "burst10", "outage"}) {
		t.Errorf("%q", got)
	}
	if n := len(losslab.Chosen(b.chosen(lossReal...))); n != 3*1*2 {
		t.Errorf("%d paths", n)
	}
	b.Only = append(b.Only, "3%")
	if err := b.check(); err == nil || !strings.Contains(err.Error(), "3%") {
		t.Errorf("a loss that there is not: %v", err)
	}
}
