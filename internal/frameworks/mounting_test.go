package frameworks

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest/frameworktest"
	"github.com/latchkeyhq/latchkey/ui"
)

// newAuth lets anybody in who says a name.
func newAuth(t testing.TB) *latchkey.Auth {
	t.Helper()
	auth, err := latchkey.New(latchkey.Config{
		Secrets: []string{"a secret for tests that is long enough"},
		Site:    latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}},
			Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				return latchkey.User{ID: typed["name"], Name: typed["name"]}, nil
			},
		}},
	}.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// authOf is what a site is mounted with.
func authOf(site frameworktest.Site) *latchkey.Auth {
	if site.Auth != nil {
		return site.Auth
	}
	auth, err := latchkey.NewFunc(latchkey.Func{
		Config: func(_ context.Context, r *latchkey.Request) (*latchkey.Config, error) { return site.ByHost(r.Host) },
	})
	if err != nil {
		panic(err)
	}
	return auth
}

// routes are the paths to mount Latchkey at, with the group's in front.
func routes(t *testing.T, auth *latchkey.Auth) []string {
	t.Helper()
	paths, err := auth.Routes("")
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// handler is a page behind what it wants in front.
func handler(auth *latchkey.Auth, p frameworktest.Page) http.Handler {
	var page http.Handler
	if p.Serve != nil {
		page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.Serve(&visit{auth, w, auth.Attach(w, r)}) })
	}
	h := guard(auth, p, page)
	if !p.ReadsForm {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.FormValue("any")
		h.ServeHTTP(w, r)
	})
}

func guard(auth *latchkey.Auth, p frameworktest.Page, page http.Handler) http.Handler {
	switch p.Guard {
	case frameworktest.LoadSession:
		return auth.LoadSession(page)
	case frameworktest.RequireSession:
		return auth.RequireSession(page)
	case frameworktest.Authorize:
		return auth.Authorize(func(r *http.Request, s *latchkey.Session) error { return p.Decide(r.URL.Path, s) })(page)
	case frameworktest.SignInAction:
		return auth.SignInAction(page)
	case frameworktest.SignOutAction:
		return auth.SignOutAction(page)
	}
	return page
}

// guarded puts RequireSession in front of a whole site that asks for it.
func guarded(auth *latchkey.Auth, site frameworktest.Site, next http.Handler) http.Handler {
	if !site.Guarded {
		return next
	}
	return auth.RequireSession(next)
}

// recovered answers panics with status 500.
func recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				http.Error(w, "It broke.", http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// visit is a request as the suite sees it.
type visit struct {
	auth *latchkey.Auth
	w    http.ResponseWriter
	r    *http.Request
}

func (v *visit) Session() (*latchkey.Session, error)       { return v.auth.ReadSession(v.w, v.r) }
func (v *visit) CurrentUser() (latchkey.User, error)       { return v.auth.CurrentUser(v.r.Context()) }
func (v *visit) CSRFToken() (string, error)                { return v.auth.CSRFToken(v.w, v.r) }
func (v *visit) ActionURL(action string) (*url.URL, error) { return v.auth.ActionURL(v.r, action) }
func (v *visit) Forms() (*latchkey.Forms, error)           { return v.auth.Forms(v.w, v.r) }
func (v *visit) UI() (*ui.Page, error)                     { return ui.New(v.auth, v.w, v.r) }
func (v *visit) Context() context.Context                  { return v.r.Context() }
func (v *visit) FormValue(name string) string              { return v.r.PostFormValue(name) }

func (v *visit) SignIn(provider string, o latchkey.SignInOptions) error {
	return v.auth.SignIn(v.w, v.r, provider, o)
}

func (v *visit) AccessToken(provider string, o latchkey.TokenOptions) (latchkey.Tokens, error) {
	return v.auth.AccessToken(v.w, v.r, provider, o)
}

func (v *visit) LinkURL(provider string, o latchkey.LinkOptions) (string, error) {
	return v.auth.LinkURL(v.w, v.r, provider, o)
}

func (v *visit) SignInURL(provider string, o latchkey.SignInOptions) (string, error) {
	return v.auth.SignInURL(v.w, v.r, provider, o)
}

func (v *visit) WriteError(err error) { v.auth.WriteError(v.w, v.r, err) }

func (v *visit) SignOut(o latchkey.SignOutOptions) error { return v.auth.SignOut(v.w, v.r, o) }

func (v *visit) SignOutURL(o latchkey.SignOutOptions) (string, error) {
	return v.auth.SignOutURL(v.w, v.r, o)
}

func (v *visit) UpdateSession(data any) (*latchkey.Session, error) {
	return v.auth.UpdateSession(v.w, v.r, data)
}

func (v *visit) SetCookie(name, value string) {
	http.SetCookie(v.w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: 60, HttpOnly: true, Secure: true})
}

func (v *visit) Write(status int, html string) {
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = io.WriteString(v.w, html)
}

func (v *visit) Stream(parts ...func() string) {
	for _, part := range parts {
		_, _ = io.WriteString(v.w, part())
		_ = http.NewResponseController(v.w).Flush()
	}
}
