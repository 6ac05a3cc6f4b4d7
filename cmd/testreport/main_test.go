package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Each case is a small module that a real go test runs, so that the report is
// held to what the toolchain writes and not to what we remember of it.
var cases = []struct {
	name    string
	files   map[string]string
	closing string
	ok      bool
	want    []string // must appear, in this order
	not     []string
}{
	{
		name: "passing, with subtests counted as leaves",
		files: map[string]string{"a_test.go": `package a
import "testing"
func TestOne(t *testing.T) { t.Run("x", func(t *testing.T) {}); t.Run("y", func(t *testing.T) {}) }
func TestTwo(t *testing.T) { t.Log("quiet") }`},
		closing: "3 passed, 0 failed, 0 skipped", ok: true, want: []string{"ok    sample"}, not: []string{"quiet"},
	},
	{
		name: "a skip gives its reason",
		files: map[string]string{"a_test.go": `package a
import "testing"
func TestOne(t *testing.T) {}
func TestTwo(t *testing.T) { t.Skip("no sound card here") }
func TestThree(t *testing.T) { t.SkipNow() }`},
		closing: "1 passed, 0 failed, 2 skipped", ok: true,
		want: []string{"skipped:", "sample TestTwo: no sound card here", "sample TestThree: no reason given"},
	},
	{
		name: "a failure is printed whole",
		files: map[string]string{"a_test.go": `package a
import "testing"
func TestGood(t *testing.T) {}
func TestBad(t *testing.T) { t.Run("part", func(t *testing.T) { t.Log("first"); t.Error("second") }) }`},
		closing: "1 passed, 1 failed, 0 skipped", want: []string{"first", "second", "FAIL  sample", "failed:", "sample TestBad/part"},
	},
	{
		name:    "a package that does not build",
		files:   map[string]string{"a.go": "package a\nvar x int = \"no\"\n", "a_test.go": "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n"},
		closing: "0 passed, 1 failed, 0 skipped", want: []string{"cannot use", "FAIL  sample"},
	},
	{
		name:    "a test that does not parse",
		files:   map[string]string{"a_test.go": "package a\nfunc {"},
		closing: "0 passed, 1 failed, 0 skipped", want: []string{"expected", "FAIL"},
	},
	{
		name: "a process that dies",
		files: map[string]string{"a_test.go": `package a
import ("os"; "testing")
func TestGood(t *testing.T) {}
func TestDies(t *testing.T) { os.Exit(3) }`},
		closing: "1 passed, 1 failed, 0 skipped", want: []string{"--- FAIL: TestDies (it never ended)", "sample TestDies"},
	},
	{
		name: "a panic",
		files: map[string]string{"a_test.go": `package a
import "testing"
func TestPanics(t *testing.T) { panic("oh") }`},
		closing: "0 passed, 1 failed, 0 skipped", want: []string{"panic: oh", "sample TestPanics"},
	},
	{
		name: "a process that leaves before its tests ran",
		files: map[string]string{"a_test.go": `package a
import ("os"; "testing")
func TestMain(m *testing.M) { os.Exit(1) }
func TestA(t *testing.T) {}`},
		closing: "0 passed, 1 failed, 0 skipped", want: []string{"FAIL  sample"},
	},
	{
		name:    "nothing to run is not a success",
		files:   map[string]string{"a.go": "package a\n"},
		closing: "0 passed, 0 failed, 0 skipped", want: []string{"sample  no tests"},
	},
}

func TestReport(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, ok := report(t, c.files, "go", "test", "-json", "./...")
			if ok != c.ok {
				t.Errorf("ok = %v, want %v", ok, c.ok)
			}
			if !strings.HasSuffix(out, "\n"+c.closing+"\n") {
				t.Errorf("the last line is not %q", c.closing)
			}
			rest := out
			for _, w := range c.want {
				_, after, found := strings.Cut(rest, w)
				if !found {
					t.Fatalf("%q is missing or out of order in:\n%s", w, out)
				}
				rest = after
			}
			for _, n := range c.not {
				if strings.Contains(out, n) {
					t.Errorf("%q should not appear in:\n%s", n, out)
				}
			}
		})
	}
}

func TestCommandsThatFailWithoutEvents(t *testing.T) {
	good := map[string]string{"a_test.go": "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n"}
	for _, args := range [][]string{
		{"no-such-program"},
		{"go", "test", "-json", "-no-such-flag"},
		{"go", "test", "-json", "./nowhere"},
	} {
		if out, ok := report(t, good, args...); ok {
			t.Errorf("%v counted as a success:\n%s", args, out)
		}
	}
}

func TestOneFailedCommandFailsTheRun(t *testing.T) {
	var out bytes.Buffer
	ta := newTally(&out)
	events := `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n"
	for _, err := range []error{errors.New("exit status 1"), nil} {
		if readErr := ta.read(strings.NewReader(events)); readErr != nil {
			t.Fatal(readErr)
		}
		ta.endCommand("go test", err)
	}
	if ta.close() {
		t.Errorf("an exit status of 1 without a failed test was lost:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "2 passed, 1 failed, 0 skipped") {
		t.Errorf("counts are wrong:\n%s", out.String())
	}
}

func TestLimit(t *testing.T) {
	var out bytes.Buffer
	ta := newTally(&out)
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("ran past the limit"))
	defer cancel()
	runOne(ctx, ta, []string{"sleep", "60"})
	if ta.close() || !strings.Contains(out.String(), "ran past the limit") {
		t.Errorf("a command past the limit was not reported:\n%s", out.String())
	}
}

func TestSplit(t *testing.T) {
	got := split([]string{"--", "a", "b", "--", "--", "c"})
	if len(got) != 2 || len(got[0]) != 2 || got[1][0] != "c" {
		t.Errorf("split gave %v", got)
	}
}

// report writes the files as a module named sample, runs args in it and gives
// back what was printed and whether the run counts as good.
func report(t *testing.T, files map[string]string, args ...string) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module sample\n\ngo 1.26\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out bytes.Buffer
	ta := newTally(&out)
	runOne(t.Context(), ta, args)
	return out.String() + closing(ta, &out), ta.failed == 0 && ta.passed > 0
}

// closing runs close and returns only what it added.
func closing(ta *tally, out *bytes.Buffer) string {
	before := out.Len()
	ta.close()
	return out.String()[before:]
}
