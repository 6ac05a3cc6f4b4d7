package sim

import (
	"math"
	"time"
)

// CUBIC's constants, RFC 9438, 4.1 and 5.1, and the initial window of
// RFC 6928. Windows are in segments.
const (
	cubicC        = 0.4
	cubicBeta     = 0.7
	cubicAlpha    = 3 * (1 - cubicBeta) / (1 + cubicBeta) // 4.3
	initialWindow = 10
	leastWindow   = 2
)

// growth is the congestion window of RFC 9438. Names follow it.
type growth struct {
	window   float64
	ssthresh float64
	wMax     float64 // the window before the last reduction, or less (4.7)
	prior    float64 // the window before the last reduction

	running    bool // an epoch of congestion avoidance runs, since epochStart
	epochStart time.Duration
	k          float64 // seconds until the curve is back at wMax
	wEst       float64 // what Reno would have (4.3)
}

func newGrowth() growth {
	return growth{window: initialWindow, ssthresh: math.Inf(1)}
}

// acked grows the window for one acknowledged segment.
func (g *growth) acked(t, rtt time.Duration) {
	if g.window < g.ssthresh {
		g.window++
		return
	}
	if !g.running {
		g.begin(t)
	}
	alpha := cubicAlpha
	if g.wEst >= g.prior {
		alpha = 1
	}
	g.wEst += alpha / g.window
	since := t - g.epochStart
	if g.curve(since) < g.wEst {
		g.window = max(g.window, g.wEst)
		return
	}
	target := min(max(g.curve(since+rtt), g.window), 1.5*g.window)
	g.window += (target - g.window) / g.window
}

// begin starts an epoch at the present window (4.2).
func (g *growth) begin(t time.Duration) {
	g.running, g.epochStart, g.wEst = true, t, g.window
	g.wMax = max(g.wMax, g.window)
	g.k = math.Cbrt((g.wMax - g.window) / cubicC)
}

// curve is W_cubic, equation 1.
func (g *growth) curve(since time.Duration) float64 {
	d := since.Seconds() - g.k
	return cubicC*d*d*d + g.wMax
}

// lost reduces the window for a congestion event (4.6), and gives up some of
// it to newer flows when it had not reached its last maximum (4.7).
func (g *growth) lost() {
	g.prior = g.window
	if g.window < g.wMax {
		g.wMax = g.window * (1 + cubicBeta) / 2
	} else {
		g.wMax = g.window
	}
	g.ssthresh = max(g.window*cubicBeta, leastWindow)
	g.window = g.ssthresh
	g.running = false
}

// timedOut begins anew from one segment (4.8).
func (g *growth) timedOut() {
	g.lost()
	g.window = 1
}
