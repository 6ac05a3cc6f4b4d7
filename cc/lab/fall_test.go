package lab

import (
	"fmt"
	"testing"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
)

// TestFallsFar: a path that becomes a tiny part of what it was, behind a buffer that
// is small or large, is not flooded for long. Where nearly all is lost no train comes
// whole, so that only the losses tell.
func TestFallsFar(t *testing.T) {
	const fall, later = 15 * time.Second, 20 * time.Second
	ours := Ours("ours", 0)
	for _, from := range []rate.Rate{10 * rate.Mbps, 36 * rate.Mbps, 50 * rate.Mbps} {
		for _, to := range []rate.Rate{300 * rate.Kbps, 440 * rate.Kbps, rate.Mbps} {
			for _, buffer := range []int{9_400, 60_000} {
				for _, delay := range []time.Duration{5 * time.Millisecond, 40 * time.Millisecond, 100 * time.Millisecond} {
					s := single(fmt.Sprintf("%v to %v, a buffer of %d bytes, %v", from, to, buffer, delay), 30*time.Second, sim.LinkConfig{
						Delay: delay, Rates: []sim.Step{{Rate: from}, {At: fall, Rate: to}}, Queue: sim.Queue{Bytes: buffer},
					})
					sent := 0
					for _, p := range Run(s, ours, 1).Flows[0].Sent {
						if p.Sent > later {
							sent += p.Size
						}
					}
					if share := float64(rate.Of(sent, s.Length-later)) / float64(to); share > 2 {
						t.Errorf("%s: %.1f times what it carries is sent", s.Name, share)
					}
				}
			}
		}
	}
}
