package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// tokenSite is a site whose user has signed in at the issuer.
type tokenSite struct {
	*oauthSite
	b    *browser
	user string

	mu     sync.Mutex
	events []latchkey.Event
}

func newTokenSite(t *testing.T, change ...func(*latchkey.Config)) *tokenSite {
	t.Helper()
	s := &tokenSite{}
	observe := func(c *latchkey.Config) {
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, e)
			return nil
		}
	}
	s.oauthSite = newOAuthSite(t, append([]func(*latchkey.Config){observe}, change...)...)
	if faulty, ok := s.config.Adapter.(faultyTokens); ok {
		s.store = faulty.inner
	}
	s.b = s.newBrowser()
	s.mustSignIn(s.b)
	s.user = s.row(t).UserID
	return s
}

// row returns the account as it is stored.
func (s *tokenSite) row(t *testing.T) storage.Account {
	t.Helper()
	for _, a := range s.store.Contents().Accounts {
		if a.Provider == "issuer" {
			return a
		}
	}
	t.Fatal("there is no account")
	return storage.Account{}
}

func (s *tokenSite) ask(o latchkey.TokenOptions) (latchkey.Tokens, error) {
	return s.auth.Users().AccessToken(s.t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}, o)
}

// works reports whether the issuer takes an access token.
func (s *tokenSite) works(access string) bool {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.issuer.URL+latchkeytest.PathUserInfo, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+access)
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// told returns the details of the events of a type. It waits for n of them.
func (s *tokenSite) told(typ event.Type, n int) (list []latchkey.Event) {
	for range 500 {
		list = nil
		s.mu.Lock()
		for _, e := range s.events {
			if e.Type == typ {
				list = append(list, e)
			}
		}
		s.mu.Unlock()
		if len(list) >= n {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(list) != n {
		s.t.Errorf("%s was told %d times, want %d", typ, len(list), n)
	}
	return list
}

// tokenRequests returns how many tokens were asked for by a refresh token.
func (s *tokenSite) tokenRequests() (n int) {
	for _, r := range s.issuer.Requests(latchkeytest.PathToken) {
		if r.Form.Get("grant_type") == "refresh_token" {
			n++
		}
	}
	return n
}

// TestProviderTokens shows what becomes of the tokens of a sign-in, with both kinds of
// sessions.
func TestProviderTokens(t *testing.T) {
	for name, try := range map[string]func(t *testing.T, s *tokenSite){
		"T-001 a valid token": func(t *testing.T, s *tokenSite) {
			got, err := s.ask(latchkey.TokenOptions{Scopes: []string{"openid"}})
			if err != nil || !s.works(got.AccessToken) || got.RefreshToken != "" || got.IDToken != "" || s.tokenRequests() != 0 {
				t.Errorf("%v, %d requests", err, s.tokenRequests())
			}
		},
		"T-002 an expired token is renewed": func(t *testing.T, s *tokenSite) {
			before := s.row(t).Tokens
			s.clock.Advance(2 * time.Hour)
			got, err := s.ask(latchkey.TokenOptions{})
			if err != nil || !s.works(got.AccessToken) || s.tokenRequests() != 1 {
				t.Errorf("%v, %d requests", err, s.tokenRequests())
			}
			if now := s.row(t).Tokens; now.RefreshToken == before.RefreshToken || now.AccessToken == before.AccessToken {
				t.Error("the row has old tokens")
			}
			s.told(event.TokenRefreshed, 1)
		},
		"T-009 a refreshed ID token of another person": func(t *testing.T, s *tokenSite) {
			before := s.row(t).Tokens
			s.clock.Advance(2 * time.Hour)
			s.issuer.Misbehave(latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["sub"] = "eve" }})
			if _, err := s.ask(latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrRefresh) {
				t.Errorf("%v", err)
			}
			if now := s.row(t).Tokens; now.RefreshToken != before.RefreshToken || now.AccessToken != before.AccessToken {
				t.Error("the row was changed")
			}
		},
		"T-010 a grant that was ended at the provider, T-019 signing in again mends it": func(t *testing.T, s *tokenSite) {
			s.clock.Advance(2 * time.Hour)
			s.issuer.EndGrants()
			for range 2 {
				if _, err := s.ask(latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrReconnect) {
					t.Errorf("%v", err)
				}
			}
			if e := s.told(event.TokenDisconnected, 1)[0]; e.Detail != "grant.refused" || e.UserID != s.user || e.Provider != "issuer" || e.Err == nil {
				t.Errorf("%+v", e)
			}
			s.mustSignIn(s.newBrowser())
			got, err := s.ask(latchkey.TokenOptions{})
			if err != nil || !s.works(got.AccessToken) {
				t.Errorf("after signing in again: %v", err)
			}
		},
		"T-013 Retry-After is heeded": func(t *testing.T, s *tokenSite) {
			s.clock.Advance(2 * time.Hour)
			s.issuer.Misbehave(latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{
				latchkeytest.PathToken: {Status: 429, Header: http.Header{"Retry-After": {"30"}}, Body: []byte("{}")},
			}})
			for range 3 {
				_, err := s.ask(latchkey.TokenOptions{})
				told, _ := errors.AsType[*latchkey.TokenError](err)
				if !errors.Is(err, latchkey.ErrRefresh) || told == nil || told.RetryAfter != 30*time.Second {
					t.Errorf("%v", err)
				}
			}
			if s.tokenRequests() != 1 {
				t.Errorf("%d requests", s.tokenRequests())
			}
			s.issuer.Misbehave(latchkeytest.Misbehaviour{})
			s.clock.Advance(31 * time.Second)
			if _, err := s.ask(latchkey.TokenOptions{}); s.tokenRequests() != 2 {
				t.Errorf("after the time: %v, %d requests", err, s.tokenRequests())
			}
		},
		"T-013 HTML, a cut body, a lost line": func(t *testing.T, s *tokenSite) {
			for i, bad := range []latchkeytest.Answer{
				{Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<html>"), Status: 400}, {Status: 500}, {Drop: true},
			} {
				s.clock.Advance(2 * time.Hour)
				s.issuer.Misbehave(latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{latchkeytest.PathToken: bad}, Before: func(string) {}})
				if _, err := s.ask(latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrRefresh) {
					t.Errorf("%d: %v", i, err)
				}
				s.mustSignInAgain()
			}
		},
		"T-019 a sign-in replaces the tokens": func(t *testing.T, s *tokenSite) {
			before, _ := s.ask(latchkey.TokenOptions{})
			s.mustSignIn(s.newBrowser())
			after, err := s.ask(latchkey.TokenOptions{})
			if err != nil || after.AccessToken == before.AccessToken {
				t.Errorf("%v: the same token", err)
			}
			s.issuer.Misbehave(latchkeytest.Misbehaviour{Token: func(a map[string]any) { delete(a, "refresh_token") }})
			s.mustSignIn(s.newBrowser())
			s.issuer.Misbehave(latchkeytest.Misbehaviour{})
			s.clock.Advance(2 * time.Hour)
			if _, err := s.ask(latchkey.TokenOptions{}); err != nil {
				t.Errorf("without a new refresh token the old one is lost: %v", err)
			}
		},
		"T-021 100 callers at once": func(t *testing.T, s *tokenSite) {
			s.clock.Advance(2 * time.Hour)
			got := make([]latchkey.Tokens, 100)
			for i, err := range race.Run(len(got), func(i int) (err error) { got[i], err = s.ask(latchkey.TokenOptions{}); return err }) {
				if err != nil || got[i].AccessToken != got[0].AccessToken {
					t.Fatalf("caller %d: %v", i, err)
				}
			}
			if s.tokenRequests() != 1 {
				t.Errorf("%d requests", s.tokenRequests())
			}
		},
		"T-037 no token is readable in the store": func(t *testing.T, s *tokenSite) {
			got, err := s.ask(latchkey.TokenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			row := s.row(t).Tokens
			for _, value := range []string{row.AccessToken, row.RefreshToken, row.IDToken} {
				if !strings.HasPrefix(value, "lk1.") {
					t.Errorf("%.8q is not sealed", value)
				}
			}
			if strings.Contains(s.contents(), got.AccessToken) {
				t.Error("the access token is in the store")
			}
			if row.Scope == "" || row.TokenType != "bearer" || row.ExpiresAt.IsZero() {
				t.Error("scope, type and expiry are not readable")
			}
		},
		"T-054 unlinking revokes": func(t *testing.T, s *tokenSite) {
			got, _ := s.ask(latchkey.TokenOptions{})
			if err := s.store.LinkAccount(t.Context(), storage.Account{UserID: s.user, Provider: "acme", ProviderAccountID: "1", Type: latchkey.TypeOAuth}); err != nil {
				t.Fatal(err)
			}
			if err := s.auth.Users().Unlink(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer", ProviderAccountID: "ada"}); err != nil {
				t.Fatal(err)
			}
			if e := s.told(event.TokenDisconnected, 1)[0]; e.Detail != "grant.unlinked" || e.Err != nil {
				t.Errorf("%+v", e)
			}
			if s.works(got.AccessToken) {
				t.Error("the token is alive at the provider")
			}
			if _, err := s.ask(latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrNotFound) {
				t.Errorf("%v", err)
			}
		},
		"T-056 deleting the user revokes": func(t *testing.T, s *tokenSite) {
			got, _ := s.ask(latchkey.TokenOptions{})
			if err := s.auth.Users().Delete(t.Context(), s.user); err != nil {
				t.Fatal(err)
			}
			s.told(event.TokenDisconnected, 1)
			if s.works(got.AccessToken) {
				t.Error("the token is alive at the provider")
			}
		},
		"T-058 RevokeTokens leaves the account": func(t *testing.T, s *tokenSite) {
			got, _ := s.ask(latchkey.TokenOptions{})
			if err := s.auth.Users().RevokeTokens(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}); err != nil {
				t.Fatal(err)
			}
			if e := s.told(event.TokenDisconnected, 1)[0]; e.Detail != "grant.revoked" {
				t.Errorf("%+v", e)
			}
			if s.works(got.AccessToken) || s.row(t).Tokens.RefreshToken != "" || !s.b.isSignedIn() {
				t.Error("the token is alive, stored, or the session has ended")
			}
			if _, err := s.ask(latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrReconnect) {
				t.Errorf("%v", err)
			}
			s.clock.Advance(time.Second)
			s.mustSignIn(s.newBrowser())
			if _, err := s.ask(latchkey.TokenOptions{}); err != nil {
				t.Errorf("after signing in again: %v", err)
			}
		},
		"T-129 a sign-in whose code was traded before RevokeTokens": func(t *testing.T, s *tokenSite) {
			s.issuer.Misbehave(latchkeytest.Misbehaviour{Before: func(path string) {
				if path == latchkeytest.PathToken {
					if err := s.auth.Users().RevokeTokens(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}); err != nil {
						t.Error(err)
					}
				}
			}})
			b := s.newBrowser()
			s.mustSignIn(b)
			if now := s.row(t).Tokens; now.RefreshToken != "" || now.AccessToken != "" {
				t.Error("the tokens were stored")
			}
			if !b.isSignedIn() {
				t.Error("the sign-in failed")
			}
		},
		"T-059 a client that carries the token": func(t *testing.T, s *tokenSite) {
			client := s.auth.Users().ProviderClient(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}, latchkey.TokenOptions{})
			for range 2 {
				res, err := client.Get(s.issuer.URL + latchkeytest.PathUserInfo)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != http.StatusOK {
					t.Errorf("status %d", res.StatusCode)
				}
				s.clock.Advance(2 * time.Hour)
			}
		},
		"T-130 no token leaves by another door": func(t *testing.T, s *tokenSite) {
			list, err := s.auth.Users().Accounts(t.Context(), s.user)
			if err != nil || len(list) != 1 {
				t.Fatal(err)
			}
			if tokens := list[0].Tokens; tokens.AccessToken != "" || tokens.RefreshToken != "" || tokens.IDToken != "" || tokens.Scope == "" || tokens.ExpiresAt.IsZero() {
				t.Error("Users.Accounts has tokens, or lacks scope and expiry")
			}
		},
	} {
		for kind, strategy := range map[string]func(*latchkey.Config){"jwt": func(*latchkey.Config) {}, "database": stored} {
			t.Run(name+"/"+kind, func(t *testing.T) { try(t, newTokenSite(t, strategy)) })
		}
	}
}

// mustSignInAgain brings fresh tokens after a failure.
func (s *tokenSite) mustSignInAgain() {
	s.t.Helper()
	s.issuer.Misbehave(latchkeytest.Misbehaviour{})
	s.mustSignIn(s.newBrowser())
}

// isSignedIn reports whether the browser has a session.
func (b *browser) isSignedIn() bool {
	return strings.Contains(b.get("/auth/session").Body.String(), `"user"`)
}

// withoutTokens is a store of before SwapTokens.
type withoutTokens struct{ storage.Adapter }

// TestTokensAtStart shows what New says of a configuration (T-137).
func TestTokensAtStart(t *testing.T) {
	offline := withIssuer(func(o *latchkey.OAuth) { o.Offline = true })
	for name, c := range map[string]struct {
		change []func(*latchkey.Config)
		want   string
	}{
		"T-137 Offline without an Adapter": {[]func(*latchkey.Config){offline, func(c *latchkey.Config) {
			c.Adapter = nil
			c.Providers = c.Providers[3:]
		}}, "provider issuer: Offline needs an Adapter"},
		"T-137 Offline with a store that cannot swap": {[]func(*latchkey.Config){offline, func(c *latchkey.Config) {
			c.Adapter = withoutTokens{c.Adapter}
			c.Providers = c.Providers[3:]
		}}, "provider issuer: Offline needs an Adapter that is a TokenAdapter; sitetest.withoutTokens is not"},
		"T-137 Plain and Keys": {[]func(*latchkey.Config){func(c *latchkey.Config) {
			c.Tokens.Plain, c.Tokens.Keys = true, []string{siteSecret}
		}}, "set one of the two"},
		"T-137 all is well": {[]func(*latchkey.Config){offline}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newIssuerSite(t)
			config := s.config
			for _, change := range c.change {
				change(&config)
			}
			_, err := latchkey.New(config)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestOffline shows what asks for a refresh token.
func TestOffline(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*latchkey.OAuth)
		scope  string
		param  string
	}{
		"nothing":               {func(*latchkey.OAuth) {}, "openid profile email", ""},
		"an OpenID Provider":    {func(o *latchkey.OAuth) { o.Offline = true }, "openid profile email offline_access", ""},
		"by a scope of its own": {func(o *latchkey.OAuth) { o.Offline, o.Refresh.AskScopes = true, []string{"offline.access"} }, "openid profile email offline.access", ""},
		"by a parameter": {func(o *latchkey.OAuth) {
			o.Offline, o.Refresh.AskParams = true, map[string][]string{"access_type": {"offline"}}
		}, "openid profile email", "offline"},
		"the application's own parameter wins": {func(o *latchkey.OAuth) {
			o.Offline, o.Refresh.AskParams = true, map[string][]string{"access_type": {"offline"}}
			o.Authorization.Params = map[string][]string{"access_type": {"own"}}
		}, "openid profile email", "own"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(c.change))
			s.mustSignIn(s.newBrowser())
			sent := s.issuer.Requests(latchkeytest.PathAuthorize)[0].Query
			if sent.Get("scope") != c.scope || sent.Get("access_type") != c.param {
				t.Errorf("scope %q, access_type %q", sent.Get("scope"), sent.Get("access_type"))
			}
		})
	}
}

// TestTokensOfTwoInstances shows that instances that share a store make one request
// (T-022), and that a rotated secret opens what the older one has sealed (T-040).
func TestTokensOfTwoInstances(t *testing.T) {
	s := newTokenSite(t)
	newer := s.config
	newer.Secrets = []string{"another secret of the site, long enough", siteSecret}
	other, err := latchkey.New(newer)
	if err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(2 * time.Hour)
	for i, err := range race.Run(40, func(i int) error {
		auth := []*latchkey.Auth{s.auth, other}[i%2]
		_, err := auth.Users().AccessToken(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}, latchkey.TokenOptions{})
		if errors.Is(err, latchkey.ErrTokenKey) && i%2 == 0 {
			return nil // the older instance cannot open what the newer one has sealed
		}
		return err
	}) {
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	if s.tokenRequests() != 1 {
		t.Errorf("%d requests", s.tokenRequests())
	}
}

// TestTokensStayAtTheProvider shows KeepAtProvider (T-055).
func TestTokensStayAtTheProvider(t *testing.T) {
	s := newTokenSite(t, func(c *latchkey.Config) { c.Tokens = latchkey.TokenConfig{KeepAtProvider: true} })
	got, err := s.ask(latchkey.TokenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.auth.Users().RevokeTokens(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}); err != nil {
		t.Fatal(err)
	}
	s.told(event.TokenDisconnected, 1)
	if !s.works(got.AccessToken) || s.issuer.Count(latchkeytest.PathRevocation) != 0 {
		t.Error("the token was revoked")
	}
}

// TestTokensOfTenants shows that a job says which tenant it works for (T-062).
func TestTokensOfTenants(t *testing.T) {
	s := &tokenSite{oauthSite: newTenantPair(t)}
	s.mustSignIn(s.newBrowser().at("a"))
	of := latchkey.AccountRef{UserID: s.row(t).UserID, Provider: "issuer"}
	t.Run("T-062 a job without a tenant", func(t *testing.T) {
		_, err := s.auth.Users().AccessToken(t.Context(), of, latchkey.TokenOptions{})
		if err == nil || errors.Is(err, latchkey.ErrNotFound) || !strings.Contains(err.Error(), "tenant") {
			t.Errorf("%v, want an error that asks for the tenant", err)
		}
	})
	t.Run("T-062 a job with the tenant in its context", func(t *testing.T) {
		ctx := latchkey.ContextWithTenant(t.Context(), "a")
		for n := range 2 {
			got, err := s.auth.Users().AccessToken(ctx, of, latchkey.TokenOptions{})
			if err != nil || !s.works(got.AccessToken) || s.tokenRequests() != n {
				t.Errorf("%v, %d requests", err, s.tokenRequests())
			}
			s.clock.Advance(2 * time.Hour)
		}
	})
}

// A suspended user's tokens are for nobody, and an administrator who acts as a user gets
// none of that user's.
func TestTokensOfWhoMayNot(t *testing.T) {
	t.Run("T-007 of a suspended user", func(t *testing.T) {
		s := newTokenSite(t)
		if err := s.auth.Users().Suspend(t.Context(), s.user, users.SuspendOptions{}); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(2 * time.Hour)
		if got, err := s.ask(latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrAccessDenied) || got.AccessToken != "" {
			t.Errorf("%v", err)
		}
		client := s.auth.Users().ProviderClient(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}, latchkey.TokenOptions{})
		res, err := client.Get(s.issuer.URL + latchkeytest.PathUserInfo)
		if err == nil {
			res.Body.Close()
		}
		if !errors.Is(err, latchkey.ErrAccessDenied) {
			t.Errorf("a client: %v", err)
		}
		if n := s.tokenRequests(); n != 0 {
			t.Errorf("%d token requests", n)
		}
	})
	for _, endless := range []bool{false, true} {
		t.Run(fmt.Sprintf("R-835 of a suspended user in a session, which goes on: %t", endless), func(t *testing.T) {
			s := newTokenSite(t, func(c *latchkey.Config) {
				c.Session.Strategy, c.Session.SkipRevocations = latchkey.JWTSessions, endless
			})
			s.clock.Advance(time.Minute)
			if err := s.auth.Users().Suspend(t.Context(), s.user, users.SuspendOptions{}); errors.Is(err, latchkey.ErrSessionsNotEnded) != endless {
				t.Fatal(err)
			}
			s.clock.Advance(time.Minute)
			var got latchkey.Tokens
			var err error
			s.b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got, err = s.auth.AccessToken(w, r, "issuer", latchkey.TokenOptions{})
			}), s.b.request(http.MethodGet, "/repos", "", ""))
			if want := map[bool]error{false: latchkey.ErrNoSession, true: latchkey.ErrAccessDenied}[endless]; !errors.Is(err, want) || got.AccessToken != "" {
				t.Errorf("R-835 %v, want %v", err, want)
			}
		})
	}
	both(t, "P-046 of a user as whom an administrator acts", func(t *testing.T, strategy latchkey.Strategy) {
		s := newActingSite(t, func(c *latchkey.Config) { c.Session.Strategy = strategy })
		if err := s.store.LinkAccount(t.Context(), storage.Account{
			UserID: s.adaID, Provider: "issuer", ProviderAccountID: "ada", Type: storage.TypeOIDC, Tokens: storage.Tokens{AccessToken: "canary"},
		}); err != nil {
			t.Fatal(err)
		}
		ask := func(b *browser) (got latchkey.Tokens, err error) {
			b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got, err = s.auth.AccessToken(w, r, "issuer", latchkey.TokenOptions{})
			}), b.request(http.MethodGet, "/api", "", ""))
			return got, err
		}
		if got, err := ask(s.ada); err != nil || got.AccessToken != "canary" {
			t.Errorf("the user: %v", err)
		}
		if got, err := ask(s.acts(t)); !errors.Is(err, latchkey.ErrAccessDenied) || got.AccessToken != "" {
			t.Errorf("the administrator: %v", err)
		}
	})
}
