package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestComments is R-810: no comment of an exported struct or interface stands by itself.
// go doc and pkg.go.dev leave out comments that belong to no field.
func TestComments(t *testing.T) {
	files := 0
	watch(t, func(path string) {
		if !isPublicSource(filepath.ToSlash(path)) {
			return
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name == "main" || ast.IsGenerated(f) {
			return
		}
		files++
		for _, c := range strayComments(f) {
			t.Errorf("%s: go doc does not show %q: put it into the comment of a field or of the type", set.Position(c.Pos()), c.Text())
		}
	})
	if files < 100 {
		t.Errorf("only %d files were looked at", files)
	}
}

// isPublicSource reports whether path is a Go file, and no test, of a package that users
// can import.
func isPublicSource(path string) bool {
	return strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") &&
		!slices.ContainsFunc(strings.Split(path, "/"), func(folder string) bool { return folder == "internal" || folder == "testdata" })
}

// strayComments returns the comments in the exported types of f that belong to no field
// and no method.
func strayComments(f *ast.File) (stray []*ast.CommentGroup) {
	for _, d := range f.Decls {
		types, ok := d.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			continue
		}
		for _, spec := range types.Specs {
			at := spec.(*ast.TypeSpec)
			owned := map[*ast.CommentGroup]bool{at.Doc: true, at.Comment: true}
			ast.Inspect(at.Type, func(n ast.Node) bool {
				if field, is := n.(*ast.Field); is {
					owned[field.Doc], owned[field.Comment] = true, true
				}
				return true
			})
			for _, c := range f.Comments {
				if at.Name.IsExported() && at.Type.Pos() < c.Pos() && c.End() < at.Type.End() && !owned[c] {
					stray = append(stray, c)
				}
			}
		}
	}
	return stray
}

func TestStrayComments(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "", `package p
// T is one.
type T struct { // stray 1
	// A is one.
	A int // of A

	// stray 2

	B struct {
		C int // of C
		// stray 3
	}
}
// I is one.
type I interface {
	// M is one.
	M()
	// stray 4
}
type hidden struct {
	// of hidden

	A int
}
`, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, c := range strayComments(f) {
		found = append(found, strings.TrimSpace(c.Text()))
	}
	if want := []string{"stray 1", "stray 2", "stray 3", "stray 4"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}
