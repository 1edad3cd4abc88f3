package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// ask begins a sign-in at the issuer with options, and follows it there.
func (s *oauthSite) ask(b *browser, o latchkey.SignInOptions) (sent, back url.Values) {
	s.t.Helper()
	to, err := s.begin(b, "issuer", o)
	if err != nil {
		s.t.Fatal(err)
	}
	at, err := url.Parse(to)
	if err != nil {
		s.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	w.Header().Set("Location", to)
	return at.Query(), s.consent(&answer{w})
}

// begin starts a sign-in by [latchkey.Auth.SignInURL], and gives the browser its
// cookies.
func (s *oauthSite) begin(b *browser, provider string, o latchkey.SignInOptions) (to string, err error) {
	start := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { to, err = s.auth.SignInURL(w, r, provider, o) })
	b.serve(start, b.request(http.MethodGet, "/start", "", ""))
	return to, err
}

// idToken has the issuer say these claims; nil leaves one out.
func (s *oauthSite) idToken(claims map[string]any) {
	s.issuer.Misbehave(latchkeytest.Misbehaviour{IDToken: func(c map[string]any) {
		for name, value := range claims {
			if c[name] = value; value == nil {
				delete(c, name)
			}
		}
	}})
}

// T-083, T-084: what one call demands has to be proven by the ID token before
// anything is written.
func TestDemandsOfOneCall(t *testing.T) {
	minute, none := time.Minute, time.Duration(0)
	ago := func(s *oauthSite, d time.Duration) int64 { return s.clock.Now().Add(-d).Unix() }
	for _, c := range []struct {
		name   string
		ask    latchkey.SignInOptions
		claims func(s *oauthSite) map[string]any
		comes  bool
	}{
		{"T-083 fresh", latchkey.SignInOptions{MaxAge: &minute}, func(s *oauthSite) map[string]any { return map[string]any{"auth_time": ago(s, 119*time.Second)} }, true},
		{"T-083 old", latchkey.SignInOptions{MaxAge: &minute}, func(s *oauthSite) map[string]any { return map[string]any{"auth_time": ago(s, 121*time.Second)} }, false},
		{"T-083 missing", latchkey.SignInOptions{MaxAge: &minute}, func(*oauthSite) map[string]any { return map[string]any{"auth_time": nil} }, false},
		{"T-083 zero, since the start", latchkey.SignInOptions{MaxAge: &none}, func(s *oauthSite) map[string]any { return map[string]any{"auth_time": ago(s, 59*time.Second)} }, true},
		{"T-083 zero, before the start", latchkey.SignInOptions{MaxAge: &none}, func(s *oauthSite) map[string]any { return map[string]any{"auth_time": ago(s, 61*time.Second)} }, false},
		{"T-083 prompt proves nothing by itself", latchkey.SignInOptions{Prompt: "login", MaxAge: &none}, func(s *oauthSite) map[string]any { return map[string]any{"auth_time": ago(s, time.Hour)} }, false},
		{"T-084 met", latchkey.SignInOptions{ACRValues: []string{"phr", "mfa"}}, func(*oauthSite) map[string]any { return map[string]any{"acr": "mfa"} }, true},
		{"T-084 not met", latchkey.SignInOptions{ACRValues: []string{"phr"}}, func(*oauthSite) map[string]any { return map[string]any{"acr": "pwd"} }, false},
		{"T-084 absent", latchkey.SignInOptions{ACRValues: []string{"phr"}}, func(*oauthSite) map[string]any { return nil }, false},
		{"T-084 a list", latchkey.SignInOptions{ACRValues: []string{"phr"}}, func(*oauthSite) map[string]any { return map[string]any{"acr": []any{"phr"}} }, false},
		{"T-084 both words in one", latchkey.SignInOptions{ACRValues: []string{"phr", "mfa"}}, func(*oauthSite) map[string]any { return map[string]any{"acr": "phr mfa"} }, false},
	} {
		for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
			t.Run(c.name+", "+string(strategy), func(t *testing.T) {
				s := newOAuthSite(t, func(config *latchkey.Config) { config.Session.Strategy = strategy })
				s.idToken(c.claims(s))
				b := s.newBrowser()
				_, back := s.ask(b, c.ask)
				before := s.contents()
				a := b.callback("issuer", back)
				if a.signsIn() != c.comes {
					t.Fatalf("signed in: %t, want %t\n%s", a.signsIn(), c.comes, s.log.text())
				}
				if !c.comes {
					refused(t, a, "AccessDenied")
					s.noWrite(t, before)
				}
			})
		}
	}
}

// T-083: a sign-in that demands a fresh proof may take its time at the provider.
func TestFreshSignInTakesItsTime(t *testing.T) {
	s, none := newOAuthSite(t), time.Duration(0)
	b := s.newBrowser()
	_, back := s.ask(b, latchkey.SignInOptions{MaxAge: &none})
	s.clock.Advance(9 * time.Minute)
	if a := b.callback("issuer", back); !a.signsIn() {
		t.Errorf("%d to %q\n%s", a.Code, a.location(), s.log.text())
	}
}

// T-083: what a call asks wins over the configuration and over what a form adds.
func TestOneCallWins(t *testing.T) {
	hour := time.Hour
	s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) {
		p.Authorization.Params = url.Values{"prompt": {"consent"}, "max_age": {"5"}, "acr_values": {"a"}, "login_hint": {"x"}}
	}))
	sent, _ := s.ask(s.newBrowser(), latchkey.SignInOptions{
		Prompt: "login", MaxAge: &hour, ACRValues: []string{"phr", "mfa"}, LoginHint: "ada@example.com", Scopes: []string{"email", "calendar"},
		Params: url.Values{"prompt": {"none"}, "max_age": {"1"}, "scope": {"openid x"}},
		Form:   url.Values{"authorizationParams-login_hint": {"mallory@example.com"}},
	})
	for name, want := range map[string]string{
		"prompt": "login", "max_age": "3600", "acr_values": "phr mfa", "login_hint": "ada@example.com", "scope": "openid email calendar",
	} {
		if got := sent[name]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q was sent, want %q", name, got, want)
		}
	}
	t.Run("T-084 acr_values of a visitor or the configuration are asked and not enforced", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Authorization.Params = url.Values{"acr_values": {"a"}} }))
		if a := s.signIn(s.newBrowser()); !a.signsIn() {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
}

// T-083, T-084: what cannot be proven is an error of the call.
func TestDemandsThatNothingCanProve(t *testing.T) {
	minute, negative := time.Minute, -time.Minute
	for name, c := range map[string]struct {
		provider string
		ask      latchkey.SignInOptions
		change   func(*latchkey.OAuth)
	}{
		"T-083 at an OAuth provider":   {"acme", latchkey.SignInOptions{MaxAge: &minute}, unchanged},
		"T-084 at an OAuth provider":   {"acme", latchkey.SignInOptions{ACRValues: []string{"a"}}, unchanged},
		"T-083 by a magic link":        {"post", latchkey.SignInOptions{MaxAge: &minute}, unchanged},
		"T-083 on the sign-in page":    {"", latchkey.SignInOptions{MaxAge: &minute}, unchanged},
		"T-083 negative":               {"issuer", latchkey.SignInOptions{MaxAge: &negative}, unchanged},
		"T-084 an empty value":         {"issuer", latchkey.SignInOptions{ACRValues: []string{""}}, unchanged},
		"T-084 two values in one":      {"issuer", latchkey.SignInOptions{ACRValues: []string{"a b"}}, unchanged},
		"T-083 where no check is kept": {"issuer", latchkey.SignInOptions{MaxAge: &minute}, func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckNone} }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(c.change))
			if _, err := s.begin(s.newBrowser(), c.provider, c.ask); !errors.Is(err, latchkey.ErrInvalidConfig) {
				t.Errorf("error %v, want ErrInvalidConfig", err)
			}
		})
	}
}

// T-086: the application can read why a provider refused.
func TestPromptNone(t *testing.T) {
	var heard []error
	s := newOAuthSite(t, func(c *latchkey.Config) {
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			heard = append(heard, e.Err)
			return nil
		}
	})
	b := s.newBrowser()
	_, back := s.ask(b, latchkey.SignInOptions{Prompt: "none"})
	back.Del("code")
	back.Set("error", "login_required")
	refused(t, b.callback("issuer", back), "OAuthCallbackError")
	var told *latchkey.TokenError
	if len(heard) != 1 || !errors.As(heard[0], &told) || told.Code != "login_required" {
		t.Errorf("told %v, want a TokenError with login_required", heard)
	}
}

// T-084: callbacks and events get what the ID token said, and nothing of userinfo.
func TestVerifiedClaims(t *testing.T) {
	seen := map[string]latchkey.Claims{}
	s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) {
		p.ProfileFromUserInfo = true
		p.KeepTokens = func(latchkey.Tokens) latchkey.Tokens { return latchkey.Tokens{} }
		p.Identify = func(g latchkey.Grant) (latchkey.Identity, error) {
			seen["Grant"] = g.IDToken
			return latchkey.Identity{Subject: g.Profile.String("sub")}, nil
		}
	}), func(c *latchkey.Config) {
		c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error { seen["SignInAttempt"] = a.IDToken; return nil }
		c.Callbacks.Token = func(_ context.Context, i latchkey.TokenInfo) (latchkey.Claims, error) {
			if i.Trigger != latchkey.TriggerRead {
				seen["TokenInfo"] = i.IDToken
			}
			return i.Claims, nil
		}
		c.Events.SignIn = func(_ context.Context, e latchkey.SignInEvent) error { seen["SignInEvent"] = e.IDToken; return nil }
	})
	s.issuer.Misbehave(latchkeytest.Misbehaviour{
		IDToken:  func(c map[string]any) { c["acr"] = "phr" },
		UserInfo: func(c map[string]any) { c["acr"], c["amr"] = "mfa", []string{"mfa"} },
	})
	s.mustSignIn(s.newBrowser())
	for _, name := range []string{"Grant", "SignInAttempt", "TokenInfo", "SignInEvent"} {
		if c := seen[name]; c.String("acr") != "phr" || c["amr"] != nil {
			t.Errorf("%s: %v", name, c)
		}
	}
}
