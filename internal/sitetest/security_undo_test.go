package sitetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// movedByThief is a site on which a thief with a session has moved Ann's address.
type movedByThief struct {
	*managedSite
	id    string
	thief *browser
	undo  string // path of the link in Ann's mailbox
}

const thiefMail = "thief@evil.example"

func newMovedByThief(t *testing.T, strategy latchkey.Strategy) *movedByThief {
	t.Helper()
	return moveByThief(newManagedSite(t, strategy))
}

func moveByThief(s *managedSite) *movedByThief {
	s.t.Helper()
	m := &movedByThief{managedSite: s, id: s.addUser(annMail, annsPass).ID, thief: s.newBrowser()}
	m.thief.tries(annMail, annsPass)
	m.thief.post("/auth/account?do=email", "email", thiefMail)
	m.undo = path(s.lastMail(latchkey.MessageEmailChange))
	m.thief.post(path(s.lastMail(latchkey.MessageNewEmail)))
	if got := s.address(m.id); got != thiefMail {
		s.t.Fatalf("the address is %q", got)
	}
	s.clock.Advance(time.Minute)
	return m
}

// a thief who asks for a second change gets a link to undo it, which must not
// outlive the undo of the first.
func TestUndoEndsLaterUndos(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newMovedByThief(t, strategy)
		s.thief.post("/auth/account?do=email", "email", "other@evil.example")
		later := s.lastMail(latchkey.MessageEmailChange)
		if later.To != thiefMail {
			t.Fatalf("the second mail went to %q", later.To)
		}
		s.clock.Advance(time.Hour)
		s.newBrowser().post(s.undo)
		if got := s.address(s.id); got != annMail {
			t.Fatalf("the address after the undo is %q", got)
		}
		s.clock.Advance(time.Hour)
		if a := s.newBrowser().post(path(later)); a.error() != "Verification" || s.address(s.id) != annMail {
			t.Errorf("to %q, the address is %q", a.location(), s.address(s.id))
		}
	})
}

// newIssuerManagedSite makes a site with passwords, links and an issuer.
func newIssuerManagedSite(t *testing.T, strategy latchkey.Strategy, change ...func(*latchkey.Config)) (*oauthSite, *managedSite) {
	t.Helper()
	m := &managedSite{hasher: &plainHasher{}}
	o := newOAuthSite(t, append([]func(*latchkey.Config){func(c *latchkey.Config) {
		c.Session.Strategy = strategy
		c.AccountPage.Enabled = true
		c.Providers = append(c.Providers, &latchkey.Password{Hasher: m.hasher, Weakness: weakness, MinLength: 8})
		c.Runtime.Background = func(f func(context.Context)) {
			m.clock.Advance(time.Millisecond) // mails leave after the answer
			f(context.Background())
		}
	}}, change...)...)
	m.testSite = o.testSite
	return o, m
}

// who takes the former address meanwhile does not block the undo.
func TestUndoFreesTheAddress(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		t.Run("from an account that has not proven it", func(t *testing.T) {
			o, m := newIssuerManagedSite(t, strategy)
			s, squatter := moveByThief(m), o.newBrowser()
			o.issuer.SignInAs(latchkeytest.Person{Subject: "squatter", Email: annMail})
			o.mustSignIn(squatter)
			s.clock.Advance(time.Hour)
			s.newBrowser().post(s.undo)
			s.clock.Advance(time.Minute)
			if got := s.address(s.id); got != annMail || squatter.isLive() {
				t.Errorf("the address is %q, the squatter is signed in: %t", got, squatter.isLive())
			}
		})
		t.Run("from the account that the owner has made by a link", func(t *testing.T) {
			s := newMovedByThief(t, strategy)
			owner := s.newBrowser()
			if a := owner.signInByLink(annMail); !a.signsIn() {
				t.Fatalf("to %q", a.location())
			}
			s.clock.Advance(time.Hour)
			s.newBrowser().post(s.undo)
			if got := s.address(s.id); got != annMail {
				t.Errorf("the address is %q", got)
			}
		})
		t.Run("not from an older user who has proven it", func(t *testing.T) {
			s := newMovedByThief(t, strategy)
			other, err := s.store.CreateUser(t.Context(), storage.User{Email: "other@example.com", Created: s.clock.Now().Add(-time.Hour)})
			if err == nil {
				_, err = s.store.UpdateUser(t.Context(), other.ID, storage.UserChange{Email: new(annMail), EmailVerified: new(s.clock.Now())})
			}
			if err != nil {
				t.Fatal(err)
			}
			if a := s.newBrowser().post(s.undo); a.error() != "Verification" || s.address(s.id) != thiefMail || s.address(other.ID) != annMail {
				t.Errorf("to %q, the addresses are %q and %q", a.location(), s.address(s.id), s.address(other.ID))
			}
		})
	})
}

// a provider vouches for Ada's address, so that its mailbox is told and has a way
// back.
func TestVouchedAddressMovesAsAProvenOne(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		o, m := newIssuerManagedSite(t, strategy)
		thief := o.newBrowser()
		o.mustSignIn(thief)
		u, err := m.store.GetUserByEmail(t.Context(), adaEmail)
		if err != nil || !u.EmailVerified.IsZero() {
			t.Fatalf("%+v, %v", u, err)
		}
		thief.post("/auth/account?do=email", "email", thiefMail)
		undo := m.lastMail(latchkey.MessageEmailChange)
		thief.post(path(m.lastMail(latchkey.MessageNewEmail)))
		if got := m.address(u.ID); undo.To != adaEmail || got != thiefMail {
			t.Fatalf("told %q, the address is %q", undo.To, got)
		}
		m.clock.Advance(time.Hour)
		m.newBrowser().post(path(undo))
		if got := m.address(u.ID); got != adaEmail {
			t.Errorf("the address is %q", got)
		}
	})
}

// the thief of a former mailbox undoes a change, and has no second factor removed.
func TestUndoCountsAsAChange(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s, f, _ := newGuardedSite(t, strategy, func(c *latchkey.Config) { c.Factors.RecoveryDelay = 72 * time.Hour })
		owner, thief := s.newBrowser(), s.newBrowser()
		owner.tries(annMail, annsPass)
		owner.factor("totp", f.code(0))
		owner.post("/auth/account?do=email", "email", "ann@new.example")
		undo := path(s.lastMail(latchkey.MessageEmailChange))
		owner.post(path(s.lastMail(latchkey.MessageNewEmail)))
		s.clock.Advance(time.Hour)
		thief.post(undo)
		if m := s.lastMail(latchkey.MessagePasswordChanged); m.To != "ann@new.example" {
			t.Errorf("told %q", m.To)
		}
		begins := func() bool {
			s.clock.Advance(time.Minute)
			before := len(s.sent())
			thief.signInByLink(annMail)
			thief.post("/auth/factor?do=lost")
			return slices.ContainsFunc(s.sent()[before:], func(m latchkey.Message) bool { return m.Kind == latchkey.MessageRecoveryStarted })
		}
		if begins() {
			t.Error("the removal begins right after the undo")
		}
		if s.clock.Advance(31 * 24 * time.Hour); !begins() {
			t.Error("the removal never begins")
		}
	})
}

// an earlier mail about a change silences no later one.
func TestEveryChangeOfAddressIsTold(t *testing.T) {
	s := newManagedSite(t, latchkey.DatabaseSessions)
	s.addUser(annMail, annsPass)
	b := s.newBrowser()
	b.tries(annMail, annsPass)
	for range 2 {
		before := len(s.sent())
		b.post("/auth/account?do=email", "email", thiefMail)
		if !slices.ContainsFunc(s.sent()[before:], func(m latchkey.Message) bool { return m.Kind == latchkey.MessageEmailChange && m.To == annMail }) {
			t.Error("untold")
		}
	}
}

// an account that a thief links between the change and its undo does not outlive the
// undo, also if the thief asks for a second change. What was there before stays.
func TestUndoUnlinksWhatTheThiefLinked(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		for name, asksAgain := range map[string]bool{"one change": false, "asked for again after linking": true} {
			t.Run(name, func(t *testing.T) {
				s := newManagedSite(t, strategy)
				id, thief := s.addUser(annMail, annsPass).ID, s.newBrowser()
				link := func(provider, account string) {
					t.Helper()
					a := storage.Account{UserID: id, Provider: provider, ProviderAccountID: account, Type: storage.TypeOAuth}
					if err := s.store.LinkAccount(t.Context(), a); err != nil {
						t.Fatal(err)
					}
				}
				link("acme", "of Ann")
				thief.tries(annMail, annsPass)
				asks := func() { thief.post("/auth/account?do=email", "email", thiefMail) }
				asks()
				s.clock.Advance(time.Minute)
				link("acme", "of the thief")
				if asksAgain {
					asks()
				}
				undo := path(s.lastMail(latchkey.MessageEmailChange))
				thief.post(path(s.lastMail(latchkey.MessageNewEmail)))
				link("acme", "of the thief, later")
				if got := s.address(id); got != thiefMail {
					t.Fatalf("the address is %q", got)
				}
				s.clock.Advance(time.Hour)
				s.newBrowser().post(undo)
				left, err := s.store.ListAccounts(t.Context(), id)
				if err != nil || s.address(id) != annMail || thief.isLive() || len(left) != 1 || left[0].ProviderAccountID != "of Ann" {
					t.Errorf("the address is %q, live: %t, accounts %+v, %v", s.address(id), thief.isLive(), left, err)
				}
			})
		}
	})
}

// recovery codes that a thief makes between the change and its undo do not outlive
// the undo. Those from before do. A mail tells of them.
func TestUndoRemovesNewRecoveryCodes(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		for name, makes := range map[string]bool{"new codes": true, "codes from before": false} {
			t.Run(name, func(t *testing.T) {
				s, f, u := newGuardedSite(t, strategy)
				thief := s.newBrowser()
				thief.tries(annMail, annsPass)
				thief.factor("totp", f.code(0))
				thief.post("/auth/account?do=email", "email", thiefMail)
				undo := path(s.lastMail(latchkey.MessageEmailChange))
				if makes {
					thief.post("/auth/account?do=recovery")
					if m := s.lastMail(latchkey.MessageRecoveryMade); m.To != annMail {
						t.Errorf("told %q", m.To)
					}
				}
				thief.post(path(s.lastMail(latchkey.MessageNewEmail)))
				if got := s.address(u.ID); got != thiefMail {
					t.Fatalf("the address is %q", got)
				}
				s.clock.Advance(time.Hour)
				s.newBrowser().post(undo)
				left := len(s.store.Contents().RecoveryCodes)
				if want := map[bool]int{false: len(f.codes)}[makes]; s.address(u.ID) != annMail || left != want {
					t.Errorf("the address is %q, %d codes are left, want %d", s.address(u.ID), left, want)
				}
			})
		}
	})
}

// the first address of a user tells no mailbox, and lets no factor be removed after a
// delay for 30 days.
func TestFirstAddressCountsAsAChange(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s, f, ann := newGuardedSite(t, strategy, func(c *latchkey.Config) { c.Factors.RecoveryDelay = 72 * time.Hour })
		thief := s.newBrowser()
		thief.tries(annMail, annsPass)
		thief.factor("totp", f.code(0))
		if _, err := s.store.UpdateUser(t.Context(), ann.ID, storage.UserChange{Email: new(""), EmailVerified: new(time.Time{})}); err != nil {
			t.Fatal(err)
		}
		thief.post("/auth/account?do=email", "email", thiefMail)
		thief.post(path(s.lastMail(latchkey.MessageNewEmail)))
		if got := s.address(ann.ID); got != thiefMail {
			t.Fatalf("the address is %q", got)
		}
		begins := func() bool {
			s.clock.Advance(time.Minute)
			before := len(s.sent())
			b := s.newBrowser()
			b.signInByLink(thiefMail)
			b.post("/auth/factor?do=lost")
			return slices.ContainsFunc(s.sent()[before:], func(m latchkey.Message) bool { return m.Kind == latchkey.MessageRecoveryStarted })
		}
		if begins() {
			t.Error("the removal begins right after the first address")
		}
		if s.clock.Advance(31 * 24 * time.Hour); !begins() {
			t.Error("the removal never begins")
		}
	})
}
