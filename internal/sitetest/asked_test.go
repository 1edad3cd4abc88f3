package sitetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// Callbacks.SignIn is asked about the user that the sign-in ends in.

// askedSite notes about whom the application was asked, and in whom each sign-in
// ended.
type askedSite struct {
	*oauthSite
	random *rand.Rand
	asked  []string // in the sign-in under way
	ended  string
	turns  int // how often others change the store meanwhile
}

func newAskedSite(t *testing.T, random *rand.Rand, change ...func(*latchkey.Config)) *askedSite {
	t.Helper()
	s := &askedSite{random: random}
	observe := func(c *latchkey.Config) {
		c.Callbacks.SignIn = func(ctx context.Context, a latchkey.SignInAttempt) error {
			if !a.VerificationRequest {
				s.asked = append(s.asked, a.User.ID)
				s.interfere(ctx, a)
			}
			return nil
		}
		c.Events.SignIn = func(_ context.Context, e latchkey.SignInEvent) error {
			s.ended = e.User.ID
			return nil
		}
	}
	linking := func(p *latchkey.OAuth) { p.AllowDangerousEmailAccountLinking = true }
	s.oauthSite = newOAuthSite(t, append([]func(*latchkey.Config){withIssuer(linking), second(unchanged), observe}, change...)...)
	return s
}

// interfere does what others may do between the question and the end of a sign-in.
func (s *askedSite) interfere(ctx context.Context, a latchkey.SignInAttempt) {
	if s.turns == 0 || s.random.IntN(2) == 0 {
		return
	}
	s.turns--
	users := s.store.Contents().Users
	switch s.random.IntN(4) {
	case 0:
		_, _ = s.store.CreateUser(ctx, storage.User{Email: a.User.Email, EmailVerified: s.clock.Now()})
	case 1:
		if len(users) > 0 {
			row := storage.Account{Provider: a.Account.Provider, ProviderAccountID: a.Account.ProviderAccountID, Type: a.Account.Type}
			row.UserID = users[s.random.IntN(len(users))].ID
			_ = s.store.LinkAccount(ctx, row)
		}
	case 2:
		_, _ = s.store.DeleteUser(ctx, a.User.ID)
	case 3:
		_, _ = s.store.UnlinkAccount(ctx, a.Account.Provider, a.Account.ProviderAccountID)
	}
}

// try signs in in one of the ways, and compares.
func (s *askedSite) try(b *browser) {
	s.t.Helper()
	s.asked, s.ended, s.turns = nil, "", 2
	who := []string{"ada", "bob", "eve"}[s.random.IntN(3)]
	email := who + "@example.com"
	s.issuer.SignInAs(latchkeytest.Person{Subject: who, Email: email, EmailVerified: s.random.IntN(2) == 0})
	var a *answer
	switch s.random.IntN(4) {
	case 0:
		a = b.signInByLink(email)
	case 1:
		a = b.callback("second", s.authResponse(b, "second"))
	default:
		a = s.signIn(b)
	}
	if s.ended == "" {
		return
	}
	if !a.signsIn() || !slices.Contains(s.asked, s.ended) {
		s.t.Fatalf("signed in as %s, and asked about %q\n%s", s.ended, s.asked, s.log.text())
	}
}

// TestAskedAboutWhoComesIn signs in at random, by link and by providers of which one
// links by e-mail address, signed in or not, while others create, link, unlink and
// delete users. However it ends, the application was asked about the user that it
// ends in. Against the code before R-506 it found that linking by an e-mail address,
// linking to the signed-in user and every change in between were asked about with a
// made-up id.
func TestAskedAboutWhoComesIn(t *testing.T) {
	seed, steps := race.Steps(t, 60)
	halfDone := newFaultyStore()
	for kind, change := range map[string]func(*latchkey.Config){
		"rows": stored, "tokens": revocable, "no transactions": func(c *latchkey.Config) { c.Adapter = halfDone.withoutTx() },
	} {
		t.Run("R-506 "+kind, func(t *testing.T) {
			s := newAskedSite(t, rand.New(rand.NewPCG(seed, 6)), change)
			if kind == "no transactions" {
				s.store = halfDone.inner
			}
			b := s.newBrowser()
			for range steps {
				if s.random.IntN(3) == 0 {
					b = s.newBrowser()
				}
				s.clock.Advance(time.Hour) // no limit is reached
				s.try(b)
			}
		})
	}
}

// a user who is banned stays out, whichever way leads to them.
func TestBannedUsersStayOut(t *testing.T) {
	newBannedSite := func(t *testing.T) (*oauthSite, *browser, string) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.AllowDangerousEmailAccountLinking = true }), func(c *latchkey.Config) {
			c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
				if a.User.ID == "banned" {
					return errors.New("banned")
				}
				return nil
			}
		})
		b := s.newBrowser()
		b.post("/auth/signin/post", "email", "ada@example.com") // nobody is banned yet
		links := s.sent()
		if _, err := s.store.CreateUser(t.Context(), storage.User{ID: "banned", Email: "ada@example.com", EmailVerified: s.clock.Now()}); err != nil {
			t.Fatal(err)
		}
		return s, b, links[len(links)-1].URL
	}
	t.Run("R-506 by a linked e-mail address", func(t *testing.T) {
		s, b, _ := newBannedSite(t)
		before := s.contents()
		refused(t, s.signIn(b), "AccessDenied")
		s.noWrite(t, before)
	})
	t.Run("R-506 by a magic link that was sent before", func(t *testing.T) {
		_, b, link := newBannedSite(t)
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, b.get(u.RequestURI()), "AccessDenied")
	})
}

// TestAskedAgainAboutAnother moves the account to another user while the application is
// asked about the first. What was found out about the first user must not count for the
// second.
func TestAskedAgainAboutAnother(t *testing.T) {
	var move func(latchkey.SignInAttempt)
	newMovingSite := func(t *testing.T, change ...func(*latchkey.Config)) (s *oauthSite, ada string) {
		move = nil
		s = newOAuthSite(t, append([]func(*latchkey.Config){withFactors, func(c *latchkey.Config) {
			c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
				if next := move; next != nil {
					move = nil
					next(a)
				}
				return nil
			}
		}}, change...)...)
		b := s.newBrowser()
		s.mustSignIn(b)
		return s, s.sessionOf(b).UserID
	}
	toBob := func(s *oauthSite) func(latchkey.SignInAttempt) {
		return func(a latchkey.SignInAttempt) {
			row := storage.Account{UserID: "bob", Provider: a.Account.Provider, ProviderAccountID: a.Account.ProviderAccountID, Type: a.Account.Type}
			_, unlinked := s.store.UnlinkAccount(s.t.Context(), row.Provider, row.ProviderAccountID)
			_, created := s.store.CreateUser(s.t.Context(), storage.User{ID: "bob"})
			if err := errors.Join(unlinked, created, s.store.LinkAccount(s.t.Context(), row)); err != nil {
				s.t.Error(err)
			}
		}
	}
	signInAsBob := func(t *testing.T, s *oauthSite, b *browser) (*answer, *latchkey.Session) {
		t.Helper()
		move = toBob(s)
		a := s.signIn(b)
		got := s.sessionOf(b)
		if got == nil || got.UserID != "bob" {
			t.Fatalf("leads to %q with session %+v\n%s", a.location(), got, s.log.text())
		}
		return a, got
	}
	t.Run("R-506 F-058 a browser that the first user trusts", func(t *testing.T) {
		s, ada := newMovingSite(t)
		f := &factorSite{testSite: s.testSite}
		f.enrol(ada)
		b := s.newBrowser()
		s.signIn(b)
		if a := b.factor("totp", f.code(0), "remember", "yes"); !a.signsIn() {
			t.Fatalf("leads to %q", a.location())
		}
		b.post("/auth/signout")
		s.clock.Advance(time.Minute)
		if _, got := signInAsBob(t, s, b); slices.Contains(got.AMR, "browser") {
			t.Errorf("amr %q", got.AMR)
		}
	})
	t.Run("R-506 a reminder to the first user", func(t *testing.T) {
		s, _ := newMovingSite(t, func(c *latchkey.Config) {
			c.Factors.Require = func(_ context.Context, q latchkey.FactorQuestion) (latchkey.FactorDemand, error) {
				if q.User.ID == "bob" {
					return latchkey.FactorDemand{}, nil
				}
				return latchkey.FactorDemand{Need: latchkey.FactorRequired, Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}, nil
			}
		})
		if a, _ := signInAsBob(t, s, s.newBrowser()); strings.Contains(a.location(), "do=later") {
			t.Errorf("leads to %q", a.location())
		}
	})
}

// swapping is a store without transactions that replaces tokens.
type swapping struct {
	noTx
	storage.TokenAdapter
}

// an account that gets its owner back while a sign-in with it is completed ends
// like one that never lost it: with the new tokens.
func TestAccountThatIsLinkedMeanwhile(t *testing.T) {
	store := newFaultyStore()
	var unlink func()
	s := &tokenSite{oauthSite: newOAuthSite(t, func(c *latchkey.Config) {
		c.Adapter = swapping{noTx{store, store, store, store, store.inner}, store.inner}
		c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error {
			if f := unlink; f != nil {
				unlink = nil
				f()
			}
			return nil
		}
	})}
	s.store = store.inner
	s.mustSignIn(s.newBrowser())
	before := s.row(t)
	unlink = func() {
		if _, err := store.inner.UnlinkAccount(t.Context(), before.Provider, before.ProviderAccountID); err != nil {
			t.Error(err)
		}
		store.afterwards("GetUserByEmail", func() {
			if err := store.inner.LinkAccount(t.Context(), before); err != nil {
				t.Error(err)
			}
		})
	}
	if a := s.signIn(s.newBrowser()); !a.signsIn() {
		t.Fatalf("leads to %q\n%s", a.location(), s.log.text())
	}
	if after := s.row(t); after.UserID != before.UserID || after.Tokens.AccessToken == before.Tokens.AccessToken {
		t.Errorf("R-188: the tokens are those of before")
	}
}
