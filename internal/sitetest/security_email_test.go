package sitetest

import (
	"context"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// linksByEmail lets the issuer's word about an e-mail address link accounts.
func linksByEmail(p *latchkey.OAuth) { p.AllowDangerousEmailAccountLinking = true }

// asciiTwins are e-mail addresses that careless folding makes others of. Those
// that are typed so may be meant, as on East Asian keyboards.
var asciiTwins = map[string]struct {
	said, victim string
	typed        bool
}{
	"a dotted I":         {"victim@g\u0130thub.example", "victim@github.example", false},
	"in two pieces":      {"victim@gI\u0307thub.example", "victim@github.example", false},
	"a Kelvin sign":      {"mi\u212ae@example.com", "mike@example.com", false},
	"a long s":           {"\u017fam@example.com", "sam@example.com", false},
	"a ligature":         {"\ufb01nn@example.com", "finn@example.com", false},
	"full-width letters": {"\uff41da@example.com", "ada@example.com", true},
	"a full-width sign":  {"ada\uff20example.com", "ada@example.com", true},
}

func TestEmailsThatBecomeASCII(t *testing.T) {
	for name, twin := range asciiTwins {
		t.Run("R-347 said by a provider: "+name, func(t *testing.T) {
			s := newOAuthSite(t, stored, withIssuer(linksByEmail))
			s.addUser(latchkey.User{ID: "u1", Email: twin.victim, EmailVerified: s.clock.Now()})
			s.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Email: twin.said, EmailVerified: true})
			before := s.contents()
			refused(t, s.signIn(s.newBrowser()), "Configuration")
			s.noWrite(t, before)
		})
		t.Run("R-347 typed: "+name, func(t *testing.T) {
			s := newSite(t)
			a := s.newBrowser().post("/auth/signin/post", "email", twin.said)
			links := s.sent()
			if twin.typed { // its owner gets the link
				if len(links) != 1 || links[0].To != twin.victim {
					t.Errorf("links %v", links)
				}
				return
			}
			refused(t, a, "Configuration")
			if len(links) != 0 {
				t.Errorf("a link went to %q", links[0].To)
			}
		})
		t.Run("R-347 after the operator's own normalisation: "+name, func(t *testing.T) {
			s := newSite(t, withEmailProvider(func(p *latchkey.Email) {
				p.Normalize = func(typed string) (string, error) { return typed, nil }
			}))
			refused(t, s.newBrowser().post("/auth/signin/post", "email", twin.said), "Configuration")
		})
		t.Run("R-347 checked by the application: "+name, func(t *testing.T) {
			s := newSite(t, withUser(latchkey.User{ID: "alice-1", Email: twin.said}))
			refused(t, s.newBrowser().post("/auth/callback/crew", "username", "alice"), "Configuration")
		})
	}
}

// withUser makes credentials let everybody in as u.
func withUser(u latchkey.User) func(*latchkey.Config) {
	return func(c *latchkey.Config) {
		c.Providers[0].(*latchkey.Credentials).Authorize = func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
			return u, nil
		}
	}
}

// TestOneEmailOneUser: however an e-mail address is spelled, and whoever says
// it, it is one.
func TestOneEmailOneUser(t *testing.T) {
	for name, forms := range map[string]struct{ said, typed, want string }{
		"R-347 composed or not":  {"Zoe\u0308@example.com", "ZO\u00cb@example.com", "zo\u00eb@example.com"},
		"R-347 case and spaces":  {" Ada@Example.COM", "ADA@example.com ", "ada@example.com"},
		"R-371 a Unicode domain": {"ada@bu\u0308cher.example", "ada@B\u00dcCHER.example", "ada@xn--bcher-kva.example"},
		"R-371 typed in ASCII":   {"ada@b\u00fccher.example", "ada@XN--BCHER-kva.example", "ada@xn--bcher-kva.example"},
		"R-371 a script of Asia": {"ada@\u4f8b\u3048.example", "ada@xn--r8jz45g.example", "ada@xn--r8jz45g.example"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newOAuthSite(t, stored)
			s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Email: forms.said, EmailVerified: true})
			s.mustSignIn(s.newBrowser())
			b := s.newBrowser()
			if a := b.get(b.askForLink(forms.typed)); !a.signsIn() {
				t.Fatalf("to %q", a.location())
			}
			c := s.store.Contents()
			if len(c.Users) != 1 || c.Users[0].Email != forms.want || c.Accounts[0].Email != forms.want {
				t.Errorf("users %+v, accounts %+v", c.Users, c.Accounts)
			}
			if to := s.sent()[0].To; to != forms.want {
				t.Errorf("the mail went to %q", to)
			}
		})
		t.Run(name+", checked by the application", func(t *testing.T) {
			s := newSite(t, withUser(latchkey.User{ID: "alice-1", Email: forms.said}))
			b := s.newBrowser()
			b.post("/auth/callback/crew", "username", "alice")
			if live := b.session(); !strings.Contains(live, `"`+forms.want+`"`) {
				t.Errorf("the session is %s", live)
			}
		})
	}
}

func TestEmailVerifiedVouchesForItsClaim(t *testing.T) {
	upn := func(trust latchkey.EmailTrust) func(*latchkey.OAuth) {
		return func(p *latchkey.OAuth) {
			linksByEmail(p)
			p.Identify = func(g latchkey.Grant) (latchkey.Identity, error) {
				return latchkey.Identity{Subject: g.Profile.String("sub"), Email: g.Profile.String("upn"), EmailTrust: trust}, nil
			}
		}
	}
	for _, c := range []struct {
		name, email, upn string
		trust            latchkey.EmailTrust
		links            bool
	}{
		{"another claim", "mallory@evil.example", adaEmail, latchkey.EmailTrustUnknown, false},
		{"a claim without the one that is vouched for", "", adaEmail, latchkey.EmailTrustUnknown, false},
		{"a claim that folds into another", "\u212ate@evil.example", "kte@evil.example", latchkey.EmailTrustUnknown, false},
		{"the same e-mail address in two claims", "ADA@example.com", adaEmail, latchkey.EmailTrustUnknown, true},
		{"a mapping that vouches itself", "mallory@evil.example", adaEmail, latchkey.EmailProven, true},
		{"a mapping that does not", adaEmail, adaEmail, latchkey.EmailUnproven, false},
	} {
		t.Run("R-348 "+c.name, func(t *testing.T) {
			s := newOAuthSite(t, stored, withIssuer(upn(c.trust)))
			s.addUser(latchkey.User{ID: "u1", Email: c.upn, EmailVerified: s.clock.Now()})
			s.issuer.SignInAs(latchkeytest.Person{
				Subject: "mallory", Email: c.email, EmailVerified: true, Claims: map[string]any{"upn": c.upn},
			})
			before, a := s.contents(), s.signIn(s.newBrowser())
			if !c.links {
				refused(t, a, "OAuthAccountNotLinked")
				s.noWrite(t, before)
				return
			}
			if accounts := s.store.Contents().Accounts; !a.signsIn() || len(accounts) != 1 || !accounts[0].EmailVouched {
				t.Errorf("to %q, accounts %+v", a.location(), accounts)
			}
		})
	}
	t.Run("R-348 what is not vouched for is stored so", func(t *testing.T) {
		s := newOAuthSite(t, stored, withIssuer(upn(latchkey.EmailTrustUnknown)))
		s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Email: "other@example.com", EmailVerified: true, Claims: map[string]any{"upn": adaEmail}})
		s.mustSignIn(s.newBrowser())
		if a := s.store.Contents().Accounts[0]; a.Email != adaEmail || a.EmailVouched {
			t.Errorf("the account says %q, vouched for: %t", a.Email, a.EmailVouched)
		}
	})
}

func TestMailboxOption(t *testing.T) {
	for _, email := range []string{"-oQ/tmp@example.com", "-ada@example.com", " -ada@example.com"} {
		t.Run("R-395 "+email, func(t *testing.T) {
			s := newSite(t)
			refused(t, s.newBrowser().post("/auth/signin/post", "email", email), "Configuration")
			if len(s.sent()) != 0 {
				t.Errorf("a link went to %q", s.sent()[0].To)
			}
		})
	}
}

// A provider that proves no address vouches for none, whatever a profile says.
func TestProviderThatProvesNothing(t *testing.T) {
	t.Run("R-551 its email_verified links nobody", func(t *testing.T) {
		s := newOAuthSite(t, stored, withIssuer(func(p *latchkey.OAuth) {
			linksByEmail(p)
			p.EmailTrust = latchkey.EmailUnproven
		}))
		s.addUser(latchkey.User{ID: "u1", Email: adaEmail, EmailVerified: s.clock.Now()})
		s.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Email: adaEmail, EmailVerified: true})
		before, a := s.contents(), s.signIn(s.newBrowser())
		refused(t, a, "OAuthAccountNotLinked")
		s.noWrite(t, before)
	})
}

// A callback that gives rights by User.Email gives none for an address that nobody
// has proven.
func TestHardenedHidesUnprovenAddresses(t *testing.T) {
	for _, c := range []struct {
		name     string
		hardened bool
		verified bool
		want     string
	}{
		{"hardened, unproven", true, false, ""},
		{"hardened, vouched for", true, true, adaEmail},
		{"as configured by default", false, false, adaEmail},
	} {
		t.Run("R-551 "+c.name, func(t *testing.T) {
			var asked, told string
			s := newOAuthSite(t, func(k *latchkey.Config) {
				k.Hardened = c.hardened
				k.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
					asked = a.User.Email
					return nil
				}
				k.Callbacks.Token = func(_ context.Context, i latchkey.TokenInfo) (latchkey.Claims, error) {
					if i.User != nil {
						told = i.User.Email
					}
					return i.Claims, nil
				}
			})
			s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Email: adaEmail, EmailVerified: c.verified})
			s.mustSignIn(s.newBrowser())
			if asked != c.want || told != c.want {
				t.Errorf("Callbacks.SignIn got %q, Callbacks.Token %q, want %q", asked, told, c.want)
			}
		})
	}
}
