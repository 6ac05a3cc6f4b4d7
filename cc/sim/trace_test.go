package sim

import (
	"testing"
	"time"

	"nearglass/cc/rate"
)

func TestReadTrace(t *testing.T) {
	tests := []struct {
		name, text string
		repeat     time.Duration
		rates      []rate.Rate // of windows of 10 ms; nil: an error
	}{
		{"a packet a ms", "1 2 3 4 5 6 7 8 9 10", 10 * ms, []rate.Rate{12 * rate.Mbps}},
		{"a pause", "1\n1\n30\n", 30 * ms, []rate.Rate{2400 * rate.Kbps, 0, 1200 * rate.Kbps}},
		{"an uneven end", "10\n15", 15 * ms, []rate.Rate{1200 * rate.Kbps, 2400 * rate.Kbps}},
		{"backwards", "5\n4", 0, nil},
		{"words", "fast", 0, nil},
		{"empty", "", 0, nil},
		{"no length", "0\n0", 0, nil},
		{"too long", "99999999999", 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			steps, repeat, err := ReadTrace(test.text, 10*ms)
			if (err != nil) != (test.rates == nil) || repeat != test.repeat || len(steps) != len(test.rates) {
				t.Fatalf("got %v, %v, %v", steps, repeat, err)
			}
			for i, s := range steps {
				if s.Rate != test.rates[i] || s.At != time.Duration(i)*10*ms {
					t.Errorf("step %d is %v", i, s)
				}
			}
		})
	}
	if _, _, err := ReadTrace("1 2 3", 0); err == nil {
		t.Error("a window of nothing was taken")
	}
}

// FuzzReadTrace: whatever it takes gives a link that carries what the trace
// says.
func FuzzReadTrace(f *testing.F) {
	f.Add("1 2 3 4 5 6 7 8 9 10")
	f.Add("0 0 7\n1000")
	f.Add("-1")
	f.Fuzz(func(t *testing.T, text string) {
		steps, repeat, err := ReadTrace(text, 5*ms)
		if err != nil {
			return
		}
		l := NewLink(LinkConfig{Origin: origin, Rates: steps, Repeat: repeat}, 1)
		once, twice := l.Capacity(origin, at(repeat)), l.Capacity(origin, at(2*repeat))
		if once%opportunityBytes > 0 && once%opportunityBytes < opportunityBytes-1-len(steps) || twice < 2*once || twice > 2*once+1 {
			t.Errorf("%d bytes, then %d", once, twice)
		}
	})
}

func TestWalk(t *testing.T) {
	steps := Walk(1, 5*rate.Mbps, rate.Mbps, 10*rate.Mbps, 0.3, 100*ms, time.Minute)
	low, high := steps[0].Rate, steps[0].Rate
	for i, s := range steps {
		if s.At != time.Duration(i)*100*ms || s.Rate < rate.Mbps-1 || s.Rate > 10*rate.Mbps+1 {
			t.Fatalf("step %d is %v", i, s)
		}
		low, high = min(low, s.Rate), max(high, s.Rate)
	}
	if len(steps) != 600 || low > 2*rate.Mbps || high < 8*rate.Mbps {
		t.Errorf("%d steps from %v to %v: it hardly wanders", len(steps), low, high)
	}
}
