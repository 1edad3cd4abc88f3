package mongoadapter_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

var writes = []string{"insert", "update", "delete", "findAndModify"}

// stop has everything fail from the nth write on; that one is done all the same, if
// done. It says afterwards whether there was one.
func (s *server) stop(n int, done bool) (stopped func() bool) {
	seen := 0
	s.Meet(func(command string) realservers.Fate {
		if slices.Contains(writes, command) {
			seen++
		}
		switch {
		case seen < n:
			return realservers.Passed
		case seen == n && done:
			seen++ // what follows fails
			return realservers.Misreported
		}
		seen = n + 1
		return realservers.Failed
	})
	return func() bool {
		s.Meet(nil)
		return seen > n
	}
}

// site is one on the store, at which people sign in by a provider or by mail.
type site struct {
	t      *testing.T
	auth   *latchkey.Auth
	store  *mongoadapter.Adapter
	db     *mongo.Database
	issuer *latchkeytest.Issuer
	box    *latchkeytest.Mailbox
}

func newSite(t *testing.T, db *mongo.Database, issuer *latchkeytest.Issuer) *site {
	t.Helper()
	s := &site{t: t, db: db, store: newAdapter(t, db, mongoadapter.Options{}), issuer: issuer, box: &latchkeytest.Mailbox{}}
	var err error
	s.auth, err = latchkey.New(latchkey.Config{
		Site:      latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Secrets:   []string{"a secret of a good length for all tests"},
		Adapter:   s.store,
		Session:   latchkey.SessionConfig{Strategy: latchkey.DatabaseSessions},
		Limits:    latchkey.Limits{Disabled: true},
		Runtime:   latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{issuer.Provider(), &latchkey.Email{Send: s.box.Send}},
	})
	ok(t, err)
	return s
}

func (s *site) browser() *latchkeytest.Client { return latchkeytest.NewClient(s.t, s.auth) }

// tryEmail is a sign-in by mail that may end anywhere.
func (s *site) tryEmail(email string) {
	b := s.browser()
	b.Post("/auth/signin/email", url.Values{"csrfToken": {b.CSRFToken()}, "email": {email}})
	if links := s.box.Messages(email); len(links) > 0 {
		b.Get(links[len(links)-1].URL)
	}
}

// holds counts the documents of a collection.
func (s *site) holds(want map[string]int64) {
	s.t.Helper()
	for name, n := range want {
		if got, err := s.db.Collection(name).CountDocuments(s.t.Context(), bson.D{}); err != nil || got != n {
			s.t.Errorf("%s: %d documents, want %d, error %v", name, got, n, err)
		}
	}
}

var (
	ada = latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com"}
	eve = latchkeytest.Person{Subject: "eve", Name: "Eve", Email: "ada@example.com"}
)

// eachStop does act once for each write that it makes, and stops it there, before or
// after; then it proves that all is well.
func eachStop(t *testing.T, prepare, act, prove func(s *site)) {
	server, issuer := start(t), latchkeytest.NewIssuer(t)
	again, writes := server.reused(t), 0
	for _, done := range []bool{false, true} {
		for n, more := 1, true; more; n++ {
			s := newSite(t, again(t), issuer)
			prepare(s)
			stopped := server.stop(n, done)
			act(s)
			if more = stopped(); more {
				writes = max(writes, n)
			}
			prove(s)
			if t.Failed() {
				t.Fatalf("after the stop at write %d, done: %t", n, done)
			}
		}
	}
	t.Logf("%d writes", writes)
	if writes < 2 {
		t.Errorf("there were only %d writes to stop at", writes)
	}
}

func nothing(*site) {}

// TestSignUpIsStopped. Whoever was cut short gets in at the next try, as
// one user with one account; somebody else with the same e-mail address does not.
func TestSignUpIsStopped(t *testing.T) {
	eachStop(t, nothing, func(s *site) {
		s.issuer.SignInAs(ada)
		s.browser().TrySignIn(s.issuer)
	}, func(s *site) {
		s.issuer.SignInAs(eve)
		other := s.browser()
		if other.TrySignIn(s.issuer); other.Session() != nil { // unless ada has nothing yet
			s.holds(map[string]int64{"users": 1, "accounts": 1})
			return
		}
		s.issuer.SignInAs(ada)
		s.browser().SignIn(s.issuer)
		s.holds(map[string]int64{"users": 1, "accounts": 1})
		if other.TrySignIn(s.issuer); other.Session() == nil {
			s.t.Error("R-186: ada is not in")
		}
	})
}

// TestFirstProofIsStopped. What somebody attached to an e-mail address
// that was not theirs is gone when its owner is in, wherever an earlier try ended.
func TestFirstProofIsStopped(t *testing.T) {
	var squatter *latchkeytest.Client
	eachStop(t, func(s *site) {
		s.issuer.SignInAs(eve)
		squatter = s.browser()
		squatter.SignIn(s.issuer)
	}, func(s *site) {
		s.tryEmail("ada@example.com")
	}, func(s *site) {
		b := s.browser()
		b.SignInByEmail("ada@example.com", s.box)
		if squatter.Session() != nil {
			s.t.Error("R-074: the squatter is still in")
		}
		s.issuer.SignInAs(eve)
		if squatter.TrySignIn(s.issuer); squatter.Session() != nil {
			s.t.Error("R-074: the squatter is in again")
		}
		s.holds(map[string]int64{"users": 1, "accounts": 0})
	})
}

// TestDeletionIsStopped: R-186. Whoever was being deleted is nobody, or as they were,
// and the next call finishes it; so does whoever signs up with the e-mail address.
func TestDeletionIsStopped(t *testing.T) {
	var former *latchkeytest.Client
	var id string
	signedUp := func(s *site) {
		s.issuer.SignInAs(ada)
		former = s.browser()
		former.SignIn(s.issuer)
		u, err := s.store.GetUserByEmail(s.t.Context(), ada.Email)
		ok(s.t, err)
		id = u.ID
		ok(s.t, s.store.CreateAuthenticator(s.t.Context(), storage.Authenticator{CredentialID: []byte("key"), UserID: id}))
	}
	remove := func(s *site) { _, _ = s.store.DeleteUser(s.t.Context(), id) }
	t.Run("and tried again", func(t *testing.T) {
		eachStop(t, signedUp, remove, func(s *site) {
			if u, err := s.store.DeleteUser(s.t.Context(), id); err == nil && u.Email != ada.Email {
				s.t.Errorf("DeleteUser returns %v", u)
			} else if err != nil && !errors.Is(err, storage.ErrNotFound) {
				s.t.Errorf("DeleteUser: %v", err)
			}
			s.holds(map[string]int64{"users": 0, "accounts": 0, "sessions": 0, "authenticators": 0})
			if former.Session() != nil {
				s.t.Error("a deleted user is signed in")
			}
		})
	})
	t.Run("and they sign up again", func(t *testing.T) {
		eachStop(t, signedUp, remove, func(s *site) {
			_, err := s.store.GetUser(s.t.Context(), id)
			begun := errors.Is(err, storage.ErrNotFound)
			if begun && former.Session() != nil {
				s.t.Error("a user who is nobody is signed in")
			}
			b := s.browser()
			b.SignIn(s.issuer)
			s.holds(map[string]int64{"users": 1, "accounts": 1})
			u, err := s.store.GetUserByEmail(s.t.Context(), ada.Email)
			ok(s.t, err)
			if begun == (u.ID == id) {
				s.t.Errorf("the deletion had begun: %t; the user is the same: %t", begun, u.ID == id)
			}
			if begun {
				s.holds(map[string]int64{"authenticators": 0})
			}
		})
	})
}

// TestFaults: S-069. A command that is done and not answered, or refused by a server
// that is no longer the primary, is an error, and is done once or not at all.
func TestFaults(t *testing.T) {
	s := start(t)
	again := s.reused(t)
	at := time.Date(2031, 5, 17, 22, 30, 15, 0, time.UTC)
	calls := map[string]struct {
		collection string
		add        int64 // documents, when it is done
		call       func(context.Context, *mongoadapter.Adapter, storage.User) error
	}{
		"CreateUser": {"users", 1, func(ctx context.Context, a *mongoadapter.Adapter, _ storage.User) error {
			_, err := a.CreateUser(ctx, storage.User{Email: "new@example.com"})
			return err
		}},
		"LinkAccount": {"accounts", 1, func(ctx context.Context, a *mongoadapter.Adapter, u storage.User) error {
			return a.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1"})
		}},
		"DeleteSession": {"sessions", -1, func(ctx context.Context, a *mongoadapter.Adapter, _ storage.User) error {
			_, err := a.DeleteSession(ctx, "t")
			return err
		}},
		"UseVerificationToken": {"verification_tokens", -1, func(ctx context.Context, a *mongoadapter.Adapter, _ storage.User) error {
			_, err := a.UseVerificationToken(ctx, "ada@example.com", "t")
			return err
		}},
		"Use": {"used_values", 1, func(ctx context.Context, a *mongoadapter.Adapter, _ storage.User) error {
			_, err := a.Use(ctx, "k", at)
			return err
		}},
		"Take": {"limits", 1, func(ctx context.Context, a *mongoadapter.Adapter, _ storage.User) error {
			_, err := a.Take(ctx, "k", storage.Rate{Events: 1, Per: time.Hour})
			return err
		}},
	}
	for fate, done := range map[realservers.Fate]int64{realservers.Unanswered: 1, realservers.Cut: 0, realservers.Refused: 0} {
		for name, c := range calls {
			t.Run(fmt.Sprint(name, " ", fate), func(t *testing.T) {
				db := again(t)
				quiet := newAdapter(t, db, mongoadapter.Options{})
				u, err := quiet.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
				ok(t, err)
				ok(t, quiet.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID, Expires: at}))
				ok(t, quiet.CreateVerificationToken(t.Context(), storage.VerificationToken{Identifier: "ada@example.com", Token: "t", Expires: at}))
				before, err := db.Collection(c.collection).CountDocuments(t.Context(), bson.D{})
				ok(t, err)
				a := newAdapter(t, s.connect(t).Database(db.Name()), mongoadapter.Options{})
				met := 0
				s.Meet(func(command string) realservers.Fate {
					if met++; slices.Contains(writes, command) {
						return fate
					}
					return realservers.Passed
				})
				err = c.call(t.Context(), a, u)
				s.Meet(nil)
				if err == nil || errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrConflict) || met == 0 {
					t.Errorf("got error %v", err)
				}
				after, err := db.Collection(c.collection).CountDocuments(t.Context(), bson.D{})
				if want := before + done*c.add; err != nil || after != want {
					t.Errorf("%d documents, want %d, error %v", after, want, err)
				}
				if name == "Take" { // once for each: the client that met it goes on
					_, err := a.GetUser(t.Context(), u.ID)
					ok(t, err)
				}
			})
		}
	}
}

// TestOutageIsNoConflict: R-756. If it cannot be found out whether the holder of an
// address is being deleted, the address does not count as taken.
func TestOutageIsNoConflict(t *testing.T) {
	s := start(t)
	db := s.migrated(t)
	_, err := newAdapter(t, db, mongoadapter.Options{}).CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	ok(t, err)
	a := newAdapter(t, s.connect(t).Database(db.Name()), mongoadapter.Options{})
	inserted := false
	s.Meet(func(command string) realservers.Fate {
		inserted = inserted || command == "insert"
		if inserted && command == "find" {
			return realservers.Refused
		}
		return realservers.Passed
	})
	_, err = a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	s.Meet(nil)
	if err == nil || errors.Is(err, storage.ErrConflict) || !inserted {
		t.Errorf("during an outage: %v", err)
	}
}
