package encode

import (
	"image"
	"testing"
)

func TestMostReferences(t *testing.T) {
	for size, want := range map[image.Point]int{
		{X: 1, Y: 1}: 16, {X: 1920, Y: 1080}: 16, {X: 2560, Y: 1440}: 12, {X: 3840, Y: 2160}: 5, {X: maxSide, Y: maxSide}: 1, {}: 16,
	} {
		if got := MostReferences(size); got != want {
			t.Errorf("%v: %d, want %d", size, got, want)
		}
	}
}

func TestReferences(t *testing.T) {
	type step struct {
		number, newest uint64 // a picture, and what is given up before it
		key            bool
		want           uint64
		spares         bool // it may be dropped when it was encoded
	}
	for name, c := range map[string]struct {
		most  int
		wraps uint64
		steps []step
	}{
		"one after another": {2, 0, []step{{1, 0, true, 0, false}, {2, 0, false, 1, true}, {3, 0, false, 2, true}}},
		"around a loss":     {4, 0, []step{{1, 0, true, 0, false}, {2, 0, false, 1, true}, {3, 0, false, 2, true}, {4, 1, false, 1, true}, {5, 0, false, 4, true}}},
		"as far as it goes": {4, 0, []step{{1, 0, true, 0, false}, {2, 1, false, 1, true}, {3, 1, false, 1, true}, {4, 1, false, 1, true}, {5, 1, false, 1, false}, {6, 1, false, 0, false}}},
		"before a key":      {4, 0, []step{{1, 0, true, 0, false}, {2, 0, false, 1, true}, {3, 0, true, 0, false}, {4, 2, false, 0, false}}},
		"across the wrap": {16, 4, []step{{1, 0, true, 0, false}, {2, 0, false, 1, true}, {3, 0, false, 2, true}, {4, 0, false, 3, true},
			{5, 0, false, 4, true}, {6, 0, false, 5, true}, {7, 5, false, 5, true}, {8, 3, false, 0, false}}},
	} {
		r := references{most: c.most, wraps: c.wraps}
		for _, s := range c.steps {
			if s.newest > 0 {
				r.giveUp(s.newest)
			}
			got := r.of(s.number)
			if got != s.want && !s.key {
				t.Errorf("%s: picture %d refers to %d, want %d", name, s.number, got, s.want)
			}
			r.add(s.number, s.key || got == 0)
			if r.spares(s.number) != s.spares {
				t.Errorf("%s: picture %d may be dropped: %v", name, s.number, !s.spares)
			}
		}
	}
}
