package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mountingNames are the names that Auth.js' integrations have, by the section of
// docs/moving/mountings.md that has to say what is called so here.
var mountingNames = map[string]string{
	"Next-style": `NextAuth handlers GET POST auth() auth(request auth(context) auth((request) request.auth callbacks.authorized
		signIn( AuthError signOut( redirectTo redirect unstable_update`,
	"Solid-style":          `SolidAuth GET POST getSession prefix user signIn signOut @auth/solid-start/client`,
	"Svelte-style":         `SvelteKitAuth handle event.locals.auth() load signIn signOut POST CredentialsSignin provider signInPage signOutPage options authorizationParams className submitButton @auth/sveltekit/components @auth/sveltekit/client`,
	"Qwik-style":           `QwikAuth$ onRequest useSession useSignIn providerId redirectTo options authorizationParams useSignOut failed fieldErrors formErrors cookie data`,
	"Express, Hono, Astro": `ExpressAuth getSession( @auth/express initAuthConfig authHandler verifyAuth authUser auth-astro`,
	"Clients":              `SessionProvider session basePath refetchInterval refetchOnWindowFocus refetchWhenOffline useSession data status update getSession getProviders getCsrfToken signIn signOut next-auth/webauthn required:`,
	"Everywhere":           `Auth(request raw createActionURL isAuthAction setEnvDefaults skipCSRFCheck customFetch getToken encode decode`,
}

// TestMountings: each name of the integrations of Auth.js has a row, and each row is
// exercised by the code that it links to, which is compiled with everything else.
func TestMountings(t *testing.T) {
	const page = "docs/moving/mountings.md"
	text := read(t, filepath.Join(root, page))
	for section, names := range mountingNames {
		_, body, found := strings.Cut(text, "\n## "+section+"\n")
		if !found {
			t.Errorf("R-330 %s has no section %s", page, section)
			continue
		}
		body, _, _ = strings.Cut(body, "\n#")
		rows := tableRows(body)
		for name := range strings.FieldsSeq(names) {
			if !slices.ContainsFunc(rows, func(row tableRow) bool { return strings.Contains(row[0], name) }) {
				t.Errorf("R-330 %s, %s: no row is about %s", page, section, name)
			}
		}
		for _, row := range rows {
			row.compare(t, section)
		}
	}
}

// tableRow is what Auth.js calls it, what we do, what frameworks do (not of clients),
// and what shows it.
type tableRow []string

func tableRows(section string) (rows []tableRow) {
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") && !strings.HasPrefix(line, "| Auth.js |") {
			rows = append(rows, cells)
		}
	}
	return rows
}

var (
	spanOfCode = regexp.MustCompile("`([^`]+)`")
	qualified  = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)
	bareName   = regexp.MustCompile(`^[A-Za-z]\w+\b`)
	linkTo     = regexp.MustCompile(`\[([^\]]+)\]\(\.\./\.\./([^)]+)\)`)
)

func (row tableRow) compare(t *testing.T, section string) {
	t.Helper()
	shown := ""
	for _, m := range linkTo.FindAllStringSubmatch(row[len(row)-1], -1) {
		code := codeOf(t, m[1], filepath.Join(root, m[2]))
		if code == "" {
			t.Errorf("R-330 %s, %s: there is no %s in %s", section, row[0], m[1], m[2])
		}
		shown += code
	}
	for _, use := range uses(row[1]) {
		if !regexp.MustCompile(use).MatchString(shown) {
			t.Errorf("R-330 %s, %s: nothing that the row links to has %s", section, row[0], use)
		}
	}
	if len(row) == 4 {
		for _, m := range spanOfCode.FindAllStringSubmatch(row[2], -1) {
			inFrameworks(t, section+", "+row[0], m[1])
		}
	}
}

// uses are expressions for the names in the code of a cell. What auth and core are
// called elsewhere is open.
func uses(cell string) (expressions []string) {
	for _, m := range spanOfCode.FindAllStringSubmatch(cell, -1) {
		found := qualified.FindAllStringSubmatch(m[1], -1)
		for _, q := range found {
			owner := q[1]
			if owner == "auth" || owner == "core" {
				owner = ""
			}
			expressions = append(expressions, owner+`\.`+q[2]+`\b`)
		}
		if bare := bareName.FindString(m[1]); len(found) == 0 && bare != "" {
			expressions = append(expressions, `\b`+bare+`\b`)
		}
	}
	return expressions
}

// codeOf is a function of a file with what the file declares for it, a file, or
// all source of a folder.
func codeOf(t *testing.T, name, path string) (code string) {
	t.Helper()
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		watchFolder(t, path, func(file string) { code += read(t, file) })
		return code
	case strings.HasPrefix(name, "Example"):
		return functionOf(t, name, path)
	}
	return read(t, path)
}

func watchFolder(t *testing.T, dir string, f func(file string)) {
	t.Helper()
	watch(t, func(path string) {
		inside := strings.HasPrefix(path, dir+string(filepath.Separator)) && !strings.HasPrefix(path, filepath.Join(dir, "dist"))
		if inside && slices.Contains([]string{".go", ".html", ".templ", ".js", ".jsx", ".svelte"}, filepath.Ext(path)) {
			f(path)
		}
	})
}

// functionOf is the text of a function, and of the declarations beside it that it
// names.
func functionOf(t *testing.T, name, path string) (code string) {
	t.Helper()
	text, files := read(t, path), token.NewFileSet()
	f, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	source := func(n ast.Node) string { return text[files.Position(n.Pos()).Offset:files.Position(n.End()).Offset] }
	named := map[string]bool{}
	for _, d := range f.Decls {
		if fn, is := d.(*ast.FuncDecl); is && fn.Name.Name == name {
			code = source(fn)
			ast.Inspect(fn, func(n ast.Node) bool {
				if id, is := n.(*ast.Ident); is {
					named[id.Name] = true
				}
				return true
			})
		}
	}
	for _, d := range f.Decls {
		if declares(d, named) {
			code += source(d)
		}
	}
	return code
}

// declares reports whether d is a function or variable of one of names.
func declares(d ast.Decl, names map[string]bool) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Recv == nil && names[d.Name.Name]
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, is := s.(*ast.ValueSpec); is && names[v.Names[0].Name] {
				return true
			}
		}
	}
	return false
}

// inFrameworks looks for a name in each module for a framework that has the whole
// table, and for a test or example that calls it.
func inFrameworks(t *testing.T, row, code string) {
	t.Helper()
	name, isMethod := strings.CutPrefix(code, "auth.")
	if !isMethod && name != "New" && name != "NewFunc" {
		return // c, or a name of the root
	}
	for _, framework := range []string{"gin", "echo", "fiber"} {
		if _, err := os.Stat(filepath.Join(root, "frameworks", framework+"auth")); err != nil {
			continue
		}
		declared, called := "", ""
		watchFolder(t, filepath.Join(root, "frameworks", framework+"auth"), func(file string) {
			if strings.HasSuffix(file, "_test.go") {
				called += read(t, file)
			} else {
				declared += read(t, file)
			}
		})
		watchFolder(t, filepath.Join(root, "examples", framework), func(file string) { called += read(t, file) })
		want := `(?m)^func ` + name + `\(`
		if isMethod {
			want = `(?m)^func \(\w+ \*Auth\) ` + name + `\(`
		}
		if !regexp.MustCompile(want).MatchString(declared) {
			t.Errorf("R-330 %s: %sauth has no %s", row, framework, name)
		} else if !regexp.MustCompile(`\.` + name + `\(`).MatchString(called) {
			t.Errorf("R-330 %s: nothing calls %s of %sauth", row, name, framework)
		}
	}
}
