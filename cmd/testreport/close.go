package main

import (
	"fmt"
	"maps"
	"slices"
)

// commandFailed notes a command that could not run.
func (t *tally) commandFailed(name string, err error) {
	fmt.Fprintf(t.out, "FAIL  %s: %v\n", name, err)
	t.failed++
	t.failures = append(t.failures, name+": "+err.Error())
}

// endCommand ends the packages that the command left open and holds the
// command's own end against what its events said: an error without a counted
// failure is a failure.
func (t *tally) endCommand(name string, err error) {
	for _, open := range slices.Sorted(maps.Keys(t.open)) {
		t.endPackage(event{Action: "fail", Package: open})
	}
	if err != nil && t.failed == t.failedBefore {
		t.printBuilds()
		t.commandFailed(name, err)
	} else if err != nil {
		fmt.Fprintf(t.out, "%s: %v\n", name, err)
	}
	clear(t.builds)
}

// printBuilds prints build output that no package's failure has claimed.
func (t *tally) printBuilds() {
	for _, key := range slices.Sorted(maps.Keys(t.builds)) {
		fmt.Fprint(t.out, t.builds[key].String())
	}
}

// close prints the failures, the skips and the closing line, and says whether
// all is well. A run in which nothing passed is not.
func (t *tally) close() bool {
	t.list("failed", t.failures)
	t.list("skipped", t.skips)
	fmt.Fprintf(t.out, "\n%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	return t.failed == 0 && t.passed > 0
}

func (t *tally) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(t.out, "\n%s:\n", title)
	for _, item := range items {
		fmt.Fprintf(t.out, "  %s\n", item)
	}
}
