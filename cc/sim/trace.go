package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"nearglass/cc/rate"
)

// opportunityBytes is what one line of a Mahimahi trace lets through.
const opportunityBytes = 1500

// longestTrace bounds what ReadTrace keeps, in ms: an hour.
const longestTrace = 3600 * 1000

// ReadTrace turns a trace in Mahimahi's form into Rates and Repeat of a
// LinkConfig: each line is a time in ms at which 1,500 bytes may pass, the
// last line is when the trace begins again. Opportunities are averaged over
// window, which should be a few of them long.
func ReadTrace(text string, window time.Duration) (steps []Step, repeat time.Duration, err error) {
	if window < time.Millisecond {
		return nil, 0, fmt.Errorf("read trace: a window of %v is below the trace's millisecond", window)
	}
	var counts []int
	last := 0
	for i, line := range strings.Fields(text) {
		at, err := strconv.Atoi(line)
		if err != nil || at < last || at > longestTrace {
			return nil, 0, fmt.Errorf("read trace: entry %d is %q, want ms within an hour and not before the last", i+1, line)
		}
		last = at
		// An opportunity at the end of a window belongs to that window.
		slot := int(max(time.Duration(at)*time.Millisecond-1, 0) / window)
		for len(counts) <= slot {
			counts = append(counts, 0)
		}
		counts[slot]++
	}
	if last == 0 {
		return nil, 0, fmt.Errorf("read trace: it has no length; want a line of ms for each packet")
	}
	repeat = time.Duration(last) * time.Millisecond
	for i, n := range counts {
		at := time.Duration(i) * window
		steps = append(steps, Step{At: at, Rate: rate.Of(n*opportunityBytes, min(window, repeat-at))})
	}
	return steps, repeat, nil
}

// Walk draws a rate that wanders between least and most as a radio's does:
// every so often it is multiplied by a random factor, of e to the power of
// spread as a standard deviation, and reflected at the bounds.
func Walk(seed uint64, start, least, most rate.Rate, spread float64, every, length time.Duration) []Step {
	rng := rand.New(rand.NewPCG(seed, 5))
	low, high := math.Log(float64(max(least, 1))), math.Log(float64(max(most, least, 1)))
	x := math.Log(float64(max(start, 1)))
	var steps []Step
	for at := time.Duration(0); at < length; at += max(every, time.Millisecond) {
		x = min(max(x, low), high)
		steps = append(steps, Step{At: at, Rate: rate.Rate(math.Exp(x))})
		x += rng.NormFloat64() * spread
		if x > high {
			x = 2*high - x
		}
		if x < low {
			x = 2*low - x
		}
	}
	return steps
}
