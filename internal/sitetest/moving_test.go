package sitetest

import (
	"context"
	"fmt"
	tmpl "html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// What docs/moving-from-authjs.md and docs/sign-in-page.md show beyond whole
// programs, run.

func movedSite(c latchkey.Config, pages http.Handler) (http.Handler, error) {
	c.Site = latchkey.Site{BasePath: "/api/auth", AllowedHosts: []string{"127.0.0.1:*"}}
	c.Secrets, c.Runtime.Logger = []string{"the output of openssl rand -base64 33"}, quiet
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	guarded := auth.Authorize(movedAuthorized)(pages)
	return auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/admin") {
			guarded.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})), nil
}

func movedAuthorized(_ *http.Request, s *latchkey.Session) error {
	switch {
	case s == nil:
		return latchkey.ErrNoSession
	case s.User.Extra["role"] != "editor":
		return latchkey.ErrAccessDenied
	}
	return nil
}

func movedToken(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
	if t.Account != nil {
		t.Claims["role"] = roleOfAccount(t.Account.Provider, t.Account.ProviderAccountID)
	}
	if sent, ok := t.Update.(map[string]any); ok {
		if name, ok := sent["name"].(string); ok {
			t.Claims["name"] = name
		}
	}
	return t.Claims, nil
}

// roleOfAccount stands for a look at the application's own table of roles, by
// account: a site without an adapter has no lasting user ids.
func roleOfAccount(_, id string) string {
	if id == "ada" {
		return "editor"
	}
	return "reader"
}

func movedSession(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
	r.Session.User.Extra = latchkey.Claims{"id": r.Claims.String("sub"), "role": r.Claims["role"]}
	return r.Session, nil
}

// TestMovedCallbacks: R-565, callbacks that the guide for movers translates do what they
// did.
func TestMovedCallbacks(t *testing.T) {
	for _, c := range []struct {
		subject, role string
		status        int
	}{{"ada", "editor", http.StatusOK}, {"bob", "reader", http.StatusForbidden}} {
		issuer := latchkeytest.NewIssuer(t)
		issuer.SignInAs(latchkeytest.Person{Subject: c.subject, Name: "A", Email: "ada@acme.example"}) // an address that neither proved
		site, err := movedSite(latchkey.Config{
			Providers: []latchkey.Provider{issuer.Provider()},
			Callbacks: latchkey.Callbacks{Token: movedToken, Session: movedSession},
		}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s := latchkey.SessionFrom(r.Context())
			if s == nil {
				return
			}
			fmt.Fprint(w, s.User.Extra.String("id") == s.UserID && s.UserID != "")
		}))
		if err != nil {
			t.Fatal(err)
		}
		browser := latchkeytest.NewClient(t, site)
		browser.BasePath = "/api/auth"
		if p := browser.Get("/admin"); p.Location() == nil {
			t.Errorf("nobody at /admin: %d", p.Status)
		}
		browser.SignIn(issuer)
		if p := browser.Get("/"); string(p.Body) != "true" {
			t.Errorf("the id: %s", p.Body)
		}
		if p := browser.Get("/admin"); p.Status != c.status {
			t.Errorf("%s at /admin: %d", c.role, p.Status)
		}
		sent := map[string]any{"csrfToken": browser.CSRFToken(), "data": map[string]any{"name": "Countess"}}
		p := browser.Fetch("POST", "/api/auth/session", sent, nil)
		for _, want := range []string{`"id":"`, `"role":"` + c.role + `"`, `"name":"Countess"`} {
			if !strings.Contains(string(p.Body), want) {
				t.Errorf("/api/auth/session lacks %s: %s", want, p.Body)
			}
		}
	}
}

func movedStoredSession(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
	r.Session.User.Extra = latchkey.Claims{"id": r.User.ID, "role": roleOf(r.User.ID)}
	return r.Session, nil
}

// TestMovedWithAdapter: with stored sessions, and while their store is down.
func TestMovedWithAdapter(t *testing.T) {
	issuer, store := latchkeytest.NewIssuer(t), newFaultyStore()
	issuer.SignInAs(latchkeytest.Person{Subject: "1", Name: "Ada", Email: "ada@acme.example"})
	site, err := movedSite(latchkey.Config{
		Adapter:   store,
		Providers: []latchkey.Provider{issuer.Provider()},
		Callbacks: latchkey.Callbacks{Session: movedStoredSession},
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		fmt.Fprint(w, s != nil && s.User.Extra.String("id") == s.UserID && s.User.Extra["role"] == "editor")
	}))
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	browser.BasePath = "/api/auth"
	browser.SignIn(issuer)
	see := func(when, path string, status int, body string) {
		t.Helper()
		if p := browser.Get(path); p.Status != status || status == http.StatusOK && string(p.Body) != body {
			t.Errorf("%s, %s: %d %s", when, path, p.Status, p.Body)
		}
	}
	see("a reader", "/admin", http.StatusForbidden, "")
	ada, err := store.GetUserByEmail(t.Context(), "ada@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	editors.Store(ada.ID, true)
	see("signed in", "/", http.StatusOK, "true")
	see("signed in", "/admin", http.StatusOK, "true")
	store.fail("GetSessionAndUser", faultBefore)
	see("the store is down", "/", http.StatusOK, "false")
	see("the store is down", "/admin", http.StatusInternalServerError, "")
	store.mend()
	see("the store is back", "/admin", http.StatusOK, "true")
}

// TestStoredSessionsOfNextAuth4 reads a row by the cookie that NextAuth v4 has set.
func TestStoredSessionsOfNextAuth4(t *testing.T) {
	store := memoryadapter.New(memoryadapter.Options{})
	ada, err := store.CreateUser(t.Context(), latchkey.User{Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	token := strings.Repeat("4", 36)
	if err := store.CreateSession(t.Context(), storage.StoredSession{Token: token, UserID: ada.ID, Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	const name = "__Secure-next-auth.session-token"
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{URL: "https://app.example", BasePath: "/api/auth"}, Secrets: []string{"the output of openssl rand -base64 33"},
		Cookies: latchkey.Cookies{SessionToken: latchkey.CookieOptions{Name: name}}, Adapter: store, Runtime: latchkey.Runtime{Logger: quiet},
		Providers: []latchkey.Provider{&latchkey.Email{Send: new(latchkeytest.Mailbox).Send}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "https://app.example/api/auth/session", nil)
	r.AddCookie(&http.Cookie{Name: name, Value: token})
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `"name":"Ada"`) {
		t.Errorf("the session is %s", w.Body)
	}
}

// TestFormOfTheGuide sends the form of docs/sign-in-page.md, first in vain.
func TestFormOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/sign-in-page.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(guide), "The page, `signin.html`, with a form for each provider:\n\n```html\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("the guide has no form")
	}
	show := tmpl.Must(tmpl.New("").Parse(text))
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"the output of openssl rand -base64 33"},
		Pages: latchkey.Pages{SignIn: "/signin"}, Runtime: latchkey.Runtime{Logger: quiet},
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}},
			Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				if typed["password"] != "lovelace" {
					return latchkey.User{}, nil
				}
				return latchkey.User{ID: "1", Name: "Ada"}, nil
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forms, err := auth.Forms(w, r)
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(forms.Status)
		if err := show.Execute(w, forms); err != nil {
			t.Error(err)
		}
	})
	site := http.NewServeMux()
	site.Handle("GET /signin", page)
	site.Handle("POST /signin", auth.SignInAction(page))
	browser := latchkeytest.NewClient(t, auth.Middleware(site))
	sent := hiddenIn(string(browser.Get("/signin?callbackUrl=/shop").Body))
	if len(sent) != 3 || sent.Get("providerId") != "credentials" || sent.Get("redirectTo") != browser.URL+"/shop" || sent.Get("csrfToken") == "" {
		t.Errorf("the form has %v", sent)
	}
	sent.Set("name", "ada")
	sent.Set("password", "byron")
	if p := browser.Post("/signin", sent); p.Status != http.StatusForbidden || !strings.Contains(string(p.Body), `<p role="alert">`) || !strings.Contains(string(p.Body), `value="ada"`) {
		t.Errorf("in vain: %d %s", p.Status, p.Body)
	}
	sent.Set("password", "lovelace")
	if p := browser.Post("/signin", sent); p.Location() == nil || p.Location().Path != "/shop" || browser.Session() == nil {
		t.Errorf("signed in: %d to %v", p.Status, p.Location())
	}
}

// hiddenIn are the hidden inputs of a page.
func hiddenIn(page string) url.Values {
	found := url.Values{}
	for _, input := range strings.Split(page, `<input type="hidden" name="`)[1:] {
		name, rest, _ := strings.Cut(input, `" value="`)
		value, _, _ := strings.Cut(rest, `"`)
		found.Set(name, value)
	}
	return found
}
