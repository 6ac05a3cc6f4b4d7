package main

import (
	"testing"

	"nearglass/cc/lab"
)

func TestRowsAreChosenByName(t *testing.T) {
	all, err := ccCmd{}.chosen(settings{})
	if err != nil || len(all) < 100 {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	some, err := ccCmd{}.chosen(settings{Only: []string{"policer"}})
	if err != nil || len(some) != 2 {
		t.Errorf("policer is in %d rows, %v; want it with steady and desktop content", len(some), err)
	}
	if _, err := (ccCmd{}).chosen(settings{Only: []string{"nothing of the kind"}}); err == nil {
		t.Error("a choice of no rows is no error")
	}
}

// TestFiguresOfEverySeed: each row gets a figure a seed, whichever core ran it.
func TestFiguresOfEverySeed(t *testing.T) {
	rows, err := ccCmd{}.chosen(settings{Only: []string{"the same start on 1 Mbit/s"}})
	if err != nil {
		t.Fatal(err)
	}
	got := ccCmd{Seeds: 3, Seed: 1}.figures(rows, lab.AIMD)
	for _, r := range rows {
		if len(got[r.Measure]) != 3 {
			t.Errorf("%s has %d figures of 3 seeds", r.Measure, len(got[r.Measure]))
		}
	}
}

func TestDiffersByFivePercent(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want bool
	}{{100, 104, false}, {100, 106, true}, {0, 0, false}, {0, 1, true}, {-1, 1, true}} {
		if got := differs(c.a, c.b); got != c.want {
			t.Errorf("differs(%v, %v) = %v", c.a, c.b, got)
		}
	}
}
