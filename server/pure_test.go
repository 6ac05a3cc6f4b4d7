package server_test

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"
)

// impureNames bans what would give a pure package a clock, a voice or company.
var impureNames = map[string]map[string]string{
	"time": {
		"Now": clockWhy, "Since": clockWhy, "Until": clockWhy,
		"Sleep": timerWhy, "After": timerWhy, "AfterFunc": timerWhy, "NewTimer": timerWhy, "NewTicker": timerWhy, "Tick": timerWhy,
	},
	"fmt": {"Print": voiceWhy, "Printf": voiceWhy, "Println": voiceWhy},
}

// impurePackages bans whole packages there.
var impurePackages = map[string]string{
	"log": voiceWhy, "log/slog": voiceWhy, "os": worldWhy, "net": worldWhy, "os/exec": worldWhy, "syscall": worldWhy,
	"sync": lockWhy, "sync/atomic": lockWhy, "context": timerWhy, "unsafe": worldWhy,
}

const (
	clockWhy = "now is a parameter, so that hours can be tested in a moment"
	timerWhy = "a deadline is returned and the session's one timer waits for it"
	voiceWhy = "values are returned; telemetry takes a snapshot"
	worldWhy = "arithmetic has no business with the machine"
	lockWhy  = "one owner calls it; there is nothing to lock"
	goWhy    = "one owner calls it and there is no company"
)

func isPure(s *source) bool { return slices.Contains(pure, s.dir()) }

// purityRule walks the shipped code of the pure packages.
func purityRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, func(s *source) bool { return shipped(s) && isPure(s) }) {
		for _, imp := range s.imports() {
			if why, banned := impurePackages[imp]; banned {
				problems = append(problems, fmt.Sprintf("%s imports %s: %s", s.path, imp, why))
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if what, why := impure(n); why != "" {
				problems = append(problems, fmt.Sprintf("%s: %s: %s", s.at(n), what, why))
			}
			return true
		})
	}
	return problems
}

// impure names what is impure about one node, and why, if anything is. A
// package imported under another name slips through; staticcheck and review
// see that.
func impure(n ast.Node) (what, why string) {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a goroutine", goWhy
	case *ast.ChanType:
		return "a channel", goWhy
	case *ast.SelectStmt:
		return "a select", goWhy
	case *ast.SelectorExpr:
		if id, ok := n.X.(*ast.Ident); ok {
			return id.Name + "." + n.Sel.Name, impureNames[id.Name][n.Sel.Name]
		}
	}
	return "", ""
}

// renamedRule closes the gap that impure leaves open.
func renamedRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, func(s *source) bool { return shipped(s) && isPure(s) }) {
		for _, spec := range s.file.Imports {
			if spec.Name != nil {
				problems = append(problems, fmt.Sprintf("%s renames %s: in a pure package a name says what it is", s.path, spec.Path.Value))
			}
		}
	}
	return problems
}

// sleepers lists the folders whose tests may sleep outside a loop.
var sleepers = map[string]string{
	"server/e2e":  "it watches programs in real time, and shows that they do nothing for a while",
	"gpu/capture": "it shows that a real X server's still screen makes no pictures for a while",
}

// sleepRule: a test that sleeps is slow when it passes and wrong when the
// machine is busy. Inside testing/synctest a sleep takes no time, and a loop
// that sleeps is one that polls.
func sleepRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, (*source).isTest) {
		if slices.Contains(s.imports(), "testing/synctest") || maySleep(s.dir()) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				return false
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "time" && n.Sel.Name == "Sleep" {
					problems = append(problems, s.at(n)+" sleeps: wait for what is awaited, or use testing/synctest")
				}
			}
			return true
		})
	}
	return problems
}

func maySleep(dir string) bool {
	for room := range sleepers {
		if under(dir, room) {
			return true
		}
	}
	return false
}

func TestPurity(t *testing.T)       { hold(t, purityRule) }
func TestPureNames(t *testing.T)    { hold(t, renamedRule) }
func TestNoSleepTests(t *testing.T) { hold(t, sleepRule) }

func TestPurityRulesCanFail(t *testing.T) {
	breaks(t, purityRule, "now is a parameter",
		"cc/a.go\npackage cc\nimport \"time\"\nvar t = time.Now()\n",
		"pacing/packetize/a.go\npackage p\nimport \"time\"\nfunc f(t time.Time) time.Duration { return time.Since(t) }\n")
	breaks(t, purityRule, "one timer",
		"pacing/a.go\npackage pacing\nimport \"time\"\nfunc f() { time.AfterFunc(1, f) }\n",
		"gpu/encode/ratecontrol/a.go\npackage r\nimport \"time\"\nvar tick = time.NewTicker\n")
	breaks(t, purityRule, "one owner",
		"cc/sim/a.go\npackage sim\nfunc f() { go f() }\n",
		"cc/a.go\npackage cc\nvar c chan int\n",
		"cc/a.go\npackage cc\nfunc f() { select {} }\n",
		"cc/a.go\npackage cc\nimport \"sync\"\nvar m sync.Mutex\n")
	breaks(t, purityRule, "values are returned", "pacing/a.go\npackage pacing\nimport \"log/slog\"\nvar l slog.Logger\n")
	allows(t, purityRule,
		"cc/a.go\npackage cc\nimport \"time\"\nfunc f(now time.Time) time.Time { return now.Add(time.Second) }\n",
		"cc/a_test.go\npackage cc\nimport \"time\"\nvar t = time.Now()\n",
		"server/session/a.go\npackage session\nimport \"time\"\nvar t = time.Now()\n")
	breaks(t, renamedRule, "renames", "cc/a.go\npackage cc\nimport clock \"time\"\nvar t = clock.Now()\n")
	breaks(t, sleepRule, "sleeps", "gpu/a_test.go\npackage gpu\nimport \"time\"\nfunc f() { time.Sleep(1) }\n")
	allows(t, sleepRule, "gpu/a_test.go\npackage gpu\nimport \"time\"\nfunc f() { for !done() { time.Sleep(1) } }\n",
		"gpu/a_test.go\npackage gpu\nimport (\n\"testing/synctest\"\n\"time\"\n)\nvar _ = synctest.Wait\nfunc f() { time.Sleep(1) }\n")
}
