package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
)

// schema is the definition as its source says it, in its order.
type schema struct {
	records   []record
	words     []word
	constants []constant
}

// record is a struct of the definition.
type record struct {
	name, about string
	fields      []field
}

// field is one field as JSON has it.
type field struct {
	name, typ, about string
	optional         bool
}

// word is a string type that takes some of the constants as its values.
type word struct{ name, about string }

// constant is a named number or string; of says which word it is a value of.
type constant struct{ name, value, of, about string }

func parse(source []byte) (schema, error) {
	file, err := parser.ParseFile(token.NewFileSet(), definition, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return schema{}, fmt.Errorf("reading the schema: %w", err)
	}
	var s schema
	for _, decl := range file.Decls {
		if g, ok := decl.(*ast.GenDecl); ok {
			if err := s.declare(g); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

func (s *schema) declare(g *ast.GenDecl) error {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			s.constant(spec, g)
		case *ast.TypeSpec:
			if err := s.typ(spec, oneLine(g.Doc)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *schema) constant(spec *ast.ValueSpec, g *ast.GenDecl) {
	c := constant{name: spec.Names[0].Name, about: oneLine(spec.Comment)}
	if c.about == "" {
		c.about = oneLine(g.Doc)
	}
	if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
		c.value = lit.Value
	}
	if id, ok := spec.Type.(*ast.Ident); ok {
		c.of = id.Name
	}
	s.constants = append(s.constants, c)
}

func (s *schema) typ(spec *ast.TypeSpec, about string) error {
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "string" {
			s.words = append(s.words, word{spec.Name.Name, about})
		}
		return nil
	}
	r := record{name: spec.Name.Name, about: about}
	for _, f := range st.Fields.List {
		name, options, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		t, err := typeScriptOf(f.Type)
		if err != nil {
			return fmt.Errorf("field %s of %s: %w", name, r.name, err)
		}
		if f.Comment == nil {
			return fmt.Errorf("field %s of %s does not say what it means", name, r.name)
		}
		r.fields = append(r.fields, field{name, t, oneLine(f.Comment), options == "omitempty"})
	}
	s.records = append(s.records, r)
	return nil
}

// typeScriptOf names a type of the definition as TypeScript does.
func typeScriptOf(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeScriptOf(e.X)
	case *ast.MapType:
		v, err := typeScriptOf(e.Value)
		return "Record<string, " + v + ">", err
	case *ast.Ident:
		switch e.Name {
		case "string":
			return "string", nil
		case "bool":
			return "boolean", nil
		case "int", "uint32", "uint64", "float64":
			return "number", nil
		case "Counts":
			return "Record<string, number>", nil
		}
		if ast.IsExported(e.Name) {
			return e.Name, nil
		}
	}
	return "", fmt.Errorf("%T has no counterpart in TypeScript", e)
}

func oneLine(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
