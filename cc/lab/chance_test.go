package lab

import (
	"fmt"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

// TestChanceIsNoQueue: on a path that delays each packet by chance, and keeps them
// in order, so that neighbours are late together, what is late by chance is not
// taken for a queue, whatever is shown.
func TestChanceIsNoQueue(t *testing.T) {
	const least = 65 // percent
	for _, megabits := range []float64{3, 10} {
		for _, sigma := range []time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond} {
			for _, content := range []Content{Steady{}, Desktop()} {
				c := link(at(0, megabits))
				c.Jitter = sim.Jitter{Sigma: sigma, Keep: true}
				s := single(fmt.Sprintf("%v, %v, %T", rate.Rate(megabits)*rate.Mbps, sigma, content), 30*time.Second, c)
				s.Flows[0].Content = content
				if u := used(Run(s, Ours("ours", 0), 1)); u < least {
					t.Errorf("%s: %.1f %% used", s.Name, u)
				}
			}
		}
	}
}
