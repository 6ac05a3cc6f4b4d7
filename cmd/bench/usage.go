package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of times in /proc/PID/stat on Linux.
const clockTick = 10 * time.Millisecond

// process is what the bench wants to know of one.
type process struct {
	pid, parent, group int
	cpu                time.Duration // user and system, ended children included that were waited for
}

// processes lists those of the machine.
func processes() (all []process) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		f := strings.Fields(rest)
		if len(f) < 15 {
			continue
		}
		p := process{}
		p.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(name)))
		p.parent, _ = strconv.Atoi(f[1])
		p.group, _ = strconv.Atoi(f[2])
		for _, field := range f[11:15] { // utime, stime, cutime, cstime
			ticks, _ := strconv.Atoi(field)
			p.cpu += time.Duration(ticks) * clockTick
		}
		all = append(all, p)
	}
	return all
}

// groupCPU is the CPU time that all processes of some process groups have used.
func groupCPU(groups ...int) (sum time.Duration) {
	for _, p := range processes() {
		if slices.Contains(groups, p.group) {
			sum += p.cpu
		}
	}
	return sum
}

// familyCPU is the CPU time that a process and all that descend from it have
// used, as far as they run still or were waited for.
func familyCPU(root int) (sum time.Duration) {
	children := map[int][]process{}
	for _, p := range processes() {
		if p.pid == root {
			sum += p.cpu
		}
		children[p.parent] = append(children[p.parent], p)
	}
	for waiting := []int{root}; len(waiting) > 0; waiting = waiting[1:] {
		for _, p := range children[waiting[0]] {
			sum += p.cpu
			waiting = append(waiting, p.pid)
		}
	}
	return sum
}

// machineBusy is the time that all processors together have not been idle
// since the machine started.
func machineBusy() time.Duration {
	data, _ := os.ReadFile("/proc/stat")
	first, _, _ := strings.Cut(string(data), "\n")
	var busy time.Duration
	for i, field := range strings.Fields(first) {
		const idle, waiting, guest = 4, 5, 9 // guests are in user time already
		if i > 0 && i != idle && i != waiting && i < guest {
			ticks, _ := strconv.Atoi(field)
			busy += time.Duration(ticks) * clockTick
		}
	}
	return busy
}

// residentBytes is the memory of a process that is in RAM.
func residentBytes(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			kib, err := strconv.Atoi(f[1])
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no VmRSS", pid)
}
