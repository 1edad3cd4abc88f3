package latchkey_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// What README.md shows is compiled by internal/arch. Two of its snippets are
// programs here as well: examples/first, and the test below, which runs.

func TestMyOwnApp(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t) // a real OpenID Provider in your test
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada"})
	browser := latchkeytest.NewClient(t, newApp(issuer.Provider()))
	browser.SignIn(issuer)
	page := browser.Get("/profile")

	if string(page.Body) != "Hello, Ada" {
		t.Errorf("the profile says %q", page.Body)
	}
}

func newApp(p latchkey.Provider) http.Handler {
	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{TrustHost: true},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Providers: []latchkey.Provider{p},
		Runtime:   latchkey.Runtime{Logger: quiet},
	})
	if err != nil {
		panic(err)
	}
	return auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, _ := latchkey.SessionFrom(r.Context())
		_, _ = w.Write([]byte("Hello, " + s.User.Name))
	}))
}

func TestREADMEShowsWhatRuns(t *testing.T) {
	page := readLines(t, "README.md")
	_, program, _ := strings.Cut(readLines(t, "examples/first/main.go"), "package main\n")
	_, test, _ := strings.Cut(readLines(t, "readme_test.go"), "func TestMyOwnApp(t *testing.T) {\n")
	test, _, _ = strings.Cut(test, "if string(page.Body)")
	for name, text := range map[string]string{"examples/first": program, "TestMyOwnApp": test} {
		if text == "" || !strings.Contains(page, text) {
			t.Errorf("README.md does not show %s as it is:\n%s", name, text)
		}
	}
}

// readLines is a file without indentation and empty lines.
func readLines(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
