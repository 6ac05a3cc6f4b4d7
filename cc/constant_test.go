package cc

import (
	"math"
	"testing"
	"time"

	"nearglass/cc/rate"
)

func TestConstantHoldsItsRates(t *testing.T) {
	c, err := NewConstant(ConstantConfig{Target: 8 * rate.Mbps, PaceFactor: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(0, 0)
	c.OnSent(now, Sent{Sequence: 1, SizeBytes: 1200, At: now})
	for _, u := range []Update{c.OnTick(now), c.OnFeedback(now, []Ack{{Sequence: 1, Lost: true}})} {
		if u.Target != 8*rate.Mbps || u.Pace != 12*rate.Mbps || u.Pad != 0 || u.Reason == "" {
			t.Errorf("update = %+v", u)
		}
	}
	if !c.Deadline().IsZero() {
		t.Error("a constant controller asks for ticks")
	}
}

func TestConstantRefusesNonsense(t *testing.T) {
	for _, c := range []ConstantConfig{
		{}, {Target: -1}, {Target: 1, PaceFactor: 0.5}, {Target: 1, PaceFactor: math.NaN()},
		{Target: 1, PaceFactor: math.Inf(1)},
	} {
		if _, err := NewConstant(c); err == nil {
			t.Errorf("NewConstant(%+v) succeeded", c)
		}
	}
	c, err := NewConstant(ConstantConfig{Target: rate.Mbps})
	if err != nil || c.OnTick(time.Time{}).Pace != 2500*rate.Kbps {
		t.Errorf("default pace: %v, %v", c, err)
	}
}
