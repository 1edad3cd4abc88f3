package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestExportedNamesHaveUsers holds the root package to its purpose: each
// exported name, method and field has somebody who needs it, be it another
// package of the repository, a program, an example or a page.
func TestExportedNamesHaveUsers(t *testing.T) {
	names := exportedNames(t)
	if len(names) < 100 {
		t.Fatalf("only %d exported names were found", len(names))
	}
	used := usedWords(t)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.ContainsFunc(names[name], func(w string) bool { return used[w] }) {
			t.Errorf("nobody uses latchkey.%s: show what it is for in an example, or unexport it", name)
		}
	}
}

// elsewhere matches names that applications do not use. Each kind has its own place.
var elsewhere = regexp.MustCompile(`Record$|Limiter$|^ClientRoute$|Option$|CacheSize$`)

// TestRootIndex is R-582: records, limiters, routes and functional options stay out
// of the index of the root package.
func TestRootIndex(t *testing.T) {
	for name := range exportedNames(t) {
		if elsewhere.MatchString(name) && !strings.Contains(name, ".") {
			t.Errorf("latchkey.%s: records and limiters belong to package storage and the adapters, options to a struct", name)
		}
	}
	for _, was := range []string{
		"AccountRecord", "AuthenticatorRecord", "StoredSessionRecord", "VerificationTokenRecord",
		"MemoryLimiter", "NewMemoryLimiter", "Limiter", "ReturningLimiter", "ClientRoute", "CacheOption", "CacheSize",
	} {
		if !elsewhere.MatchString(was) {
			t.Errorf("latchkey.%s would pass", was)
		}
	}
}

// exportedNames are those of the root package, as Name or Type.Member, with the
// words of which one has to be in the text of a user. Whoever uses a constant
// uses its type.
func exportedNames(t *testing.T) map[string][]string {
	t.Helper()
	names := map[string][]string{}
	watch(t, func(path string) {
		if filepath.Dir(path) != filepath.Clean(root) || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return
		}
		addFile(names, parse(t, path))
	})
	return names
}

func addFile(names map[string][]string, f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			addFunc(names, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				addSpec(names, spec)
			}
		}
	}
}

// conventional are methods that the language or the standard library calls.
var conventional = []string{"Error", "Is", "Unwrap", "MarshalJSON", "UnmarshalJSON", "ServeHTTP"}

func addFunc(names map[string][]string, d *ast.FuncDecl) {
	name := d.Name.Name
	switch {
	case !d.Name.IsExported():
	case d.Recv == nil:
		names[name] = []string{name}
	default:
		x := d.Recv.List[0].Type
		if star, ok := x.(*ast.StarExpr); ok {
			x = star.X
		}
		if on, ok := x.(*ast.Ident); ok && on.IsExported() && !slices.Contains(conventional, name) {
			names[on.Name+"."+name] = []string{name}
		}
	}
}

func addSpec(names map[string][]string, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, id := range s.Names {
			if id.IsExported() {
				names[id.Name] = []string{id.Name}
				if of, ok := s.Type.(*ast.Ident); ok && of.IsExported() {
					names[of.Name] = append(names[of.Name], id.Name)
				}
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		names[s.Name.Name] = append(names[s.Name.Name], s.Name.Name)
		var members *ast.FieldList
		switch x := s.Type.(type) {
		case *ast.StructType:
			members = x.Fields
		case *ast.InterfaceType:
			members = x.Methods
		default:
			return
		}
		for _, m := range members.List {
			for _, id := range m.Names {
				if id.IsExported() {
					names[s.Name.Name+"."+id.Name] = []string{id.Name}
				}
			}
		}
	}
}

// usedWords are the identifiers of the Go files that are no tests and not the
// root package's own, those of its examples, and the words in the code of the
// pages.
func usedWords(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	watch(t, func(path string) {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		inRoot := !strings.Contains(name, "/")
		switch {
		case filepath.Ext(name) == ".go" && strings.HasSuffix(name, "_test.go") == inRoot:
			if f := parse(t, path); !inRoot || strings.HasSuffix(f.Name.Name, "_test") {
				addIdents(used, f, inRoot)
			}
		case filepath.Ext(name) == ".md" && isGuide(name):
			for _, code := range inCode.FindAllString(read(t, path), -1) {
				for _, word := range word.FindAllString(code, -1) {
					used[word] = true
				}
			}
		}
	})
	return used
}

var (
	inCode = regexp.MustCompile("(?s)```.*?```|`[^`]+`")
	word   = regexp.MustCompile(`\w+`)
)

// addIdents adds the identifiers of a file, or of its examples only.
func addIdents(used map[string]bool, f *ast.File, examples bool) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); examples && (!ok || !strings.HasPrefix(fn.Name.Name, "Example")) {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				used[id.Name] = true
			}
			return true
		})
	}
}

func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestExportedNames(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "", `package p
type T struct { A int; b int }
type I interface { M() }
type hidden struct { C int }
var V, w = 1, 2
func F() {}
func (t *T) G() {}
type K string
const X K = "x"
func (hidden) H() {}
func (T) Error() string { return "" }
`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	addFile(names, f)
	want := map[string][]string{
		"T": {"T"}, "T.A": {"A"}, "I": {"I"}, "I.M": {"M"}, "V": {"V"}, "F": {"F"}, "T.G": {"G"}, "K": {"K", "X"}, "X": {"X"},
	}
	if !maps.EqualFunc(names, want, slices.Equal) {
		t.Errorf("got %v, want %v", names, want)
	}
}
