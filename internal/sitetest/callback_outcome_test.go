package sitetest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
)

// ownerlessStore finds the user of no account while it is down.
type ownerlessStore struct {
	*memoryadapter.Adapter
	isDown *bool
}

func (s ownerlessStore) GetUserByAccount(ctx context.Context, provider, id string) (latchkey.User, error) {
	if *s.isDown {
		return latchkey.User{}, storage.ErrUnavailable
	}
	return s.Adapter.GetUserByAccount(ctx, provider, id)
}

// a proof in a session that an outage ends is no sign-in that failed.
func TestFailedProofIsNoSignIn(t *testing.T) {
	var told []event.Event
	isDown := false
	o := newOAuthSite(t, withFactors, func(c *latchkey.Config) {
		c.Adapter = ownerlessStore{c.Adapter.(*memoryadapter.Adapter), &isDown}
		c.Events.Observe = func(_ context.Context, e event.Event) error { told = append(told, e); return nil }
		c.Runtime.Logger = quiet
	})
	b := o.newBrowser()
	o.mustSignIn(b)
	o.clock.Advance(time.Hour)
	a := b.post("/auth/reauth?for=recent&callbackUrl="+url.QueryEscape(siteOrigin+"/pay"), "use", "provider", "provider", "issuer")
	o.idToken(map[string]any{"auth_time": o.clock.Now().Unix()})
	params := o.consent(a)
	told, isDown = nil, true
	if a := b.callback("issuer", params); a.error() != "Configuration" {
		t.Fatalf("%d to %q", a.Code, a.location())
	}
	for _, e := range told {
		if e.Type == event.SignIn {
			t.Errorf("R-815 an event of a sign-in: %s, %s", e.Outcome, e.Reason)
		}
	}
}

// an outage of the store behind the gate of second factors is an outage.
func TestOutageAtTheGateIsNoRefusal(t *testing.T) {
	for _, call := range []string{"Factors.List", "Browsers.Get"} {
		t.Run("R-816 "+call, func(t *testing.T) {
			plan := newFaultyStore()
			s := newFactorSite(t, func(c *latchkey.Config) {
				inner, _ := c.Adapter.(*memoryadapter.Adapter)
				c.Adapter, c.Runtime.Logger = proofFaults{inner, plan}, quiet
			})
			b := s.newBrowser()
			b.challenge()
			if a := b.factor("totp", s.code(0), "remember", "yes"); !a.signsIn() {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			s.clock.Advance(time.Minute)
			plan.fail(call, faultAway)
			if a := b.password(); a.error() != "Configuration" || a.signsIn() {
				t.Errorf("%d to %q", a.Code, a.location())
			}
		})
	}
}

// the account page says that an account was linked only if one was.
func TestNoticeOfALinkNeedsALink(t *testing.T) {
	o := newOAuthSite(t, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
	b := o.newBrowser()
	o.mustSignIn(b)
	a := b.post("/auth/signin/issuer", "callbackUrl", siteOrigin+"/auth/account")
	if a = b.callback("issuer", o.consent(a)); a.location() != siteOrigin+"/auth/account" || !a.signsIn() {
		t.Fatalf("%d to %q: %s", a.Code, a.location(), o.log.text())
	}
	if page := b.get("/auth/account").Body.String(); strings.Contains(page, "has been linked") {
		t.Error("R-817 the page says that the account has been linked")
	}
}

// without a sealed state a redirect proxy cannot send a callback on, and New says so.
func TestProxyNeedsTheState(t *testing.T) {
	for name, c := range map[string]struct {
		checks []latchkey.Check
		mode   string
		says   bool
	}{
		"R-818 none":                            {[]latchkey.Check{latchkey.CheckNone}, "", true},
		"R-818 PKCE and no more":                {[]latchkey.Check{latchkey.CheckPKCE, latchkey.CheckNone}, "", true},
		"R-818 state and no more":               {[]latchkey.Check{latchkey.CheckState, latchkey.CheckNone}, "", false},
		"R-818 PKCE, to which state is added":   {[]latchkey.Check{latchkey.CheckPKCE}, "", false},
		"R-818 form_post, which no proxy takes": {[]latchkey.Check{latchkey.CheckPKCE, latchkey.CheckNone}, "form_post", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := latchkey.New(latchkey.Config{
				Secrets: []string{"a secret of this test, long enough"},
				Site:    latchkey.Site{URL: "https://pr-1.preview.example", RedirectProxyURL: siteOrigin + "/auth"},
				Providers: []latchkey.Provider{&latchkey.OAuth{
					ID: "acme", ClientID: "x", ClientSecret: "y", Checks: c.checks, ResponseMode: c.mode,
					Authorization: latchkey.Endpoint{URL: "https://acme.example/authorize"}, Token: latchkey.Endpoint{URL: "https://acme.example/token"}, UserInfo: latchkey.Endpoint{URL: "https://acme.example/user"},
				}},
			})
			said := fmt.Sprint(err)
			if !c.says && err != nil || c.says && (!strings.Contains(said, "Checks") || !strings.Contains(said, "CheckState") || !strings.Contains(said, "RedirectProxyURL")) {
				t.Errorf("%v", err)
			}
		})
	}
}
