package sitetest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// A framework without net/http: the session is read when somebody looks, once,
// and what the response needs is told once.
func TestAttach(t *testing.T) {
	s := plainsite.New(t, plainsite.AsTokens)
	s.SignIn()
	core, asked := s.Auth.Core(), 0
	r := neutral(s, "/members")
	ctx := core.Attach(t.Context(), func() *latchkey.Request { asked++; return r })
	if asked != 0 || core.Renewal(ctx) != nil || core.Attach(ctx, nil) != ctx {
		t.Errorf("nobody has looked, and the request was asked for %d times", asked)
	}
	pass := func(_ *latchkey.Request, found *latchkey.Session) error {
		if found == nil {
			return latchkey.ErrNoSession
		}
		return nil
	}
	for range 2 {
		if a := core.Authorize(ctx, r, pass); a.Response != nil || a.Session.UserID != plainsite.UserID || len(a.Cookies) != 0 {
			t.Errorf("%+v", a)
		}
		if found, cookies, err := core.ReadSession(ctx, r); err != nil || found.UserID != plainsite.UserID || len(cookies) != 0 {
			t.Errorf("%+v, %v, %v", found, cookies, err)
		}
		if found := latchkey.SessionFrom(ctx); found == nil || found.UserID != plainsite.UserID {
			t.Errorf("%+v", found)
		}
	}
	renewal := core.Renewal(ctx)
	if asked != 1 || len(renewal["Set-Cookie"]) != 1 || renewal.Get("Vary") != "Cookie" || renewal.Get("Cache-Control") != "private" {
		t.Errorf("asked %d times: %v", asked, renewal)
	}
	if again := core.Renewal(ctx); again != nil {
		t.Errorf("told twice: %v", again)
	}
	if core.Renewal(t.Context()) != nil {
		t.Error("a context without a request has a renewal")
	}
	f, cookies, err := core.Forms(ctx, r)
	if err != nil || f.Session.UserID != plainsite.UserID || len(cookies) != 1 {
		t.Fatalf("%v, %v, %v", f, cookies, err)
	}
	if token, cookies, err := core.CSRFToken(ctx, r); err != nil || token != f.CSRFToken || len(cookies) != 0 {
		t.Errorf("a second token in one response: %s, %v, %v", token, cookies, err)
	}
}

// TestRenewalAfterSignOut is R-463: what the application has decided about the
// session is not undone by the cookie that would have kept it alive.
func TestRenewalAfterSignOut(t *testing.T) {
	for name, decide := range map[string]func(*latchkey.Core, context.Context, *latchkey.Request) ([]*http.Cookie, error){
		"R-463 sign-out": func(core *latchkey.Core, ctx context.Context, r *latchkey.Request) ([]*http.Cookie, error) {
			res, err := core.SignOut(ctx, r, latchkey.SignOutOptions{})
			return res.Cookies, err
		},
		"R-463 update": func(core *latchkey.Core, ctx context.Context, r *latchkey.Request) ([]*http.Cookie, error) {
			_, cookies, err := core.UpdateSession(ctx, r, "news")
			return cookies, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := plainsite.New(t, plainsite.AsTokens)
			s.SignIn()
			core, r := s.Auth.Core(), neutral(s, "/members")
			ctx := core.Attach(t.Context(), func() *latchkey.Request { return r })
			if latchkey.SessionFrom(ctx) == nil {
				t.Fatal("nobody is signed in")
			}
			cookies, err := decide(core, ctx, r)
			if err != nil || len(cookies) == 0 {
				t.Fatalf("%v, %v", cookies, err)
			}
			if renewal := core.Renewal(ctx); len(renewal["Set-Cookie"]) != 0 || renewal.Get("Vary") != "Cookie" {
				t.Errorf("%v", renewal)
			}
		})
	}
}

// TestLookAfterSignOut is R-620: a look that comes after a sign-out, in the same response,
// does not undo it.
func TestLookAfterSignOut(t *testing.T) {
	route := func(s *testSite, w http.ResponseWriter, r *http.Request) { s.auth.ServeHTTP(w, r) }
	url := func(s *testSite, w http.ResponseWriter, r *http.Request) {
		if _, err := s.auth.SignOutURL(w, r, latchkey.SignOutOptions{}); err != nil {
			t.Error(err)
		}
	}
	attach := func(s *testSite, w http.ResponseWriter, r *http.Request) {
		latchkey.SessionFrom(s.auth.Attach(w, r).Context())
	}
	load := func(s *testSite, w http.ResponseWriter, r *http.Request) {
		s.auth.LoadSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { latchkey.SessionFrom(r.Context()) })).ServeHTTP(w, r)
	}
	read := func(s *testSite, w http.ResponseWriter, r *http.Request) { _, _ = s.auth.ReadSession(w, r) }
	forms := func(s *testSite, w http.ResponseWriter, r *http.Request) { _, _ = s.auth.Forms(w, r) }
	for _, c := range []struct {
		name      string
		end, look func(*testSite, http.ResponseWriter, *http.Request)
	}{
		{"R-620 the route, ReadSession", route, read},
		{"R-620 the route, Attach", route, attach},
		{"R-620 the route, LoadSession", route, load},
		{"R-620 the route, Forms", route, forms},
		{"R-620 SignOutURL, ReadSession", url, read},
		{"R-620 SignOutURL, Attach", url, attach},
		{"R-620 SignOutURL, LoadSession", url, load},
		{"R-620 SignOutURL, Forms", url, forms},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, func(c *latchkey.Config) { c.Adapter, c.Providers = nil, c.Providers[:1] })
			h := http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // sends the header last
				c.end(s, w, r)
				c.look(s, w, r)
			}), time.Minute, "")
			b := s.newBrowser()
			b.signIn()
			b.serve(h, b.request(http.MethodPost, "/auth/signout", formContentType, "csrfToken="+b.token()))
			if b.isLive() {
				t.Error("the visitor is still signed in")
			}
		})
	}
}

// The framework has gone on to another request in the same memory.
func TestAttachedTooLong(t *testing.T) {
	s := plainsite.New(t, plainsite.AsTokens)
	s.SignIn()
	lazy := newFunc(func(context.Context, *latchkey.Request) (*latchkey.Config, error) {
		c := plainsite.Config(s.Store)
		return &c, nil
	})
	for name, auth := range map[string]*latchkey.Auth{"R-451 one configuration": s.Auth, "R-451 one for each request": lazy} {
		t.Run(name, func(t *testing.T) {
			ctx := auth.Core().Attach(t.Context(), func() *latchkey.Request { return nil })
			if found := latchkey.SessionFrom(ctx); found != nil {
				t.Errorf("%+v", found)
			}
			if _, err := auth.CurrentUser(ctx); err == nil || errors.Is(err, latchkey.ErrNoSession) {
				t.Errorf("who is signed in is not known: %v", err)
			}
			if header := auth.Core().Renewal(ctx); header != nil {
				t.Errorf("%v", header)
			}
			if auth == lazy && auth.Core().MatchPath(ctx, "/auth/session", func() *latchkey.Request { return nil }) {
				t.Error("a route is found without a configuration")
			}
		})
	}
}

func TestMatchPath(t *testing.T) {
	s := plainsite.New(t)
	none := func() *latchkey.Request { t.Error("the request was asked for"); return nil }
	for path, want := range map[string]bool{"/auth/session": true, "/auth/mine": false, "/%61uth/session": false, "": false} {
		if got := s.Auth.Core().MatchPath(t.Context(), path, none); got != want {
			t.Errorf("%q: %t", path, got)
		}
	}
	config := plainsite.Config(s.Store)
	lazy := newFunc(func(context.Context, *latchkey.Request) (*latchkey.Config, error) { return &config, nil })
	if !lazy.Core().MatchPath(t.Context(), "/auth/session", func() *latchkey.Request { return neutral(s, "/auth/session") }) {
		t.Error("a configuration of the request's own")
	}
}

func TestReadBody(t *testing.T) {
	s := plainsite.New(t, func(c *latchkey.Config) { c.Limits.MaxBodyBytes = 10 })
	for _, c := range []struct {
		name, body string
		length     int64
		status     int
	}{
		{"a body", "name=ada", 8, 0},
		{"one of no announced length", "name=ada", -1, 0},
		{"R-221 announced too large", "", 11, http.StatusRequestEntityTooLarge},
		{"R-221 too large, unannounced", "name=ada+lovelace", -1, http.StatusRequestEntityTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := neutral(s, "/auth/signin")
			r.Method = http.MethodPost
			res := s.Auth.Core().ReadBody(t.Context(), r, strings.NewReader(c.body), c.length)
			switch {
			case c.status == 0 && (res != nil || string(r.Body) != c.body):
				t.Errorf("%+v, %q", res, r.Body)
			case c.status != 0 && (res == nil || res.Status != c.status || res.Header.Get("Connection") != "close"):
				t.Errorf("%+v", res)
			}
		})
	}
}

// What handlers return is answered as guards would. Error handlers know the errors
// for which that is meant.
func TestErrorResponse(t *testing.T) {
	s := plainsite.New(t, plainsite.AsTokens)
	core := s.Auth.Core()
	answer := func(path string, err error) *latchkey.Response {
		r := neutral(s, path)
		return core.ErrorResponse(core.Attach(t.Context(), func() *latchkey.Request { return r }), r, err)
	}
	refusal := func(path string, err error) *latchkey.Response {
		if !latchkey.IsRefusal(err) {
			return nil
		}
		return answer(path, err)
	}
	for _, err := range []error{latchkey.ErrNoSession, latchkey.ErrAccessDenied} {
		if res := refusal("/members", err); res == nil || !strings.HasPrefix(res.Redirect, plainsite.URL+"/auth/signin?") {
			t.Errorf("%v: %+v", err, res)
		}
	}
	if res := refusal("/members", latchkey.RedirectTo("/elsewhere")); res == nil || res.Redirect != plainsite.URL+"/elsewhere" {
		t.Errorf("%+v", res)
	}
	if res := refusal("/members", latchkey.RespondWith(&latchkey.Response{Status: http.StatusGone})); res == nil || res.Status != http.StatusGone {
		t.Errorf("%+v", res)
	}
	if res := refusal("/members", errors.New("broken")); res != nil {
		t.Errorf("%+v", res)
	}
	for _, err := range []error{errors.New("broken"), latchkey.ErrInvalidConfig, nil} {
		if res := answer("/members", err); res == nil || res.Status != http.StatusInternalServerError {
			t.Errorf("%v: %+v", err, res)
		}
	}
	if res := core.ErrorResponse(t.Context(), neutral(s, "/members"), latchkey.ErrAccessDenied); len(res.Cookies) != 0 {
		t.Errorf("cookies for nobody: %+v", res.Cookies)
	}
	s.SignIn()
	if res := core.ErrorResponse(t.Context(), neutral(s, "/members"), latchkey.ErrAccessDenied); len(res.Cookies) != 1 || res.Status != http.StatusForbidden {
		t.Errorf("the session is not kept alive: %+v", res)
	}
	if res := refusal("/members", latchkey.ErrAccessDenied); res == nil || res.Status != http.StatusForbidden {
		t.Errorf("%+v", res)
	}
}
