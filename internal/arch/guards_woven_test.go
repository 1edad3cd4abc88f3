package arch

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// woven is the product with each function that has a guard in it twice: as it is, and as a
// copy without the guard. A process runs the copy where guardVariable is the guard's number,
// so that a package is compiled once for all its guards.
type woven struct {
	guards  []guard
	apart   map[int]string    // files without a guard that no function holds; each is compiled alone
	sources map[string]string // by file
	dir     string
}

const guardVariable = "LATCHKEY_GUARD_OFF"

// weave returns the product with guards woven in.
func weave(t *testing.T, guards []guard) *woven {
	t.Helper()
	w := &woven{guards: guards, apart: map[int]string{}, sources: map[string]string{}, dir: t.TempDir()}
	byFile := map[string][]int{}
	for i, g := range guards {
		byFile[g.file] = append(byFile[g.file], i)
	}
	for file, numbers := range byFile {
		w.sources[file] = w.weaveFile(t, file, numbers)
		dir := filepath.Dir(file)
		name := parseText(t, w.sources[file]).Name.Name
		w.sources[filepath.Join(dir, "guards_off.go")] = fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar guardOff = os.Getenv(%q)\n", name, guardVariable)
	}
	return w
}

// weaveFile returns file, whose functions begin with a question for each guard in them:
// is it off, so that the copy without it has to run?
func (w *woven) weaveFile(t *testing.T, file string, numbers []int) string {
	t.Helper()
	source := read(t, filepath.Join(root, file))
	questions, copies := map[int]string{}, ""
	for _, n := range numbers {
		without, err := w.guards[n].switchedOff(source)
		if err != nil {
			t.Fatal(err)
		}
		question, function, at := copied(t, source, without, n)
		if at < 0 {
			w.apart[n] = without
			continue
		}
		questions[at] += question
		copies += "\n" + function + "\n"
	}
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(questions))) {
		source = source[:at] + questions[at] + source[at:]
	}
	return source + copies
}

// copied returns the function that without has changed, under a name with n in it, and the
// question that leads to it, which belongs at a place in source. The place is -1 if the
// change is in no function, or in one that cannot be called from its own beginning.
func copied(t *testing.T, source, without string, n int) (question, function string, at int) {
	t.Helper()
	changed := parseText(t, without).Decls
	for i, decl := range parseText(t, source).Decls {
		was, ok := decl.(*ast.FuncDecl)
		is, same := changed[i].(*ast.FuncDecl)
		if !ok || !same || textOf(source, was) == textOf(without, is) {
			continue
		}
		name := fmt.Sprintf("%sWithout%d", was.Name.Name, n)
		call, ok := callOf(was, name)
		if !ok {
			return "", "", -1
		}
		question = fmt.Sprintf(" if guardOff == \"%d\" { %s };", n, call)
		function = without[is.Pos()-1:is.Name.Pos()-1] + name + without[is.Name.End()-1:is.End()-1]
		return question, function, int(was.Body.Lbrace)
	}
	return "", "", -1
}

// callOf returns the statement that calls the function name with what fn was called with,
// if that is possible: each of its arguments has a name.
func callOf(fn *ast.FuncDecl, name string) (call string, ok bool) {
	if fn.Recv != nil {
		receiver := fn.Recv.List[0].Names
		if len(receiver) == 0 || receiver[0].Name == "_" {
			return "", false
		}
		name = receiver[0].Name + "." + name
	}
	var arguments []string
	for _, field := range fn.Type.Params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, argument := range field.Names {
			if argument.Name == "_" {
				return "", false
			}
			if arguments = append(arguments, argument.Name); variadic {
				arguments[len(arguments)-1] += "..."
			}
		}
		if len(field.Names) == 0 {
			return "", false
		}
	}
	call = name + "(" + strings.Join(arguments, ", ") + ")"
	if fn.Type.Results == nil {
		return call + "; return", true
	}
	return "return " + call, true
}

// mustMiss runs the tests of every guard without it. They must fail, and pass with it.
func (w *woven) mustMiss(t *testing.T) {
	overlay := w.overlay(t, "woven", w.sources)
	byPackage := map[string][]int{}
	for n, g := range w.guards {
		if w.apart[n] == "" {
			byPackage[g.pkg] = append(byPackage[g.pkg], n)
		}
	}
	for pkg, numbers := range byPackage {
		program := w.compile(t, pkg, overlay)
		var all []string
		for _, n := range numbers {
			all = append(all, w.guards[n].tests)
		}
		if out, err := w.run(t, program, pkg, strings.Join(all, "|"), -1); err != nil {
			t.Fatalf("with all guards: %v\n%s", err, out)
		}
		for _, n := range numbers {
			t.Run(w.guards[n].keeps, func(t *testing.T) { w.mustFail(t, program, n) })
		}
	}
	for n, without := range w.apart {
		t.Run(w.guards[n].keeps, func(t *testing.T) {
			w.mustFail(t, w.compile(t, w.guards[n].pkg, w.overlay(t, fmt.Sprint(n), map[string]string{w.guards[n].file: without})), n)
		})
	}
}

// mustFail runs the tests of guard n, which is off in program.
func (w *woven) mustFail(t *testing.T, program string, n int) {
	g := w.guards[n]
	out, err := w.run(t, program, g.pkg, g.tests, n)
	switch {
	case err == nil:
		t.Errorf("%s passes without %q of %s:\n%s", g.tests, g.line, g.file, out)
	case !strings.Contains(out, "--- FAIL: ") && !strings.Contains(out, "panic: "):
		t.Errorf("%s says nothing of the guard: %v\n%s", g.pkg, err, out)
	}
}

// run runs tests of pkg, compiled as program, without guard n, or with all if n is negative.
func (w *woven) run(t *testing.T, program, pkg, tests string, n int) (out string, err error) {
	t.Helper()
	run := exec.CommandContext(t.Context(), program, "-test.timeout=10m", "-test.run", "^("+tests+")$")
	run.Dir = filepath.Join(root, pkg)
	run.Env = append(os.Environ(), fmt.Sprintf("%s=%d", guardVariable, n))
	text, err := run.CombinedOutput()
	return string(text), err
}

// compile returns the program of pkg's tests, with the files that overlay replaces.
func (w *woven) compile(t *testing.T, pkg, overlay string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "tests")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-w", "-overlay", overlay, "-o", program, pkg)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", pkg, err, out)
	}
	return program
}

// overlay writes the file for the go command that puts sources in the place of the product's
// files, and returns its path.
func (w *woven) overlay(t *testing.T, name string, sources map[string]string) string {
	t.Helper()
	replace := map[string]string{}
	for file, source := range sources {
		path := filepath.Join(w.dir, name, strings.ReplaceAll(file, "/", "_"))
		write(t, path, source)
		replace[filepath.Join(absolute(t, root), file)] = path
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.dir, name+".json")
	write(t, path, string(list))
	return path
}

func textOf(source string, n ast.Node) string { return source[n.Pos()-1 : n.End()-1] }
