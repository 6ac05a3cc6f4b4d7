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
	at   time.Time
	last counters
	busy bool // at the last look, so that looking at each thread was worth it
	now  telemetry.CPU
}

// counters are the system's counts at one moment, all since some beginning.
type counters struct {
	process, wait, throttled, pressure time.Duration
	busy, steal, total                 float64 // of all cores, in ticks
	celsius                            float64
	waited                             bool // wait is known
}

// busyPercent is where it is worth asking how long each thread waited for a core,
// which costs as much as all else together: a still stream is well below it.
const busyPercent = 5

// leastGap keeps two looks apart: the system counts in steps of 10 ms.
const leastGap = 500 * time.Millisecond

// Look gives the figures since the last look, or the last ones again when that
// was just now.
func (w *Watch) Look(now time.Time) telemetry.CPU {
	w.mu.Lock()
	defer w.mu.Unlock()
	gap := now.Sub(w.at)
	if gap < leastGap {
		return w.now
	}
	c := read(w.busy)
	if !w.at.IsZero() {
		w.now = between(w.last, c, gap)
		w.busy = w.now.Process >= busyPercent || w.now.Pressure >= busyPercent
	}
	w.at, w.last = now, c
	return w.now
}

// between turns counts into shares of the time between them.
func between(a, b counters, gap time.Duration) telemetry.CPU {
	share := func(from, to time.Duration) float64 { return percent(float64(to-from), float64(gap)) }
	if !a.waited || !b.waited {
		a.wait = b.wait
	}
	return telemetry.CPU{
		Process: share(a.process, b.process), Wait: share(a.wait, b.wait),
		Throttled: share(a.throttled, b.throttled), Pressure: share(a.pressure, b.pressure),
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
