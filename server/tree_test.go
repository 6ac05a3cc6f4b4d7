package server_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the path of our own module; an import below it is one of ours.
const module = "nearglass"

// source is one file of the repository. The house tests are functions from
// sources to problems, so that each can be tried on samples that break it.
type source struct {
	path string // from the root of the repository, with forward slashes
	text string
	file *ast.File // nil when it is no Go file
	fset *token.FileSet
}

func (s *source) dir() string  { return path.Dir(s.path) }
func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }
func (s *source) isGo() bool   { return s.file != nil }
func (s *source) lines() int   { return strings.Count(s.text, "\n") }

// at names a place in the source, for a problem's text.
func (s *source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return s.path + ":" + strconv.Itoa(p.Line)
}

// imports lists the import paths of a Go file.
func (s *source) imports() []string {
	var list []string
	for _, spec := range s.file.Imports {
		list = append(list, strings.Trim(spec.Path.Value, `"`))
	}
	return list
}

// readable lists the endings of the files that the house tests read.
var readable = map[string]bool{
	".go": true, ".ts": true, ".css": true, ".html": true, ".md": true, ".sh": true, ".mk": true,
	".json": true, ".toml": true, ".yml": true, ".yaml": true, ".mod": true, ".c": true, ".h": true, "": true,
}

// unread lists folders that hold nothing of ours.
var unread = map[string]bool{".git": true, "node_modules": true, "build": true}

// tree reads the repository once for all tests.
var tree = sync.OnceValues(func() ([]*source, error) {
	var all []*source
	root := ".."
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			// client/web/build is a program of ours; build at the top is not.
			if unread[d.Name()] && (d.Name() != "build" || rel == "build") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !readable[path.Ext(rel)] {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := parse(rel, string(data))
		all = append(all, s)
		return err
	})
	return all, err
})

// parse makes a source of a file's text.
func parse(name, text string) (*source, error) {
	s := &source{path: name, text: text, fset: token.NewFileSet()}
	if path.Ext(name) != ".go" {
		return s, nil
	}
	var err error
	s.file, err = parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return s, err
}

// sources gives the whole repository.
func sources(t *testing.T) []*source {
	t.Helper()
	all, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// goSources gives the Go files that keep says yes to.
func goSources(all []*source, keep func(*source) bool) []*source {
	var some []*source
	for _, s := range all {
		if s.isGo() && keep(s) {
			some = append(some, s)
		}
	}
	return some
}

func shipped(s *source) bool { return !s.isTest() }

// under says whether dir is the folder room or lies in it.
func under(dir, room string) bool { return dir == room || strings.HasPrefix(dir, room+"/") }

// hold reports every problem that rule finds in the repository.
func hold(t *testing.T, rule func([]*source) []string) {
	t.Helper()
	for _, problem := range rule(sources(t)) {
		t.Error(problem)
	}
}

// breaks checks that rule objects to each sample on its own and says why in
// the words given. A sample is a file name, a line end, and the file's text.
func breaks(t *testing.T, rule func([]*source) []string, want string, samples ...string) {
	t.Helper()
	for _, sample := range samples {
		found := rule(sampleSources(t, sample))
		if len(found) == 0 {
			t.Errorf("the rule does not object to:\n%s", sample)
		} else if !strings.Contains(found[0], want) {
			t.Errorf("the rule says %q without %q about:\n%s", found[0], want, sample)
		}
	}
}

// allows checks that rule has nothing against each sample.
func allows(t *testing.T, rule func([]*source) []string, samples ...string) {
	t.Helper()
	for _, sample := range samples {
		if found := rule(sampleSources(t, sample)); len(found) > 0 {
			t.Errorf("the rule objects with %q to:\n%s", found, sample)
		}
	}
}

func sampleSources(t *testing.T, sample string) []*source {
	t.Helper()
	name, text, _ := strings.Cut(sample, "\n")
	s, err := parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return []*source{s}
}
