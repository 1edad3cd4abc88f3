package latchkey_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// neutral is a request of this browser, free of net/http.
func (s *plainSite) neutral(path string) *latchkey.Request {
	s.t.Helper()
	r, err := latchkey.FromHTTP(s.request(http.MethodGet, path, nil))
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *plainSite) keep(cookies []*http.Cookie) {
	for _, c := range cookies {
		s.jar[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(s.jar, c.Name)
		}
	}
}

// The whole life of a session, without net/http.
func TestCore(t *testing.T) {
	s := newPlainSite(t, asTokens, func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
			if u.Trigger == latchkey.TriggerUpdate {
				u.Claims["name"] = u.Update
			}
			return u.Claims, nil
		}
	})
	core, ctx := s.auth.Core(), t.Context()
	members := func(_ *latchkey.Request, found *latchkey.Session) error {
		if found == nil {
			return latchkey.ErrNoSession
		}
		return nil
	}

	a := core.Authorize(ctx, s.neutral("/private?x=1"), members)
	if a.Response == nil || a.Session != nil || a.Response.Redirect != plainURL+"/auth/signin?callbackUrl="+url.QueryEscape(plainURL+"/private?x=1") {
		t.Fatalf("nobody passes the guard: %+v", a)
	}
	form := url.Values{"name": {"ada"}, "password": {"wrong"}}
	if _, err := core.SignIn(ctx, s.neutral("/login"), "password", latchkey.SignInOptions{Form: form}); err == nil {
		t.Error("a wrong password signs in")
	}
	form.Set("password", "lovelace")
	res, err := core.SignIn(ctx, s.neutral("/login"), "password", latchkey.SignInOptions{Form: form, RedirectTo: "/home"})
	if err != nil || res.Redirect != plainURL+"/home" {
		t.Fatalf("%+v, %v", res, err)
	}
	s.keep(res.Cookies)
	a = core.Authorize(ctx, s.neutral("/private"), members)
	if a.Response != nil || a.Session == nil || a.Session.UserID != plainID || len(a.Cookies) == 0 {
		t.Fatalf("Ada does not pass the guard: %+v", a)
	}
	found, cookies, err := core.UpdateSession(ctx, s.neutral("/name"), "Augusta")
	if err != nil || found.User.Name != "Augusta" {
		t.Fatalf("%+v, %v", found, err)
	}
	s.keep(cookies)
	if found, _, err := core.ReadSession(ctx, s.neutral("/")); err != nil || found.User.Name != "Augusta" {
		t.Errorf("%+v, %v", found, err)
	}
	token, cookies, err := core.CSRFToken(ctx, s.neutral("/form"))
	if err != nil || len(token) != 64 || len(cookies) != 1 {
		t.Errorf("%q, %v, %v", token, cookies, err)
	}
	if to, err := core.ActionURL(ctx, s.neutral("/"), "callback/elsewhere"); err != nil || to.String() != plainURL+"/auth/callback/elsewhere" {
		t.Errorf("%v, %v", to, err)
	}
	if !core.Match(ctx, s.neutral("/auth/session")) || core.Match(ctx, s.neutral("/auth/mine")) {
		t.Error("Match")
	}
	if res := core.Respond(ctx, s.neutral("/auth/session")); !strings.Contains(string(res.Body), "Augusta") {
		t.Errorf("%s", res.Body)
	}
	res, err = core.SignOut(ctx, s.neutral("/"), latchkey.SignOutOptions{})
	if err != nil || res.Redirect != plainURL+"/" {
		t.Fatalf("%+v, %v", res, err)
	}
	s.keep(res.Cookies)
	if _, _, err := core.ReadSession(ctx, s.neutral("/")); err == nil {
		t.Error("still signed in")
	}
}

// What is not the library's below the base path is the application's.
// What a framework does to the header of one answer is not in the next.
func TestAnswersHaveHeadersOfTheirOwn(t *testing.T) {
	s := newPlainSite(t, asTokens)
	for _, path := range []string{"/auth/session", "/auth/csrf"} {
		for _, ask := range []func(context.Context, *latchkey.Request) (*latchkey.Response, error){
			s.auth.Core().Do,
			func(ctx context.Context, r *latchkey.Request) (*latchkey.Response, error) {
				return s.auth.Core().Respond(ctx, r), nil
			},
		} {
			for range 2 {
				res, err := ask(t.Context(), s.neutral(path))
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
	s := newPlainSite(t, func(c *latchkey.Config) { c.Pages.SignIn = "/auth/login" })
	site := s.auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("mine")) }))
	for path, mine := range map[string]bool{
		"/auth/login": true, "/auth/account": true, "/auth": true, "/auth/factor": true, "/auth/session": false, "/auth/providers": false,
	} {
		if a := s.send(site, http.MethodGet, path, nil); (a.Body.String() == "mine") != mine {
			t.Errorf("%s: %d %s, want the application's: %t", path, a.Code, a.Body, mine)
		}
	}
	for _, path := range []string{"/auth/login", "/auth/account", "/auth/factor"} { // mounted alone
		if a := s.send(s.auth, http.MethodGet, path, nil); a.Code != http.StatusBadRequest {
			t.Errorf("%s, mounted alone: %d, want 400", path, a.Code)
		}
	}
	for page, wrong := range map[string]bool{"/auth/error": true, "/auth/account": false, "/auth/signin/": true, "/auth/mine": false} {
		c := plainConfig(s.store)
		c.Pages.Error = page
		if _, err := latchkey.New(c); (err != nil) != wrong {
			t.Errorf("Pages.Error %s: %v", page, err)
		}
	}
}

// Behind a framework without net/http the session is read when somebody looks,
// once, and its cookies reach the response.
func TestCoreLoadSession(t *testing.T) {
	s := newPlainSite(t, asTokens)
	s.signIn()
	header := http.Header{}
	ctx := s.auth.Core().LoadSession(t.Context(), s.neutral("/"), header)
	if len(header) != 0 {
		t.Errorf("nobody has looked: %v", header)
	}
	for range 2 {
		if found := latchkey.SessionFrom(ctx); found == nil || found.UserID != plainID {
			t.Errorf("%+v", found)
		}
	}
	if len(header["Set-Cookie"]) != 1 || header.Get("Vary") != "Cookie" || header.Get("Cache-Control") != "private" {
		t.Errorf("%v", header)
	}
	if found, err := s.auth.Core().Session(ctx); err != nil || found.UserID != plainID {
		t.Errorf("%+v, %v", found, err)
	}
	if again := s.auth.Core().LoadSession(ctx, s.neutral("/"), nil); again != ctx {
		t.Error("what is there is loaded again")
	}
	if _, err := s.auth.Core().Session(t.Context()); !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("without LoadSession: %v", err)
	}
	broken := newFaultyStore()
	down := newPlainSite(t, func(c *latchkey.Config) { c.Adapter = broken })
	broken.fail("GetSessionAndUser", faultBefore)
	down.jar = map[string]string{"__Secure-authjs.session-token": strings.Repeat("0", 64)}
	if _, err := down.auth.Core().Session(down.auth.Core().LoadSession(t.Context(), down.neutral("/"), http.Header{})); err == nil || errors.Is(err, latchkey.ErrNoSession) {
		t.Errorf("a store that is down: %v", err)
	}
	s.jar = map[string]string{}
	if found := latchkey.SessionFrom(s.auth.Core().LoadSession(t.Context(), s.neutral("/"), http.Header{})); found != nil {
		t.Errorf("without a cookie: %+v", found)
	}
}
