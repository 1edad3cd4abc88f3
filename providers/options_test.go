package providers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// TestOptionsAreListed: what package providers offers to choose is known to the
// catalogue, once.
func TestOptionsAreListed(t *testing.T) {
	listed := map[string]int{}
	for _, e := range catalogue.Providers() {
		listed[functionName(e)]++
		for _, name := range e.Options {
			listed[name]++
		}
	}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "mail_") || path == "mail.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			for _, name := range choices(d) {
				declared[name] = true
			}
		}
	}
	for name := range declared {
		if listed[name] != 1 {
			t.Errorf("%s stands %d times in the catalogue", name, listed[name])
		}
	}
	for name := range listed {
		if !declared[name] {
			t.Errorf("the catalogue has %s, which is not there", name)
		}
	}
}

// TestFormsAreDocumented: what the catalogue says of issuers and fields is what the
// documentation of the function says, and every issuer that is missing has a form.
func TestFormsAreDocumented(t *testing.T) {
	documented := documentation(t)
	all(t, func(t *testing.T, e catalogue.Entry, r recorded) {
		t.Helper()
		if needed := issuerOf(e.New(latchkey.OAuth{}), r) == "**needed**"; needed != (e.Issuer != "") {
			t.Errorf("an issuer is needed: %t, its form is %q", needed, e.Issuer)
		}
		text := documented[functionName(e)]
		if !strings.Contains(text, e.Issuer) || !strings.Contains(text, e.Fields) {
			t.Errorf("the documentation has not both %q and %q: %s", e.Issuer, e.Fields, text)
		}
	})
}

// documentation is the text of each function's, in one line.
func documentation(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				found[f.Name.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
			}
		}
	}
	return found
}

// choices are the exported functions and untyped constants of a declaration.
func choices(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.CONST && v.Type == nil && v.Names[0].IsExported() {
				names = append(names, v.Names[0].Name)
			}
		}
	}
	return names
}
