package sitetest

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// What README.md and the guides show is compiled by internal/arch. Three of the
// snippets run, too: examples/first, and two that the tests below have.

func TestMyOwnApp(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t) // a real OpenID Provider in your test
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com"})
	browser := latchkeytest.NewClient(t, newApp(issuer.Provider()))
	browser.SignIn(issuer)
	page := browser.Get("/profile")

	if string(page.Body) != "Hello, Ada" {
		t.Errorf("the profile says %q", page.Body)
	}
}

func newApp(p latchkey.Provider) http.Handler {
	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Providers: []latchkey.Provider{p},
		Runtime:   latchkey.Runtime{Logger: quiet},
	})
	if err != nil {
		panic(err)
	}
	return auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		_, _ = w.Write([]byte("Hello, " + s.User.Name))
	}))
}

// guideCallbacks are those of docs/sessions.md.
func guideCallbacks() latchkey.Callbacks {
	return latchkey.Config{
		Callbacks: latchkey.Callbacks{
			Token: func(ctx context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
				if t.User != nil { // a sign-in: the token remembers
					t.Claims["role"] = roleOf(t.User.ID)
				}
				return t.Claims, nil
			},
			Session: func(ctx context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
				role, err := latchkey.Value[string](r.Claims, "role")
				if err != nil { // a stored session, or a token from before there were roles
					role = roleOf(r.Session.UserID)
				}
				r.Session.Extra = latchkey.Claims{"role": role}
				return r.Session, nil
			},
		},
	}.Callbacks
}

// TestCallbacksOfDocuments runs the callbacks that documents show: with both
// strategies, for users who were signed in before there were callbacks, and for an
// address that its provider does not vouch for.
func TestCallbacksOfDocuments(t *testing.T) {
	database := func(c *latchkey.Config) { c.Session.Strategy = latchkey.DatabaseSessions }
	for name, shown := range map[string]latchkey.Callbacks{"docs/sessions.md": guideCallbacks(), "ExampleCallbacks": callbacks} {
		for strategy, choose := range map[string]func(*latchkey.Config){"jwt": func(*latchkey.Config) {}, "database": database} {
			t.Run("R-302 "+name+", "+strategy, func(t *testing.T) {
				before := newOAuthSite(t, choose)
				person := ada()
				person.Email = "ada@acme.example"
				before.issuer.SignInAs(person)
				b := before.newBrowser()
				before.mustSignIn(b)
				user, err := before.store.GetUserByEmail(t.Context(), person.Email)
				if err != nil {
					t.Fatal(err)
				}
				editors.Store(user.ID, true)
				site := newOAuthSite(t, choose, func(c *latchkey.Config) { c.Callbacks, c.Adapter = shown, before.store })
				b.site = site.testSite
				if s := b.session(); !strings.Contains(s, `"role":"editor"`) {
					t.Errorf("signed in before the deployment: %s", s)
				}
				var in *latchkey.Session
				b.serve(site.auth.RequireSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					in = latchkey.SessionFrom(r.Context())
				})), b.request(http.MethodGet, "/", "", ""))
				if in == nil || in.Extra["role"] != "editor" {
					t.Errorf("a handler sees %+v", in)
				}
				site.issuer.SignInAs(person)
				fresh := site.newBrowser()
				site.mustSignIn(fresh)
				if s := fresh.session(); !strings.Contains(s, `"role":"editor"`) {
					t.Errorf("signed in: %s", s)
				}
				if shown.SignIn == nil { // it decides about roles alone
					return
				}
				for why, intruder := range map[string]latchkeytest.Person{
					"an address that is not invited": {Subject: "mallory", Name: "M", Email: "mallory@evil.example", EmailVerified: true},
					"an address that is not proven":  {Subject: "mallory", Name: "M", Email: "eve@acme.example", EmailVerified: false},
				} {
					site.issuer.SignInAs(intruder)
					if a := site.signIn(site.newBrowser()); a.signsIn() {
						t.Errorf("%s signs in", why)
					}
				}
			})
		}
	}
}

func TestDocumentsShowWhatRuns(t *testing.T) {
	_, program, _ := strings.Cut(readLines(t, "../../examples/first/main.go"), "package main\n")
	_, test, _ := strings.Cut(readLines(t, "readme_test.go"), "func TestMyOwnApp(t *testing.T) {\n")
	test, _, _ = strings.Cut(test, "if string(page.Body)")
	_, decide, _ := strings.Cut(readLines(t, "readme_test.go"), "return latchkey.Config{\n")
	decide, _, _ = strings.Cut(decide, "}.Callbacks\n")
	_, ended, _ := strings.Cut(readLines(t, "streams_test.go"), "// hasEnded reports")
	_, copied, _ := strings.Cut(readLines(t, "callbacks_test.go"), "var callbacks")
	if copied == "" || !strings.Contains(readLines(t, "../../example_callbacks_test.go"), copied) {
		t.Error("callbacks_test.go is not what ExampleCallbacks shows")
	}
	for _, c := range []struct{ page, name, text string }{
		{"README.md", "examples/first", program},
		{"docs/testing.md", "TestMyOwnApp", test},
		{"docs/sessions.md", "guideCallbacks", decide},
		{"docs/streams.md", "hasEnded", ended},
	} {
		if c.text == "" || !strings.Contains(readLines(t, "../../"+c.page), c.text) {
			t.Errorf("%s does not show %s as it is:\n%s", c.page, c.name, c.text)
		}
	}
}

// TestReadme: R-553, the README says on two screens what a newcomer asks first.
func TestReadme(t *testing.T) {
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(raw), "\n"); lines > 110 {
		t.Errorf("R-553: the README has %d lines", lines)
	}
	for _, part := range []string{"docs/images/", "package main", "make demo", "| not yet |", "## Stability", "Auth.js", "Better Auth", "docs/README.md"} {
		if !strings.Contains(string(raw), part) {
			t.Errorf("R-553: the README has no %q", part)
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
