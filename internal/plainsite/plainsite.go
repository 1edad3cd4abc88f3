// Package plainsite makes the least site that a user can sign in to: a password for
// Ada, who is a stored user.
package plainsite

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// What the site is made of.
const (
	URL      = "https://plain.example"
	plainKey = "the secret of the plain site, long enough"
	UserID   = "ada-1"
)

// Site is a site with one browser.
type Site struct {
	T     *testing.T
	Auth  *latchkey.Auth
	Store *memoryadapter.Adapter
	Jar   map[string]string
}

// New returns a site. Each change edits its configuration.
func New(t *testing.T, change ...func(*latchkey.Config)) *Site {
	t.Helper()
	s := &Site{T: t, Store: memoryadapter.New(memoryadapter.Options{}), Jar: map[string]string{}}
	ada := latchkey.User{ID: UserID, Name: "Ada", Email: "ada@example.com", EmailVerified: time.Unix(1, 0)}
	if _, err := s.Store.CreateUser(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	c := Config(s.Store)
	for _, f := range change {
		f(&c)
	}
	var err error
	if s.Auth, err = latchkey.New(c); err != nil {
		t.Fatal(err)
	}
	return s
}

// Config returns a configuration with credentials for Ada, and with an OAuth provider so
// that sessions can be stored.
func Config(store storage.Adapter) latchkey.Config {
	return latchkey.Config{
		Site: latchkey.Site{URL: URL}, Secrets: []string{plainKey}, Adapter: store,
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{
			&latchkey.Credentials{
				ID: "password", Fields: []latchkey.Field{{Name: "name"}, {Name: "password"}},
				Authorize: func(_ context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
					if fields["name"] != "ada" || fields["password"] != "lovelace" {
						return latchkey.User{}, nil
					}
					return latchkey.User{ID: UserID, Name: "Ada", Email: "ada@example.com"}, nil
				},
			},
			&latchkey.OAuth{
				ID: "elsewhere", ClientID: "x", ClientSecret: "y",
				Authorization: latchkey.Endpoint{URL: "https://id.example/authorize"},
				Token:         latchkey.Endpoint{URL: "https://id.example/token"},
				UserInfo:      latchkey.Endpoint{URL: "https://id.example/me"},
			},
		},
	}
}

// AsTokens configures JWT sessions.
func AsTokens(c *latchkey.Config) { c.Session.Strategy = latchkey.JWTSessions }

// AsEndlessTokens configures JWT sessions without revocations: nothing can end them.
func AsEndlessTokens(c *latchkey.Config) {
	AsTokens(c)
	c.Session.SkipRevocations = true
}

// Whole switches on everything that has a route, except for passkeys. It adds providers with
// the ids "known" for passwords, "mailed" for magic links and "away" for a logout at the
// provider.
func Whole(c *latchkey.Config) {
	c.AccountPage.Enabled, c.Invitations = true, true
	c.Session.Bearer, c.Session.ActAs.Max = true, time.Hour
	c.Factors.Kinds = []latchkey.FactorKind{latchkey.FactorTOTP, latchkey.FactorRecovery}
	c.Mail.Send = func(context.Context, latchkey.Message) error { return nil }
	c.Providers = append(c.Providers,
		&latchkey.Password{
			ID: "known", Hasher: plainHasher{}, MinLength: 8,
			Weakness: func(context.Context, string, []string) (string, error) { return "", nil },
		},
		&latchkey.Email{ID: "mailed", Send: c.Mail.Send},
		&latchkey.OAuth{
			ID: "away", OIDC: true, Issuer: "https://id.example", ClientID: "x", ClientSecret: "y",
			Authorization: latchkey.Endpoint{URL: "https://id.example/authorize"},
			Token:         latchkey.Endpoint{URL: "https://id.example/token"},
			JWKS:          "https://id.example/keys",
			Logout: latchkey.Logout{
				AtProvider: true, BackChannel: true, FrontChannel: true, EndSession: latchkey.Endpoint{URL: "https://id.example/leave"},
			},
		},
	)
}

// plainHasher does not hash.
type plainHasher struct{}

func (plainHasher) Hash(_ context.Context, password string) (string, error) { return password, nil }

func (plainHasher) Check(_ context.Context, hash, password string) (latchkey.PasswordCheck, error) {
	return latchkey.PasswordCheck{OK: hash != "" && hash == password}, nil
}

// Send sends a request to h as this browser does from a page of the site. It keeps the
// cookies of the response in Jar.
func (s *Site) Send(h http.Handler, method, path string, form url.Values) *httptest.ResponseRecorder {
	s.T.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, s.Request(method, path, form))
	for _, c := range w.Result().Cookies() {
		s.Jar[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(s.Jar, c.Name)
		}
	}
	return w
}

// Request returns a request of this browser.
func (s *Site) Request(method, path string, form url.Values) *http.Request {
	r := httptest.NewRequest(method, URL+path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Origin", URL)
	}
	for name, value := range s.Jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	return r
}

// SignIn signs Ada in.
func (s *Site) SignIn() *httptest.ResponseRecorder {
	s.T.Helper()
	return s.Send(s.Auth, http.MethodPost, "/auth/callback/password", url.Values{"name": {"ada"}, "password": {"lovelace"}})
}

// SignOut signs Ada out.
func (s *Site) SignOut() *httptest.ResponseRecorder {
	s.T.Helper()
	return s.Send(s.Auth, http.MethodPost, "/auth/signout", nil)
}

// Look calls see with the context of a handler behind LoadSession.
func (s *Site) Look(see func(context.Context)) {
	s.T.Helper()
	s.Send(s.Auth.LoadSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { see(r.Context()) })), http.MethodGet, "/", nil)
}

// Session returns the session of this browser, or nil.
func (s *Site) Session() (found *latchkey.Session) {
	s.T.Helper()
	s.Look(func(ctx context.Context) { found = latchkey.SessionFrom(ctx) })
	return found
}
