package telemetry

import (
	"math"
	"slices"
	"time"
)

// Sum collects the values of one second for a Spread. The zero value is empty.
type Sum struct{ values []float64 }

// mostValues bounds a Sum: four pictures for each millisecond of a second are
// more than any source gives, and what is beyond them is not counted.
const mostValues = 4096

// Add counts one value.
func (s *Sum) Add(v float64) {
	if len(s.values) < mostValues {
		s.values = append(s.values, v)
	}
}

// AddTime counts one duration as milliseconds.
func (s *Sum) AddTime(d time.Duration) { s.Add(milliseconds(d)) }

// Take gives the spread of what was added since the last Take and forgets it;
// nil when that was nothing. The figures are rounded to hundredths.
func (s *Sum) Take() *Spread {
	n := len(s.values)
	if n == 0 {
		return nil
	}
	slices.Sort(s.values)
	total := 0.0
	for _, v := range s.values {
		total += v
	}
	out := &Spread{
		N: n, Mean: hundredth(total / float64(n)),
		P95: hundredth(s.values[(n*95+99)/100-1]), Max: hundredth(s.values[n-1]),
	}
	s.values = s.values[:0]
	return out
}

// OrZero is the spread, or one of nothing where there is none.
func (s *Spread) OrZero() Spread {
	if s == nil {
		return Spread{}
	}
	return *s
}

func hundredth(v float64) float64 { return math.Round(v*100) / 100 }
