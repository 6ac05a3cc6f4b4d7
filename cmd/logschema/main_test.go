package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was made from the definition is what the definition gives now.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || string(got) != want {
			t.Errorf("%s is not what %s gives: run make generate and commit it (%v)", name, definition, err)
		}
	}
}

func TestDefinitionsThatCannotBeWritten(t *testing.T) {
	for text, why := range map[string]string{
		"type A struct {\n\tB chan int `json:\"b\"` // b\n}":  "no counterpart",
		"type A struct {\n\tB int `json:\"b\"`\n}":            "does not say what it means",
		"type A struct {\n\tB uint8 `json:\"b\"` // small\n}": "no counterpart",
	} {
		if _, err := parse([]byte("package telemetry\n" + text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", text, err, why)
		}
	}
	if _, err := withTables("no marks", ""); err == nil {
		t.Error("a document without marks was taken")
	}
}
