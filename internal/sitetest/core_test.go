package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// neutral is a request of this browser, free of net/http.
func neutral(s *plainsite.Site, path string) *latchkey.Request {
	s.T.Helper()
	r, err := latchkey.FromHTTP(s.Request(http.MethodGet, path, nil))
	if err != nil {
		s.T.Fatal(err)
	}
	return r
}

func keep(s *plainsite.Site, cookies []*http.Cookie) {
	for _, c := range cookies {
		s.Jar[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(s.Jar, c.Name)
		}
	}
}

// The whole life of a session, without net/http.
func TestCore(t *testing.T) {
	s := plainsite.New(t, plainsite.AsTokens, func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
			if u.Trigger == latchkey.TriggerUpdate {
				u.Claims["name"] = u.Update
			}
			return u.Claims, nil
		}
	})
	core, ctx := s.Auth.Core(), t.Context()
	members := func(_ *latchkey.Request, found *latchkey.Session) error {
		if found == nil {
			return latchkey.ErrNoSession
		}
		return nil
	}

	a := core.Authorize(ctx, neutral(s, "/private?x=1"), members)
	if a.Response == nil || a.Session != nil || a.Response.Redirect != plainsite.URL+"/auth/signin?callbackUrl="+url.QueryEscape(plainsite.URL+"/private?x=1") {
		t.Fatalf("nobody passes the guard: %+v", a)
	}
	form := url.Values{"name": {"ada"}, "password": {"wrong"}}
	if _, err := core.SignIn(ctx, neutral(s, "/login"), "password", latchkey.SignInOptions{Form: form}); err == nil {
		t.Error("a wrong password signs in")
	}
	form.Set("password", "lovelace")
	res, err := core.SignIn(ctx, neutral(s, "/login"), "password", latchkey.SignInOptions{Form: form, RedirectTo: "/home"})
	if err != nil || res.Redirect != plainsite.URL+"/home" {
		t.Fatalf("%+v, %v", res, err)
	}
	keep(s, res.Cookies)
	a = core.Authorize(ctx, neutral(s, "/private"), members)
	if a.Response != nil || a.Session == nil || a.Session.UserID != plainsite.UserID || len(a.Cookies) == 0 {
		t.Fatalf("Ada does not pass the guard: %+v", a)
	}
	found, cookies, err := core.UpdateSession(ctx, neutral(s, "/name"), "Augusta")
	if err != nil || found.User.Name != "Augusta" {
		t.Fatalf("%+v, %v", found, err)
	}
	keep(s, cookies)
	if found, _, err := core.ReadSession(ctx, neutral(s, "/")); err != nil || found.User.Name != "Augusta" {
		t.Errorf("%+v, %v", found, err)
	}
	token, cookies, err := core.CSRFToken(ctx, neutral(s, "/form"))
	if err != nil || len(token) != 64 || len(cookies) != 1 {
		t.Errorf("%q, %v, %v", token, cookies, err)
	}
	if to, err := core.ActionURL(ctx, neutral(s, "/"), "callback/elsewhere"); err != nil || to.String() != plainsite.URL+"/auth/callback/elsewhere" {
		t.Errorf("%v, %v", to, err)
	}
	if !core.Match(ctx, neutral(s, "/auth/session")) || core.Match(ctx, neutral(s, "/auth/mine")) {
		t.Error("Match")
	}
	if res := core.Respond(ctx, neutral(s, "/auth/session")); !strings.Contains(string(res.Body), "Augusta") {
		t.Errorf("%s", res.Body)
	}
	res, err = core.SignOut(ctx, neutral(s, "/"), latchkey.SignOutOptions{})
	if err != nil || res.Redirect != plainsite.URL+"/" {
		t.Fatalf("%+v, %v", res, err)
	}
	keep(s, res.Cookies)
	if _, _, err := core.ReadSession(ctx, neutral(s, "/")); err == nil {
		t.Error("still signed in")
	}
}

// What is not the library's below the base path is the application's.
// What a framework does to the header of one answer is not in the next.
func TestAnswersHaveHeadersOfTheirOwn(t *testing.T) {
	s := plainsite.New(t, plainsite.AsTokens)
	for _, path := range []string{"/auth/session", "/auth/csrf"} {
		for _, ask := range []func(context.Context, *latchkey.Request) (*latchkey.Response, error){
			s.Auth.Core().Do,
			func(ctx context.Context, r *latchkey.Request) (*latchkey.Response, error) {
				return s.Auth.Core().Respond(ctx, r), nil
			},
		} {
			for range 2 {
				res, err := ask(t.Context(), neutral(s, path))
				if err != nil {
					t.Fatal(err)
				}
				if got := res.Header.Get("X-Mine"); got != "" {
					t.Errorf("%s: X-Mine = %q from another answer", path, got)
				}
				if res.Header.Get("Cache-Control") != "private, no-cache, no-store" || res.Header.Get("Vary") != "Cookie" {
					t.Errorf("%s: header = %v", path, res.Header)
				}
				res.Header.Set("X-Mine", "here")
				res.Header["Vary"][0] = "Everything"
			}
		}
	}
}

func TestApplicationBelowTheBasePath(t *testing.T) {
	s := plainsite.New(t, func(c *latchkey.Config) { c.Pages.SignIn = "/auth/login" })
	site := s.Auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("mine")) }))
	for path, mine := range map[string]bool{
		"/auth/login": true, "/auth/account": true, "/auth": true, "/auth/factor": true, "/auth/session": false, "/auth/providers": false,
	} {
		if a := s.Send(site, http.MethodGet, path, nil); (a.Body.String() == "mine") != mine {
			t.Errorf("%s: %d %s, want the application's: %t", path, a.Code, a.Body, mine)
		}
	}
	for _, path := range []string{"/auth/login", "/auth/account", "/auth/factor"} { // mounted alone
		if a := s.Send(s.Auth, http.MethodGet, path, nil); a.Code != http.StatusBadRequest {
			t.Errorf("%s, mounted alone: %d, want 400", path, a.Code)
		}
	}
	for page, wrong := range map[string]bool{"/auth/error": true, "/auth/account": false, "/auth/signin/": true, "/auth/mine": false} {
		c := plainsite.Config(s.Store)
		c.Pages.Error = page
		if _, err := latchkey.New(c); (err != nil) != wrong {
			t.Errorf("Pages.Error %s: %v", page, err)
		}
	}
}

// Behind a framework without net/http the session is read when somebody looks,
// once, and its cookies reach the response.
func TestCoreLoadSession(t *testing.T) {
	s := plainsite.New(t, plainsite.AsTokens)
	s.SignIn()
	header := http.Header{}
	ctx := s.Auth.Core().LoadSession(t.Context(), neutral(s, "/"), header)
	if len(header) != 0 {
		t.Errorf("nobody has looked: %v", header)
	}
	for range 2 {
		if found := latchkey.SessionFrom(ctx); found == nil || found.UserID != plainsite.UserID {
			t.Errorf("%+v", found)
		}
	}
	if len(header["Set-Cookie"]) != 1 || header.Get("Vary") != "Cookie" || header.Get("Cache-Control") != "private" {
		t.Errorf("%v", header)
	}
	if found, err := s.Auth.Core().Session(ctx); err != nil || found.UserID != plainsite.UserID {
		t.Errorf("%+v, %v", found, err)
	}
	if again := s.Auth.Core().LoadSession(ctx, neutral(s, "/"), nil); again != ctx {
		t.Error("what is there is loaded again")
	}
	if _, err := s.Auth.Core().Session(t.Context()); !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("without LoadSession: %v", err)
	}
	broken := newFaultyStore()
	down := plainsite.New(t, func(c *latchkey.Config) { c.Adapter = broken })
	broken.fail("GetSessionAndUser", faultBefore)
	down.Jar = map[string]string{"__Secure-authjs.session-token": strings.Repeat("0", 64)}
	if _, err := down.Auth.Core().Session(down.Auth.Core().LoadSession(t.Context(), neutral(down, "/"), http.Header{})); err == nil || errors.Is(err, latchkey.ErrNoSession) {
		t.Errorf("a store that is down: %v", err)
	}
	s.Jar = map[string]string{}
	if found := latchkey.SessionFrom(s.Auth.Core().LoadSession(t.Context(), neutral(s, "/"), http.Header{})); found != nil {
		t.Errorf("without a cookie: %+v", found)
	}
}
