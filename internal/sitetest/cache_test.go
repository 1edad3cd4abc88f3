package sitetest

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/internal/testclock"
	"github.com/latchkeyhq/latchkey/storage"
)

// believing lets the site believe for a while what it has read.
func believing(age time.Duration) func(*latchkey.Config) {
	return func(c *latchkey.Config) { c.Session.Cache.MaxAge = age }
}

// newCachedSite has sessions apart, and somebody signed in whom it has read.
func newCachedSite(t *testing.T, change ...func(*latchkey.Config)) (*oauthSite, *faultyStore, apartStore, *browser) {
	t.Helper()
	s, users, sessions := newApartSite(t, append([]func(*latchkey.Config){believing(time.Minute)}, change...)...)
	b := s.newBrowser()
	s.mustSignIn(b)
	live(t, b)
	forget(users, sessions)
	return s, users, sessions, b
}

func forget(users *faultyStore, sessions apartStore) {
	users.plan.called, sessions.plan.called = map[string]bool{}, map[string]bool{}
}

func TestSessionCache(t *testing.T) {
	t.Run("S-036 a hit asks no store", func(t *testing.T) {
		_, users, sessions, b := newCachedSite(t)
		live(t, b)
		if len(users.plan.called)+len(sessions.plan.called) != 0 {
			t.Errorf("asked for %v and %v", users.plan.called, sessions.plan.called)
		}
	})
	t.Run("S-039 a sign-out is seen at once, with reads in flight", func(t *testing.T) {
		for range 100 {
			_, _, _, b := newCachedSite(t)
			b.token()
			var all sync.WaitGroup
			for range 4 {
				reader := b.copy()
				all.Go(func() { reader.session() })
			}
			b.copy().post("/auth/signout")
			dead(t, b.copy())
			all.Wait()
			dead(t, b.copy())
		}
	})
	t.Run("S-039 so are the ends of sessions from elsewhere in the program", func(t *testing.T) {
		for name, end := range map[string]func(s *oauthSite, id string) error{
			"EndSessions": func(s *oauthSite, id string) error { return s.auth.Users().EndSessions(t.Context(), id) },
			"EndSession": func(s *oauthSite, id string) error {
				rows, err := s.auth.Users().Sessions(t.Context(), id)
				if err != nil {
					return err
				}
				return s.auth.Users().EndSession(t.Context(), id, rows[0].ID)
			},
			"Delete": func(s *oauthSite, id string) error { return s.auth.Users().Delete(t.Context(), id) },
		} {
			store := memoryadapter.New(memoryadapter.Options{})
			s, b := newSignedInOAuthSite(t, stored, believing(time.Minute), func(c *latchkey.Config) { c.Adapter = store })
			live(t, b)
			if err := end(s, store.Contents().Users[0].ID); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			dead(t, b)
		}
	})
	t.Run("S-039 a token that is revoked here", func(t *testing.T) {
		s := newOAuthSite(t, plainsite.AsTokens, believing(time.Minute), func(c *latchkey.Config) {
			c.Session.Revocations = c.Adapter.(storage.RevocationStore)
		})
		b := s.newBrowser()
		s.mustSignIn(b)
		live(t, b)
		stolen := b.copy()
		b.post("/auth/signout")
		dead(t, stolen)
		s.mustSignIn(b)
		live(t, b)
		if err := s.auth.Users().EndSessions(t.Context(), s.store.Contents().Users[0].ID); err != nil {
			t.Fatal(err)
		}
		dead(t, b)
	})
	t.Run("S-040 a user who is changed here", func(t *testing.T) {
		s, users, sessions, b := newCachedSite(t)
		other := s.newBrowser()
		if a := other.get(other.askForLink(adaEmail)); !a.signsIn() || s.store.Contents().Users[0].EmailVerified.IsZero() {
			t.Fatalf("the e-mail address is not proven: to %q", a.location())
		}
		forget(users, sessions)
		if live(t, b); !sessions.plan.called["GetSession"] {
			t.Error("the user is believed to be as before")
		}
	})
	t.Run("S-041 a renewal goes to the store", func(t *testing.T) {
		s, _, sessions, b := newCachedSite(t, func(c *latchkey.Config) { c.Session.UpdateAge = 30 * time.Second })
		s.clock.Advance(40 * time.Second)
		live(t, b)
		if !sessions.plan.called["GetSession"] || !sessions.plan.called["UpdateSession"] {
			t.Errorf("asked for %v", sessions.plan.called)
		}
	})
	t.Run("S-042 what has expired in the cache is nobody", func(t *testing.T) {
		s, _, _, b := newCachedSite(t, func(c *latchkey.Config) { c.Session.MaxAge, c.Session.AbsoluteMaxAge = time.Hour, 40*time.Second })
		s.clock.Advance(39 * time.Second)
		live(t, b.copy())
		s.clock.Advance(time.Second)
		dead(t, b.copy())
	})
	t.Run("S-045 what changes something asks the store", func(t *testing.T) {
		for name, ask := range map[string]func(b *browser){
			"an update":    func(b *browser) { b.postJSON("/auth/session", map[string]any{"data": map[string]any{}}) },
			"account page": func(b *browser) { b.get("/auth/account") },
			"linking":      func(b *browser) { b.beginLink() },
		} {
			_, _, sessions, b := newCachedSite(t, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
			b.token()
			if ask(b); !sessions.plan.called["GetSession"] {
				t.Errorf("%s asked for %v", name, sessions.plan.called)
			}
		}
	})
	t.Run("S-046 a store that is down is believed no longer", func(t *testing.T) {
		s, _, sessions, b := newCachedSite(t)
		sessions.fail("GetSession", faultBefore)
		live(t, b.copy())
		s.clock.Advance(time.Minute)
		for range 2 {
			dead(t, b.copy())
		}
		sessions.mend()
		live(t, b)
	})
	t.Run("S-047 no token is in memory as text", func(t *testing.T) {
		s, _, _, b := newCachedSite(t)
		token := b.jar["__Secure-authjs.session-token"]
		reversed := reverse(token)
		_ = b.session()
		b.jar, b, token = nil, nil, ""
		s.store = nil
		known := append([]byte("a text that is in the heap, "), siteSecret...)
		if !inHeap(t, reverse(string(known))) {
			t.Error("the search finds nothing")
		}
		if inHeap(t, reversed) {
			t.Error("the session token is in the heap")
		}
		runtime.KeepAlive(known)
		runtime.KeepAlive(s)
	})
}

// beginLink begins a sign-in at the issuer while signed in.
func (b *browser) beginLink() { b.post("/auth/signin/issuer") }

// reverse keeps a text in a form that a search for it does not find.
func reverse(s string) string {
	r := []byte(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// inHeap searches a dump of everything reachable.
func inHeap(t *testing.T, reversed string) bool {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "heap")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	debug.FreeOSMemory() // what is only garbage is not searched
	debug.WriteHeapDump(f.Fd())
	dump, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(dump, []byte(reverse(reversed)))
}

// S-043, S-044: how late a sign-out in another process is seen, in time that the
// test makes pass.
func TestCacheStaleness(t *testing.T) {
	const age, tick, people = 2 * time.Second, 50 * time.Millisecond, 100
	for name, pause := range map[string]int{"S-043": 0, "S-044 with a store that answers late": 4} {
		t.Run(name, func(t *testing.T) {
			sessions := &late{apartStore: newApartStore(), pause: time.Duration(pause) * tick}
			elsewhere := newOAuthSite(t, stored, func(c *latchkey.Config) { c.Session.Store, c.Limits.Disabled = sessions, true })
			c := elsewhere.config
			c.Session.Cache.MaxAge = age
			here, err := latchkey.New(c)
			if err != nil {
				t.Fatal(err)
			}
			read := func(b *browser) bool {
				return b.copy().serve(here, b.request(http.MethodGet, "/auth/session", "", "")).Body.String() != "null"
			}
			browsers := make([]*browser, people)
			for i := range browsers {
				browsers[i] = elsewhere.newBrowser()
				elsewhere.mustSignIn(browsers[i])
				browsers[i].token()
			}
			sessions.clock = elsewhere.clock
			ended, longest := make([]time.Time, people), time.Duration(0)
			for now := 0; now < 2*people; now++ {
				for i, b := range browsers {
					if alive := read(b); alive && !ended[i].IsZero() {
						longest = max(longest, elsewhere.clock.Now().Sub(ended[i]))
					}
				}
				if i := now; i < people {
					browsers[i].copy().post("/auth/signout")
					ended[i] = elsewhere.clock.Now()
				}
				elsewhere.clock.Advance(tick)
			}
			if longest > age || longest == 0 {
				t.Errorf("a dead session was believed for %v, want at most %v and more than nothing", longest, age)
			}
			t.Logf("of %d sign-outs the last was seen after %v; %v are believed", people, longest, age)
		})
	}
}

// late answers with what it has read a while ago.
type late struct {
	apartStore
	pause time.Duration // of every 25th answer
	clock *testclock.Clock
	loads int
}

func (s *late) GetSession(ctx context.Context, token string) (storage.StoredSession, error) {
	row, err := s.apartStore.GetSession(ctx, token)
	if s.loads++; s.clock != nil && s.loads%25 == 0 {
		s.clock.Advance(s.pause)
	}
	return row, err
}
