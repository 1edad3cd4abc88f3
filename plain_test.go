package latchkey_test

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

// A plainSite is the least that people can sign in to: a password for Ada, who is
// a stored user.

const (
	plainURL = "https://plain.example"
	plainKey = "the secret of the plain site, long enough"
	plainID  = "ada-1"
)

type plainSite struct {
	t     *testing.T
	auth  *latchkey.Auth
	store *memoryadapter.Adapter
	jar   map[string]string
}

func newPlainSite(t *testing.T, change ...func(*latchkey.Config)) *plainSite {
	t.Helper()
	s := &plainSite{t: t, store: memoryadapter.New(memoryadapter.Options{}), jar: map[string]string{}}
	ada := latchkey.User{ID: plainID, Name: "Ada", Email: "ada@example.com", EmailVerified: time.Unix(1, 0)}
	if _, err := s.store.CreateUser(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	c := plainConfig(s.store)
	for _, f := range change {
		f(&c)
	}
	var err error
	if s.auth, err = latchkey.New(c); err != nil {
		t.Fatal(err)
	}
	return s
}

// plainConfig has credentials, and an OAuth provider so that sessions can be stored.
func plainConfig(store storage.Adapter) latchkey.Config {
	return latchkey.Config{
		Site: latchkey.Site{URL: plainURL}, Secrets: []string{plainKey}, Adapter: store,
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{
			&latchkey.Credentials{
				ID: "password", Fields: []latchkey.Field{{Name: "name"}, {Name: "password"}},
				Authorize: func(_ context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
					if fields["name"] != "ada" || fields["password"] != "lovelace" {
						return latchkey.User{}, nil
					}
					return latchkey.User{ID: plainID, Name: "Ada", Email: "ada@example.com"}, nil
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

func asTokens(c *latchkey.Config) { c.Session.Strategy = latchkey.JWTSessions }

// asEndlessTokens are tokens that say no more than those of Auth.js, and that
// nobody can end.
func asEndlessTokens(c *latchkey.Config) {
	asTokens(c)
	c.Session.SkipRevocations = true
}

// send asks h as this browser, which a page of the site's own has made post.
func (s *plainSite) send(h http.Handler, method, path string, form url.Values) *httptest.ResponseRecorder {
	s.t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, s.request(method, path, form))
	for _, c := range w.Result().Cookies() {
		s.jar[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(s.jar, c.Name)
		}
	}
	return w
}

func (s *plainSite) request(method, path string, form url.Values) *http.Request {
	r := httptest.NewRequest(method, plainURL+path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Origin", plainURL)
	}
	for name, value := range s.jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	return r
}

func (s *plainSite) signIn() *httptest.ResponseRecorder {
	s.t.Helper()
	return s.send(s.auth, http.MethodPost, "/auth/callback/password", url.Values{"name": {"ada"}, "password": {"lovelace"}})
}

func (s *plainSite) signOut() *httptest.ResponseRecorder {
	s.t.Helper()
	return s.send(s.auth, http.MethodPost, "/auth/signout", nil)
}

// look is what a handler behind LoadSession sees.
func (s *plainSite) look(see func(context.Context)) {
	s.t.Helper()
	s.send(s.auth.LoadSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { see(r.Context()) })), http.MethodGet, "/", nil)
}

// session is who is signed in; nil: nobody.
func (s *plainSite) session() (found *latchkey.Session) {
	s.t.Helper()
	s.look(func(ctx context.Context) { found = latchkey.SessionFrom(ctx) })
	return found
}
