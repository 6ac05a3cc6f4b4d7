package main

import (
	"errors"
	"slices"
	"time"
)

// series is a list of delays.
type series []time.Duration

// errNone stands for a measure that found nothing to measure.
var errNone = errors.New("nothing arrived")

// percentile gives the delay in ms that p percent of the series do not exceed
// (nearest rank).
func (s series) percentile(p int) (float64, error) {
	if len(s) == 0 {
		return 0, errNone
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := (len(sorted)*p + 99) / 100
	return milliseconds(sorted[max(rank-1, 0)]), nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// mean of some figures.
func mean(v []float64) (float64, error) {
	if len(v) == 0 {
		return 0, errNone
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v)), nil
}

// median of some figures: the lower one of the two in the middle.
func median(v []float64) (float64, error) {
	if len(v) == 0 {
		return 0, errNone
	}
	return slices.Sorted(slices.Values(v))[(len(v)-1)/2], nil
}
