// Package usage measures how busy this process and its machine are, for the
// stream log. What the system does not tell is zero.
package usage

import (
	"sync"
	"time"

	"nearglass/telemetry"
)

// Watch measures between one look and the next. It is safe for concurrent use:
// all streams of a host share one, and the second look within half a second gets
// the figures of the first.
type Watch struct {
	mu   sync.Mutex
	at   time.Time // of the last look at everything
	half time.Time // of the last look of either kind
	last counters
	busy bool          // at the last look at everything
	seen time.Duration // what the process had used at the last look of either kind
	now  telemetry.CPU
}

// counters are the system's counts at one moment, all since some beginning.
type counters struct {
	wait, throttled, pressure time.Duration
	busy, steal, total        float64 // of all cores, in ticks
	celsius                   float64
	waited                    bool // wait is known
}

// A still stream costs about a thousandth of a core, and a look at everything
// nearly as much each second. So while this process and the machine are below
// busyPercent, all but the process's own time is looked at every quietGap only;
// and each thread, which costs most, only while the process does something.
const (
	busyPercent    = 5
	threadsPercent = 2
	quietGap       = 5 * time.Second
)

// leastGap keeps two looks apart: the system counts in steps of 10 ms.
const leastGap = 500 * time.Millisecond

// Look gives the figures since the last look, or the last ones again when that
// was just now.
func (w *Watch) Look(now time.Time) telemetry.CPU {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.half) < leastGap {
		return w.now
	}
	used := processTime()
	w.now.Process = percent(float64(used-w.seen), float64(now.Sub(w.half)))
	w.half, w.seen = now, used
	if w.busy || w.now.Process >= busyPercent || now.Sub(w.at) >= quietGap {
		w.everything(now)
	}
	return w.now
}

// everything looks at the machine as well.
func (w *Watch) everything(now time.Time) {
	process := w.now.Process
	c := read(process >= threadsPercent)
	w.now = telemetry.CPU{}
	if !w.at.IsZero() {
		w.now = between(w.last, c, now.Sub(w.at))
		w.now.Process = process
	}
	w.busy = process >= busyPercent || w.now.Pressure >= busyPercent
	w.at, w.last = now, c
}

// between turns counts into shares of the time between them.
func between(a, b counters, gap time.Duration) telemetry.CPU {
	share := func(from, to time.Duration) float64 { return percent(float64(to-from), float64(gap)) }
	if !a.waited || !b.waited {
		a.wait = b.wait
	}
	return telemetry.CPU{
		Wait: share(a.wait, b.wait), Throttled: share(a.throttled, b.throttled), Pressure: share(a.pressure, b.pressure),
		Host: percent(b.busy-a.busy, b.total-a.total), Steal: percent(b.steal-a.steal, b.total-a.total),
		Celsius: b.celsius,
	}
}

// percent rounds to tenths. Counts that went back, as those of a thread that
// ended do, are nothing.
func percent(part, whole float64) float64 {
	if part <= 0 || whole <= 0 {
		return 0
	}
	return float64(int(part/whole*1000+0.5)) / 10
}
