package timer

import (
	"errors"
	"os"
	"testing"
	"time"
)

// newAlarm opens an alarm for a test, which is skipped where there are none.
func newAlarm(t testing.TB) *Alarm {
	t.Helper()
	a, err := NewAlarm()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAlarmGoesOffWhenSet: never early, once for each time it is set, at once
// for a time that has passed, and not at all when it was stopped.
func TestAlarmGoesOffWhenSet(t *testing.T) {
	a := newAlarm(t)
	defer a.Close()
	for _, d := range []time.Duration{0, -time.Hour, 100 * time.Microsecond, 3 * time.Millisecond} {
		start := time.Now()
		if err := a.Set(d); err != nil {
			t.Fatal(err)
		}
		if <-a.C(); time.Since(start) < d {
			t.Errorf("set to %v, it went off after %v", d, time.Since(start))
		}
	}
	for _, change := range []func() error{a.Stop, func() error { return a.Set(time.Hour) }} {
		if err := errors.Join(a.Set(50*time.Millisecond), change()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-a.C():
			t.Error("it went off after it was told not to")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestClosedAlarmFails: what is called after the end says so, and C stays quiet.
func TestClosedAlarmFails(t *testing.T) {
	a := newAlarm(t)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"close": a.Close, "stop": a.Stop, "set": func() error { return a.Set(time.Millisecond) },
	} {
		if err := call(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
	select {
	case <-a.C():
		t.Error("a closed alarm went off")
	default:
	}
}

// BenchmarkAlarm and BenchmarkTimer wake after 300 us each: what an operation
// takes above that is lateness.
func BenchmarkAlarm(b *testing.B) {
	a := newAlarm(b)
	defer a.Close()
	for b.Loop() {
		a.Set(300 * time.Microsecond)
		<-a.C()
	}
}

func BenchmarkTimer(b *testing.B) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for b.Loop() {
		timer.Reset(300 * time.Microsecond)
		<-timer.C
	}
}
