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

const (
	maxFileLines     = 500
	maxFunctionLines = 40
	maxMethods       = 4
)

// longFunctions lists the functions that may be longer than maxFunctionLines,
// as "folder Name" or "folder Type.Name", each with its reason.
var longFunctions = map[string]string{
	"client/web/bundle Build": "half of it is esbuild's options, one a line",
}

// systemTests lists the files that may ask which system they run on.
var systemTests = map[string]string{
	"cmd/nearglass": "version and doctor name the system to the reader",
	"server/e2e":    "tests name what they cannot run here",
}

// packageDocRule: each package says once what it is.
func packageDocRule(all []*source) []string {
	documented := map[string]bool{}
	var order []string
	for _, s := range goSources(all, shipped) {
		dir := s.dir()
		if _, seen := documented[dir]; !seen {
			order = append(order, dir)
		}
		// "Package x" alone says nothing: a few words must follow.
		documented[dir] = documented[dir] || len(strings.Fields(s.file.Doc.Text())) >= 4
	}
	var problems []string
	for _, dir := range order {
		if !documented[dir] {
			problems = append(problems, dir+" has no package comment")
		}
	}
	return problems
}

// exportedDocRule: what others may use says what it is.
func exportedDocRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, func(s *source) bool { return shipped(s) && s.file.Name.Name != "main" }) {
		for _, decl := range s.file.Decls {
			for _, name := range undocumented(decl) {
				problems = append(problems, fmt.Sprintf("%s: %s has no doc comment", s.at(decl), name))
			}
		}
	}
	return problems
}

// undocumented names the exported functions, methods of exported types, and
// types of a declaration that have no comment. Constants and variables often
// explain themselves in a group.
func undocumented(decl ast.Decl) []string {
	var names []string
	switch d := decl.(type) {
	case *ast.FuncDecl:
		receiver := receiverName(d)
		method := receiver != ""
		if d.Doc == nil && d.Name.IsExported() && (!method || ast.IsExported(receiver) && !plain(d)) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil && ts.Comment == nil {
				names = append(names, ts.Name.Name)
			}
		}
	}
	return names
}

// plain says whether a method needs no words: it is of one statement, or its
// meaning is the standard library's.
func plain(d *ast.FuncDecl) bool {
	known := []string{"Error", "String", "Unwrap", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"}
	return slices.Contains(known, d.Name.Name) || d.Body != nil && len(d.Body.List) <= 1
}

// receiverName gives the type's name of a method, "" for a function.
func receiverName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// sizeRule: what does not fit on a few screens is several things.
func sizeRule(all []*source) []string {
	var problems []string
	for _, s := range all {
		code := s.isGo() || slices.Contains([]string{".ts", ".css", ".sh"}, path.Ext(s.path))
		if code && s.lines() > maxFileLines {
			problems = append(problems, fmt.Sprintf("%s has %d lines, more than %d", s.path, s.lines(), maxFileLines))
		}
	}
	return problems
}

// functionRule: a function over the limit needs a reason in the table.
func functionRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, shipped) {
		for _, decl := range s.file.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Body == nil {
				continue
			}
			lines := s.fset.Position(d.End()).Line - s.fset.Position(d.Pos()).Line + 1
			if name := qualified(s, d); lines > maxFunctionLines && longFunctions[name] == "" {
				problems = append(problems, fmt.Sprintf("%s: %q has %d lines, more than %d", s.at(d), name, lines, maxFunctionLines))
			}
		}
	}
	return problems
}

// qualified names a function as longFunctions does.
func qualified(s *source, d *ast.FuncDecl) string {
	name := d.Name.Name
	if r := receiverName(d); r != "" {
		name = r + "." + name
	}
	return s.dir() + " " + name
}

// nameRule: a package or type is named for what it holds.
func nameRule(all []*source) []string {
	vague := []string{"types", "common", "util", "utils", "helper", "helpers", "misc", "shared", "base", "models", "manager"}
	var problems []string
	for _, s := range goSources(all, func(*source) bool { return true }) {
		if slices.Contains(vague, strings.TrimSuffix(s.file.Name.Name, "_test")) || slices.Contains(vague, path.Base(s.dir())) {
			problems = append(problems, s.path+": the package's name does not say what it holds")
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if ts, ok := n.(*ast.TypeSpec); ok && (strings.HasSuffix(ts.Name.Name, "Manager") || ts.Name.Name == "Ctx") {
				problems = append(problems, fmt.Sprintf("%s: %s does not say what it does", s.at(n), ts.Name.Name))
			}
			return true
		})
	}
	return problems
}

// interfaceRule: an interface is small.
func interfaceRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, shipped) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			ts, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if it, ok := ts.Type.(*ast.InterfaceType); ok && it.Methods.NumFields() > maxMethods {
				problems = append(problems, fmt.Sprintf("%s: %s has %d methods, more than %d", s.at(n), ts.Name.Name, it.Methods.NumFields(), maxMethods))
			}
			return true
		})
	}
	return problems
}

// skipRule: a skip that gives no reason looks like a pass.
func skipRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, func(*source) bool { return true }) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			bare := sel.Sel.Name == "SkipNow" || sel.Sel.Name == "Skip" && s.isTest() && emptyReason(call.Args)
			if bare {
				problems = append(problems, s.at(n)+" skips without a reason")
			}
			return true
		})
	}
	return problems
}

func emptyReason(args []ast.Expr) bool {
	if len(args) == 0 {
		return true
	}
	lit, ok := args[0].(*ast.BasicLit)
	return ok && strings.TrimSpace(strings.Trim(lit.Value, "`\"")) == ""
}

// leftoverRule: work that is not done is said where work is planned.
func leftoverRule(all []*source) []string {
	mark := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX|HA` + `CK)\b`)
	var problems []string
	for _, s := range all {
		if path.Ext(s.path) == ".json" || path.Base(s.path) == "go.sum" {
			continue
		}
		for i, line := range strings.Split(s.text, "\n") {
			if m := mark.FindString(line); m != "" {
				problems = append(problems, fmt.Sprintf("%s:%d says %s", s.path, i+1, m))
			}
		}
	}
	return problems
}

func TestPackageDocs(t *testing.T)   { hold(t, packageDocRule) }
func TestExportedDocs(t *testing.T)  { hold(t, exportedDocRule) }
func TestFileSizes(t *testing.T)     { hold(t, sizeRule) }
func TestFunctionSizes(t *testing.T) { hold(t, functionRule) }
func TestNames(t *testing.T)         { hold(t, nameRule) }
func TestInterfaces(t *testing.T)    { hold(t, interfaceRule) }
func TestSkipReasons(t *testing.T)   { hold(t, skipRule) }
func TestNoLeftovers(t *testing.T)   { hold(t, leftoverRule) }

// TestLongFunctionsExist drops reasons that have outlived their function.
func TestLongFunctionsExist(t *testing.T) {
	found := map[string]bool{}
	for _, s := range goSources(sources(t), shipped) {
		for _, decl := range s.file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				found[qualified(s, d)] = true
			}
		}
	}
	for name, why := range longFunctions {
		if !found[name] || why == "" {
			t.Errorf("longFunctions: %q is gone or has no reason", name)
		}
	}
}

func TestHouseRulesCanFail(t *testing.T) {
	breaks(t, packageDocRule, "no package comment", "gpu/a.go\npackage gpu\n", "gpu/a.go\n// Package gpu.\npackage gpu\n")
	allows(t, packageDocRule, "gpu/a.go\n// Package gpu holds pictures.\npackage gpu\n")
	breaks(t, exportedDocRule, "no doc comment",
		"gpu/a.go\npackage gpu\nfunc Open() {}\n", "gpu/a.go\npackage gpu\ntype Ring struct{}\n",
		"gpu/a.go\npackage gpu\ntype R struct{} // r\nfunc (r *R) Open() { r = nil; r.Open() }\n")
	allows(t, exportedDocRule, "gpu/a.go\npackage gpu\ntype R int // r\nfunc (R) Type() string { return \"r\" }\n",
		"gpu/a.go\npackage gpu\ntype r struct{}\nfunc (r *r) Open() {}\n", "gpu/a.go\npackage gpu\n// Open opens.\nfunc Open() {}\n")
	breaks(t, sizeRule, "501 lines", "a.go\npackage a\n"+strings.Repeat("\n", 500), "a.ts\n"+strings.Repeat("\n", 501))
	allows(t, sizeRule, "a.md\n"+strings.Repeat("\n", 501))
	breaks(t, functionRule, "\"gpu T.f\" has 42 lines", "gpu/a.go\npackage gpu\ntype T[P any] struct{}\nfunc (t *T[P]) f() {"+strings.Repeat("\n", 41)+"}\n")
	breaks(t, nameRule, "name", "gpu/utils/a.go\npackage utils\n", "gpu/a.go\npackage types\n", "gpu/common/a_test.go\npackage x\n")
	breaks(t, nameRule, "does not say", "gpu/a.go\npackage gpu\ntype SlotManager struct{}\n", "gpu/a.go\npackage gpu\ntype Ctx int\n")
	breaks(t, interfaceRule, "5 methods", "gpu/a.go\npackage gpu\ntype i interface { A(); B(); C(); D(); E() }\n")
	breaks(t, skipRule, "without a reason",
		"a_test.go\npackage a\nfunc f(t *testing.T) { t.SkipNow() }\n",
		"a_test.go\npackage a\nfunc f(t *testing.T) { t.Skip() }\n",
		"a_test.go\npackage a\nfunc f(t *testing.T) { t.Skip(\" \") }\n")
	allows(t, skipRule, "a_test.go\npackage a\nfunc f(t *testing.T) { t.Skip(\"no display\") }\n")
	breaks(t, leftoverRule, "says", "a.go\npackage a // TO"+"DO: more\n", "a.ts\n// FIX"+"ME\n", "a.md\nX"+"XX later\n")
}
