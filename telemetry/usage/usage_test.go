package usage

import (
	"testing"
	"time"

	"nearglass/telemetry"
)

func TestBetween(t *testing.T) {
	a := counters{wait: time.Second, waited: true, busy: 100, total: 1000, steal: 1}
	b := counters{wait: 900 * time.Millisecond, throttled: 250 * time.Millisecond,
		busy: 150, total: 1200, steal: 21, celsius: 70, waited: true}
	got := between(a, b, time.Second)
	want := telemetry.CPU{Wait: 0, Throttled: 25, Host: 25, Steal: 10, Celsius: 70}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	b.wait = 3 * time.Second
	if got := between(a, b, time.Second); got.Wait != 200 {
		t.Errorf("two threads that waited: %v", got.Wait)
	}
	a.waited = false
	if got := between(a, b, time.Second); got.Wait != 0 {
		t.Errorf("how long they waited is known since now: %v", got.Wait)
	}
}

// The system's own counts are there and lie within what is possible.
func TestLook(t *testing.T) {
	var w Watch
	start := time.Now()
	if first := w.Look(start); first != (telemetry.CPU{}) {
		t.Errorf("the first look: %+v", first)
	}
	if again := w.Look(start.Add(leastGap / 2)); again != (telemetry.CPU{}) {
		t.Errorf("too early: %+v", again)
	}
	for busy := start; time.Since(busy) < 30*time.Millisecond; {
	}
	got := w.Look(start.Add(time.Second))
	for name, v := range map[string]float64{"host": got.Host, "steal": got.Steal, "throttled": got.Throttled, "wait": got.Wait} {
		if v < 0 || v > 100*64 {
			t.Errorf("%s is %v", name, v)
		}
	}
}

func BenchmarkLook(b *testing.B) {
	var w Watch
	now := time.Now()
	for b.Loop() {
		now = now.Add(time.Second)
		w.Look(now)
	}
}
