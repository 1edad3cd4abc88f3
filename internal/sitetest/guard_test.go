package sitetest

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
	"github.com/latchkeyhq/latchkey/storage"
)

// countingStore counts the sessions it was asked for.
type countingStore struct {
	*memoryadapter.Adapter
	reads atomic.Int32
}

func (s *countingStore) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	s.reads.Add(1)
	return s.Adapter.GetSessionAndUser(ctx, token)
}

// newSignedInSite is a site with stored sessions and a browser that is signed
// in.
func newSignedInSite(t *testing.T, change ...func(*latchkey.Config)) (*testSite, *browser, *countingStore) {
	t.Helper()
	store := &countingStore{Adapter: memoryadapter.New(memoryadapter.Options{})}
	s := newSite(t, append([]func(*latchkey.Config){func(c *latchkey.Config) {
		c.Adapter, c.Session.Strategy = store, latchkey.DatabaseSessions
	}}, change...)...)
	b := s.newBrowser()
	b.post("/auth/signin/post", "email", "ada@example.com")
	if a := b.get(strings.TrimPrefix(s.sent()[0].URL, siteOrigin)); !a.signsIn() {
		t.Fatalf("no sign-in: %q", a.location())
	}
	store.reads.Store(0)
	return s, b, store
}

func TestLoadSession(t *testing.T) {
	site, b, store := newSignedInSite(t)
	serve := func(h http.HandlerFunc) *answer {
		return b.serve(site.auth.LoadSession(h), b.request(http.MethodGet, "/own", "", ""))
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
					if s := latchkey.SessionFrom(r.Context()); s == nil || s.User.Email != "ada@example.com" {
						t.Errorf("session %v", s)
					}
				})
			}
			all.Wait()
		})
		if store.reads.Load() != 1 {
			t.Errorf("%d reads", store.reads.Load())
		}
		if c := a.cookie("session-token"); c == nil || c.Value == "" || !c.HttpOnly || !c.Secure || c.Expires.Before(site.clock.Now().Add(29*24*time.Hour)) {
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
		other := site.newBrowser()
		other.jar["__Secure-authjs.session-token"] = strings.Repeat("0", 64)
		a := other.serve(site.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if latchkey.SessionFrom(r.Context()) != nil {
				t.Error("somebody")
			}
		})), other.request(http.MethodGet, "/own", "", ""))
		if c := a.cookie("session-token"); c == nil || c.MaxAge >= 0 || c.Value != "" {
			t.Errorf("cookie %v", c)
		}
	})
	t.Run("ReadSession needs no middleware and keeps the session alive", func(t *testing.T) {
		w := httptest.NewRecorder()
		if s, err := site.auth.ReadSession(w, b.request(http.MethodGet, "/own", "", "")); err != nil || s.User.Email != "ada@example.com" {
			t.Errorf("%v, %v", s, err)
		}
		if a := (&answer{ResponseRecorder: w}); a.cookie("session-token") == nil {
			t.Errorf("no renewed cookie: %v", w.Header())
		}
		if _, err := site.auth.ReadSession(httptest.NewRecorder(), site.newBrowser().request(http.MethodGet, "/own", "", "")); !errors.Is(err, latchkey.ErrNoSession) {
			t.Errorf("nobody is %v", err)
		}
	})
}

// Session says why a context has no session.
func TestSessionOfAContext(t *testing.T) {
	site, b, _ := newSignedInSite(t)
	other := newSite(t)
	visitor := site.newBrowser()
	inside := func(auth *latchkey.Auth, b *browser) (ctx context.Context) {
		b.serve(auth.LoadSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() })), b.request(http.MethodGet, "/own", "", ""))
		return ctx
	}
	for policy, c := range map[string]struct {
		ctx  context.Context
		want error // nil: Ada's session
	}{
		"a user who is signed in":                     {inside(site.auth, b), nil},
		"a visitor has no session":                    {inside(site.auth, visitor), latchkey.ErrNoSession},
		"a session of ContextWithSession":             {latchkey.ContextWithSession(t.Context(), &latchkey.Session{User: latchkey.SessionUser{Email: "ada@example.com"}}), nil},
		"nil of ContextWithSession is no session":     {latchkey.ContextWithSession(t.Context(), nil), latchkey.ErrNoSession},
		"without middleware nothing is configured":    {t.Context(), latchkey.ErrInvalidConfig},
		"another site's middleware is not this one's": {inside(other.auth, b), latchkey.ErrInvalidConfig},
	} {
		t.Run(policy, func(t *testing.T) {
			for name, read := range map[string]func(context.Context) (*latchkey.Session, error){"Auth": site.auth.Session, "Core": site.auth.Core().Session} {
				s, err := read(c.ctx)
				if !errors.Is(err, c.want) || (s != nil) != (c.want == nil) || s != nil && s.User.Email != "ada@example.com" {
					t.Errorf("%s: %+v, %v", name, s, err)
				}
				if c.want == latchkey.ErrInvalidConfig && errors.Is(err, latchkey.ErrNoSession) {
					t.Errorf("%s: a mistake reads as a visitor: %v", name, err)
				}
			}
		})
	}
}

// guardedHandler notes that it was reached, and whether there is a session.
func guardedHandler(reached *bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*reached = true
		if latchkey.SessionFrom(r.Context()) != nil {
			w.Header().Set("X-Signed-In", "yes")
		}
	})
}

func TestRequireSession(t *testing.T) {
	s, signedIn, store := newSignedInSite(t)
	stranger := s.newBrowser()
	var reached bool
	guard := s.auth.RequireSession(guardedHandler(&reached))
	try := func(b *browser, target, accept string) *answer {
		reached = false
		r := b.request(http.MethodGet, target, "", "")
		if accept != "" {
			r.Header.Set("Accept", accept)
		}
		return b.serve(guard, r)
	}
	if a := try(signedIn, "/own", ""); !reached || a.Header().Get("X-Signed-In") != "yes" || !a.signsIn() {
		t.Errorf("signed in: reached %t, %v", reached, a.Header())
	}
	if n := store.reads.Load(); n != 1 {
		t.Errorf("guard and handler read %d times", n)
	}
	for target, back := range map[string]string{"/own": "/own", "/own?a=b&c=d": "/own?a=b&c=d", "/a%2Fb": "/a%2Fb", "//evil.example/x": "//evil.example/x"} {
		a := try(stranger, target, "text/html")
		if want := siteOrigin + "/auth/signin?callbackUrl=" + url.QueryEscape(siteOrigin+back); reached || a.Code != http.StatusFound || a.location() != want || a.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: reached %t, %d to %q, want %q", target, reached, a.Code, a.location(), want)
		}
	}
	for accept, status := range map[string]int{"application/json": 401, "application/json, text/plain, */*": 401, "text/html,application/json;q=0.9": 302, "*/*": 302} {
		if a := try(stranger, "/own", accept); reached || a.Code != status {
			t.Errorf("Accept %q: reached %t, %d, want %d", accept, reached, a.Code, status)
		}
	}
	if a := try(stranger, "/auth/signin", ""); reached || a.Code != http.StatusOK {
		t.Errorf("the sign-in page: reached %t, %d to %q", reached, a.Code, a.location())
	}
	t.Run("an own sign-in page is never guarded against itself", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Pages.SignIn = "/login?lang=en" })
		var reached bool
		guard := s.auth.RequireSession(guardedHandler(&reached))
		for target, want := range map[string]bool{
			"/login?lang=en": true, "/login?x=y&lang=en": true, "/login/?lang=en": false, "/login/x": false, "/loginx": false, "/own": false, "/own?/login": false, "/": false,
			"/login": false, "/login?x=y": false, "/login?lang=de": false, "/login?lang=en&lang=de": false, "/login?lang=de&lang=en": false, "/login//?lang=en": false, "/login?lang=en;": false,
		} {
			reached = false
			b := s.newBrowser()
			if a := b.serve(guard, b.request(http.MethodGet, target, "", "")); reached != want || !want && !strings.HasPrefix(a.location(), siteOrigin+"/login?lang=en&callbackUrl=") {
				t.Errorf("R-516 %s: reached %t, sent to %q", target, reached, a.location())
			}
		}
	})
	t.Run("R-516 an own sign-in page opens no other page of its path", func(t *testing.T) {
		for page, targets := range map[string]map[string]bool{
			"/?view=login": {"/": false, "/?view=secret": false, "/?view=login": true, "/?view=login&view=secret": false, "/?view=secret&view=login": false, "/?view=login&error=x": true, "//": false},
			"/login":       {"/login": true, "/login?x": true, "/login/": false, "/login//": false, "/login/./": false, "//login": false},
		} {
			s := newSite(t, func(c *latchkey.Config) { c.Pages.SignIn = page })
			var reached bool
			guard := s.auth.RequireSession(guardedHandler(&reached))
			for target, want := range targets {
				reached = false
				b := s.newBrowser()
				if a := b.serve(guard, b.request(http.MethodGet, target, "", "")); reached != want || !want && a.Code == http.StatusOK {
					t.Errorf("%s guards %s: reached %t, %d to %q", page, target, reached, a.Code, a.location())
				}
			}
		}
	})
	t.Run("the page that one comes from is where one comes back to", func(t *testing.T) {
		b := s.newBrowser()
		a := b.serve(guard, b.request(http.MethodGet, "/own?x=1", "", ""))
		b.get(strings.TrimPrefix(a.location(), siteOrigin))
		if a := b.post("/auth/signin/post", "email", "eve@example.com"); a.Code != http.StatusFound {
			t.Fatalf("%d", a.Code)
		}
		links := s.sent()
		if a := b.get(strings.TrimPrefix(links[len(links)-1].URL, siteOrigin)); a.location() != siteOrigin+"/own?x=1" {
			t.Errorf("back at %q", a.location())
		}
	})
}

func TestAuthorize(t *testing.T) {
	site, signedIn, _ := newSignedInSite(t, func(c *latchkey.Config) { c.Pages.NewUser = "/new" })
	var reached bool
	decideBy := func(answer error) http.Handler {
		return site.auth.Authorize(func(r *http.Request, s *latchkey.Session) error {
			if s == nil || r.URL.Path == "" {
				t.Error("the question has no session or no request")
			}
			return answer
		})(guardedHandler(&reached))
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
		{"R-324 failed", errors.New("the database is down"), "/own", false, 500, ""},
		{"denied", latchkey.ErrNoSession, "/own", false, 302, siteOrigin + "/auth/signin?callbackUrl=" + url.QueryEscape(siteOrigin+"/own")},
		{"denied by type", latchkey.ErrAccessDenied, "/own", false, 403, ""},
		{"sent elsewhere", latchkey.RedirectTo("/pay?x=y"), "/own", false, 302, siteOrigin + "/pay?x=y"},
		{"sent abroad", latchkey.RedirectTo("https://evil.example/"), "/own", false, 500, ""},
		{"sent nowhere", latchkey.RedirectTo("javascript:x"), "/own", false, 500, ""},
		{"sent to itself", latchkey.RedirectTo("/pay"), "/pay", false, 403, ""},
		{"sent to itself with a query", latchkey.RedirectTo("/pay?again=1"), "/pay?x=y", false, 403, ""},
		{"sent to itself, the page for new users", latchkey.RedirectTo("/new?again=1"), "/new?x=y", true, 200, ""},
		{"answered", latchkey.RespondWith(&latchkey.Response{Status: http.StatusPaymentRequired, Body: []byte("pay first")}), "/own", false, 402, ""},
		{"answered, wrapped", errors.Join(errors.New("unpaid"), latchkey.RespondWith(&latchkey.Response{Status: http.StatusPaymentRequired})), "/own", false, 402, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			reached = false
			a := signedIn.serve(decideBy(c.answer), signedIn.request(http.MethodGet, c.target, "", ""))
			if reached != c.reached || a.Code != c.status || a.location() != c.location {
				t.Errorf("reached %t, %d to %q", reached, a.Code, a.location())
			}
		})
	}
	t.Run("the question is asked about strangers too", func(t *testing.T) {
		b, asked := site.newBrowser(), false
		reached = false
		h := site.auth.Authorize(func(_ *http.Request, s *latchkey.Session) error {
			asked = s == nil
			return nil
		})(guardedHandler(&reached))
		if b.serve(h, b.request(http.MethodGet, "/own", "", "")); !asked || !reached {
			t.Errorf("asked %t, reached %t", asked, reached)
		}
	})
	t.Run("R-242 a nil dereference in decide refuses", func(t *testing.T) {
		b := site.newBrowser()
		reached = false
		h := site.auth.Authorize(func(_ *http.Request, s *latchkey.Session) error {
			if s.User.Name == "" { // of nobody
				return nil
			}
			return latchkey.ErrAccessDenied
		})(guardedHandler(&reached))
		if a := b.serve(h, b.request(http.MethodGet, "/own", "", "")); reached || a.Code != http.StatusInternalServerError {
			t.Errorf("reached %t, status %d", reached, a.Code)
		}
	})
	t.Run("guards within guards read once", func(t *testing.T) {
		s, signedIn, store := newSignedInSite(t)
		pass := func(*http.Request, *latchkey.Session) error { return nil }
		h := s.auth.LoadSession(s.auth.RequireSession(s.auth.Authorize(pass)(guardedHandler(&reached))))
		reached = false
		a := signedIn.serve(h, signedIn.request(http.MethodGet, "/own", "", ""))
		if !reached || store.reads.Load() != 1 || len(a.Result().Cookies()) != 1 {
			t.Errorf("reached %t, %d reads, cookies %v", reached, store.reads.Load(), a.Result().Cookies())
		}
	})
	t.Run("another site's session is not this one's", func(t *testing.T) {
		other := newSite(t, func(c *latchkey.Config) { c.Secrets = []string{"the secret of another site, long enough"} })
		h := site.auth.LoadSession(other.auth.RequireSession(guardedHandler(&reached)))
		reached = false
		if a := signedIn.serve(h, signedIn.request(http.MethodGet, "/own", "", "")); reached {
			t.Errorf("passed: %d", a.Code)
		}
	})
}

// Guards honour the session of ContextWithSession, so that a test of a router needs no
// sign-in.
func TestGuardsHonourContextWithSession(t *testing.T) {
	site, ada, store := newSignedInSite(t)
	grace := &latchkey.Session{UserID: "2", User: latchkey.SessionUser{Name: "Grace"}}
	core := site.auth.Core()
	seen := func(ctx context.Context) string {
		if s := latchkey.SessionFrom(ctx); s != nil {
			return s.User.Name
		}
		return "nobody"
	}
	say := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(seen(r.Context()))) })
	decide := func(_ *http.Request, s *latchkey.Session) error {
		if s == nil || s.User.Name != "Grace" {
			return latchkey.ErrNoSession
		}
		return nil
	}
	for policy, h := range map[string]http.Handler{
		"RequireSession": site.auth.RequireSession(say), "Authorize": site.auth.Authorize(decide)(say),
		"a guard behind a middleware": site.auth.Middleware(site.auth.RequireSession(say)),
		"ReadSession": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s, err := site.auth.ReadSession(w, r)
			if err != nil {
				site.auth.WriteError(w, r, err)
				return
			}
			_, _ = w.Write([]byte(s.User.Name))
		}),
		"Core.Authorize": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			access := core.Authorize(r.Context(), requestOf(r), func(_ *latchkey.Request, s *latchkey.Session) error { return decide(r, s) })
			if access.Response != nil {
				access.Response.Send(w)
				return
			}
			_, _ = w.Write([]byte(access.Session.User.Name))
		}),
		"Core.Attach": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := core.Attach(r.Context(), func() *latchkey.Request { return requestOf(r) })
			if _, err := core.Session(ctx); err != nil {
				core.ErrorResponse(ctx, requestOf(r), err).Send(w)
				return
			}
			_, _ = w.Write([]byte(seen(ctx)))
		}),
	} {
		t.Run(policy, func(t *testing.T) {
			store.reads.Store(0)
			put := func(s *latchkey.Session) *answer { // in the browser of somebody else
				r := ada.request(http.MethodGet, "/own", "", "")
				return ada.serve(h, r.WithContext(latchkey.ContextWithSession(r.Context(), s)))
			}
			if a := put(grace); a.Code != http.StatusOK || a.Body.String() != "Grace" || len(a.Result().Cookies()) != 0 {
				t.Errorf("%d %q, cookies %v", a.Code, a.Body, a.Result().Cookies())
			}
			if a := put(nil); a.Code != http.StatusFound {
				t.Errorf("R-242: nil is somebody: %d %q", a.Code, a.Body)
			}
			if store.reads.Load() != 0 {
				t.Error("the cookie was looked at")
			}
		})
	}
}

func TestMiddleware(t *testing.T) {
	d, b, _ := newSignedInSite(t)
	site := d.auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		if s != nil {
			_, _ = w.Write([]byte("hello " + s.User.Email))
		}
	}))
	for target, want := range map[string]string{"/": "hello ada@example.com", "/authsession": "hello ada@example.com", "/shop": "hello ada@example.com"} {
		if a := b.serve(site, b.request(http.MethodGet, target, "", "")); a.Body.String() != want {
			t.Errorf("%s: %q", target, a.Body)
		}
	}
	if a := b.serve(site, b.request(http.MethodGet, "/auth/session", "", "")); !strings.Contains(a.Body.String(), `"email":"ada@example.com"`) {
		t.Errorf("the route: %s", a.Body)
	}
	for target, want := range map[string]bool{"/auth/session": true, "/auth/signin/x/y/z": true, "/auth/account": false, "/auth/client/x.js": true, "/auth/device/x": false, "/auth": false, "/auth/": false, "/auth/login": false, "/authsession": false, "/": false, "/x/auth": false, "/%61uth/session": false, "/AUTH/session": false} {
		if got := d.auth.Match(b.request(http.MethodGet, target, "", "")); got != want {
			t.Errorf("Match %s is %t", target, got)
		}
	}
}

func TestUpdateSession(t *testing.T) {
	var got latchkey.TokenInfo
	site := newSite(t, func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
			got = u
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
	update := func(b *browser, data any) (s *latchkey.Session, err error) {
		b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s, err = site.auth.UpdateSession(w, r, data)
		}), b.request(http.MethodPost, "/own", "", ""))
		return s, err
	}
	b := site.newBrowser()
	b.signIn()
	s, err := update(b, struct {
		Name string `json:"name"`
	}{"Alicia"})
	if err != nil || s.User.Name != "Alicia" || got.Trigger != latchkey.TriggerUpdate {
		t.Fatalf("%v, %v, trigger %q", s, err, got.Trigger)
	}
	if body := b.session(); !strings.Contains(body, "Alicia") {
		t.Errorf("the cookie was not renewed: %s", body)
	}
	if s, err := update(b, map[string]any{"other": 1}); s != nil || err == nil || !b.isLive() {
		t.Errorf("a refused change: %v, %v", s, err)
	}
	if s, err := update(site.newBrowser(), map[string]any{"name": "x"}); s != nil || !errors.Is(err, latchkey.ErrNoSession) {
		t.Errorf("nobody: %v, %v", s, err)
	}
	if s, err := update(b, func() {}); s != nil || !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("a function: %v, %v", s, err)
	}
	t.Run("stored sessions", func(t *testing.T) {
		var read latchkey.SessionInfo
		s, b, _ := newSignedInSite(t, func(c *latchkey.Config) {
			c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
				read = r
				return r.Session, nil
			}
		})
		b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := s.auth.UpdateSession(w, r, []string{"x"}); err != nil {
				t.Error(err)
			}
		}), b.request(http.MethodPost, "/own", "", ""))
		if list, ok := read.Update.([]any); read.Trigger != latchkey.TriggerUpdate || !ok || len(list) != 1 || read.User == nil || read.Claims != nil {
			t.Errorf("the callback got %+v", read)
		}
	})
}

func TestSignInHelper(t *testing.T) {
	s := newSite(t)
	type options = latchkey.SignInOptions
	run := func(b *browser, provider string, o options) (*answer, string, error) {
		var err error
		a := b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { err = s.auth.SignIn(w, r, provider, o) }), b.request(http.MethodPost, "/own", "", ""))
		return a, a.location(), err
	}
	runURL := func(b *browser, provider string, o options) (a *answer, to string, err error) {
		a = b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { to, err = s.auth.SignInURL(w, r, provider, o) }), b.request(http.MethodPost, "/own", "", ""))
		return a, to, err
	}
	good := url.Values{"username": {"alice"}, "password": {"wonderland"}}
	t.Run("credentials", func(t *testing.T) {
		b := s.newBrowser()
		a, to, err := run(b, "crew", options{Form: good, RedirectTo: "/in"})
		if err != nil || to != siteOrigin+"/in" || a.Code != http.StatusFound || !b.isLive() {
			t.Errorf("%v, %d to %q", err, a.Code, a.location())
		}
	})
	t.Run("SignInURL sets the cookies and leaves the answer to the application", func(t *testing.T) {
		b := s.newBrowser()
		a, to, err := runURL(b, "crew", options{Form: good, RedirectTo: "/in"})
		if err != nil || to != siteOrigin+"/in" || a.location() != "" || a.Code != http.StatusOK || !b.isLive() {
			t.Errorf("%v, %d to %q", err, a.Code, a.location())
		}
	})
	for policy, c := range map[string]struct {
		o    options
		want string
	}{
		"the form says it as Auth.js does":                 {options{Form: url.Values{"redirectTo": {"/in"}}}, siteOrigin + "/in"},
		"the form says it as for the library's own routes": {options{Form: url.Values{"callbackUrl": {"/in"}}}, siteOrigin + "/in"},
		"a whole URL":                                {options{Form: url.Values{"callbackUrl": {siteOrigin + "/in?a=b"}}}, siteOrigin + "/in?a=b"},
		"the program comes first":                    {options{Form: url.Values{"redirectTo": {"/b"}, "callbackUrl": {"/c"}}, RedirectTo: "/a"}, siteOrigin + "/a"},
		"then redirectTo":                            {options{Form: url.Values{"redirectTo": {"/b"}, "callbackUrl": {"/c"}}}, siteOrigin + "/b"},
		"an empty one is none":                       {options{Form: url.Values{"redirectTo": {""}, "callbackUrl": {""}}}, siteOrigin + "/from"},
		"R-131 callbackUrl starts no script":         {options{Form: url.Values{"callbackUrl": {"javascript:x"}}}, siteOrigin},
		"R-131 nobody is sent abroad by callbackUrl": {options{Form: url.Values{"callbackUrl": {"https://evil.example/"}}}, siteOrigin},
	} {
		t.Run("where to end up: "+policy, func(t *testing.T) {
			b := s.newBrowser()
			b.header.Set("Referer", siteOrigin+"/from")
			c.o.Form.Set("username", "alice")
			c.o.Form.Set("password", "wonderland")
			if a, to, err := run(b, "crew", c.o); err != nil || to != c.want || !b.isLive() {
				t.Errorf("%v, %d to %q, want %q", err, a.Code, a.location(), c.want)
			}
		})
	}
	t.Run("wrong credentials are an error and change nothing", func(t *testing.T) {
		b := s.newBrowser()
		a, to, err := run(b, "crew", options{Form: url.Values{"username": {"alice"}}})
		var e *latchkey.Error
		if !errors.As(err, &e) || e.Type != latchkey.ErrCredentialsSignin || to != "" || len(a.Result().Cookies()) != 0 {
			t.Errorf("%v, to %q, %v", err, to, a.Header())
		}
	})
	t.Run("OAuth, with parameters from both sides", func(t *testing.T) {
		b := s.newBrowser()
		form := url.Values{"authorizationParams-prompt": {"login"}, "authorizationParams-redirect_uri": {"https://evil.example"}, "other": {"x"}}
		a, to, err := run(b, "acme", options{Form: form, RedirectTo: "/in", Params: url.Values{"login_hint": {"ada"}, "client_id": {"evil"}, "state": {"evil"}}})
		u, _ := url.Parse(to)
		q := u.Query()
		if err != nil || u.Host != "acme.example" || q.Get("prompt") != "login" || q.Get("login_hint") != "ada" || q.Get("other") != "" {
			t.Errorf("%v, to %q", err, to)
		}
		if q.Get("client_id") != "latchkey" || q.Get("redirect_uri") != siteOrigin+"/auth/callback/acme" || strings.Contains(to, "evil") {
			t.Errorf("R-016: to %q", to)
		}
		if a.cookie("code_verifier") == nil || a.cookie("callback-url") == nil {
			t.Error("the browser got no cookie to return with")
		}
	})
	t.Run("SignInURL begins at a provider", func(t *testing.T) {
		a, to, err := runURL(s.newBrowser(), "acme", options{RedirectTo: "/in", Params: url.Values{"prompt": {"login"}}})
		u, _ := url.Parse(to)
		if err != nil || u.Host != "acme.example" || u.Query().Get("prompt") != "login" || a.location() != "" || a.Code != http.StatusOK {
			t.Errorf("%v, %d, to %q", err, a.Code, to)
		}
		if a.cookie("code_verifier") == nil || a.cookie("callback-url") == nil {
			t.Error("the browser got no cookie to return with")
		}
	})
	t.Run("SignInURL writes nothing with an error", func(t *testing.T) {
		a, to, err := runURL(s.newBrowser(), "crew", options{Form: url.Values{"username": {"alice"}}})
		if !errors.Is(err, latchkey.ErrCredentialsSignin) || to != "" || len(a.Header()) != 0 {
			t.Errorf("%v, to %q, %v", err, to, a.Header())
		}
	})
	t.Run("mail", func(t *testing.T) {
		_, to, err := runURL(s.newBrowser(), "post", options{Form: url.Values{"email": {"a@example.com"}}, RedirectTo: "/in"})
		if err != nil || to != siteOrigin+"/auth/verify-request?provider=post&type=email" || len(s.sent()) != 1 || !strings.Contains(s.sent()[0].URL, url.QueryEscape(siteOrigin+"/in")) {
			t.Errorf("%v, to %q", err, to)
		}
	})
	for _, provider := range []string{"", "nobody", "../signout", "acme/x"} {
		t.Run("the sign-in page for "+provider, func(t *testing.T) {
			_, to, err := run(s.newBrowser(), provider, options{RedirectTo: "/in"})
			if err != nil || to != siteOrigin+"/auth/signin?callbackUrl=%2Fin" {
				t.Errorf("%v, to %q", err, to)
			}
		})
	}
	t.Run("what the application's own request says about itself does not matter", func(t *testing.T) {
		b := s.newBrowser()
		b.header = http.Header{"Origin": {"https://partner.example"}, "Sec-Fetch-Site": {"cross-site"}, "X-Auth-Return-Redirect": {"1"}, "Content-Type": {"application/json"}}
		if _, to, err := run(b, "crew", options{Form: good, RedirectTo: "/in", SkipCSRFCheck: true}); err != nil || to != siteOrigin+"/in" {
			t.Errorf("%v, to %q", err, to)
		}
	})
	t.Run("inputs stay as they are", func(t *testing.T) {
		form, params := url.Values{"username": {"alice"}, "authorizationParams-a": {"b"}}, url.Values{"c": {"d"}}
		_, _, _ = run(s.newBrowser(), "acme", options{Form: form, Params: params})
		if len(form) != 2 || len(params) != 1 || form.Get("callbackUrl") != "" {
			t.Errorf("form %v, params %v", form, params)
		}
	})
}

func TestSignOutHelper(t *testing.T) {
	s, b, _ := newSignedInSite(t)
	var to string
	var err error
	post := func(h http.HandlerFunc) *answer { return b.serve(h, b.request(http.MethodPost, "/own", "", "")) }
	token := b.jar["__Secure-authjs.session-token"]
	a := post(func(w http.ResponseWriter, r *http.Request) {
		to, err = s.auth.SignOutURL(w, r, latchkey.SignOutOptions{RedirectTo: "/bye"})
	})
	if err != nil || to != siteOrigin+"/bye" || a.location() != "" || b.isLive() {
		t.Errorf("%v, to %q", err, to)
	}
	b.jar["__Secure-authjs.session-token"] = token
	if b.isLive() {
		t.Error("a copy of the cookie is alive")
	}
	a = post(func(w http.ResponseWriter, r *http.Request) { err = s.auth.SignOut(w, r, latchkey.SignOutOptions{}) })
	if err != nil || a.location() != siteOrigin+"/" {
		t.Errorf("nobody: %v, to %q", err, a.location())
	}
}

func TestActionURL(t *testing.T) {
	s := newSite(t)
	for action, want := range map[string]string{"signin": "/auth/signin", "callback/acme": "/auth/callback/acme", "/session": "/auth/session"} {
		u, err := s.auth.ActionURL(s.newBrowser().request(http.MethodGet, "/own", "", ""), action)
		if err != nil || u.String() != siteOrigin+want {
			t.Errorf("%s: %v, %v", action, u, err)
		}
	}
	trusting := newSite(t, func(c *latchkey.Config) { c.Site.URL, c.Site.AllowedHosts = "", []string{"app.example"} })
	r := httptest.NewRequest(http.MethodGet, "https://evil.example/", nil)
	if u, err := trusting.auth.ActionURL(r, "signin"); err == nil {
		t.Errorf("a foreign host: %v", u)
	}
}
