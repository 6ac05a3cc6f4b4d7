package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// measuring is a test that measures, because only its package may import what it
// needs, or because time is virtual only in tests. It takes the name of the file to
// write as its flag.
type measuring struct {
	folder, test, flag string
	parallel           int // tests at once
	limit              time.Duration
}

// inTransport is one of server/transport, where only pion may be imported. Its
// streams run by the clock, all at once.
func inTransport(test, flag string, limit time.Duration) measuring {
	return measuring{"./server/transport", test, flag, 1000, limit}
}

// fromTest has a test measure, and reads what it wrote; more are its other flags.
func fromTest[T any](m measuring, more ...string) ([]T, error) {
	dir, err := os.MkdirTemp("", "nearglass-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "runs.json")
	args := []string{"test", "-count=1", "-parallel=" + strconv.Itoa(m.parallel), "-timeout=" + m.limit.String(), "-run=^" + m.test + "$",
		"-tags=" + buildTags(), m.folder, "-args", "-" + m.flag, out}
	cmd := exec.Command("go", append(args, more...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", m.test, err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var runs []T
	if err := json.Unmarshal(data, &runs); err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, errors.New("the test started no stream")
	}
	return runs, nil
}
