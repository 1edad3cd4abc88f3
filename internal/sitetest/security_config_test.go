package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/storage"
)

func TestConfigErrorsAreNoSessions(t *testing.T) {
	live := newSite(t)
	b := live.newBrowser()
	b.signIn()
	cookies := "__Secure-authjs.session-token=" + b.jar["__Secure-authjs.session-token"]
	request := func() *http.Request {
		r := httptest.NewRequest(http.MethodGet, siteOrigin+"/own", nil)
		r.Header.Set("Cookie", cookies)
		return r
	}
	fault := errors.New("fault")
	with := func(change func(*latchkey.Config)) *latchkey.Auth { return newSite(t, change).auth }
	auths := map[string]*latchkey.Auth{
		"the zero Auth":        {},
		"no configuration":     newFunc(always(nil)),
		"a bad configuration":  newFunc(always(&latchkey.Config{})),
		"configuration error":  newFunc(func(context.Context, *latchkey.Request) (*latchkey.Config, error) { return nil, fault }),
		"configuration panics": newFunc(func(context.Context, *latchkey.Request) (*latchkey.Config, error) { panic(fault) }),
		"token callback fails": with(func(c *latchkey.Config) {
			c.Callbacks.Token = func(context.Context, latchkey.TokenInfo) (latchkey.Claims, error) { return nil, fault }
		}),
		"token callback fails, with claims": with(func(c *latchkey.Config) {
			c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) { return u.Claims, fault }
		}),
		"token callback panics": with(func(c *latchkey.Config) {
			c.Callbacks.Token = func(context.Context, latchkey.TokenInfo) (latchkey.Claims, error) { panic(fault) }
		}),
		"token callback gives up": with(func(c *latchkey.Config) {
			c.Callbacks.Token = func(context.Context, latchkey.TokenInfo) (latchkey.Claims, error) { return nil, nil }
		}),
		"session callback fails, with a session": with(func(c *latchkey.Config) {
			c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) { return r.Session, fault }
		}),
		"session callback panics": with(func(c *latchkey.Config) {
			c.Callbacks.Session = func(context.Context, latchkey.SessionInfo) (*latchkey.Session, error) { panic(fault) }
		}),
		"session callback returns nothing": with(func(c *latchkey.Config) {
			c.Callbacks.Session = func(context.Context, latchkey.SessionInfo) (*latchkey.Session, error) { return nil, nil }
		}),
		"a session that is no JSON": with(func(c *latchkey.Config) {
			c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
				r.Session.Extra = latchkey.Claims{"f": func() {}}
				return r.Session, nil
			}
		}),
		"decoder fails, with claims": with(func(c *latchkey.Config) {
			c.Session.JWT.Encode = func(context.Context, latchkey.JWTParams) (string, error) { return "x", nil }
			c.Session.JWT.Decode = func(context.Context, string, latchkey.JWTParams) (latchkey.Claims, error) {
				return latchkey.Claims{"sub": "1"}, fault
			}
		}),
		"revocations fail": with(func(c *latchkey.Config) { c.Session.Revocations = brokenRevocations{} }),
		"another secret":   with(func(c *latchkey.Config) { c.Secrets = []string{"another secret that is long enough too"} }),
		"the store fails": with(func(c *latchkey.Config) {
			c.Session.Strategy = latchkey.DatabaseSessions
			c.Adapter = failingStore{memoryadapter.New(memoryadapter.Options{}), func() {}}
		}),
		"the store panics": with(func(c *latchkey.Config) {
			c.Session.Strategy = latchkey.DatabaseSessions
			c.Adapter = failingStore{memoryadapter.New(memoryadapter.Options{}), func() { panic(fault) }}
		}),
	}
	if s, err := live.auth.ReadSession(httptest.NewRecorder(), request()); s == nil || err != nil {
		t.Fatalf("the session itself: %v, %v", s, err)
	}
	for name, auth := range auths {
		t.Run("R-242 "+name, func(t *testing.T) {
			s, err := auth.ReadSession(httptest.NewRecorder(), request())
			if s != nil || err == nil {
				t.Errorf("Session: %v, %v", s, err)
			}
			r := request()
			s, cookies, err := auth.Core().ReadSession(r.Context(), &latchkey.Request{Method: "GET", URL: r.URL, Host: r.Host, Header: r.Header})
			if s != nil || err == nil {
				t.Errorf("ReadSession: %v, %v", s, err)
			}
			for _, c := range cookies {
				if c.Value != "" {
					t.Errorf("ReadSession renews %s", c.Name)
				}
			}
			inside := false
			next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { inside = true })
			for guard, h := range map[string]http.Handler{
				"RequireSession": auth.RequireSession(next),
				"Authorize": auth.Authorize(func(_ *http.Request, s *latchkey.Session) error {
					if s == nil {
						return latchkey.ErrNoSession
					}
					return nil
				})(next),
			} {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, request())
				if inside || w.Code < 300 {
					t.Errorf("%s let it pass: %d", guard, w.Code)
				}
				inside = false
			}
			if !errors.Is(err, latchkey.ErrNoSession) { // a fault, not a stranger
				w := httptest.NewRecorder()
				anybody := func(*http.Request, *latchkey.Session) error { return nil }
				if auth.Authorize(anybody)(next).ServeHTTP(w, request()); inside || w.Code != http.StatusInternalServerError {
					t.Errorf("a guard that is open to strangers let a fault pass: %d", w.Code)
				}
			}
			auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if s := latchkey.SessionFrom(r.Context()); s != nil {
					t.Errorf("SessionFrom: %v", s)
				}
			})).ServeHTTP(httptest.NewRecorder(), request())
			w := httptest.NewRecorder()
			auth.ServeHTTP(w, httptest.NewRequest(http.MethodGet, siteOrigin+"/auth/session", nil))
			if body := w.Body.String(); strings.Contains(body, "user") {
				t.Errorf("the route answers %s", body)
			}
		})
	}
	t.Run("R-242 a guard whose question fails", func(t *testing.T) {
		for name, decide := range map[string]func(*http.Request, *latchkey.Session) error{
			"error": func(*http.Request, *latchkey.Session) error { return fault },
			"panic": func(*http.Request, *latchkey.Session) error { panic(fault) },
			"nil dereference": func(r *http.Request, _ *latchkey.Session) error {
				nobody := latchkey.SessionFrom(context.WithoutCancel(t.Context()))
				if nobody.User.Name == "" {
					return nil
				}
				return r.Context().Err()
			},
		} {
			inside := false
			w := httptest.NewRecorder()
			live.auth.Authorize(decide)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside = true })).ServeHTTP(w, request())
			if inside || w.Code == http.StatusOK {
				t.Errorf("%s: passed with %d", name, w.Code)
			}
		}
	})
	t.Run("R-242 without anything in front there is nobody", func(t *testing.T) {
		if s := latchkey.SessionFrom(t.Context()); s != nil {
			t.Error("a bare context has a session")
		}
		var zero latchkey.Session
		if zero.Expires.After(time.Now()) {
			t.Error("the zero Session is alive")
		}
	})
}

type brokenRevocations struct{}

func (brokenRevocations) Revoke(context.Context, string, time.Time, time.Time) error {
	return errors.New("down")
}

func (brokenRevocations) RevokedAt(context.Context, ...string) (map[string]time.Time, error) {
	return nil, errors.New("down")
}

func TestConfigFrozen(t *testing.T) {
	secrets, hosts := []string{siteSecret}, []string{"app.example"}
	crew := &latchkey.Credentials{ID: "crew", Fields: []latchkey.Field{{Name: "username"}}, Authorize: func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
		return latchkey.User{ID: "1", Name: "Alice"}, nil
	}}
	acme := &latchkey.OAuth{
		ID: "acme", ClientID: "latchkey", ClientSecret: "x", Scopes: []string{"read"}, Checks: []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Authorization: latchkey.Endpoint{URL: "https://acme.example/authorize", Params: url.Values{"prompt": {"login"}}},
		Token:         latchkey.Endpoint{URL: "https://acme.example/token"}, UserInfo: latchkey.Endpoint{URL: "https://acme.example/userinfo"},
		AllowedAudiences: []string{"a"}, IDTokenAlgs: []string{"RS256"},
	}
	post := &latchkey.Email{ID: "post", Send: func(context.Context, latchkey.Message) error { return nil }}
	providers := []latchkey.Provider{crew, acme, post}
	insecure, yes := false, true
	origins := []string{"https://a.example"}
	c := latchkey.Config{
		Site: latchkey.Site{AllowedHosts: hosts, RedirectProxyOrigins: origins}, Secrets: secrets, Providers: providers, Runtime: latchkey.Runtime{Logger: (&logBuffer{}).logger()}, Adapter: memoryadapter.New(memoryadapter.Options{}),
		Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions}, Cookies: latchkey.Cookies{Secure: &yes, State: latchkey.CookieOptions{Secure: &yes}},
	}
	auth, err := latchkey.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	s.auth = auth
	look := func() string {
		b := s.newBrowser()
		b.jar[csrfCookie] = csrfPair("token", siteSecret)
		in := b.post("/auth/callback/crew", "username", "alice")
		out := b.post("/auth/signin/acme")
		to, _, _ := strings.Cut(out.location(), "code_challenge=")
		return fmt.Sprint(b.get("/auth/providers").Body, b.get("/auth/signin").Body, in.Code, in.signsIn(), in.cookie("session-token").Secure, to)
	}
	before := look()
	secrets[0], hosts[0], origins[0] = "changed", "evil.example", "https://evil.example"
	*crew, *acme, *post = latchkey.Credentials{}, latchkey.OAuth{}, latchkey.Email{}
	providers[0] = nil
	insecure, yes = true, false
	_ = insecure
	c = latchkey.Config{}
	if after := look(); after != before {
		t.Errorf("R-244: a change from outside took effect:\n%s\nbefore:\n%s", after, before)
	}
	t.Run("R-244 secrets that are handed on", func(t *testing.T) {
		secrets, seen := []string{siteSecret}, ""
		s := newSite(t, func(c *latchkey.Config) {
			c.Secrets = secrets
			c.Session.JWT.Encode = func(_ context.Context, p latchkey.JWTParams) (string, error) { seen = p.Secrets[0]; return "x", nil }
			c.Session.JWT.Decode = func(context.Context, string, latchkey.JWTParams) (latchkey.Claims, error) { return nil, nil }
		})
		secrets[0] = "changed"
		s.newBrowser().signIn()
		if seen != siteSecret {
			t.Errorf("the encoder is given %q", seen)
		}
	})
	t.Run("R-244 nested lists and maps", func(t *testing.T) {
		fields, scopes, params := []latchkey.Field{{Name: "username"}}, []string{"read"}, url.Values{"prompt": {"login"}}
		s := newSite(t, func(c *latchkey.Config) {
			c.Providers[0].(*latchkey.Credentials).Fields = fields
			p := c.Providers[2].(*latchkey.OAuth)
			p.Scopes, p.Authorization.Params = scopes, params
		})
		fields[0].Name, scopes[0], params["prompt"], params["redirect_uri"] = "stolen", "admin", []string{"none"}, []string{"https://evil.example"}
		b := s.newBrowser()
		if strings.Contains(b.get("/auth/signin").Body.String(), "stolen") {
			t.Error("Fields are shared")
		}
		if to := b.post("/auth/signin/acme").location(); !strings.Contains(to, "scope=read") || !strings.Contains(to, "prompt=login") || strings.Contains(to, "evil") {
			t.Errorf("sent to %q", to)
		}
	})
}

func TestConfigAllFaultsAtOnce(t *testing.T) {
	_, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{URL: "ftp://app.example", BasePath: "auth/../x", RedirectProxyURL: "proxy"}, Secrets: []string{"short-secret-canary", " "}, Runtime: latchkey.Runtime{Logger: (&logBuffer{}).logger()},
		Pages: latchkey.Pages{SignIn: "javascript:x", Error: "//evil.example"}, Session: latchkey.SessionConfig{Strategy: "cookie", MaxAge: -1, JWT: latchkey.JWTConfig{Decode: func(context.Context, string, latchkey.JWTParams) (latchkey.Claims, error) { return nil, nil }}},
		Theme: latchkey.Theme{BrandColor: "red;}"}, Cookies: latchkey.Cookies{State: latchkey.CookieOptions{Name: "a b"}},
		Providers: []latchkey.Provider{
			nil, (*latchkey.OAuth)(nil), &latchkey.Credentials{ID: "a/b"}, &latchkey.Email{ID: "mail"}, &latchkey.OAuth{ID: "bare", ClientSecret: "client-secret-canary"},
			&latchkey.Email{ID: "mail"},
		},
		Hardened: true, AccountPage: latchkey.AccountPage{Enabled: true},
	})
	if err == nil {
		t.Fatal("R-244: no error")
	}
	for _, part := range []string{
		"URL", "BasePath", "Secrets[0]", "Secrets[1]", "RedirectProxyURL", "Pages.SignIn", "Pages.Error", "Session.Strategy", "Session.MaxAge", "JWT", "Theme", "Cookies.State",
		"Providers[0]", "Providers[1]", "Authorize", "a/b", "Email.Send", "bare", "used twice", "AccountPage.Enabled", "needs an Adapter",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("R-244: the error does not name %s:\n%v", part, err)
		}
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("R-244: the error holds a secret:\n%v", err)
	}
	parts, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("R-244: %T is not a joined error", err)
	}
	for _, part := range parts.Unwrap() {
		var e *latchkey.Error
		if !errors.As(part, &e) {
			t.Errorf("R-244: %v is no *Error", part)
		}
	}
}

func TestConfigLoudOptions(t *testing.T) {
	warnings := func(change func(*latchkey.Config)) []string {
		var all []string
		for _, r := range newSite(t, change).log.records(t) {
			if r["level"] == "WARN" {
				all = append(all, fmt.Sprint(r["msg"], r["provider"]))
			}
		}
		return all
	}
	if quiet := warnings(func(*latchkey.Config) {}); len(quiet) != 0 {
		t.Errorf("R-245: the default warns: %q", quiet)
	}
	acme := func(f func(*latchkey.OAuth)) func(*latchkey.Config) {
		return func(c *latchkey.Config) { f(c.Providers[2].(*latchkey.OAuth)) }
	}
	for name, c := range map[string]struct {
		change func(*latchkey.Config)
		says   string
	}{
		"any host":       {func(c *latchkey.Config) { c.Site.URL, c.Site.AllowedHosts = "", []string{"*"} }, "AllowedHosts"},
		"a short secret": {func(c *latchkey.Config) { c.Secrets = []string{"short but not published"} }, "fewer than 32"},
		"R-686 a secret of a guide": {func(c *latchkey.Config) {
			c.Site.URL, c.Secrets = "https://shop.com", []string{"a secret of 32 characters or more"}
		}, "made of words"},
		"long links":        {func(c *latchkey.Config) { c.Providers[1].(*latchkey.Email).MaxAge = 25 * time.Hour }, "24 hours"},
		"no checks":         {acme(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckNone} }), "not checked"},
		"unverified emails": {acme(func(p *latchkey.OAuth) { p.AllowDangerousEmailAccountLinking, p.TrustUnverifiedEmail = true, true }), "TrustUnverifiedEmail"},
		"linking by email":  {acme(func(p *latchkey.OAuth) { p.AllowDangerousEmailAccountLinking = true }), "AllowDangerousEmailAccountLinking"},
		"plain http":        {acme(func(p *latchkey.OAuth) { p.AllowPlainHTTP = true }), "AllowPlainHTTP"},
		"no CSRF check":     {func(c *latchkey.Config) { c.Security.SkipCSRFCheck = true }, "SkipCSRFCheck"},
		"no limits":         {func(c *latchkey.Config) { c.Limits.Disabled = true }, "Limits.Disabled"},
		"readable cookie": {func(c *latchkey.Config) {
			no := false
			c.Cookies.SessionToken.HTTPOnly = &no
		}, "HTTPOnly"},
	} {
		t.Run("R-245 "+name, func(t *testing.T) {
			got := warnings(c.change)
			if len(got) != 1 || !strings.Contains(got[0], c.says) {
				t.Errorf("warnings %q, want one that says %q", got, c.says)
			}
		})
	}
}

// Of a Callbacks.Token that is never called New says so, and what to set instead.
func TestUnusedTokenCallback(t *testing.T) {
	token := func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
			t.Error("Callbacks.Token was called")
			return u.Claims, nil
		}
	}
	s := newSite(t, stored, token)
	const warning = "Callbacks.Token is never called with stored sessions: use Callbacks.Session, or set Session.Strategy to JWTSessions"
	if log := s.log.text(); strings.Count(log, warning) != 1 {
		t.Errorf("the log says %s", log)
	}
	s.newBrowser().signInByLink(adaEmail)
	for name, change := range map[string][]func(*latchkey.Config){"stored, without one": {stored}, "JWT sessions": {plainsite.AsTokens, token}} {
		if log := newSite(t, change...).log.text(); strings.Contains(log, "Callbacks.Token") {
			t.Errorf("%s: the log says %s", name, log)
		}
	}
}

// withoutRoom is an adapter whose tables have no place for revocations.
type withoutRoom struct{ *memoryadapter.Adapter }

func (withoutRoom) RevokedAt(context.Context, ...string) (map[string]time.Time, error) {
	return nil, errors.ErrUnsupported
}

// a store that cannot remember the end of JWT sessions says so.
func TestStoreWithoutRoomForRevocations(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){
		"R-516 it is warned of":         func(c *latchkey.Config) { c.Adapter = withoutRoom{memoryadapter.New(memoryadapter.Options{})} },
		"R-516 not where there is room": func(*latchkey.Config) {},
		"R-516 not where somebody else remembers": func(c *latchkey.Config) {
			c.Session.Revocations = c.Adapter.(storage.RevocationStore)
			c.Adapter = withoutRoom{memoryadapter.New(memoryadapter.Options{})}
		},
		"R-516 not where nothing is to remember": func(c *latchkey.Config) {
			c.Session.SkipRevocations = true
			c.Adapter = withoutRoom{memoryadapter.New(memoryadapter.Options{})}
		},
		"R-516 not where sessions are not in JWTs": func(c *latchkey.Config) {
			stored(c)
			c.Adapter = withoutRoom{memoryadapter.New(memoryadapter.Options{})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, change)
			if warned := strings.Contains(s.log.text(), "no place for revocations"); warned != strings.Contains(name, "warned") {
				t.Errorf("warned: %t\n%s", warned, s.log.text())
			}
		})
	}
}
