package sitetest

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// what was stolen with an old session stays as little as that.
func TestWaysInTakeARecentSignIn(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){
		"rows":                        stored,
		"rows that know no beginning": func(c *latchkey.Config) { stored(c); c.Adapter = beginless{c.Adapter.(*memoryadapter.Adapter)} },
		"tokens":                      func(*latchkey.Config) {},
		"tokens that are revocable":   revocable,
	} {
		open := func(t *testing.T) (*oauthSite, *browser) {
			s := newOAuthSite(t, change, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
			b := s.newPerson()
			b.signInByLink(adaEmail)
			u := s.store.Contents().Users[0]
			s.link(latchkey.Account{UserID: u.ID, Provider: "issuer", ProviderAccountID: ada().Subject, Type: latchkey.TypeOIDC})
			s.clock.Advance(11 * time.Minute)
			s.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Email: "mallory@evil.example"})
			return s, b
		}
		t.Run("R-326 an old session gains no account: "+name, func(t *testing.T) {
			s, b := open(t)
			for range 2 {
				b.get("/auth/signin?callbackUrl=/auth/account%3Fdo%3Ddelete")
				if a := b.callback("issuer", s.authResponse(b, "issuer")); a.location() != siteOrigin+"/auth/account?do=change" {
					t.Errorf("to %q", a.location())
				}
				b.post("/auth/account?do=delete", "confirm", "delete")
			}
			if c := s.store.Contents(); len(c.Accounts) != 1 || len(c.Users) != 1 {
				t.Errorf("accounts %v, users %v", c.Accounts, c.Users)
			}
			live(t, b)
		})
		t.Run("R-326 an old session loses none: "+name, func(t *testing.T) {
			s, b := open(t)
			unlink := func() *answer {
				return b.post("/auth/account?do=unlink", "provider", "issuer", "providerAccountId", ada().Subject)
			}
			b.follow(unlink()).says(t, "Confirm that it is you", "You can change how you sign in only shortly after a sign-in.", "Sign in again")
			if len(s.store.Contents().Accounts) != 1 {
				t.Fatal("it is unlinked")
			}
			b.get("/auth/signin?callbackUrl=/auth/account%3Fdo%3Dchange")
			s.issuer.SignInAs(ada())
			b.callback("issuer", s.authResponse(b, "issuer"))
			b.get("/auth/account?do=change").says(t, "Your account")
			unlink()
			if len(s.store.Contents().Accounts) != 0 {
				t.Error("a recent sign-in may not unlink")
			}
		})
	}
	t.Run("R-326 the page asks before it sends anybody to a provider", func(t *testing.T) {
		s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
		b := s.newPerson()
		b.signInByLink(adaEmail)
		if page := b.get("/auth/account").Body.String(); !strings.Contains(page, "/auth/signin/issuer") {
			t.Error("a recent sign-in may not link")
		}
		s.clock.Advance(11 * time.Minute)
		if page := b.get("/auth/account").Body.String(); strings.Contains(page, "/auth/signin/issuer") {
			t.Error("the page sends them to the provider in vain")
		}
		b.follow(b.post("/auth/account?do=link")).says(t, "Confirm that it is you")
	})
}

func TestLinksKeepTheAgeOfTheSession(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){"rows": stored, "tokens": revocable} {
		t.Run("R-326 a link makes no session younger: "+name, func(t *testing.T) {
			s := newOAuthSite(t, change, func(c *latchkey.Config) { c.Session.AbsoluteMaxAge = time.Hour })
			b := s.newBrowser()
			b.signInByLink(adaEmail)
			s.clock.Advance(40 * time.Minute)
			began := s.clock.Now().Add(-40 * time.Minute)
			s.mustSignIn(b)
			session, err := s.auth.ReadSession(httptest.NewRecorder(), b.request("GET", "/page", "", ""))
			if err != nil || session.AuthTime.Sub(began).Abs() > time.Second || len(s.store.Contents().Accounts) != 1 {
				t.Fatalf("began %v, %v", session, err)
			}
			s.clock.Advance(21 * time.Minute)
			dead(t, b)
		})
		t.Run("R-326 signing in again does: "+name, func(t *testing.T) {
			s, b := newSignedInOAuthSite(t, change, func(c *latchkey.Config) { c.Session.AbsoluteMaxAge = time.Hour })
			s.clock.Advance(40 * time.Minute)
			s.mustSignIn(b)
			s.clock.Advance(40 * time.Minute)
			live(t, b)
		})
	}
}
