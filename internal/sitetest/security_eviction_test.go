package sitetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// An intruder is signed in as a user whose e-mail address is the victim's
// (ada@example.com), which nobody has proven yet.
type intruder struct {
	*oauthSite
	browser *browser
}

func newIntruder(t *testing.T, change ...func(*latchkey.Config)) *intruder {
	t.Helper()
	s := newOAuthSite(t, append([]func(*latchkey.Config){stored, second(unchanged)}, change...)...)
	return &intruder{s, s.newBrowser()}
}

// signInAs signs the intruder in at a provider that says this about them.
func (i *intruder) signInAs(provider, email string, verified any) {
	i.t.Helper()
	i.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Email: email, EmailVerified: verified})
	if a := i.browser.callback(provider, i.authResponse(i.browser, provider)); !a.signsIn() || a.error() != "" {
		i.t.Fatalf("%s: to %q\n%s", provider, a.location(), i.log.text())
	}
}

// isOut fails the test unless the owner, who is signed in by now, is alone.
func (i *intruder) isOut(owner *browser) {
	i.t.Helper()
	live(i.t, owner)
	dead(i.t, i.browser)
	for _, c := range i.store.Contents().Users {
		if c.Email == adaEmail && c.EmailVerified.IsZero() {
			i.t.Error("the e-mail address is not proven")
		}
	}
	for _, provider := range []string{"second", "issuer"} {
		for _, email := range []string{adaEmail, "mallory@evil.example"} {
			i.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Email: email})
			again := i.newBrowser()
			again.callback(provider, i.authResponse(again, provider))
			if now := again.session(); strings.Contains(now, adaEmail) {
				i.t.Errorf("the intruder comes back by %s: %s", provider, now)
			}
		}
	}
}

// openLink proves the e-mail address by a link.
func (i *intruder) openLink(t *testing.T) *browser {
	t.Helper()
	owner := i.newBrowser()
	if a := owner.get(owner.askForLink(adaEmail)); !a.signsIn() {
		t.Fatalf("to %q\n%s", a.location(), i.log.text())
	}
	return owner
}

// proofs are the ways in which an owner first proves their e-mail address.
var proofs = map[string]func(*testing.T, *intruder) *browser{
	"by a link": func(t *testing.T, i *intruder) *browser { return i.openLink(t) },
	"by a provider that may link": func(t *testing.T, i *intruder) *browser {
		i.issuer.SignInAs(ada())
		owner := i.newBrowser()
		if a := owner.callback("linking", i.authResponse(owner, "linking")); !a.signsIn() {
			t.Fatalf("to %q\n%s", a.location(), i.log.text())
		}
		return owner
	},
}

// linking adds a third provider, whose word about e-mail addresses links.
func addLinkingProvider(c *latchkey.Config) {
	withIssuer(func(o *latchkey.OAuth) {
		third := *o
		third.ID = "linking"
		linksByEmail(&third)
		c.Providers = append(c.Providers, &third)
	})(c)
}

func TestIntruders(t *testing.T) {
	trusted := func(p *latchkey.OAuth) { p.EmailTrust = latchkey.EmailProven }
	for name, intrude := range map[string]func(i *intruder){
		"an account of a provider that does not say": func(i *intruder) { i.signInAs("second", adaEmail, nil) },
		"an account of a provider that says no":      func(i *intruder) { i.signInAs("second", adaEmail, false) },
		"two, the second of which vouches for another e-mail address": func(i *intruder) {
			i.signInAs("second", adaEmail, nil)
			i.signInAs("issuer", "mallory@evil.example", true)
		},
		"two, the first of which is gone": func(i *intruder) {
			i.signInAs("second", adaEmail, false)
			i.signInAs("issuer", "mallory@evil.example", true)
			if err := i.auth.Users().Unlink(i.t.Context(), latchkey.AccountRef{UserID: i.store.Contents().Users[0].ID, Provider: "second", ProviderAccountID: "mallory"}); err != nil {
				i.t.Fatal(err)
			}
		},
		"an account that vouched for a former e-mail address": func(i *intruder) {
			i.signInAs("issuer", "mallory@evil.example", true)
			i.changeEmail()
		},
		"nothing but a session, by a link to a former e-mail address": func(i *intruder) {
			i.browser.get(i.browser.askForLink("mallory@evil.example"))
			i.changeEmail()
		},
		"nothing but a session, by a password": func(i *intruder) {
			i.addUser(latchkey.User{ID: "alice-1", Email: adaEmail})
			i.browser.signIn()
		},
		"an account that the store says little of": func(i *intruder) {
			u := i.addUser(latchkey.User{ID: "u1", Email: adaEmail})
			i.link(latchkey.Account{UserID: u.ID, Provider: "second", ProviderAccountID: "mallory", Type: latchkey.TypeOIDC})
			i.signInAs("second", adaEmail, true)
		},
		"an account with the e-mail address, not vouched for": func(i *intruder) {
			u := i.addUser(latchkey.User{ID: "u1", Email: adaEmail})
			i.link(latchkey.Account{UserID: u.ID, Provider: "second", ProviderAccountID: "mallory", Type: latchkey.TypeOIDC, Email: adaEmail})
			i.signInAs("second", adaEmail, true)
		},
	} {
		for how, prove := range proofs {
			for where, keep := range map[string]func(*latchkey.Config){"": stored, ", sessions apart": sessionsApart} {
				t.Run("R-341 "+name+", "+how+where, func(t *testing.T) {
					i := newIntruder(t, withIssuer(trusted), addLinkingProvider, keep)
					intrude(i)
					live(t, i.browser)
					i.isOut(prove(t, i))
				})
			}
		}
	}
}

func (s *testSite) link(a latchkey.Account) {
	s.t.Helper()
	if err := s.store.LinkAccount(s.t.Context(), a); err != nil {
		s.t.Fatal(err)
	}
}

// changeEmail makes the victim's e-mail address the intruder's, as a settings
// page of the application would.
func (i *intruder) changeEmail() {
	i.t.Helper()
	never := time.Time{}
	u := i.store.Contents().Users[0]
	if _, err := i.store.UpdateUser(i.t.Context(), u.ID, storage.UserChange{Email: new(adaEmail), EmailVerified: &never}); err != nil {
		i.t.Fatal(err)
	}
}

func TestFirstProof(t *testing.T) {
	t.Run("R-341 tokens of the time before", func(t *testing.T) {
		i := newIntruder(t, func(c *latchkey.Config) {
			c.Session.Strategy = latchkey.JWTSessions
			c.Session.Revocations = c.Adapter.(storage.RevocationStore)
		})
		i.signInAs("second", adaEmail, false)
		i.signInAs("issuer", "mallory@evil.example", true)
		i.isOut(i.openLink(t))
	})
	t.Run("R-341 an account that is being linked meanwhile", func(t *testing.T) {
		store := newFaultyStore()
		i := newIntruder(t, func(c *latchkey.Config) { c.Adapter = store })
		i.store = store.inner
		i.signInAs("second", adaEmail, nil)
		i.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Email: "mallory@evil.example", EmailVerified: true})
		params := i.authResponse(i.browser, "issuer")
		var owner *browser
		store.afterwards("GetSessionAndUser", func() { owner = i.openLink(t) })
		refused(t, i.browser.callback("issuer", params))
		i.isOut(owner)
	})
	t.Run("R-341 what vouched for it stays, with its sessions", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		honest := s.newBrowser()
		s.mustSignIn(honest)
		owner := s.newBrowser()
		owner.get(owner.askForLink(adaEmail))
		live(t, honest)
		live(t, owner)
		if c := s.store.Contents(); len(c.Accounts) != 1 || len(c.Users) != 1 {
			t.Errorf("%d users, %d accounts", len(c.Users), len(c.Accounts))
		}
	})
	t.Run("R-341 of two accounts the one that vouched stays", func(t *testing.T) {
		i := newIntruder(t)
		i.signInAs("second", adaEmail, nil)
		u := i.store.Contents().Users[0]
		i.link(latchkey.Account{UserID: u.ID, Provider: "issuer", ProviderAccountID: "ada", Type: latchkey.TypeOIDC, Email: adaEmail, EmailVouched: true})
		i.isOut(i.openLink(t))
		if c := i.store.Contents().Accounts; len(c) != 2 || c[0].ProviderAccountID != "ada" || c[0].UserID != u.ID { // the other one is Mallory's own, later
			t.Errorf("accounts %+v", c)
		}
	})
	t.Run("R-341 by option a session is refused, too", func(t *testing.T) {
		i := newIntruder(t, func(c *latchkey.Config) { c.Security.RefuseEviction = true })
		i.addUser(latchkey.User{ID: "alice-1", Email: adaEmail})
		i.browser.signIn()
		owner := i.newBrowser()
		refused(t, owner.get(owner.askForLink(adaEmail)), "AccessDenied")
		live(t, i.browser)
	})
	t.Run("R-341 by option nobody is refused who was invited", func(t *testing.T) {
		i := newIntruder(t, func(c *latchkey.Config) { c.Security.RefuseEviction = true })
		i.addUser(latchkey.User{ID: "u1", Email: adaEmail})
		live(t, i.openLink(t))
	})
	t.Run("R-341 the end of sessions alone is told", func(t *testing.T) {
		var told []latchkey.EvictEvent
		i := newIntruder(t, func(c *latchkey.Config) {
			c.Events.Evict = func(_ context.Context, e latchkey.EvictEvent) error { told = append(told, e); return nil }
		})
		i.addUser(latchkey.User{ID: "alice-1", Email: adaEmail})
		i.browser.signIn()
		i.openLink(t)
		if len(told) != 1 || told[0].User.ID != "alice-1" {
			t.Errorf("told %+v", told)
		}
	})
}
