package session

import (
	"testing"
	"time"
)

// TestStrayWakeIsNotLate: an alarm that was stopped may go off once more. Nothing was
// due then, and so nothing is late.
func TestStrayWakeIsNotLate(t *testing.T) {
	s, now := atRest(t), time.Now()
	late := func() float64 { return s.c.Meter.Second(now).LoopLate }
	s.due = time.Time{}
	s.woken(now)
	if got := late(); got != 0 {
		t.Errorf("%v ms late for nothing", got)
	}
	s.due = now.Add(time.Millisecond)
	s.woken(now)
	if got := late(); got != 0 {
		t.Errorf("%v ms late before the time", got)
	}
	s.due = now.Add(-3 * time.Millisecond)
	s.woken(now)
	if got := late(); got != 3 {
		t.Errorf("%v ms late, want 3", got)
	}
}
