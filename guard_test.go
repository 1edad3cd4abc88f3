package latchkey_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// countingStore counts the sessions it was asked for.
type countingStore struct {
	*memoryadapter.Adapter
	reads atomic.Int32
}

func (s *countingStore) GetSessionAndUser(ctx context.Context, token string) (latchkey.StoredSession, latchkey.User, error) {
	s.reads.Add(1)
	return s.Adapter.GetSessionAndUser(ctx, token)
}

// memberDesk is a site with stored sessions and a guest who is signed in.
func memberDesk(t *testing.T, change ...func(*latchkey.Config)) (*desk, *guest, *countingStore) {
	t.Helper()
	store := &countingStore{Adapter: memoryadapter.New(memoryadapter.Options{})}
	d := openDesk(t, append([]func(*latchkey.Config){func(c *latchkey.Config) {
		c.Adapter, c.Session.Strategy = store, latchkey.DatabaseSessions
	}}, change...)...)
	g := d.guest()
	g.post("/auth/signin/post", "email", "ada@example.com")
	if a := g.get(strings.TrimPrefix(d.sent()[0].URL, deskOrigin)); !a.signsIn() {
		t.Fatalf("no sign-in: %q", a.location())
	}
	store.reads.Store(0)
	return d, g, store
}

func TestLoadSession(t *testing.T) {
	d, g, store := memberDesk(t)
	serve := func(h http.HandlerFunc) *answer {
		return g.serve(d.auth.LoadSession(h), g.request(http.MethodGet, "/own", "", ""))
	}
	t.Run("nobody looks, nothing is read", func(t *testing.T) {
		store.reads.Store(0)
		a := serve(func(w http.ResponseWriter, r *http.Request) {})
		if store.reads.Load() != 0 || len(a.Header()) != 0 {
			t.Errorf("%d reads, headers %v", store.reads.Load(), a.Header())
		}
	})
	t.Run("whoever looks, and however often, it is read once", func(t *testing.T) {
		store.reads.Store(0)
		a := serve(func(w http.ResponseWriter, r *http.Request) {
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if s, ok := latchkey.SessionFrom(r.Context()); !ok || s.User.Email != "ada@example.com" {
						t.Errorf("session %v", s)
					}
				})
			}
			all.Wait()
		})
		if store.reads.Load() != 1 {
			t.Errorf("%d reads", store.reads.Load())
		}
		if c := a.cookie("session-token"); c == nil || c.Value == "" || !c.HttpOnly || !c.Secure || c.Expires.Before(d.clock.now().Add(29*24*time.Hour)) {
			t.Errorf("the renewed cookie is %v", c)
		}
		if a.Header().Get("Cache-Control") != "private" {
			t.Errorf("Cache-Control %q: a shared cache may keep the answer", a.Header().Get("Cache-Control"))
		}
	})
	t.Run("the application's own Cache-Control stays", func(t *testing.T) {
		a := serve(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			latchkey.SessionFrom(r.Context())
		})
		if a.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("Cache-Control %q", a.Header().Get("Cache-Control"))
		}
	})
	t.Run("a dead session is cleared", func(t *testing.T) {
		other := d.guest()
		other.jar["__Secure-authjs.session-token"] = strings.Repeat("0", 64)
		a := other.serve(d.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := latchkey.SessionFrom(r.Context()); ok {
				t.Error("somebody")
			}
		})), other.request(http.MethodGet, "/own", "", ""))
		if c := a.cookie("session-token"); c == nil || c.MaxAge >= 0 || c.Value != "" {
			t.Errorf("cookie %v", c)
		}
	})
	t.Run("Session renews nothing", func(t *testing.T) {
		if s, err := d.auth.Session(g.request(http.MethodGet, "/own", "", "")); err != nil || s.User.Email != "ada@example.com" {
			t.Errorf("%v, %v", s, err)
		}
		if _, err := d.auth.Session(d.guest().request(http.MethodGet, "/own", "", "")); !errors.Is(err, latchkey.ErrNoSession) {
			t.Errorf("nobody is %v", err)
		}
	})
}

// inside tells whether a guarded handler was reached.
func inside(reached *bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*reached = true
		if _, ok := latchkey.SessionFrom(r.Context()); ok {
			w.Header().Set("X-Member", "yes")
		}
	})
}

func TestRequireSession(t *testing.T) {
	d, member, store := memberDesk(t)
	stranger := d.guest()
	var reached bool
	guard := d.auth.RequireSession(inside(&reached))
	try := func(g *guest, target, accept string) *answer {
		reached = false
		r := g.request(http.MethodGet, target, "", "")
		if accept != "" {
			r.Header.Set("Accept", accept)
		}
		return g.serve(guard, r)
	}
	if a := try(member, "/own", ""); !reached || a.Header().Get("X-Member") != "yes" || !a.signsIn() {
		t.Errorf("a member: reached %t, %v", reached, a.Header())
	}
	if n := store.reads.Load(); n != 1 {
		t.Errorf("guard and handler read %d times", n)
	}
	for target, back := range map[string]string{"/own": "/own", "/own?a=b&c=d": "/own?a=b&c=d", "/a%2Fb": "/a%2Fb", "//evil.example/x": "//evil.example/x"} {
		a := try(stranger, target, "text/html")
		if want := deskOrigin + "/auth/signin?callbackUrl=" + url.QueryEscape(deskOrigin+back); reached || a.Code != http.StatusFound || a.location() != want || a.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: reached %t, %d to %q, want %q", target, reached, a.Code, a.location(), want)
		}
	}
	for accept, status := range map[string]int{"application/json": 401, "application/json, text/plain, */*": 401, "text/html,application/json;q=0.9": 302, "*/*": 302} {
		if a := try(stranger, "/own", accept); reached || a.Code != status {
			t.Errorf("Accept %q: reached %t, %d, want %d", accept, reached, a.Code, status)
		}
	}
	if a := try(stranger, "/auth/signin", ""); !reached {
		t.Errorf("the sign-in page leads to itself: %q", a.location())
	}
	t.Run("an own sign-in page is never guarded against itself", func(t *testing.T) {
		d := openDesk(t, func(c *latchkey.Config) { c.Pages.SignIn = "/login?lang=en" })
		var reached bool
		guard := d.auth.RequireSession(inside(&reached))
		for target, want := range map[string]bool{"/login": true, "/login?x=y": true, "/login/": true, "/login/x": false, "/loginx": false, "/own": false, "/own?/login": false, "/": false} {
			reached = false
			g := d.guest()
			if a := g.serve(guard, g.request(http.MethodGet, target, "", "")); reached != want {
				t.Errorf("%s: reached %t, sent to %q", target, reached, a.location())
			}
		}
	})
	t.Run("the page that one comes from is where one comes back to", func(t *testing.T) {
		g := d.guest()
		a := g.serve(guard, g.request(http.MethodGet, "/own?x=1", "", ""))
		g.get(strings.TrimPrefix(a.location(), deskOrigin))
		if a := g.post("/auth/signin/post", "email", "eve@example.com"); a.Code != http.StatusFound {
			t.Fatalf("%d", a.Code)
		}
		links := d.sent()
		if a := g.get(strings.TrimPrefix(links[len(links)-1].URL, deskOrigin)); a.location() != deskOrigin+"/own?x=1" {
			t.Errorf("back at %q", a.location())
		}
	})
}

func TestAuthorize(t *testing.T) {
	d, member, _ := memberDesk(t, func(c *latchkey.Config) { c.Pages.NewUser = "/new" })
	var reached bool
	decideBy := func(answer error) http.Handler {
		return d.auth.Authorize(func(_ context.Context, s *latchkey.Session, r *http.Request) error {
			if s == nil || r.URL.Path == "" {
				t.Error("the question has no session or no request")
			}
			return answer
		})(inside(&reached))
	}
	for _, c := range []struct {
		name     string
		answer   error
		target   string
		reached  bool
		status   int
		location string
	}{
		{"allowed", nil, "/own", true, 200, ""},
		{"denied", errors.New("no"), "/own", false, 302, deskOrigin + "/auth/signin?callbackUrl=" + url.QueryEscape(deskOrigin+"/own")},
		{"denied by type", latchkey.ErrAccessDenied, "/own", false, 302, deskOrigin + "/auth/signin?callbackUrl=" + url.QueryEscape(deskOrigin+"/own")},
		{"sent elsewhere", latchkey.RedirectTo("/pay?x=y"), "/own", false, 302, deskOrigin + "/pay?x=y"},
		{"sent abroad", latchkey.RedirectTo("https://evil.example/"), "/own", false, 302, deskOrigin},
		{"sent nowhere", latchkey.RedirectTo("javascript:x"), "/own", false, 302, deskOrigin},
		{"sent to itself", latchkey.RedirectTo("/pay"), "/pay", false, 403, ""},
		{"sent to itself with a query", latchkey.RedirectTo("/pay?again=1"), "/pay?x=y", false, 403, ""},
		{"sent to itself, the page for new users", latchkey.RedirectTo("/new?again=1"), "/new?x=y", true, 200, ""},
		{"answered", latchkey.RespondWith(&latchkey.Response{Status: http.StatusPaymentRequired, Body: []byte("pay first")}), "/own", false, 402, ""},
		{"answered, wrapped", errors.Join(errors.New("unpaid"), latchkey.RespondWith(&latchkey.Response{Status: http.StatusPaymentRequired})), "/own", false, 402, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			reached = false
			a := member.serve(decideBy(c.answer), member.request(http.MethodGet, c.target, "", ""))
			if reached != c.reached || a.Code != c.status || a.location() != c.location {
				t.Errorf("reached %t, %d to %q", reached, a.Code, a.location())
			}
		})
	}
	t.Run("the question is asked about strangers too", func(t *testing.T) {
		g, asked := d.guest(), false
		reached = false
		h := d.auth.Authorize(func(_ context.Context, s *latchkey.Session, _ *http.Request) error {
			asked = s == nil
			return nil
		})(inside(&reached))
		if g.serve(h, g.request(http.MethodGet, "/own", "", "")); !asked || !reached {
			t.Errorf("asked %t, reached %t", asked, reached)
		}
	})
	t.Run("guards within guards read once", func(t *testing.T) {
		d, member, store := memberDesk(t)
		pass := func(context.Context, *latchkey.Session, *http.Request) error { return nil }
		h := d.auth.LoadSession(d.auth.RequireSession(d.auth.Authorize(pass)(inside(&reached))))
		reached = false
		a := member.serve(h, member.request(http.MethodGet, "/own", "", ""))
		if !reached || store.reads.Load() != 1 || len(a.Result().Cookies()) != 1 {
			t.Errorf("reached %t, %d reads, cookies %v", reached, store.reads.Load(), a.Result().Cookies())
		}
	})
	t.Run("another site's session is not this one's", func(t *testing.T) {
		other := openDesk(t, func(c *latchkey.Config) { c.Secrets = []string{"the secret of another site, long enough"} })
		h := d.auth.LoadSession(other.auth.RequireSession(inside(&reached)))
		reached = false
		if a := member.serve(h, member.request(http.MethodGet, "/own", "", "")); reached {
			t.Errorf("passed: %d", a.Code)
		}
	})
}

func TestMiddleware(t *testing.T) {
	d, g, _ := memberDesk(t)
	site := d.auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, ok := latchkey.SessionFrom(r.Context())
		if ok {
			_, _ = w.Write([]byte("hello " + s.User.Email))
		}
	}))
	for target, want := range map[string]string{"/": "hello ada@example.com", "/authsession": "hello ada@example.com", "/shop": "hello ada@example.com"} {
		if a := g.serve(site, g.request(http.MethodGet, target, "", "")); a.Body.String() != want {
			t.Errorf("%s: %q", target, a.Body)
		}
	}
	if a := g.serve(site, g.request(http.MethodGet, "/auth/session", "", "")); !strings.Contains(a.Body.String(), `"email":"ada@example.com"`) {
		t.Errorf("the route: %s", a.Body)
	}
	for target, want := range map[string]bool{"/auth/session": true, "/auth/signin/x/y/z": true, "/auth/account": false, "/auth/client/x.js": false, "/auth": false, "/auth/": false, "/auth/login": false, "/authsession": false, "/": false, "/x/auth": false, "/%61uth/session": false, "/AUTH/session": false} {
		if got := d.auth.Match(g.request(http.MethodGet, target, "", "")); got != want {
			t.Errorf("Match %s is %t", target, got)
		}
	}
}

func TestUpdateSession(t *testing.T) {
	var told latchkey.TokenUpdate
	d := openDesk(t, func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, u latchkey.TokenUpdate) (latchkey.Claims, error) {
			told = u
			if u.Trigger == latchkey.TriggerUpdate {
				name, err := latchkey.Value[string](u.Update.(map[string]any), "name")
				if err != nil {
					return nil, err
				}
				u.Claims["name"] = name
			}
			return u.Claims, nil
		}
	})
	update := func(g *guest, data any) (s *latchkey.Session, err error) {
		g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s, err = d.auth.UpdateSession(w, r, data)
		}), g.request(http.MethodPost, "/own", "", ""))
		return s, err
	}
	g := d.guest()
	g.signIn()
	s, err := update(g, struct {
		Name string `json:"name"`
	}{"Alicia"})
	if err != nil || s.User.Name != "Alicia" || told.Trigger != latchkey.TriggerUpdate {
		t.Fatalf("%v, %v, trigger %q", s, err, told.Trigger)
	}
	if body := g.session(); !strings.Contains(body, "Alicia") {
		t.Errorf("the cookie was not renewed: %s", body)
	}
	if s, err := update(g, map[string]any{"other": 1}); s != nil || err == nil || !g.isLive() {
		t.Errorf("a refused change: %v, %v", s, err)
	}
	if s, err := update(d.guest(), map[string]any{"name": "x"}); s != nil || !errors.Is(err, latchkey.ErrNoSession) {
		t.Errorf("nobody: %v, %v", s, err)
	}
	if s, err := update(g, func() {}); s != nil || !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("a function: %v, %v", s, err)
	}
	t.Run("stored sessions", func(t *testing.T) {
		var read latchkey.SessionRead
		d, g, _ := memberDesk(t, func(c *latchkey.Config) {
			c.Callbacks.Session = func(_ context.Context, r latchkey.SessionRead) (*latchkey.Session, error) {
				read = r
				return r.Session, nil
			}
		})
		g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := d.auth.UpdateSession(w, r, []string{"x"}); err != nil {
				t.Error(err)
			}
		}), g.request(http.MethodPost, "/own", "", ""))
		if list, ok := read.Update.([]any); read.Trigger != latchkey.TriggerUpdate || !ok || len(list) != 1 || read.User == nil || read.Claims != nil {
			t.Errorf("the callback was told %+v", read)
		}
	})
}

func TestSignInHelper(t *testing.T) {
	d := openDesk(t)
	type options = latchkey.SignInOptions
	run := func(g *guest, provider string, o options, params url.Values) (*answer, string, error) {
		var to string
		var err error
		a := g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { to, err = d.auth.SignIn(w, r, provider, o, params) }), g.request(http.MethodPost, "/own", "", ""))
		return a, to, err
	}
	good := url.Values{"username": {"alice"}, "password": {"wonderland"}}
	t.Run("credentials", func(t *testing.T) {
		g := d.guest()
		a, to, err := run(g, "crew", options{Form: good, RedirectTo: "/in"}, nil)
		if err != nil || to != deskOrigin+"/in" || a.location() != to || a.Code != http.StatusFound || !g.isLive() {
			t.Errorf("%v, %d to %q", err, a.Code, a.location())
		}
	})
	t.Run("NoRedirect leaves the answer to the application", func(t *testing.T) {
		g := d.guest()
		a, to, err := run(g, "crew", options{Form: good, RedirectTo: "/in", NoRedirect: true}, nil)
		if err != nil || to != deskOrigin+"/in" || a.location() != "" || a.Code != http.StatusOK || !g.isLive() {
			t.Errorf("%v, %d to %q", err, a.Code, a.location())
		}
	})
	t.Run("wrong credentials are an error and change nothing", func(t *testing.T) {
		g := d.guest()
		a, to, err := run(g, "crew", options{Form: url.Values{"username": {"alice"}}}, nil)
		var e *latchkey.Error
		if !errors.As(err, &e) || e.Type != latchkey.ErrCredentialsSignin || to != "" || a.location() != "" || len(a.Result().Cookies()) != 0 {
			t.Errorf("%v, to %q, %v", err, to, a.Header())
		}
	})
	t.Run("OAuth, with parameters from both sides", func(t *testing.T) {
		g := d.guest()
		form := url.Values{"authorizationParams-prompt": {"login"}, "authorizationParams-redirect_uri": {"https://evil.example"}, "other": {"x"}}
		a, to, err := run(g, "acme", options{Form: form, RedirectTo: "/in"}, url.Values{"login_hint": {"ada"}, "client_id": {"evil"}, "state": {"evil"}})
		u, _ := url.Parse(to)
		q := u.Query()
		if err != nil || u.Host != "acme.example" || q.Get("prompt") != "login" || q.Get("login_hint") != "ada" || q.Get("other") != "" {
			t.Errorf("%v, to %q", err, to)
		}
		if q.Get("client_id") != "desk" || q.Get("redirect_uri") != deskOrigin+"/auth/callback/acme" || strings.Contains(to, "evil") {
			t.Errorf("R-016: to %q", to)
		}
		if a.cookie("code_verifier") == nil || a.cookie("callback-url") == nil {
			t.Error("the browser was told nothing to come back with")
		}
	})
	t.Run("mail", func(t *testing.T) {
		_, to, err := run(d.guest(), "post", options{Form: url.Values{"email": {"a@example.com"}}, RedirectTo: "/in", NoRedirect: true}, nil)
		if err != nil || to != deskOrigin+"/auth/verify-request?provider=post&type=email" || len(d.sent()) != 1 || !strings.Contains(d.sent()[0].URL, url.QueryEscape(deskOrigin+"/in")) {
			t.Errorf("%v, to %q", err, to)
		}
	})
	for _, provider := range []string{"", "nobody", "../signout", "acme/x"} {
		t.Run("the sign-in page for "+provider, func(t *testing.T) {
			_, to, err := run(d.guest(), provider, options{RedirectTo: "/in"}, nil)
			if err != nil || to != deskOrigin+"/auth/signin?callbackUrl=%2Fin" {
				t.Errorf("%v, to %q", err, to)
			}
		})
	}
	t.Run("what the application's own request says about itself does not matter", func(t *testing.T) {
		g := d.guest()
		g.header = http.Header{"Origin": {"https://partner.example"}, "Sec-Fetch-Site": {"cross-site"}, "X-Auth-Return-Redirect": {"1"}, "Content-Type": {"application/json"}}
		if _, to, err := run(g, "crew", options{Form: good, RedirectTo: "/in"}, nil); err != nil || to != deskOrigin+"/in" {
			t.Errorf("%v, to %q", err, to)
		}
	})
	t.Run("inputs stay as they are", func(t *testing.T) {
		form, params := url.Values{"username": {"alice"}, "authorizationParams-a": {"b"}}, url.Values{"c": {"d"}}
		_, _, _ = run(d.guest(), "acme", options{Form: form}, params)
		if len(form) != 2 || len(params) != 1 || form.Get("callbackUrl") != "" {
			t.Errorf("form %v, params %v", form, params)
		}
	})
}

func TestSignOutHelper(t *testing.T) {
	d, g, _ := memberDesk(t)
	var to string
	var err error
	leave := func(o latchkey.SignOutOptions) *answer {
		return g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { to, err = d.auth.SignOut(w, r, o) }), g.request(http.MethodPost, "/own", "", ""))
	}
	token := g.jar["__Secure-authjs.session-token"]
	a := leave(latchkey.SignOutOptions{RedirectTo: "/bye", NoRedirect: true})
	if err != nil || to != deskOrigin+"/bye" || a.location() != "" || g.isLive() {
		t.Errorf("%v, to %q", err, to)
	}
	g.jar["__Secure-authjs.session-token"] = token
	if g.isLive() {
		t.Error("a copy of the cookie is alive")
	}
	if a := leave(latchkey.SignOutOptions{}); err != nil || a.location() != deskOrigin+"/" {
		t.Errorf("nobody: %v, to %q", err, a.location())
	}
}

func TestActionURL(t *testing.T) {
	d := openDesk(t)
	for action, want := range map[string]string{"signin": "/auth/signin", "callback/acme": "/auth/callback/acme", "/session": "/auth/session"} {
		u, err := d.auth.ActionURL(d.guest().request(http.MethodGet, "/own", "", ""), action)
		if err != nil || u.String() != deskOrigin+want {
			t.Errorf("%s: %v, %v", action, u, err)
		}
	}
	trusting := openDesk(t, func(c *latchkey.Config) { c.Site.URL, c.Site.AllowedHosts = "", []string{"app.example"} })
	r := httptest.NewRequest(http.MethodGet, "https://evil.example/", nil)
	if u, err := trusting.auth.ActionURL(r, "signin"); err == nil {
		t.Errorf("a foreign host: %v", u)
	}
}
