package arch

import (
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// prose are README.md, the pages of docs and those of examples, by path from the root.
func prose(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	watch(t, func(path string) {
		if filepath.Ext(path) == ".md" {
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			if name = filepath.ToSlash(name); strings.HasPrefix(name, "docs/") || strings.HasPrefix(name, "examples/") || !strings.Contains(name, "/") {
				pages[name] = read(t, path)
			}
		}
	})
	if len(pages) < 10 {
		t.Fatalf("only %d pages were found", len(pages))
	}
	return pages
}

// guides are the pages for users: README.md and docs, without docs/internals.
func guides(t *testing.T) map[string]string {
	t.Helper()
	pages := prose(t)
	maps.DeleteFunc(pages, func(name, _ string) bool { return !isGuide(name) })
	return pages
}

func isGuide(name string) bool {
	return name == "README.md" || strings.HasPrefix(name, "docs/") && !strings.HasPrefix(name, "docs/internals/")
}

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```")
	unsaid    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// formTag is the first tag of a form in HTML, in a template, or in JSX.
var formTag = regexp.MustCompile(`<form\b[^>]*`)

// TestFormsSayTheirMethod is R-779: a form of the product, a guide or an example says its
// method. One without is sent by GET while its script has not run: what was typed, a
// password among it, is then in the URL, in the history and in logs.
func TestFormsSayTheirMethod(t *testing.T) {
	n := 0
	watch(t, func(path string) {
		if !slices.Contains([]string{".md", ".html", ".templ", ".js", ".jsx", ".ts", ".tsx", ".svelte", ".vue"}, filepath.Ext(path)) || strings.Contains(path, "/testdata/") || strings.Contains(path, "/dist/") {
			return
		}
		for _, form := range formTag.FindAllString(read(t, path), -1) {
			if n++; !strings.Contains(form, "method=") && !strings.Contains(form, "...") {
				t.Errorf("%s: %s: say its method", path, form)
			}
		}
	})
	if n < 20 {
		t.Errorf("only %d forms were found", n)
	}
}

// TestLinks follows what a page links to within the repository.
func TestLinks(t *testing.T) {
	pages := prose(t)
	for name, text := range pages {
		for _, m := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(name), file))
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("R-330 %s links to %s, which is not there", name, m[1])
			} else if anchor != "" && strings.HasSuffix(to, ".md") && !hasHeading(pages[to], anchor) {
				t.Errorf("R-330 %s links to %s, which has no such heading", name, m[1])
			}
		}
	}
}

// hasHeading looks for a heading by the anchor that GitHub gives it.
func hasHeading(page, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(page, ""), -1) {
		if strings.ReplaceAll(unsaid.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestProtocolListsActions compares the actions that the library knows with the table
// of docs/protocol.md. The tests of all routes begin with that table.
func TestProtocolListsActions(t *testing.T) {
	_, page, _ := strings.Cut(read(t, filepath.Join(root, "docs/protocol.md")), "| action | on |\n")
	table, _, _ := strings.Cut(page, "\n\n")
	code := regexp.MustCompile("`([a-z-]+)`")
	var listed, known []string
	for line := range strings.Lines(table) {
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, m := range code.FindAllStringSubmatch(first, -1) {
			listed = append(listed, m[1])
		}
	}
	ast.Inspect(parse(t, filepath.Join(root, "paths.go")), func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || spec.Names[0].Name != "actions" {
			return true
		}
		for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
			known = append(known, strings.Trim(e.(*ast.KeyValueExpr).Key.(*ast.BasicLit).Value, `"`))
		}
		return false
	})
	slices.Sort(listed)
	slices.Sort(known)
	if len(known) < 10 || !slices.Equal(listed, known) {
		t.Errorf("docs/protocol.md lists the actions %q, paths.go has %q", listed, known)
	}
}

// TestModulesCanBeGot reads how to get what the pages import: README.md says it
// of the library, and whoever names a module's folder finds it in the module.
func TestModulesCanBeGot(t *testing.T) {
	module, _, _ := strings.Cut(strings.TrimPrefix(read(t, filepath.Join(root, "go.mod")), "module "), "\n")
	pages := prose(t)
	if !strings.Contains(pages["README.md"], "\ngo get "+module+"\n") {
		t.Errorf("R-330 README.md does not say: go get %s", module)
	}
	got := regexp.MustCompile(`go (?:get|install) (\S*?)[@\x60\s)]`)
	for name, text := range pages {
		for _, m := range got.FindAllStringSubmatch(text, -1) {
			folder, ours := strings.CutPrefix(m[1], module)
			if _, err := os.Stat(filepath.Join(root, folder, "go.mod")); ours && err != nil {
				t.Errorf("R-330 %s gets %s, which is no module", name, m[1])
			}
		}
	}
}

// TestNoAliasesOfTheInside keeps fields and methods where godoc shows them: what
// users may name is declared in a package that they can read.
func TestNoAliasesOfTheInside(t *testing.T) {
	watch(t, func(path string) {
		name := filepath.ToSlash(path)
		if filepath.Ext(path) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/internal/") {
			return
		}
		f := parse(t, path)
		inside := map[string]bool{}
		for _, i := range f.Imports {
			if p := strings.Trim(i.Path.Value, `"`); strings.Contains(p, "latchkeyhq/latchkey/internal/") {
				inside[p[strings.LastIndexByte(p, '/')+1:]] = true
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, is := n.(*ast.TypeSpec)
			if !is || !spec.Name.IsExported() || !spec.Assign.IsValid() {
				return true
			}
			if to, is := spec.Type.(*ast.SelectorExpr); is {
				if from, is := to.X.(*ast.Ident); is && inside[from.Name] {
					t.Errorf("R-330 %s: %s is %s.%s, whose fields godoc does not show", name, spec.Name, from.Name, to.Sel)
				}
			}
			return true
		})
	})
}
