package arch

import (
	"strings"
	"testing"
)

// unbound are the modules that may import anything: programs, which are built
// with the versions their own go.mod names, and what never leaves the
// repository.
var unbound = []string{
	"./cmd/...", "./demo/...", "./examples/...", "./internal/...",
	"./adapters/sqladapter/test/...", "./otel/test/...",
}

// TestShippedModulesImportPublicPackages lets users upgrade the root module
// alone: an older module beside it depends on nothing but what is documented.
// Tests may use internal packages, since they run in this repository only.
func TestShippedModulesImportPublicPackages(t *testing.T) {
	shipped := 0
	for _, p := range packages(t) {
		if !isShipped(p) {
			continue
		}
		shipped++
		for _, imported := range p.Imports {
			if isForeignInternal(p.Module.Path, imported) {
				t.Errorf("%s imports %s: what modules share is public", folder(p.ImportPath), folder(imported))
			}
		}
	}
	if shipped == 0 {
		t.Log("no module but the root's was looked at: there is no workspace")
	}
}

// isShipped reports whether a package is in a module of its own that users
// require beside the root module.
func isShipped(p pkg) bool {
	if p.Module.Path == core {
		return false
	}
	for _, pattern := range unbound {
		if within(folder(p.ImportPath), pattern) {
			return false
		}
	}
	return true
}

// isForeignInternal reports whether a module imports an internal package of
// another module of this repository.
func isForeignInternal(module, imported string) bool {
	if imported != core && !strings.HasPrefix(imported, core+"/") {
		return false
	}
	own := imported == module || strings.HasPrefix(imported, module+"/")
	return !own && strings.Contains(imported+"/", "/internal/")
}

func TestForeignInternal(t *testing.T) {
	for _, c := range []struct {
		name, module, imports string
		want                  bool
	}{
		{"an internal package of the root", core + "/mail", core + "/internal/page", true},
		{"one that is deeper", core + "/mail", core + "/jwt/internal/x", true},
		{"the folder itself", core + "/mail", core + "/internal", true},
		{"a public package", core + "/mail", core + "/mailtext", false},
		{"the root", core + "/mail", core, false},
		{"its own internal package", core + "/mail", core + "/mail/internal/x", false},
		{"one of a module whose name begins alike", core + "/mail", core + "/mailtext/internal/x", true},
		{"a name that only looks like it", core + "/mail", core + "/internals", false},
		{"the standard library's", core + "/mail", "crypto/internal/x", false},
	} {
		if got := isForeignInternal(c.module, c.imports); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

func TestShipped(t *testing.T) {
	for path, want := range map[string]bool{
		"/mail": true, "/adapters/pgxadapter": true, "/adapters/sqladapter/test": false,
		"/cmd/latchkey": false, "/demo": false, "/internal/crash": false,
	} {
		p := pkg{ImportPath: core + path}
		p.Module.Path = core + path
		if got := isShipped(p); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
	if p := (pkg{ImportPath: core + "/providers", Module: struct{ Path string }{core}}); isShipped(p) {
		t.Error("a package of the root module has a module of its own")
	}
}
