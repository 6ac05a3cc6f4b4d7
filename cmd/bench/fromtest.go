package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// fromTest has a test of server/transport measure, for only that package may
// import pion, and reads what it wrote. The test takes the name of the file to
// write as its flag; more are its other flags.
func fromTest[T any](test, flag string, limit time.Duration, more ...string) ([]T, error) {
	dir, err := os.MkdirTemp("", "nearglass-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "runs.json")
	args := []string{"test", "-count=1", "-parallel=1000", "-timeout=" + limit.String(), "-run=^" + test + "$",
		"-tags=" + buildTags(), "./server/transport", "-args", "-" + flag, out}
	cmd := exec.Command("go", append(args, more...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", test, err, text)
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
