package arch

import (
	_ "embed"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The root package has no walls that the compiler would keep: the order in which
// files.txt lists its files is the rule, and a file calls down the list.

const (
	mostLines    = 350 // of a file
	mostBody     = 50  // lines of a function
	mostMethods  = 45  // of a type, promoted ones included
	mostUpcalls  = 5   // pairs of files
	mostUparrows = 10  // percent of all arrows between files
)

// upcalls are the calls against the reading order, "from → to", each with its
// reason. There are at most five.
var upcalls = map[string]string{}

// TestRootFilesAreListed holds the list to the files that there are.
func TestRootFilesAreListed(t *testing.T) {
	p := loadRoot(t)
	for _, name := range p.names {
		if !slices.Contains(p.order, name) {
			t.Errorf("%s is not in files.txt of files", name)
		}
	}
	for i, name := range p.order {
		if !slices.Contains(p.names, name) {
			t.Errorf("files.txt lists %s, which is not there", name)
		}
		if slices.Contains(p.order[:i], name) {
			t.Errorf("files.txt lists %s twice", name)
		}
	}
}

// TestRootCallsDown compares the calls between files with the reading order.
func TestRootCallsDown(t *testing.T) {
	p := loadRoot(t)
	if len(upcalls) > mostUpcalls {
		t.Errorf("%d exceptions, want at most %d", len(upcalls), mostUpcalls)
	}
	seen := map[string]bool{}
	for _, a := range p.arrows {
		if !a.call || !p.isUp(a) {
			continue
		}
		seen[a.pair()] = true
		if upcalls[a.pair()] == "" {
			t.Errorf("%s: %s calls %s in %s, which files.txt lists before it", a.at, a.from, a.name, a.to)
		}
	}
	for pair := range upcalls {
		if !seen[pair] {
			t.Errorf("the exception %s is needed no longer", pair)
		}
	}
}

// TestRootReadsDown counts the arrows between files: every use of a name that
// another file declares, once for each pair of files.
func TestRootReadsDown(t *testing.T) {
	p := loadRoot(t)
	all, up := map[string]bool{}, map[string]bool{}
	for _, a := range p.arrows {
		all[a.pair()] = true
		if p.isUp(a) {
			up[a.pair()] = true
		}
	}
	if len(up)*100 > len(all)*mostUparrows {
		t.Errorf("%d of %d arrows run against the reading order, want at most %d %%", len(up), len(all), mostUparrows)
		for pair := range up {
			t.Log(pair)
		}
	}
	t.Logf("%d of %d arrows run against the reading order", len(up), len(all))
}

// largerTypes have more methods than mostMethods, with the reason.
var largerTypes = map[string]int{
	"Auth":                           55, // what applications call: a method for each handler and guard, those of another proof included; Link and LinkURL; CheckCSRF and WritePage for front ends of their own; Audit
	"frameworks/fiberauth.Auth":      48, // the same on Fiber's context, and what prepares a request
	"adapters/sqlstore.Store":        53, // the methods of the abilities that adapters embed
	"adapters/memoryadapter.Adapter": 46, // the same
	"adapters/mongoadapter.Adapter":  46, // the same
	"users.Users":                    58, // everything that takes no request, in one place that applications look through
}

// TestRootSizes keeps files, functions and types to what fits the eye.
func TestRootSizes(t *testing.T) {
	p := loadRoot(t)
	for name, f := range p.files {
		for _, fault := range sizeFaults(p.set, f, ".", map[string]int{}) {
			t.Errorf("%s: %s", name, fault)
		}
	}
	for _, n := range p.named() {
		most := max(mostMethods, largerTypes[n.Obj().Name()])
		if m := types.NewMethodSet(types.NewPointer(n)).Len(); m > most {
			t.Errorf("%s has %d methods, want at most %d", n.Obj().Name(), m, most)
		}
	}
}

// TestRootNames: no two names of one scope, or of one type, differ by case only.
func TestRootNames(t *testing.T) {
	p := loadRoot(t)
	checkCase(t, "package latchkey", p.pkg.Scope().Names())
	for _, n := range p.named() {
		names := fields(n)
		set := types.NewMethodSet(types.NewPointer(n))
		for i := range set.Len() {
			names = append(names, set.At(i).Obj().Name())
		}
		checkCase(t, n.Obj().Name(), names)
	}
}

// fields are those of a struct and of what it embeds.
func fields(t types.Type) (names []string) {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for f := range s.Fields() {
		names = append(names, f.Name())
		if f.Embedded() {
			names = append(names, fields(f.Type())...)
		}
	}
	return names
}

func checkCase(t *testing.T, where string, names []string) {
	t.Helper()
	seen := map[string]string{}
	for _, name := range names {
		folded := strings.ToLower(name)
		if other := seen[folded]; other != "" && other != name {
			t.Errorf("%s: %s and %s differ by case only", where, other, name)
		}
		seen[folded] = name
	}
}

// rootPackage is the root package, type-checked, with the list of its files.
type rootPackage struct {
	set    *token.FileSet
	pkg    *types.Package
	info   *types.Info
	files  map[string]*ast.File
	names  []string // of the files that there are
	order  []string // as files.txt lists them
	arrows []arrow
}

// arrow is one use of a name of another file.
type arrow struct {
	from, to, name string
	at             token.Position
	call           bool // of a function or method
}

func (a arrow) pair() string { return a.from + " → " + a.to }

func (p *rootPackage) isUp(a arrow) bool {
	return slices.Index(p.order, a.to) < slices.Index(p.order, a.from)
}

// named are the types of the package.
func (p *rootPackage) named() []*types.Named {
	var all []*types.Named
	for _, name := range p.pkg.Scope().Names() {
		o, ok := p.pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || o.IsAlias() {
			continue
		}
		if n, ok := o.Type().(*types.Named); ok {
			all = append(all, n)
		}
	}
	return all
}

func loadRoot(t *testing.T) *rootPackage {
	t.Helper()
	p := &rootPackage{set: token.NewFileSet(), files: map[string]*ast.File{}, order: readingOrder(t)}
	paths, err := filepath.Glob(filepath.Join(root, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(p.set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.files[filepath.Base(path)] = f
		p.names = append(p.names, filepath.Base(path))
		files = append(files, f)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	p.info = info
	check := types.Config{Importer: importer.ForCompiler(p.set, "gc", exportData(t))}
	if p.pkg, err = check.Check(core, p.set, files, info); err != nil {
		t.Fatal(err)
	}
	for id, used := range info.Uses {
		if used.Pkg() != p.pkg || !used.Pos().IsValid() || isLocal(p.pkg, used) {
			continue
		}
		_, call := used.(*types.Func)
		a := arrow{name: used.Name(), at: p.set.Position(id.Pos()), call: call}
		a.from, a.to = p.file(id.Pos()), p.file(used.Pos())
		if a.from != a.to {
			p.arrows = append(p.arrows, a)
		}
	}
	return p
}

func (p *rootPackage) file(at token.Pos) string { return filepath.Base(p.set.Position(at).Filename) }

// isLocal tells variables and parameters of functions.
func isLocal(pkg *types.Package, o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && !v.IsField() && v.Parent() != pkg.Scope()
}

// exportData finds what the go command has compiled of each import.
func exportData(t *testing.T) func(path string) (io.ReadCloser, error) {
	t.Helper()
	where := map[string]string{}
	for line := range strings.Lines(goCommand(t, "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", core)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		where[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(where[path]) }
}

//go:embed files.txt
var fileList string

// readingOrder returns the files of the root as files.txt lists them.
func readingOrder(t *testing.T) []string {
	t.Helper()
	var order []string
	for line := range strings.Lines(fileList) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			order = append(order, words[0])
		}
	}
	return order
}
