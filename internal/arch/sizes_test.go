package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// capped are the folders whose packages have to fit the eye as the root does.
var capped = []string{
	"admin", "cmd", "event", "fault", "frame", "frameworks", "internal", "jwt", "latchkeytest", "mail", "mailtext", "passkey", "providers",
	"storage", "ui", "webauthn",
	"adapters/dynamoadapter", "adapters/kvstore", "adapters/memoryadapter", "adapters/mongoadapter",
	"adapters/natsadapter", "adapters/pgxadapter", "adapters/redisadapter", "adapters/sqladapter", "adapters/sqlstore", "users",
}

// TestSizes keeps the files, functions and types of the packages below the root to
// the sizes of TestRootSizes. A method counts for the type that declares it.
func TestSizes(t *testing.T) {
	for _, folder := range capped {
		methods := map[string]int{} // by folder and type
		err := filepath.WalkDir("../../"+folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules"):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil || ast.IsGenerated(f) {
				return err
			}
			for _, fault := range sizeFaults(set, f, filepath.Dir(path), methods) {
				t.Errorf("%s: %s", strings.TrimPrefix(path, "../../"), fault)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for name, n := range methods {
			if name = strings.TrimPrefix(name, "../../"); n > max(mostMethods, largerTypes[name]) {
				t.Errorf("%s has %d methods, want at most %d", name, n, max(mostMethods, largerTypes[name]))
			}
		}
	}
}

// sizeFaults returns what is too long in f, and counts its methods.
func sizeFaults(set *token.FileSet, f *ast.File, folder string, methods map[string]int) (faults []string) {
	line := func(at token.Pos) int { return set.Position(at).Line }
	if line(f.FileEnd) > mostLines {
		faults = append(faults, "the file is too long")
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fn.Recv != nil {
			methods[folder+"."+receiverOf(fn)]++
		}
		if line(fn.End())-line(fn.Pos())+1 > mostBody && !isTable(fn) {
			faults = append(faults, fn.Name.Name+" is too long")
		}
	}
	return faults
}

// isTable reports whether fn does nothing but return a literal, such as the texts
// of a language or the list of providers.
func isTable(fn *ast.FuncDecl) bool {
	if fn.Body == nil || len(fn.Body.List) != 1 {
		return false
	}
	result, ok := fn.Body.List[0].(*ast.ReturnStmt)
	return ok && len(result.Results) == 1 && isPlainLiteral(result.Results[0])
}

// isPlainLiteral reports whether e is a composite literal without function
// literals in it.
func isPlainLiteral(e ast.Expr) bool {
	if _, ok := e.(*ast.CompositeLit); !ok {
		return false
	}
	plain := true
	ast.Inspect(e, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			plain = false
		}
		return plain
	})
	return plain
}

// receiverOf returns the name of the type whose method fn is.
func receiverOf(fn *ast.FuncDecl) string {
	for e := fn.Recv.List[0].Type; ; {
		switch at := e.(type) {
		case *ast.StarExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.IndexListExpr:
			e = at.X
		case *ast.Ident:
			return at.Name
		default:
			return ""
		}
	}
}

func TestSizeFaults(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	for _, tt := range []struct {
		name, source string
		want         []string
	}{
		{"short", "package p\nfunc f() {}\n", nil},
		{"a long file", "package p\n" + lines(mostLines), []string{"the file is too long"}},
		{"a long function", "package p\nfunc f() {" + lines(mostBody) + "}\n", []string{"f is too long"}},
		{"a table", "package p\nfunc f() []int {\nreturn []int{" + lines(mostBody) + "}\n}\n", nil},
		{"a table of functions", "package p\nfunc f() []any {\nreturn []any{" + lines(mostBody) + "func() {}}\n}\n", []string{"f is too long"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, "p.go", tt.source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if got := sizeFaults(set, f, "p", map[string]int{}); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	t.Run("methods", func(t *testing.T) {
		set, methods := token.NewFileSet(), map[string]int{}
		f, err := parser.ParseFile(set, "p.go", "package p\nfunc (a A) f() {}\nfunc (a *A) g() {}\nfunc (b *B[K, V]) f() {}\n", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		sizeFaults(set, f, "p", methods)
		if methods["p.A"] != 2 || methods["p.B"] != 1 {
			t.Errorf("%v", methods)
		}
	})
}
