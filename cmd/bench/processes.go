package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// descendants lists a process and all that come from it.
func descendants(pid int) ([]int, error) {
	parents := map[int]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		data, readErr := os.ReadFile(name)
		_, after, found := bytes.Cut(data, []byte(") "))
		fields := bytes.Fields(after)
		if readErr != nil || !found || len(fields) < 2 {
			continue // it has ended
		}
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parents[child], _ = strconv.Atoi(string(fields[1]))
	}
	list := []int{pid}
	for i := 0; i < len(list); i++ {
		for child, parent := range parents {
			if parent == list[i] {
				list = append(list, child)
			}
		}
	}
	return list, err
}

// viewerProcesses lists the processes of the browser that this program started.
func viewerProcesses() ([]int, error) {
	all, err := descendants(os.Getpid())
	var list []int
	for _, pid := range all {
		name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
		if strings.HasPrefix(string(name), "chromium") {
			list = append(list, pid)
		}
	}
	if len(list) == 0 {
		err = errors.Join(err, errors.New("no process of the browser is found"))
	}
	return list, err
}

// threadsNamed lists those threads of the browser whose names begin so.
func threadsNamed(name string) ([]int, error) {
	pids, err := viewerProcesses()
	var list []int
	for _, pid := range pids {
		names, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*/comm"))
		for _, file := range names {
			text, _ := os.ReadFile(file)
			if strings.HasPrefix(string(text), name) {
				tid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
				list = append(list, tid)
			}
		}
	}
	if len(list) == 0 {
		err = errors.Join(err, errors.New("the browser has no thread named "+name))
	}
	return list, err
}
