package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one line of `go test -json` (see `go doc test2json` and, for the
// build events, `go help buildjson`).
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build events
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

// outcome is what became of one test.
type outcome struct {
	result string // "", "pass", "fail" or "skip"; "" means it never ended
	output strings.Builder
}

// pkg collects one package of one command until its last event.
type pkg struct {
	tests  map[string]*outcome
	order  []string
	output strings.Builder // of the package itself, outside its tests
}

// tally counts and reports. It is not safe for concurrent use.
type tally struct {
	out                     io.Writer
	open                    map[string]*pkg
	builds                  map[string]*strings.Builder
	passed, failed, skipped int
	skips, failures         []string
	failedBefore            int // failures when the present command began
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, open: map[string]*pkg{}, builds: map[string]*strings.Builder{}}
}

// read takes the events of one command until its output ends. Lines that are
// not events, such as a tool's own complaint, are passed on.
func (t *tally) read(r io.Reader) error {
	t.failedBefore = t.failed
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				fmt.Fprint(t.out, string(line))
			} else {
				t.take(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read test output: %w", err)
		}
	}
}

func (t *tally) take(e event) {
	switch {
	case e.Action == "build-output":
		if t.builds[e.ImportPath] == nil {
			t.builds[e.ImportPath] = &strings.Builder{}
		}
		t.builds[e.ImportPath].WriteString(e.Output)
	case e.Action == "build-fail" || e.Package == "":
	case e.Test != "":
		t.takeTest(e)
	case e.Action == "output":
		t.pkg(e.Package).output.WriteString(e.Output)
	case e.Action == "pass", e.Action == "fail", e.Action == "skip":
		t.endPackage(e)
	}
}

func (t *tally) pkg(name string) *pkg {
	p := t.open[name]
	if p == nil {
		p = &pkg{tests: map[string]*outcome{}}
		t.open[name] = p
	}
	return p
}

func (t *tally) takeTest(e event) {
	p := t.pkg(e.Package)
	o := p.tests[e.Test]
	if o == nil {
		o = &outcome{}
		p.tests[e.Test] = o
		p.order = append(p.order, e.Test)
	}
	switch e.Action {
	case "output":
		o.output.WriteString(e.Output)
	case "pass", "fail", "skip":
		o.result = e.Action
	}
}

// endPackage counts a package's tests and prints its line.
func (t *tally) endPackage(e event) {
	p := t.pkg(e.Package)
	delete(t.open, e.Package)
	var passed, failed, skipped int
	for _, name := range p.order {
		switch o := p.tests[name]; {
		case o.result == "skip":
			skipped++
			t.skips = append(t.skips, e.Package+" "+name+": "+reason(o.output.String()))
		case o.result == "pass" && p.isLeaf(name):
			passed++
		case o.result != "pass" && !p.failsBelow(name):
			failed++
			t.failures = append(t.failures, e.Package+" "+name)
		}
	}
	if e.Action == "fail" && failed == 0 {
		failed = 1
		t.failures = append(t.failures, e.Package)
	}
	t.passed, t.failed, t.skipped = t.passed+passed, t.failed+failed, t.skipped+skipped
	if e.Action == "skip" && len(p.order) == 0 {
		fmt.Fprintf(t.out, "-     %s  no tests\n", e.Package)
		return
	}
	mark := "ok   "
	if failed > 0 {
		mark = "FAIL "
		t.printFailure(e, p)
	}
	fmt.Fprintf(t.out, "%s %s  %.1fs  %d passed, %d failed, %d skipped\n", mark, e.Package, e.Elapsed, passed, failed, skipped)
}

// isLeaf says whether a test had no subtests; only leaves count as passed.
func (p *pkg) isLeaf(name string) bool {
	return !slices.ContainsFunc(p.order, func(other string) bool { return strings.HasPrefix(other, name+"/") })
}

// failsBelow says whether a subtest of name failed or never ended; then the
// subtest is counted and name is not.
func (p *pkg) failsBelow(name string) bool {
	return slices.ContainsFunc(p.order, func(other string) bool {
		r := p.tests[other].result
		return strings.HasPrefix(other, name+"/") && (r == "fail" || r == "")
	})
}

// printFailure prints everything that the failing parts of a package wrote.
func (t *tally) printFailure(e event, p *pkg) {
	for _, key := range slices.Sorted(maps.Keys(t.builds)) {
		if key == e.FailedBuild {
			fmt.Fprint(t.out, t.builds[key].String())
		}
	}
	for _, name := range p.order {
		switch o := p.tests[name]; o.result {
		case "fail":
			fmt.Fprint(t.out, o.output.String())
		case "":
			fmt.Fprintf(t.out, "%s--- FAIL: %s (it never ended)\n", o.output.String(), name)
		}
	}
	fmt.Fprint(t.out, p.output.String())
}

// reason finds what a skipped test gave as its reason.
func reason(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "--- SKIP") {
			continue
		}
		if file, text, ok := strings.Cut(line, ": "); ok && strings.Contains(file, ".go:") {
			line = text
		}
		said = append(said, line)
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}
