package arch

import (
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root = "../.."
	core = "github.com/latchkeyhq/latchkey"
)

//go:embed deps.txt
var table string

// TestDeps asks the go command about every module it knows of: all of them in
// the workspace, the root module where there is none.
func TestDeps(t *testing.T) {
	r, err := parseRules(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages(t) {
		importer := folder(p.ImportPath)
		line, ok := r.of(importer)
		if !ok {
			t.Errorf("%s has no line in internal/arch/deps.txt: add one that says what it may import", importer)
			continue
		}
		for _, imported := range p.Imports {
			if !allows(line, folder(imported)) {
				t.Errorf("%s imports %s, which internal/arch/deps.txt does not allow", importer, folder(imported))
			}
		}
	}
}

// TestDepsNamesWhatIsThere is R-585: it fails for a line, or an import in a line, of a package
// of this repository that does not exist.
func TestDepsNamesWhatIsThere(t *testing.T) {
	r, err := parseRules(table)
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, p := range packages(t) {
		there = append(there, folder(p.ImportPath))
	}
	for name, line := range r {
		for _, word := range append([]string{name}, line...) {
			word = strings.TrimPrefix(word, "!")
			ours := word == "." || strings.HasPrefix(word, "./")
			if ours && !slices.ContainsFunc(there, func(p string) bool { return within(p, word) }) {
				t.Errorf("internal/arch/deps.txt names %s, which is not there", word)
			}
		}
	}
}

// TestNoTesting looks at everything the root module's packages pull in: package
// testing would add its flags to every program that uses Latchkey.
func TestNoTesting(t *testing.T) {
	forTests := []string{
		core + "/latchkeytest", core + "/latchkeytest/frameworktest", core + "/latchkeytest/storagetest",
		core + "/internal/hostile", core + "/internal/plainsite", core + "/internal/race", core + "/internal/realservers", core + "/internal/turns",
	}
	for _, p := range packages(t) {
		if p.Module.Path == core && !slices.Contains(forTests, p.ImportPath) && slices.Contains(p.Deps, "testing") {
			t.Errorf("%s pulls in package testing", folder(p.ImportPath))
		}
	}
}

// TestRootRequires keeps the promise that go get adds four modules and no
// more.
func TestRootRequires(t *testing.T) {
	allowed := []string{"github.com/go-jose/go-jose/v4", "golang.org/x/sync", "golang.org/x/text", "rsc.io/qr"}
	mod := readMod(t, filepath.Join(root, "go.mod"))
	for _, m := range mod.Require {
		if !slices.Contains(allowed, m.Path) {
			t.Errorf("the root module requires %s: give what needs it a module of its own", m.Path)
		}
	}
	if len(mod.Replace) != 0 {
		t.Error("the root module replaces others, which its users would not see")
	}
}

// TestGoVersion holds every module to the oldest release of Go that we promise.
func TestGoVersion(t *testing.T) {
	found := false
	watch(t, func(path string) {
		if filepath.Base(path) != "go.mod" {
			return
		}
		found = true
		mod := readMod(t, path)
		if mod.Go != "1.26.0" {
			t.Errorf("%s says go %s, not 1.26.0", path, mod.Go)
		}
		if mod.Toolchain != "" {
			t.Errorf("%s has a toolchain line, which makes users download one", path)
		}
	})
	if !found {
		t.Error("no go.mod was looked at")
	}
}

type pkg struct {
	ImportPath string
	Name, Dir  string
	GoFiles    []string
	Imports    []string // by its own files; not by tests
	Deps       []string // the same, all the way down
	Module     struct{ Path string }
}

func packages(t *testing.T) []pkg {
	t.Helper()
	watch(t, func(string) {})
	var all []pkg
	d := json.NewDecoder(strings.NewReader(goCommand(t, "list", "-json=ImportPath,Name,Dir,GoFiles,Imports,Deps,Module", "work")))
	for {
		var p pkg
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			if len(all) == 0 {
				t.Fatal("go list found no packages")
			}
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

type modFile struct {
	Go, Toolchain string
	Require       []struct{ Path string }
	Replace       []json.RawMessage
}

func readMod(t *testing.T, path string) (m modFile) {
	t.Helper()
	if err := json.Unmarshal([]byte(goCommand(t, "mod", "edit", "-json", path)), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	var failure strings.Builder
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, failure.String())
	}
	return string(out)
}

// watch calls f with every file of the repository. It also lets go test see
// which files the answers of the go command depend on: without it, a cached
// "ok" would survive a new import.
func watch(t *testing.T, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case !d.IsDir():
			f(path)
		case path != root && (name == "node_modules" || name[0] == '.'):
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// folder spells an import path as deps.txt does.
func folder(importPath string) string {
	if importPath == core {
		return "."
	}
	if below, ok := strings.CutPrefix(importPath, core+"/"); ok {
		return "./" + below
	}
	return importPath
}
