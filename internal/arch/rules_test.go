package arch

import (
	"fmt"
	"strings"
	"testing"
)

// rules are the lines of deps.txt, by who they speak for.
type rules map[string][]string

func parseRules(text string) (rules, error) {
	r := rules{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if r[words[0]] != nil {
			return nil, fmt.Errorf("%s has two lines", words[0])
		}
		r[words[0]] = words[1:]
	}
	return r, nil
}

// of finds the line that speaks for a package: its own, else the nearest "/..."
// above.
func (r rules) of(pkg string) (line []string, ok bool) {
	if line, ok = r[pkg]; ok {
		return line, true
	}
	for dir := pkg; ; {
		if line, ok = r[dir+"/..."]; ok {
			return line, true
		}
		i := strings.LastIndexByte(dir, '/')
		if i < 0 {
			return nil, false
		}
		dir = dir[:i]
	}
}

// allows reports whether a line permits an import, which is written as in
// deps.txt.
func allows(line []string, imported string) bool {
	allowed := false
	for _, word := range line {
		if never, ok := strings.CutPrefix(word, "!"); ok {
			if within(imported, never) {
				return false
			}
			continue
		}
		allowed = allowed || covers(word, imported)
	}
	return allowed
}

func covers(word, imported string) bool {
	switch word {
	case "any":
		return !within(imported, "testing/...")
	case "std":
		return isStandard(imported) && !within(imported, "testing/...")
	}
	return within(imported, word)
}

// within reports whether path is pattern or, if that ends in "/...", below it.
func within(path, pattern string) bool {
	dir, below := strings.CutSuffix(pattern, "/...")
	return path == dir || below && strings.HasPrefix(path, dir+"/")
}

// isStandard goes by the first element, which has a dot in every path that can
// be downloaded, and is a dot in our own.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func TestRules(t *testing.T) {
	r, err := parseRules(`
		# the library
		.               std ./jwt x.example/text/...
		./jwt           crypto/...         # nothing else
		./cmd/...       any !./demo/...
		./cmd/special   std testing
		./demo/...      any
	`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, pkg, imports string
		want               bool
	}{
		{"the standard library", ".", "net/http", true},
		{"a package of the library", ".", "./jwt", true},
		{"a package that is not named", ".", "./providers", false},
		{"a module with everything in it", ".", "x.example/text/unicode/norm", true},
		{"a module whose name begins alike", ".", "x.example/textual", false},
		{"testing is not std", ".", "testing", false},
		{"nor is what is below it", ".", "testing/synctest", false},
		{"part of the standard library", "./jwt", "crypto/hkdf", true},
		{"another part of it", "./jwt", "net/http", false},
		{"any", "./cmd/tool/internal/x", "y.example/cli", true},
		{"any is not testing", "./cmd/tool", "testing", false},
		{"what is forbidden beats any", "./cmd/tool", "./demo/pages", false},
		{"the nearer line speaks", "./cmd/special", "y.example/cli", false},
		{"testing by name", "./cmd/special", "testing", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			line, ok := r.of(c.pkg)
			if !ok {
				t.Fatalf("no line for %s", c.pkg)
			}
			if got := allows(line, c.imports); got != c.want {
				t.Errorf("%s imports %s: %t, want %t", c.pkg, c.imports, got, c.want)
			}
		})
	}
	if _, ok := r.of("./providers"); ok {
		t.Error("found a line for a package that has none")
	}
	if _, err := parseRules("jwt std\njwt any"); err == nil {
		t.Error("two lines for one package were accepted")
	}
}
