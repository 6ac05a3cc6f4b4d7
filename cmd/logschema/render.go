package main

import (
	"fmt"
	"strings"
)

// typescript is the viewer's module of types and constants.
func (s schema) typescript() string {
	var b strings.Builder
	b.WriteString("// The records of the stream log, made from telemetry/schema.go by `make generate`.\n\n")
	for _, c := range s.constants {
		if c.value != "" && c.of == "" {
			fmt.Fprintf(&b, "/** %s */\nexport const %s = %s;\n", c.about, c.name, strings.ReplaceAll(c.value, `"`, "'"))
		}
	}
	for _, w := range s.words {
		fmt.Fprintf(&b, "\n/** %s */\nexport type %s = %s;\n", w.about, w.name, strings.Join(s.valuesOf(w.name), " | "))
	}
	for _, r := range s.records {
		fmt.Fprintf(&b, "\n/** %s */\nexport interface %s {\n", r.about, r.name)
		for _, f := range r.fields {
			mark := ""
			if f.optional {
				mark = "?"
			}
			fmt.Fprintf(&b, "  %s%s: %s; // %s\n", f.name, mark, f.typ, f.about)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// valuesOf lists the literals that a word may be.
func (s schema) valuesOf(name string) []string {
	var list []string
	for _, c := range s.constants {
		if c.of == name {
			list = append(list, strings.ReplaceAll(c.value, `"`, "'"))
		}
	}
	return list
}

// markdown is the tables of the document: one a record, and the names of
// events and reasons.
func (s schema) markdown() string {
	var b strings.Builder
	for _, r := range s.records {
		fmt.Fprintf(&b, "### %s\n\n%s\n\n| field | type | |\n|---|---|---|\n", r.name, r.about)
		for _, f := range r.fields {
			typ := f.typ
			if f.optional {
				typ += ", may be absent"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.name, cell(typ), cell(f.about))
		}
		b.WriteString("\n")
	}
	for _, prefix := range []string{"Event", "Key", "Drop"} {
		fmt.Fprintf(&b, "### %s\n\n| value | |\n|---|---|\n", titles[prefix])
		for _, c := range s.constants {
			if strings.HasPrefix(c.name, prefix) && c.of == "" {
				fmt.Fprintf(&b, "| `%s` | %s |\n", strings.Trim(c.value, `"`), cell(c.about))
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

var titles = map[string]string{
	"Event": "Names of events",
	"Key":   "Reasons for a key frame",
	"Drop":  "Reasons for which a picture does not reach the viewer",
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s)
}
