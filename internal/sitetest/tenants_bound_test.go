package sitetest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// A tenantPair is two tenants that share everything that can be shared: one
// origin, secret, store and provider. The header X-Tenant says which one is
// asked.
func newTenantPair(t *testing.T, change ...func(*latchkey.Config)) *oauthSite {
	t.Helper()
	s := newOAuthSite(t, change...)
	shared := s.config
	s.auth = newTenants(t, latchkey.Tenants{
		Name:   func(_ context.Context, r *latchkey.Request) (string, error) { return r.Header.Get("X-Tenant"), nil },
		Config: func(context.Context, string) (*latchkey.Config, error) { c := shared; return &c, nil },
	})
	return s
}

// at is the browser at a tenant, with the same cookies.
func (b *browser) at(tenant string) *browser {
	return &browser{b.site, b.jar, http.Header{"X-Tenant": {tenant}}}
}

// nothing that one tenant has made is worth anything at another.
func TestTenantsAcceptNothingOfEachOther(t *testing.T) {
	linkPath := func(t *testing.T, s *oauthSite) string {
		links := s.sent()
		u, err := url.Parse(links[len(links)-1].URL)
		if err != nil {
			t.Fatal(err)
		}
		return u.RequestURI()
	}
	for name, change := range map[string]func(*latchkey.Config){
		"a magic link": func(*latchkey.Config) {},
		"a magic link with a secret of its own": func(c *latchkey.Config) {
			emailOf(c).Secret = "a secret of the links alone, long enough"
		},
		"a magic link for one browser": func(c *latchkey.Config) { emailOf(c).SameBrowser = true },
	} {
		t.Run("R-343 "+name, func(t *testing.T) {
			s := newTenantPair(t, change)
			b := s.newBrowser()
			b.at("a").post("/auth/signin/post", "email", "ada@example.com")
			path := linkPath(t, s)
			refused(t, b.at("b").get(path), "Verification")
			if a := b.at("a").get(path); !a.signsIn() {
				t.Errorf("at its own tenant: %d to %q", a.Code, a.location())
			}
		})
	}
	for _, checks := range checkSets() {
		t.Run("R-343 a sign-in under way with "+nameOf(checks), func(t *testing.T) {
			s := newTenantPair(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks }))
			b := s.newBrowser()
			params := s.authResponse(b.at("a"), "issuer")
			refused(t, (&browser{b.site, b.copy().jar, nil}).at("b").callback("issuer", params), "Configuration")
			if a := b.at("a").callback("issuer", params); !a.signsIn() {
				t.Errorf("at its own tenant: %d to %q", a.Code, a.location())
			}
		})
	}
	for name, change := range map[string]func(*latchkey.Config){"rows": stored, "tokens": revocable} {
		t.Run("R-343 a session in "+name, func(t *testing.T) {
			s := newTenantPair(t, change)
			b := s.newBrowser()
			b.at("a").signInByLink("ada@example.com")
			if now := (&browser{b.site, b.copy().jar, nil}).at("b").session(); now != "null" {
				t.Errorf("at b: %s", now)
			}
			if now := b.at("a").session(); now == "null" {
				t.Error("at a: nobody")
			}
		})
	}
	t.Run("R-343 a state at a redirect proxy", func(t *testing.T) {
		s := newTenantPair(t, proxied(siteOrigin, "https://*.preview.example"))
		preview := newTenantPair(t, proxied("https://pr-1.preview.example"))
		r := httptest.NewRequest(http.MethodPost, "https://pr-1.preview.example/auth/signin/acme", http.NoBody)
		r.Header = http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"https://pr-1.preview.example"}, "X-Tenant": {"a"}}
		w := httptest.NewRecorder()
		preview.auth.ServeHTTP(w, r)
		to, err := url.Parse(w.Header().Get("Location"))
		if err != nil || to.Query().Get("state") == "" {
			t.Fatalf("to %q", w.Header().Get("Location"))
		}
		back := "/auth/callback/acme?" + url.Values{"code": {"c"}, "state": {to.Query().Get("state")}}.Encode()
		refused(t, s.newBrowser().at("b").get(back), "Configuration")
		if a := s.newBrowser().at("a").get(back); !strings.HasPrefix(a.location(), "https://pr-1.preview.example/") {
			t.Errorf("at its own tenant: to %q", a.location())
		}
	})
	t.Run("R-343 the end of sessions, kept beside the adapters", func(t *testing.T) {
		revocations := memoryadapter.New(memoryadapter.Options{})
		auth := newTenants(t, latchkey.Tenants{
			Name: func(_ context.Context, r *latchkey.Request) (string, error) { return r.Header.Get("X-Tenant"), nil },
			Config: func(ctx context.Context, _ string) (*latchkey.Config, error) {
				store := memoryadapter.New(memoryadapter.Options{}) // of its own, with the same ids
				_, err := store.CreateUser(ctx, latchkey.User{ID: plainsite.UserID, Email: "ada@example.com", EmailVerified: time.Unix(1, 0)})
				c := plainsite.Config(store)
				c.Session.Strategy, c.Session.Revocations, c.Site.URL = latchkey.JWTSessions, revocations, siteOrigin
				return &c, err
			},
		})
		s := &testSite{t: t, auth: auth}
		browsers := map[string]*browser{}
		for _, tenant := range []string{"a", "b"} {
			browsers[tenant] = s.newBrowser().at(tenant)
			browsers[tenant].post("/auth/callback/password", "name", "ada", "password", "lovelace")
		}
		if err := auth.Users().EndSessions(latchkey.ContextWithTenant(t.Context(), "a"), plainsite.UserID); err != nil {
			t.Fatal(err)
		}
		if now := browsers["a"].session(); now != "null" {
			t.Errorf("at a: %s", now)
		}
		if now := browsers["b"].session(); now == "null" {
			t.Error("at b somebody was signed out")
		}
	})
}

// a visit to one tenant takes nothing of another away.
func TestTenantsLeaveEachOtherAlone(t *testing.T) {
	for kind, change := range map[string]func(*latchkey.Config){
		"rows": stored, "tokens": revocable, "tokens with callbacks": func(c *latchkey.Config) {
			c.Callbacks.Token = func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) { return t.Claims, nil }
		},
		"rows in a store apart": func(c *latchkey.Config) { stored(c); c.Session.Store = newApartStore() },
	} {
		for name, visit := range map[string]func(b *browser) *answer{
			"a look at the session": func(b *browser) *answer { return b.get("/auth/session") },
			"a page with a guard":   func(b *browser) *answer { _, _, a := b.who(); return a },
			"the sign-in page":      func(b *browser) *answer { return b.get("/auth/signin") },
			"the account page":      func(b *browser) *answer { return b.get("/auth/account") },
			"an update":             func(b *browser) *answer { return b.postJSON("/auth/session", map[string]any{"data": 1}) },
			"a sign-out":            func(b *browser) *answer { return b.post("/auth/signout") },
		} {
			t.Run("R-514 "+kind+", "+name, func(t *testing.T) {
				s := newTenantPair(t, change, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
				b := s.newBrowser()
				b.at("a").signInByLink("ada@example.com")
				params := s.authResponse(b.at("a"), "issuer")
				if a := visit(b.at("b")); a.cookie("session-token") != nil {
					t.Errorf("b sets %v", a.Header()["Set-Cookie"])
				}
				if !b.at("a").isLive() {
					t.Error("at a: nobody")
				}
				if a := b.at("a").callback("issuer", params); !a.signsIn() {
					t.Errorf("the sign-in under way at a: %d to %q", a.Code, a.location())
				}
			})
		}
		t.Run("R-514 "+kind+", a sign-in", func(t *testing.T) {
			s := newTenantPair(t, change)
			b := s.newBrowser()
			b.at("a").signInByLink("ada@example.com")
			before := b.copy()
			b.at("b").signInByLink("ada@example.com")
			if !b.at("b").isLive() || !before.at("a").isLive() {
				t.Errorf("at b: %s, at a: %s", b.at("b").session(), before.at("a").session())
			}
		})
	}
}

func emailOf(c *latchkey.Config) *latchkey.Email {
	for i, p := range c.Providers {
		if e, ok := p.(*latchkey.Email); ok {
			own := *e
			c.Providers[i] = &own
			return &own
		}
	}
	return nil
}
