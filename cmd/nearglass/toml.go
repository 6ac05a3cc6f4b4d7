package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// configFile is a config file as read: flat, a line a setting.
type configFile struct {
	path     string
	settings map[string]setting
}

type setting struct {
	value string // as the flag would be written; lists joined by commas
	line  int
}

// parseConfig reads a config file. Every key must be known.
func parseConfig(path string, data []byte, known map[string]bool) (*configFile, error) {
	var values map[string]any
	if err := toml.Unmarshal(data, &values); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ := at.Position()
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines := keyLines(data)
	f := &configFile{path: path, settings: map[string]setting{}}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !known[key] {
			return nil, fmt.Errorf("%s:%d: unknown key %q%s", path, lines[key], key, nearest(key, known))
		}
		text, err := flat(values[key])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", path, lines[key], key, err)
		}
		f.settings[key] = setting{text, lines[key]}
	}
	return f, nil
}

// flat writes a value as a flag has it.
func flat(v any) (string, error) {
	switch v := v.(type) {
	case []any:
		var parts []string
		for _, e := range v {
			s, err := flat(e)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, ","), nil
	case string, int64, float64, bool:
		return fmt.Sprint(v), nil
	}
	return "", errors.New("a text, a number or a list of texts is needed")
}

// keyLines finds the line of each top-level key or table. The data has been
// parsed before.
func keyLines(data []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		key := p.Expression().Key()
		if !key.Next() {
			continue
		}
		name := string(key.Node().Data)
		if _, seen := lines[name]; !seen {
			lines[name] = p.Shape(key.Node().Raw).Start.Line
		}
	}
	return lines
}

// nearest proposes the known key that a mistyped one was meant to be.
func nearest(key string, known map[string]bool) string {
	best, least := "", len(key)/2+1
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if d := distance(strings.ReplaceAll(key, "_", "-"), k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return " (nearglass serve --help lists them)"
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the Levenshtein distance of two short names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
