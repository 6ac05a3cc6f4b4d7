package usage

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// read reads the counts; those of each thread only when threads says so.
func read(threads bool) counters {
	c := counters{throttled: throttledTime(), pressure: pressure(), celsius: celsius()}
	c.busy, c.steal, c.total = machine()
	if threads {
		c.wait, c.waited = waitTime(), true
	}
	return c
}

// processTime is what this process has used so far.
func processTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// waitTime is for how long the threads of this process stood in the queue for a
// core (the second figure of schedstat, ns).
func waitTime() time.Duration {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	var sum time.Duration
	for _, name := range files {
		data, err := os.ReadFile(name)
		if fields := bytes.Fields(data); err == nil && len(fields) >= 2 {
			ns, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}

// machine reads the first line of /proc/stat: user, nice, system, idle, iowait,
// irq, softirq, steal. Guests are within user.
func machine() (busy, steal, total float64) {
	data, err := os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(data, []byte("\n"))
	fields := bytes.Fields(line)
	if err != nil || len(fields) < 9 {
		return 0, 0, 0
	}
	for i, f := range fields[1:9] {
		v, _ := strconv.ParseFloat(string(f), 64)
		total += v
		switch i {
		case 3, 4:
		case 7:
			steal = v
		default:
			busy += v
		}
	}
	return busy, steal, total
}

// throttledTime is for how long the quota of the control group held us back.
func throttledTime() time.Duration {
	us, _ := value("/sys/fs/cgroup/cpu.stat", "throttled_usec ")
	return time.Duration(us) * time.Microsecond
}

// pressure is for how long some task of the machine waited for a core.
func pressure() time.Duration {
	data, err := os.ReadFile("/proc/pressure/cpu")
	_, after, found := strings.Cut(string(data), "total=")
	if err != nil || !found {
		return 0
	}
	text, _, _ := strings.Cut(after, "\n")
	us, _ := strconv.ParseInt(text, 10, 64)
	return time.Duration(us) * time.Microsecond
}

// celsius is the hottest thermal zone that says it is of the processor.
func celsius() float64 {
	zones, _ := filepath.Glob("/sys/class/thermal/thermal_zone*/type")
	hottest := 0.0
	for _, name := range zones {
		kind, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(kind), "pkg") && !strings.Contains(string(kind), "cpu") {
			continue
		}
		data, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "temp"))
		milli, _ := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
		hottest = max(hottest, milli/1000)
	}
	return hottest
}

// value finds a number behind a name in a file of such lines.
func value(file, name string) (int64, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// Slept is for how long the machine has slept since it was started.
func Slept() time.Duration {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - mono.Nano())
}
