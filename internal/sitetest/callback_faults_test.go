package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// saying returns the records of the log that say text, as text.
func (s *testSite) saying(text string) (found []string) {
	s.t.Helper()
	for _, record := range s.log.records(s.t) {
		if line := fmt.Sprint(record); strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// TestCausesStay: what is wrapped around a typed error, and what is joined with it, is
// for the operator.
func TestCausesStay(t *testing.T) {
	for name, why := range map[string]error{
		"wrapped type":  fmt.Errorf("tenant 7 is closed: %w", latchkey.ErrAccessDenied),
		"wrapped error": fmt.Errorf("tenant 7 is closed: %w", &latchkey.Error{Type: latchkey.ErrAccessDenied}),
		"joined":        errors.Join(&latchkey.Error{Type: latchkey.ErrAccessDenied}, errors.New("tenant 7 is closed")),
	} {
		t.Run("R-606 "+name, func(t *testing.T) {
			var told string
			s := newOAuthSite(t, func(c *latchkey.Config) {
				c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { return why }
				c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
					if e.Type == event.SignIn {
						told = e.Err.Error()
					}
					return nil
				}
			})
			refused(t, s.signIn(s.newBrowser()), "AccessDenied")
			if len(s.saying("tenant 7 is closed")) == 0 || !strings.Contains(told, "tenant 7 is closed") || !strings.Contains(told, "(issuer)") {
				t.Errorf("the event says %q, the log\n%s", told, s.log.text())
			}
		})
	}
}

// TestCodeThatIsNoneOfOurs: any visitor can begin a sign-in and make up a code.
func TestCodeThatIsNoneOfOurs(t *testing.T) {
	s, b, params := newAnsweredSite(t, withIssuer(fullChecks))
	params.Set("code", "junk")
	refused(t, b.callback("issuer", params), "Configuration") // as Auth.js tells it
	lines := s.saying("invalid_grant")
	if len(lines) == 0 {
		t.Fatalf("R-607 the log says nothing: %s", s.log.text())
	}
	for _, line := range lines {
		if strings.Contains(line, "level:ERROR") {
			t.Errorf("R-607 R-322 a visitor writes an error: %s", line)
		}
	}
}

// TestSecondAnswerAfterAFailure: the first answer failed at the provider, and the browser
// loads the page again.
func TestSecondAnswerAfterAFailure(t *testing.T) {
	s, b, params := newAnsweredSite(t, withIssuer(fullChecks))
	s.issuer.Misbehave(latchkeytest.Misbehaviour{Answers: map[string]latchkeytest.Answer{latchkeytest.PathToken: {Status: http.StatusServiceUnavailable}}})
	refused(t, b.callback("issuer", params))
	s.issuer.Misbehave(latchkeytest.Misbehaviour{})
	refused(t, b.callback("issuer", params))
	if len(s.saying("completed before")) != 0 || len(s.saying("answered before")) == 0 {
		t.Errorf("R-608 the log says\n%s", s.log.text())
	}
}

// TestProfileWithoutDiscovery: the ID token lacks a name, and the provider's document is
// gone once the token is good.
func TestProfileWithoutDiscovery(t *testing.T) {
	s := newOAuthSite(t, withIssuer(func(o *latchkey.OAuth) {
		o.Checks = []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce}
	}),
		func(c *latchkey.Config) { c.Limits.DiscoveryMaxAge = -1 })
	nameless := func(claims map[string]any) { delete(claims, "name") }
	s.issuer.Misbehave(latchkeytest.Misbehaviour{IDToken: nameless, Before: func(path string) {
		if path == latchkeytest.PathJWKS {
			s.issuer.Misbehave(latchkeytest.Misbehaviour{IDToken: nameless, Answers: map[string]latchkeytest.Answer{latchkeytest.PathDiscovery: {Status: http.StatusServiceUnavailable}}})
		}
	}})
	a := s.signIn(s.newBrowser())
	if !a.signsIn() || len(s.saying("could not be asked")) != 1 || len(s.saying("has no userinfo endpoint")) != 0 {
		t.Errorf("R-609 to %q\n%s", a.location(), s.log.text())
	}
}

// TestCuresCure: what a text advises has to help.
func TestCuresCure(t *testing.T) {
	t.Run("R-610 another site's post to a route", func(t *testing.T) {
		s := newOAuthSite(t, func(c *latchkey.Config) { c.Security.SkipCSRFCheck = true })
		b := s.newBrowser()
		b.header.Set("Sec-Fetch-Site", "cross-site")
		if a := b.do(http.MethodPost, "/auth/signin/issuer", formContentType, "a=b"); a.Code != http.StatusForbidden || len(s.saying("another site asks")) == 0 || len(s.saying("says SkipCSRFCheck")) != 0 {
			t.Errorf("%d\n%s", a.Code, s.log.text())
		}
	})
	t.Run("R-610 an issuer where none is configured", func(t *testing.T) {
		const stated = "https://acme.example"
		s := newSite(t, func(c *latchkey.Config) {
			for _, p := range c.Providers {
				if o, ok := p.(*latchkey.OAuth); ok {
					o.MatchIssuer = func(issuer string, _ latchkey.Claims) bool { return issuer == stated }
				}
			}
		})
		for issuer, calls := range map[string]int{stated: 1, "https://evil.example": 0} {
			b, before := s.newBrowser(), s.outbound.calls()
			_, query, _ := strings.Cut(b.post("/auth/signin/acme").location(), "?")
			sent, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			b.callback("acme", url.Values{"code": {"x"}, "state": sent["state"], "iss": {issuer}})
			if got := s.outbound.calls() - before; got != calls {
				t.Errorf("%s: the token endpoint was asked %d times\n%s", issuer, got, s.log.text())
			}
		}
	})
}

// TestLongAnswersOfProviders: codes and ID tokens with the groups of a user are long.
func TestLongAnswersOfProviders(t *testing.T) {
	t.Run("R-611 a code", func(t *testing.T) {
		s, b, params := newAnsweredSite(t, withIssuer(fullChecks))
		params.Set("code", strings.Repeat("c", 6<<10))
		if b.callback("issuer", params); s.issuer.Count(latchkeytest.PathToken) != 1 {
			t.Errorf("the code was not traded\n%s", s.log.text())
		}
	})
	t.Run("R-611 an ID token", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(accepting))
		s.issuer.Misbehave(latchkeytest.Misbehaviour{IDToken: func(claims map[string]any) { claims["groups"] = strings.Repeat("g", 6<<10) }})
		b := s.newBrowser()
		token := s.tokenWithNonce(b.nonceFor())
		if len(token) < 6<<10 {
			t.Fatalf("it has %d bytes", len(token))
		}
		if a := b.bring("credential", token); !a.signsIn() {
			t.Errorf("%d to %q\n%s", a.Code, a.location(), s.log.text())
		}
		if a := s.newBrowser().bring("credential", strings.Repeat("x", 17<<10)); a.Code != http.StatusBadRequest {
			t.Errorf("one that is not verified: %d", a.Code)
		}
	})
}

// TestLandingOfAFailedProof: the cookie of a flow was too full for its landing.
func TestLandingOfAFailedProof(t *testing.T) {
	o := newOAuthSite(t, withFactors)
	b := o.newBrowser()
	o.mustSignIn(b)
	o.clock.Advance(time.Hour)
	a := b.post("/auth/reauth?for=recent&callbackUrl="+url.QueryEscape(siteOrigin+"/pay?order="+strings.Repeat("1", 1500)), "use", "provider", "provider", "issuer")
	params := o.consent(a)
	params.Del("code")
	params.Set("error", "access_denied")
	for i := range 3 { // newer flows crowd the cookies
		b.post("/auth/signin/issuer", "callbackUrl", siteOrigin+"/shop?item="+strings.Repeat("2", 700+i))
	}
	a = b.callback("issuer", params)
	_, query, _ := strings.Cut(a.location(), "?")
	sent, err := url.ParseQuery(query)
	if err != nil || sent.Get("error") != "Reauth" || sent.Get("callbackUrl") == "" {
		t.Errorf("R-612 to %q\n%s", a.location(), o.log.text())
	}
}
