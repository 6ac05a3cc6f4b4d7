package server_test

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// systems lists the file name endings that tie a file to one system.
var systems = []string{"_linux", "_windows", "_darwin"}

// siblingRule: a folder with files for one system has a file that answers on
// the others, beside one of them, so that everything builds everywhere and says
// "unsupported" where it must. The cross-builds see whether it answers it all.
func siblingRule(all []*source) []string {
	names := map[string]bool{}
	answered := map[string]bool{}
	for _, s := range all {
		names[s.path] = true
	}
	tied := goSources(all, func(s *source) bool { return shipped(s) && stemOf(s.path) != "" })
	for _, s := range tied {
		stem := stemOf(s.path)
		if names[stem+"_unsupported.go"] || names[stem+"_other.go"] || coversAll(names, stem) {
			answered[s.dir()] = true
		}
	}
	var problems []string
	for _, s := range tied {
		if !answered[s.dir()] {
			problems = append(problems, fmt.Sprintf("%s has no %s_unsupported.go or _other.go beside it", s.path, path.Base(stemOf(s.path))))
		}
	}
	return problems
}

// stemOf gives a file's name without its system, or "" when it is tied to none.
func stemOf(name string) string {
	for _, system := range systems {
		if stem, tied := strings.CutSuffix(name, system+".go"); tied {
			return stem
		}
	}
	return ""
}

func coversAll(names map[string]bool, stem string) bool {
	return !slices.ContainsFunc(systems, func(system string) bool { return !names[stem+system+".go"] })
}

// systemRule: which system it is, is decided by the choice of file.
func systemRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, shipped) {
		if systemAllowed(s) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "GOOS" {
				problems = append(problems, s.at(n)+" asks for the system in the middle of logic: use files for each")
			}
			return true
		})
	}
	return problems
}

// systemAllowed also lets the files that answer "unsupported" say where.
func systemAllowed(s *source) bool {
	for room := range systemTests {
		if under(s.dir(), room) {
			return true
		}
	}
	return strings.HasSuffix(s.path, "_unsupported.go") || strings.HasSuffix(s.path, "_other.go")
}

// machinePaths matches what belongs to one machine: homes, work folders, hosts
// of package registries. The pieces are joined so that this file does not match
// itself.
var machinePaths = regexp.MustCompile(`(^|[\s"'=(:])(/ho` + `me/[a-z]|/ro` + `ot/|/wo` + `rk/|/Us` + `ers/[a-zA-Z]|[Cc]:\\Us` + `ers)|` +
	`https?://[^/\s"]*(regi` + `stry|go` + `proxy|artif` + `act|nex` + `us)[^/\s"]*`)

// machineRule: nothing in the repository speaks of the machine it was made on.
func machineRule(all []*source) []string {
	var problems []string
	for _, s := range all {
		for i, line := range strings.Split(s.text, "\n") {
			if m := machinePaths.FindString(line); m != "" {
				problems = append(problems, fmt.Sprintf("%s:%d names a path or host of one machine: %q", s.path, i+1, m))
			}
		}
	}
	return problems
}

func TestPlatformSiblings(t *testing.T) { hold(t, siblingRule) }
func TestSystemTests(t *testing.T)      { hold(t, systemRule) }
func TestNoMachinePaths(t *testing.T)   { hold(t, machineRule) }

func TestPlatformRulesCanFail(t *testing.T) {
	breaks(t, siblingRule, "x11_unsupported.go", "gpu/capture/x11_linux.go\npackage capture\n")
	allows(t, siblingRule, "gpu/capture/x11_linux_test.go\npackage capture\n", "gpu/capture/x11.go\npackage capture\n")
	breaks(t, systemRule, "asks for the system", "gpu/a.go\npackage gpu\nimport \"runtime\"\nvar windows = runtime.GOOS == \"windows\"\n")
	breaks(t, machineRule, "of one machine",
		"a.md\nsee /ho"+"me/anna/notes\n", "a.go\npackage a\nvar p = \"/ro"+"ot/x\"\n", "a.json\n{\"resolved\": \"https://regi"+"stry.example.org/x\"}\n")
	allows(t, machineRule, "a.md\nhttps://example.org/home/page and ~/.config and 192.168.1.2\n")
}
