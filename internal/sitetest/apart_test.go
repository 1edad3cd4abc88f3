package sitetest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// apartStore keeps sessions of users whom it does not know, and fails as planned.
type apartStore struct{ *faultyStore }

func newApartStore() apartStore { return apartStore{newFaultyStore()} }

func (s apartStore) CreateSession(ctx context.Context, row storage.StoredSession) error {
	_, _ = s.inner.CreateUser(ctx, latchkey.User{ID: row.UserID}) // or knows them from before
	return s.faultyStore.CreateSession(ctx, row)
}

func (s apartStore) count() int { return len(s.inner.Contents().Sessions) }

// sessionsApart keeps sessions in rows of a store of their own.
func sessionsApart(c *latchkey.Config) {
	stored(c)
	c.Session.Store = newApartStore()
}

// newApartSite has two stores, both of which fail as planned.
func newApartSite(t *testing.T, change ...func(*latchkey.Config)) (s *oauthSite, users *faultyStore, sessions apartStore) {
	t.Helper()
	users, sessions = newFaultyStore(), newApartStore()
	s = newOAuthSite(t, append([]func(*latchkey.Config){func(c *latchkey.Config) {
		stored(c)
		c.Adapter, c.Session.Store = users, sessions
		c.Limits.StoreTimeout, c.Limits.Disabled = 300*time.Millisecond, true
	}}, change...)...)
	s.store = users.inner
	return s, users, sessions
}

// apartCalls is what each flow asks of the store of sessions.
var apartCalls = map[string]string{
	"sign-up": "CreateSession", "sign-in": "CreateSession", "linking": "GetSession CreateSession DeleteSession",
	"asking for a link": "", "using a link": "CreateSession", "using a link to an unproven e-mail": "ListSessions CreateSession",
	"reading": "GetSession UpdateSession", "signing out": "DeleteSession",
}

// S-027: a store of sessions that fails at each of its calls in turn.
func TestApartFaults(t *testing.T) {
	for _, f := range flows {
		for method := range strings.FieldsSeq(apartCalls[f.name]) {
			for _, kind := range []fault{faultBefore, faultAfter, faultHang, faultPanic, faultLie} {
				t.Run("S-027 "+f.name+", "+method+", "+string(kind), func(t *testing.T) {
					t.Parallel()
					s, users, sessions := newApartSite(t)
					disturbApart(t, s, users, sessions, f, method, kind)
				})
			}
		}
	}
}

func disturbApart(t *testing.T, s *oauthSite, users *faultyStore, sessions apartStore, f flow, method string, kind fault) {
	b := s.newBrowser()
	step := f.prepare(s, b)
	before, open := users.inner.Contents(), sessions.count()
	sessions.plan.called = map[string]bool{}
	sessions.fail(method, kind)
	a := step()
	if !sessions.plan.called[method] {
		t.Fatalf("%s was not called", method)
	}
	if a.Code != http.StatusFound && a.Code != http.StatusOK {
		t.Errorf("answered %d", a.Code)
	}
	lied, reads, ends := kind == faultLie, f.name == "reading", f.name == "signing out"
	switch {
	case ends:
		cleared(t, a, "session-token")
	case reads && !lied:
		if a.Body.String() != "null" || a.cookie("session-token") != nil {
			t.Errorf("answered %s with cookie %v", a.Body, a.cookie("session-token"))
		}
	case !reads && !lied:
		refused(t, a)
	}
	sessions.mend()
	after := users.inner.Contents()
	whole(t, before, after, lied, true)
	if proven := provenUsers(after) - provenUsers(before); !lied && method == "ListSessions" && proven > 0 {
		t.Error("C1 an e-mail address was proven though sessions could not be ended")
	}
	undeletable := method == "DeleteSession" // what was opened meanwhile, nobody has the token of
	if now := sessions.count(); !lied && kind != faultAfter && !undeletable && now > open {
		t.Errorf("C2 %d sessions are open, before there were %d", now, open)
	}
	if f.name == "linking" && !lied && len(after.Accounts) > len(before.Accounts) {
		t.Error("R-342 the account is linked, though that was refused")
	}
	if reads { // a fault signs nobody out
		live(t, b)
	}
	if now := b.session(); now != "null" && !strings.Contains(now, f.person) {
		t.Errorf("after the fault the session is %s", now)
	}
	if !lied {
		recovers(t, s, f)
	}
}

func provenUsers(c memoryadapter.Contents) (n int) {
	for _, u := range c.Users {
		if !u.EmailVerified.IsZero() {
			n++
		}
	}
	return n
}

// S-027: the rest of C2 and C4.
func TestApartDeletions(t *testing.T) {
	t.Run("S-027 C2 a session that cannot be replaced leaves no new one", func(t *testing.T) {
		for name, come := range map[string]func(s *oauthSite, b *browser) *answer{
			"signing in again": func(s *oauthSite, b *browser) *answer {
				s.mustSignIn(b)
				return s.signIn(b)
			},
			"linking": func(s *oauthSite, b *browser) *answer {
				b.get(b.askForLink("grace@example.com"))
				return s.signIn(b)
			},
		} {
			sessions := &failsOnce{apartStore: newApartStore()}
			s, _, _ := newApartSite(t, func(c *latchkey.Config) { c.Session.Store = sessions })
			b := s.newBrowser()
			refused(t, come(s, b))
			if n := sessions.count(); n != 1 || !sessions.failed.Load() {
				t.Errorf("%s: %d sessions are open, want the former one", name, n)
			}
			live(t, b)
		}
	})
	t.Run("S-030 a user whose sessions cannot be deleted", func(t *testing.T) {
		s, users, sessions := newApartSite(t)
		b := s.newBrowser()
		s.mustSignIn(b)
		id := users.inner.Contents().Users[0].ID
		sessions.fail("DeleteSessions", faultBefore)
		c := s.config
		c.Adapter = users.inner
		auth, err := latchkey.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := auth.Users().Delete(t.Context(), id); !errors.Is(err, latchkey.ErrAdapter) || !strings.Contains(err.Error(), "Session.Store: DeleteSessions") {
			t.Errorf("Delete: %v", err)
		}
		if n := sessions.count(); n != 1 {
			t.Fatalf("%d sessions, want the one that could not be deleted", n)
		}
		dead(t, b.copy())
		if n := sessions.count(); n != 0 {
			t.Errorf("C3 the session of nobody is still there")
		}
		sessions.fail("DeleteSessions", faultBefore)
		if err := auth.Users().Delete(t.Context(), id); err == nil || errors.Is(err, latchkey.ErrNotFound) {
			t.Errorf("R-838 something is left: %v", err)
		}
		sessions.fail("", faultBefore)
		if err := auth.Users().Delete(t.Context(), id); !errors.Is(err, latchkey.ErrNotFound) {
			t.Errorf("R-838 nothing is left: %v", err)
		}
	})
}

// failsOnce fails at the first deletion.
type failsOnce struct {
	apartStore
	failed atomic.Bool
}

func (s *failsOnce) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	if s.failed.CompareAndSwap(false, true) {
		return storage.StoredSession{}, errStore
	}
	return s.apartStore.DeleteSession(ctx, token)
}

// S-028: a commit that fails makes no session.
func TestApartCommitFails(t *testing.T) {
	for _, f := range flows {
		for method := range strings.FieldsSeq(f.calls) {
			if method == "CreateSession" || method == "DeleteSession" || strings.HasPrefix(method, "GetSession") || method == "UpdateSession" {
				continue // not asked of the adapter
			}
			for _, kind := range []fault{faultBefore, faultAfter} {
				t.Run("S-028 "+f.name+", "+method+", "+string(kind), func(t *testing.T) {
					s, users, sessions := newApartSite(t)
					b := s.newBrowser()
					step := f.prepare(s, b)
					open := sessions.count()
					users.fail(method, kind)
					refused(t, step())
					if n := sessions.count(); n != open {
						t.Errorf("%d sessions, before there were %d", n, open)
					}
				})
			}
		}
	}
}

// transactions counts those that are open.
type transactions struct {
	*memoryadapter.Adapter
	open atomic.Int32
}

func (a *transactions) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	a.open.Add(1)
	defer a.open.Add(-1)
	return a.Adapter.InTx(ctx, f)
}

// stuck is a store of sessions that answers no call to open one before it is
// free.
type stuck struct {
	apartStore
	waiting, free chan struct{}
}

func (s stuck) CreateSession(ctx context.Context, _ storage.StoredSession) error {
	s.waiting <- struct{}{}
	<-s.free
	return errors.Join(errStore, ctx.Err())
}

func TestApartHangs(t *testing.T) {
	t.Run("S-029 no transaction waits for a session", func(t *testing.T) {
		const visitors = 50
		users, sessions := &transactions{Adapter: memoryadapter.New(memoryadapter.Options{})}, stuck{newApartStore(), make(chan struct{}, visitors), make(chan struct{})}
		s := newOAuthSite(t, stored, func(c *latchkey.Config) {
			c.Adapter, c.Session.Store, c.Limits.Disabled = users, sessions, true
			c.Limits.StoreTimeout = time.Minute
		})
		browsers := make([]*browser, visitors)
		for i := range browsers {
			browsers[i] = s.newBrowser()
		}
		params := s.authResponses(browsers)
		var all sync.WaitGroup
		for i, b := range browsers {
			all.Go(func() { refused(t, b.callback("issuer", params[i])) })
		}
		for range visitors {
			<-sessions.waiting
		}
		if n := users.open.Load(); n != 0 {
			t.Errorf("%d transactions are open while sessions are waited for", n)
		}
		close(sessions.free)
		all.Wait()
	})
}

// R-341 for sessions that no transaction holds off.
func TestApartProofs(t *testing.T) {
	newSite := func(t *testing.T) (*intruder, *faultyStore, apartStore) {
		s, users, sessions := newApartSite(t, second(unchanged), addLinkingProvider)
		i := &intruder{s, s.newBrowser()}
		i.signInAs("second", adaEmail, nil)
		return i, users, sessions
	}
	t.Run("R-341 a session that is opened after the proof", func(t *testing.T) {
		i, users, _ := newSite(t)
		params := i.authResponse(i.browser, "second")
		var owner *browser
		users.afterwards("InTx", func() { owner = i.openLink(t) })
		i.browser.callback("second", params)
		i.isOut(owner)
	})
	t.Run("R-341 a session that is opened during the proof", func(t *testing.T) {
		i, _, sessions := newSite(t)
		const token = "the token of a session that was opened between eviction and proof"
		victim := i.store.Contents().Users[0].ID
		sessions.afterwards("DeleteSessions", func() {
			row := storage.StoredSession{ID: "late", Token: token, UserID: victim, Provider: "second", Expires: i.clock.Now().Add(time.Hour)}
			if err := sessions.inner.CreateSession(t.Context(), row); err != nil {
				t.Error(err)
			}
		})
		i.isOut(i.openLink(t))
		if _, err := sessions.inner.GetSession(t.Context(), token); !errors.Is(err, latchkey.ErrNotFound) {
			t.Errorf("the session lives on: %v", err)
		}
	})
	t.Run("R-342 a session that is ended while it gains an account", func(t *testing.T) {
		s, users, sessions := newApartSite(t)
		b := s.newBrowser()
		b.get(b.askForLink("grace@example.com"))
		grace := users.inner.Contents().Users[0].ID
		params := s.authResponse(b, "issuer")
		users.afterwards("InTx", func() {
			if err := s.auth.Users().EndSessions(t.Context(), grace); err != nil {
				t.Error(err)
			}
		})
		refused(t, b.callback("issuer", params))
		if n := len(users.inner.Contents().Accounts); n != 0 || sessions.count() != 0 {
			t.Errorf("%d accounts and %d sessions are left", n, sessions.count())
		}
	})
}

// sixMethods is an adapter without abilities.
type sixMethods struct{ storage.Adapter }

func TestApartFromASmallAdapter(t *testing.T) {
	users, sessions := memoryadapter.New(memoryadapter.Options{}), newApartStore()
	s := newOAuthSite(t, stored, func(c *latchkey.Config) {
		c.Adapter, c.Session.Store = sixMethods{users}, sessions
		c.Providers = c.Providers[3:] // links would want more of the adapter
	})
	b := s.newBrowser()
	s.mustSignIn(b)
	live(t, b)
	if err := s.auth.Users().EndSessions(t.Context(), users.Contents().Users[0].ID); err != nil {
		t.Fatal(err)
	}
	dead(t, b)
}

// S-031: sessions from before the store was set.
func TestAdapterToo(t *testing.T) {
	newSites := func(t *testing.T) (before, now *oauthSite, sessions apartStore) {
		before = newOAuthSite(t, stored)
		sessions = newApartStore()
		c := before.config
		c.Session.Store, c.Session.AdapterToo = sessions, true
		auth, err := latchkey.New(c)
		if err != nil {
			t.Fatal(err)
		}
		both := &testSite{t: t, auth: auth, store: before.store, config: c, clock: before.clock, log: before.log}
		return before, &oauthSite{both, before.issuer, before.client}, sessions
	}
	at := func(s *oauthSite, b *browser) *browser { return &browser{s.testSite, b.jar, b.header} }
	t.Run("S-031 they live, renew, are listed and end", func(t *testing.T) {
		before, now, sessions := newSites(t)
		old, fresh := before.newBrowser(), now.newBrowser()
		before.mustSignIn(old)
		old = at(now, old)
		live(t, old)
		now.mustSignIn(fresh)
		u := now.store.Contents().Users[0]
		rows, err := now.auth.Users().Sessions(t.Context(), u.ID)
		if err != nil || len(rows) != 2 || sessions.count() != 1 {
			t.Fatalf("%d sessions, %d of them in the store, error %v", len(rows), sessions.count(), err)
		}
		now.clock.Advance(48 * time.Hour)
		was := now.store.Contents().Sessions[0].Expires
		live(t, old)
		if is := now.store.Contents().Sessions[0].Expires; !is.After(was) || sessions.count() != 1 {
			t.Errorf("it was extended from %v to %v, and %d are in the store", was, is, sessions.count())
		}
		for _, row := range rows {
			if err := now.auth.Users().EndSession(t.Context(), u.ID, row.ID); err != nil {
				t.Error(err)
			}
		}
		dead(t, old)
		dead(t, fresh)
	})
	t.Run("S-031 a sign-out everywhere reaches both", func(t *testing.T) {
		before, now, _ := newSites(t)
		old, fresh := before.newBrowser(), now.newBrowser()
		before.mustSignIn(old)
		now.mustSignIn(fresh)
		if err := now.auth.Users().EndSessions(t.Context(), now.store.Contents().Users[0].ID); err != nil {
			t.Fatal(err)
		}
		dead(t, at(now, old))
		dead(t, fresh)
	})
	t.Run("S-031 without it they are unknown", func(t *testing.T) {
		before := newOAuthSite(t, stored)
		b := before.newBrowser()
		before.mustSignIn(b)
		c := before.config
		c.Session.Store = newApartStore()
		auth, err := latchkey.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if a := b.serve(auth, b.request(http.MethodGet, "/auth/session", "", "")); a.Body.String() != "null" {
			t.Errorf("the session is %s", a.Body)
		}
	})
	t.Run("S-031 a sign-out stays final in 100 races with reads", func(t *testing.T) {
		for range 100 {
			before, now, _ := newSites(t)
			b := before.newBrowser()
			before.mustSignIn(b)
			b = at(now, b)
			b.token()
			var all sync.WaitGroup
			for range 4 {
				reader := b.copy()
				all.Go(func() { reader.session() })
			}
			all.Go(func() { b.copy().post("/auth/signout") })
			all.Wait()
			dead(t, b.copy())
		}
	})
}

// S-026 in small: the whole way with sessions apart.
func TestApartRows(t *testing.T) {
	s, users, sessions := newApartSite(t)
	b := s.newBrowser()
	s.mustSignIn(b)
	if n := len(users.inner.Contents().Sessions); n != 0 || sessions.count() != 1 {
		t.Errorf("%d sessions in the adapter, %d in the store", n, sessions.count())
	}
	live(t, b)
	b.post("/auth/signout")
	dead(t, b)
	if sessions.count() != 0 {
		t.Error("the session is still stored")
	}
	t.Run("C3 a session of another tenant is nobody's and stays", func(t *testing.T) {
		const token = "a session that was opened for another tenant"
		row := storage.StoredSession{ID: "x", Token: token, UserID: "u", Tenant: "blue", Expires: s.clock.Now().Add(time.Hour)}
		if err := sessions.CreateSession(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		guest := s.newBrowser()
		guest.jar["__Secure-authjs.session-token"] = token
		dead(t, guest)
		if sessions.count() != 1 {
			t.Error("it is gone")
		}
	})
}

// S-032: what cannot be composed does not start.
func TestStoresThatDoNotCompose(t *testing.T) {
	store := memoryadapter.New(memoryadapter.Options{})
	whole := plainsite.Config(store)
	for field, change := range map[string]func(*latchkey.Config){
		"Session.Store": func(c *latchkey.Config) { c.Session.Store = store },
		"Config.Adapter": func(c *latchkey.Config) {
			c.Adapter, c.Session.Store, c.Session.Strategy = nil, newApartStore(), latchkey.DatabaseSessions
		},
		"Session.Strategy":   func(c *latchkey.Config) { sessionsApart(c); plainsite.AsTokens(c) },
		"Session.AdapterToo": func(c *latchkey.Config) { c.Session.AdapterToo = true },
		"SessionAdapter": func(c *latchkey.Config) {
			sessionsApart(c)
			c.Session.AdapterToo, c.Adapter = true, struct{ storage.Adapter }{store}
		},
		"Session.Cache": func(c *latchkey.Config) { c.Session.Cache.MaxAge = 5*time.Minute + 1 },
		"MaxAge":        func(c *latchkey.Config) { c.Session.Cache.MaxAge = -1 },
		"Size":          func(c *latchkey.Config) { c.Session.Cache.Size = -1 },
	} {
		t.Run("S-032 "+field, func(t *testing.T) {
			c := whole
			change(&c)
			if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("New: %v", err)
			}
		})
	}
	sessionsApart(&whole)
	if _, err := latchkey.New(whole); err != nil {
		t.Errorf("what composes is refused: %v", err)
	}
}

// brokenRole fails in one way in each role beside the adapter.
type brokenRole struct{ how func(context.Context) error }

func (b brokenRole) Use(ctx context.Context, _ string, _ time.Time) (bool, error) {
	return true, b.how(ctx)
}

func (b brokenRole) Take(ctx context.Context, _ string, _ latchkey.Rate) (time.Duration, error) {
	return 0, b.how(ctx)
}

func (b brokenRole) Forget(ctx context.Context, _ string) error { return b.how(ctx) }

func (b brokenRole) Revoke(ctx context.Context, _ string, _, _ time.Time) error { return b.how(ctx) }

func (b brokenRole) RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error) {
	if len(keys) == 0 {
		return nil, nil // asked when the site starts
	}
	return nil, b.how(ctx)
}

// S-034, S-035: every role has a deadline and a name.
func TestRolesFail(t *testing.T) {
	ways := map[string]func(context.Context) error{
		"an error": func(context.Context) error { return errStore },
		"a panic":  func(context.Context) error { panic(errStore) },
		"a hang":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	}
	for _, how := range slices.Sorted(maps.Keys(ways)) {
		role := brokenRole{ways[how]}
		site := func(t *testing.T, change func(*latchkey.Config)) *oauthSite {
			store := newFaultyStore()
			s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.Adapter, c.Limits.StoreTimeout = store, 300*time.Millisecond }, change)
			s.store = store.inner
			return s
		}
		named := func(t *testing.T, s *oauthSite, operation string) {
			t.Helper()
			if log := s.log.text(); !strings.Contains(log, operation) || !strings.Contains(log, "AdapterError") {
				t.Errorf("the log does not name %s: %s", operation, log)
			}
		}
		t.Run("S-034 S-035 the replay store, "+how, func(t *testing.T) {
			s := site(t, func(c *latchkey.Config) { c.Limits.Replay = role })
			b := s.newBrowser()
			refused(t, b.callback("issuer", s.authResponse(b, "issuer")))
			named(t, s, "Limits.Replay: Use")
			if c := s.store.Contents(); len(c.Users)+len(c.Sessions) != 0 {
				t.Errorf("%d users, %d sessions", len(c.Users), len(c.Sessions))
			}
		})
		t.Run("S-035 the limiter, "+how, func(t *testing.T) {
			s := site(t, func(c *latchkey.Config) { c.Limits.Limiter = role })
			b := s.newBrowser()
			b.get(b.askForLink(adaEmail))
			live(t, b)
			named(t, s, "Limits.Limiter: Take")
		})
		t.Run("S-035 revocations, "+how, func(t *testing.T) {
			s := site(t, func(c *latchkey.Config) { plainsite.AsTokens(c); c.Session.Revocations = role })
			b := s.newBrowser()
			s.mustSignIn(b)
			if a := b.get("/auth/session"); a.Body.String() != "null" || a.cookie("session-token") != nil {
				t.Errorf("answered %s with cookie %v", a.Body, a.cookie("session-token"))
			}
			named(t, s, "Session.Revocations: RevokedAt")
		})
	}
}

// flaky is a store of revocations whose next calls to revoke fail.
type flaky struct {
	storage.RevocationStore
	fails   atomic.Int32
	revoked chan struct{} // closed at the first revocation; nil: no test waits for it
	first   sync.Once
}

func (f *flaky) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	if f.fails.Add(-1) >= 0 {
		return errStore
	}
	err := f.RevocationStore.Revoke(ctx, key, at, expires)
	if f.revoked != nil {
		f.first.Do(func() { close(f.revoked) })
	}
	return err
}

// within waits for an event that comes by itself.
func within(t *testing.T, event <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(race.Patience(time.Minute)):
		t.Fatalf("within a minute not: %s", what)
	}
}

func TestRevocationsAreTriedAgain(t *testing.T) {
	newSite := func(t *testing.T, adapter func(*memoryadapter.Adapter) storage.Adapter) (*oauthSite, *memoryadapter.Adapter, *flaky) {
		store := memoryadapter.New(memoryadapter.Options{})
		revocations := &flaky{RevocationStore: store}
		s := newOAuthSite(t, plainsite.AsTokens, func(c *latchkey.Config) { c.Adapter, c.Session.Revocations = adapter(store), revocations })
		return s, store, revocations
	}
	t.Run("R-106 a sign-out asks twice", func(t *testing.T) {
		s, _, revocations := newSite(t, func(a *memoryadapter.Adapter) storage.Adapter { return a })
		b := s.newBrowser()
		s.mustSignIn(b)
		stolen := b.copy()
		revocations.fails.Store(1)
		b.post("/auth/signout")
		dead(t, stolen)
	})
	t.Run("R-544 a sign-out asks until it is answered", func(t *testing.T) {
		s, _, revocations := newSite(t, func(a *memoryadapter.Adapter) storage.Adapter { return a })
		b := s.newBrowser()
		s.mustSignIn(b)
		stolen := b.copy()
		revocations.revoked = make(chan struct{})
		revocations.fails.Store(3)
		b.post("/auth/signout")
		within(t, revocations.revoked, "the token is revoked")
		dead(t, stolen)
	})
	t.Run("R-357 deleting somebody who is gone ends their tokens", func(t *testing.T) {
		s, store, revocations := newSite(t, func(a *memoryadapter.Adapter) storage.Adapter {
			return struct {
				sixMethods
				storage.VerificationTokenAdapter
				storage.UserDeletionAdapter
			}{sixMethods{a}, a, a}
		})
		b := s.newBrowser()
		s.mustSignIn(b)
		id := store.Contents().Users[0].ID
		revocations.fails.Store(1)
		if err := s.auth.Users().Delete(t.Context(), id); !errors.Is(err, latchkey.ErrSessionsNotEnded) {
			t.Errorf("a deletion that was cut short: %v", err)
		}
		live(t, b.copy())
		if err := s.auth.Users().Delete(t.Context(), id); !errors.Is(err, latchkey.ErrNotFound) {
			t.Errorf("the next one: %v", err)
		}
		dead(t, b)
	})
}

// C10: whoever keeps rows sweeps them.
func TestSweepApart(t *testing.T) {
	s, _, sessions := newApartSite(t, func(c *latchkey.Config) {
		c.Session.Store = struct {
			apartStore
			storage.SweepAdapter
		}{c.Session.Store.(apartStore), c.Session.Store.(apartStore).inner}
	})
	b := s.newBrowser()
	s.mustSignIn(b)
	s.clock.Advance(60 * 24 * time.Hour)
	if n, err := s.auth.Sweep(t.Context()); n != 1 || err != nil || sessions.count() != 0 {
		t.Errorf("Sweep = %d, %v, and %d sessions are left", n, err, sessions.count())
	}
	none := newOAuthSite(t, stored, func(c *latchkey.Config) { c.Adapter = newFaultyStore() })
	if n, err := none.auth.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("stores that let rows expire: %d, %v", n, err)
	}
}
