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

// What README.md shows is compiled by internal/arch. Three of its snippets are
// here as well, and run: examples/first, and what the tests below have.

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

// readmeCallbacks are those of README.md.
func readmeCallbacks() latchkey.Callbacks {
	invited := func(email string) bool { return strings.HasSuffix(email, "@acme.example") }
	return latchkey.Config{
		Callbacks: latchkey.Callbacks{
			SignIn: func(ctx context.Context, a latchkey.SignInAttempt) error {
				if !invited(a.User.Email) {
					return latchkey.RedirectTo("/waiting-list") // or latchkey.ErrAccessDenied
				}
				return nil
			},
			Token: func(ctx context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
				if t.User != nil { // TriggerSignIn, TriggerSignUp: the token remembers
					t.Claims["role"] = roleOf(t.User.Email)
				}
				return t.Claims, nil
			},
			Session: func(ctx context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
				role, err := latchkey.Value[string](r.Claims, "role")
				if err != nil { // a stored session, or a token from before there were roles
					role = roleOf(r.Session.User.Email)
				}
				r.Session.Extra = latchkey.Claims{"role": role}
				return r.Session, nil
			},
		},
	}.Callbacks
}

// Callbacks that documents show work for everybody: with both strategies, and
// for who was signed in before they were there.
func TestCallbacksOfDocuments(t *testing.T) {
	database := func(c *latchkey.Config) { c.Session.Strategy = latchkey.DatabaseSessions }
	for name, shown := range map[string]latchkey.Callbacks{"README.md": readmeCallbacks(), "ExampleCallbacks": callbacks} {
		for strategy, choose := range map[string]func(*latchkey.Config){"jwt": func(*latchkey.Config) {}, "database": database} {
			t.Run("R-302 "+name+", "+strategy, func(t *testing.T) {
				before := newOAuthSite(t, choose)
				person := ada()
				person.Email = "ada@acme.example"
				before.issuer.SignInAs(person)
				b := before.newBrowser()
				before.mustSignIn(b)
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
				person.Subject, person.Email = "mallory", "mallory@evil.example"
				site.issuer.SignInAs(person)
				if a := site.signIn(site.newBrowser()); a.signsIn() {
					t.Error("everybody comes in")
				}
			})
		}
	}
}

func TestREADMEShowsWhatRuns(t *testing.T) {
	page := readLines(t, "../../README.md")
	_, program, _ := strings.Cut(readLines(t, "../../examples/first/main.go"), "package main\n")
	_, test, _ := strings.Cut(readLines(t, "readme_test.go"), "func TestMyOwnApp(t *testing.T) {\n")
	test, _, _ = strings.Cut(test, "if string(page.Body)")
	_, decide, _ := strings.Cut(readLines(t, "readme_test.go"), "return latchkey.Config{\n")
	decide, _, _ = strings.Cut(decide, "}.Callbacks\n")
	_, copied, _ := strings.Cut(readLines(t, "callbacks_test.go"), "var callbacks")
	if copied == "" || !strings.Contains(readLines(t, "../../example_callbacks_test.go"), copied) {
		t.Error("callbacks_test.go is not what ExampleCallbacks shows")
	}
	for name, text := range map[string]string{"examples/first": program, "TestMyOwnApp": test, "readmeCallbacks": decide} {
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
