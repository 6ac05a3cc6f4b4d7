package lab

import (
	"fmt"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

// TestDetours: a path that becomes longer in the middle of a stream, and perhaps narrower
// with it, is used as one that always was so, from two seconds later on.
func TestDetours(t *testing.T) {
	const begins, later, least = 10 * time.Second, 12 * time.Second, 75 // percent
	for _, megabits := range [][2]float64{{2, 2}, {5, 5}, {20, 20}, {20, 5}, {20, 2}} {
		from, to := rate.Rate(megabits[0]*1e6), rate.Rate(megabits[1]*1e6)
		for _, extra := range []time.Duration{15 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond} {
			for _, content := range []Content{Steady{}, Desktop()} {
				c := link(sim.Step{Rate: from}, sim.Step{At: begins, Rate: to})
				c.Detours = []sim.Detour{{At: begins, Extra: extra}}
				s := single(fmt.Sprintf("%v to %v, %v longer, %T", from, to, extra, content), 22*time.Second, c)
				s.Flows[0].Content = content
				bytes := 0
				for _, p := range Run(s, Ours("ours", 0), 1).Flows[0].Sent {
					if p.Sent > later {
						bytes += p.Size
					}
				}
				if share := 100 * float64(rate.Of(bytes, s.Length-later)) / float64(to); share < least {
					t.Errorf("%s: %.0f %% used", s.Name, share)
				}
			}
		}
	}
}
