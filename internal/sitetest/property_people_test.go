package sitetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// stumbling is a store without transactions whose writes stop at a random place, as
// if the process had ended there.
type stumbling struct {
	*memoryadapter.Adapter
	left *int // writes until the crash; negative: none comes
}

// InTx takes the place of the method that would make it a storage.TxAdapter.
func (stumbling) InTx() {}

var errCrash = errors.New("the process has ended")

// crash returns an error from the planned write on.
func (s stumbling) crash() error {
	if *s.left == 0 {
		return errCrash
	}
	*s.left--
	return nil
}

func (s stumbling) DeleteSessions(ctx context.Context, userID, keep string) (int, error) {
	if err := s.crash(); err != nil {
		return 0, err
	}
	return s.Adapter.DeleteSessions(ctx, userID, keep)
}

func (s stumbling) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	if err := s.crash(); err != nil {
		return err
	}
	return s.Adapter.Revoke(ctx, key, at, expires)
}

func (s stumbling) Suspensions() storage.SuspensionStore {
	return stumblingSuspensions{s.Adapter.Suspensions(), s}
}

type stumblingSuspensions struct {
	storage.SuspensionStore
	of stumbling
}

func (s stumblingSuspensions) Put(ctx context.Context, userID string, v storage.Suspension) error {
	if err := s.of.crash(); err != nil {
		return err
	}
	return s.SuspensionStore.Put(ctx, userID, v)
}

func (s stumblingSuspensions) Delete(ctx context.Context, userID string) (storage.Suspension, error) {
	if err := s.of.crash(); err != nil {
		return storage.Suspension{}, err
	}
	return s.SuspensionStore.Delete(ctx, userID)
}

// suspensionWorld is two processes of one site, some users, and their browsers.
type suspensionWorld struct {
	*oauthSite
	random   *rand.Rand
	auths    []*latchkey.Auth
	left     int
	names    []string
	ids      map[string]string
	out      map[string]bool // suspended, as the model has it
	browsers map[string][]*browser
}

func newSuspensionWorld(t *testing.T, random *rand.Rand, change ...func(*latchkey.Config)) *suspensionWorld {
	t.Helper()
	w := &suspensionWorld{random: random, left: -1, ids: map[string]string{}, out: map[string]bool{}, browsers: map[string][]*browser{}}
	w.oauthSite = newOAuthSite(t, append(change, func(c *latchkey.Config) { c.Limits.Disabled = true })...)
	if random.IntN(2) == 0 {
		c := w.config
		c.Adapter = stumbling{w.store, &w.left}
		w.config = c
	}
	for range 2 {
		auth, err := latchkey.New(w.config)
		if err != nil {
			t.Fatal(err)
		}
		w.auths = append(w.auths, auth)
	}
	for _, name := range []string{"ada", "bob", "cid"} {
		w.names = append(w.names, name)
		w.enter(name)
		u, err := w.store.GetUserByEmail(t.Context(), name+"@example.com")
		if err != nil {
			t.Fatal(err)
		}
		w.ids[name] = u.ID
	}
	return w
}

// enter opens a session by a link at one of the processes.
func (w *suspensionWorld) enter(name string) bool {
	w.auth = oneOf(w.random, w.auths)
	b := w.newBrowser()
	if !b.signInByLink(name + "@example.com").signsIn() {
		return false
	}
	w.browsers[name] = append(w.browsers[name], b)
	return true
}

// call suspends or restores a user. It repeats a call that a crash has stopped, as an
// administrator would.
func (w *suspensionWorld) call(t *testing.T, what string, f func(*users.Users) error) {
	t.Helper()
	w.left = -1
	if w.random.IntN(2) == 0 {
		w.left = w.random.IntN(4)
	}
	err := f(oneOf(w.random, w.auths).Users())
	w.left = -1
	if errors.Is(err, errCrash) {
		err = f(oneOf(w.random, w.auths).Users())
	}
	if err != nil && !errors.Is(err, latchkey.ErrNotFound) {
		t.Fatalf("%s: %v", what, err)
	}
}

// opens reports whether a guard of one of the processes lets a browser of a user in.
func (w *suspensionWorld) opens(name string) bool {
	for _, b := range w.browsers[name] {
		for _, w.auth = range w.auths {
			if b.copy().isLive() {
				return true
			}
		}
	}
	return false
}

// TestSuspensionsAtRandom: P-016, P-018, P-019, P-021. A user who is suspended passes
// no guard when the time of the cache is over, and one who is restored is never stuck.
func TestSuspensionsAtRandom(t *testing.T) {
	random, rounds := propertyRun(t, 6)
	for round := range rounds {
		for _, strategy := range strategies {
			cache := time.Duration(random.IntN(2)) * time.Second
			w := newSuspensionWorld(t, random, strategy, believing(cache))
			var done []string
			for range 25 {
				name := oneOf(random, w.names)
				id := w.ids[name]
				step := oneOf(random, []string{"enter", "enter", "suspend", "suspend", "restore", "read", "wait", "leave"})
				done = append(done, step+" "+name)
				switch step {
				case "enter":
					if entered := w.enter(name); entered == w.out[name] {
						t.Fatalf("P-021 round %d: %s entered: %v, suspended: %v, after %v", round, name, entered, w.out[name], done)
					}
				case "suspend":
					w.call(t, step, func(u *users.Users) error {
						return u.Suspend(t.Context(), id, users.SuspendOptions{Reason: "at random"})
					})
					w.out[name] = true
					w.clock.Advance(cache + time.Second)
				case "restore":
					w.call(t, step, func(u *users.Users) error { return u.Restore(t.Context(), id) })
					w.out[name], w.browsers[name] = false, nil
					w.clock.Advance(time.Minute)
				case "read":
					w.opens(name)
				case "wait":
					w.clock.Advance(time.Minute)
				case "leave":
					if all := w.browsers[name]; len(all) > 0 {
						oneOf(random, all).post("/auth/signout")
					}
				}
				for _, name := range w.names {
					if w.out[name] && w.opens(name) {
						t.Fatalf("P-016 round %d: %s is suspended and passes a guard, after %v", round, name, done)
					}
				}
			}
		}
	}
}

// TestAdministratorsAtRandom: P-031. Whatever administrators do with a user, nothing is
// ever proven for the user, and no session comes of it that looks like the user's own.
func TestAdministratorsAtRandom(t *testing.T) {
	random, rounds := propertyRun(t, 10)
	for round := range rounds {
		s := newActingSite(t, oneOf(random, []func(*latchkey.Config){stored, func(*latchkey.Config) {}}))
		all, ctx := s.auth.Users(), t.Context()
		made, err := all.Create(ctx, users.NewUser{Name: "Eve", Email: "eve@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		var done []string
		for range 30 {
			step := oneOf(random, []string{"rename", "image", "unverify", "suspend", "restore", "end", "act", "export", "again"})
			done = append(done, step)
			switch step {
			case "rename":
				_, err = all.Update(ctx, made.ID, users.Change{Name: new(fmt.Sprint("Eve ", random.IntN(9)))})
			case "image":
				_, err = all.Update(ctx, made.ID, users.Change{Image: new("https://img.example/e.png")})
			case "unverify":
				_, err = all.Update(ctx, made.ID, users.Change{Unverify: true})
			case "suspend":
				err = all.Suspend(ctx, made.ID, users.SuspendOptions{})
			case "restore":
				err = all.Restore(ctx, made.ID)
			case "end":
				err = all.EndSessions(ctx, made.ID)
			case "export":
				var text strings.Builder
				err = all.Export(ctx, made.ID, &text)
			case "act":
				var link string
				if link, err = s.link(s.boss, made.ID, actingReason); err == nil {
					b := s.newBrowser()
					b.open(link)
					if found := s.sessionOf(b); found != nil && (found.Actor == nil || found.Actor.ID != s.bossID || !found.AuthTime.IsZero()) {
						t.Fatalf("round %d: a session without its administrator, %+v, after %v", round, found, done)
					}
				}
			case "again":
				_, err = all.Create(ctx, users.NewUser{Email: "EVE@example.com"})
			}
			if err != nil && !errors.Is(err, latchkey.ErrNotFound) && !errors.Is(err, latchkey.ErrConflict) && !errors.Is(err, latchkey.ErrAccessDenied) {
				t.Fatalf("%s: %v", step, err)
			}
			now, err := s.store.GetUser(ctx, made.ID)
			if err != nil || !now.EmailVerified.IsZero() || now.Provisioned.IsZero() || now.Email != "eve@example.com" {
				t.Fatalf("round %d: %+v, %v, after %v", round, now, err, done)
			}
			accounts, err := s.store.ListAccounts(ctx, made.ID)
			if err != nil || len(accounts) != 0 {
				t.Fatalf("round %d: accounts %v, %v, after %v", round, accounts, err, done)
			}
		}
	}
}
