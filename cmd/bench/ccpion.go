package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"nearglass/cc/lab"
)

// pionName is what the table calls pion's gcc.
const pionName = "pion-gcc"

// pion runs the rows with pion's gcc. It reads the clock itself, so it runs in
// virtual time only under testing/synctest, and so only in a test of cc/lab.
func (c ccCmd) pion(rows []lab.Row) (figures, error) {
	dir, err := os.MkdirTemp("", "bench-cc")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var names []string
	for _, r := range rows {
		names = append(names, r.Measure)
	}
	in, out := filepath.Join(dir, "rows.json"), filepath.Join(dir, "figures.json")
	data, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(in, data, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "test", "-count=1", "-timeout=2h", "-run=^TestPionRows$", "./cc/lab", "-args",
		"-rows", in, "-figures", out, "-seeds", strconv.Itoa(c.Seeds), "-seed", strconv.FormatUint(c.Seed, 10))
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	if data, err = os.ReadFile(out); err != nil {
		return nil, err
	}
	f := figures{}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	return f, nil
}
