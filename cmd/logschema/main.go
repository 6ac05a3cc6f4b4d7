// Command logschema writes what follows from the definition of the stream log's
// records in telemetry/schema.go: the viewer's TypeScript types and the tables
// of docs/LOGS.md. Run it from the root of the repository:
//
//	go run ./cmd/logschema
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Files, from the root of the repository.
const (
	definition = "telemetry/schema.go"
	typescript = "client/web/src/logschema.ts"
	document   = "docs/LOGS.md"
)

// The tables of the document stand between these two lines.
const (
	tablesBegin = "<!-- The tables down to the end mark are made from telemetry/schema.go by `make generate`. -->"
	tablesEnd   = "<!-- end of the tables -->"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "logschema:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing what follows from the schema: %w", err)
		}
	}
	return nil
}

// generate gives the text of each file that follows from the definition.
func generate(root string) (map[string]string, error) {
	source, err := os.ReadFile(filepath.Join(root, definition))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	s, err := parse(source)
	if err != nil {
		return nil, err
	}
	doc, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	text, err := withTables(string(doc), s.markdown())
	if err != nil {
		return nil, err
	}
	return map[string]string{typescript: s.typescript(), document: text}, nil
}

// withTables puts the tables between their marks.
func withTables(doc, tables string) (string, error) {
	head, rest, found := strings.Cut(doc, tablesBegin)
	_, tail, ended := strings.Cut(rest, tablesEnd)
	if !found || !ended {
		return "", fmt.Errorf("%s lacks the marks between which the tables stand", document)
	}
	return head + tablesBegin + "\n\n" + tables + "\n" + tablesEnd + tail, nil
}
