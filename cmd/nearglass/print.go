package main

import (
	"encoding/json"
	"io"
)

// printJSON writes a value for programs, indented so that people can read it.
func printJSON(w io.Writer, v any) error {
	j := json.NewEncoder(w)
	j.SetIndent("", "  ")
	return j.Encode(v)
}
