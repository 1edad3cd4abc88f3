package latchkey_test

import (
	"context"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// The snippets of README.md, compiled. The test below holds the two together;
// the first program is examples/first.

func Example_customProvider() {
	acme := &latchkey.OAuth{
		ID:     "acme", // AUTH_ACME_ID, AUTH_ACME_SECRET
		Name:   "Acme",
		OIDC:   true,
		Issuer: "https://id.acme.example", // endpoints and keys are discovered here
		Identify: func(g latchkey.Grant) (latchkey.Identity, error) {
			return latchkey.Identity{
				Subject: g.Profile.String("sub"),
				Name:    g.Profile.String("display_name", "email"),
				Email:   g.Profile.String("email"),
			}, nil
		},
	}
	_ = acme
}

func Example_callbacks() {
	_ = latchkey.Config{
		Callbacks: latchkey.Callbacks{
			SignIn: func(ctx context.Context, a latchkey.SignInAttempt) error {
				if !invited(a.User.Email) {
					return latchkey.RedirectTo("/waiting-list") // or latchkey.ErrAccessDenied
				}
				return nil
			},
			Session: func(ctx context.Context, r latchkey.SessionRead) (*latchkey.Session, error) {
				role, err := latchkey.Value[string](r.Claims, "role")
				r.Session.Extra = map[string]any{"role": role}
				return r.Session, err
			},
		},
	}
}

func invited(string) bool { return true }

func Example_guard() {
	auth := exampleAuth()
	editors := auth.Authorize(func(ctx context.Context, s *latchkey.Session, r *http.Request) error {
		if s == nil {
			return latchkey.ErrNoSession // to the sign-in page, and back here afterwards
		}
		return nil // or RedirectTo, or RespondWith an answer of your own
	})
	_ = editors
}

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
	auth, err := latchkey.New(latchkey.Config{Site: latchkey.Site{TrustHost: true}, Secrets: []string{deskSecret}, Providers: []latchkey.Provider{p}, Runtime: latchkey.Runtime{Logger: quiet}})
	if err != nil {
		panic(err)
	}
	return auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, _ := latchkey.SessionFrom(r.Context())
		_, _ = w.Write([]byte("Hello, " + s.User.Name))
	}))
}

func TestREADMESnippetsAreCompiled(t *testing.T) {
	var compiled strings.Builder
	for _, file := range []string{"readme_test.go", "examples/first/main.go"} {
		compiled.WriteString(trimmed(t, file))
	}
	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(snippets) < 5 {
		t.Fatalf("README.md has %d snippets", len(snippets))
	}
	for _, s := range snippets {
		if !strings.Contains(compiled.String(), trimLines(s[1])) {
			t.Errorf("not compiled anywhere:\n%s", s[1])
		}
	}
}

func trimmed(t *testing.T, file string) string { return trimLines(read(t, file)) }

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// trimLines makes two indentations of one text alike.
func trimLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
