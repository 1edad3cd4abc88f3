package storagetest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// roles is a value that can play every role beside an Adapter.
type roles struct {
	storage.SessionStore
	storage.RevocationStore
	storage.ReturningLimiter
	storage.ReplayStore
}

func newRoles() roles {
	a := anybodys{memory()}
	return roles{a, a, memoryadapter.NewLimiter(nil), &once{until: map[string]time.Time{}}}
}

// anybodys keeps sessions of users whom it does not know.
type anybodys struct{ *memoryadapter.Adapter }

func (a anybodys) CreateSession(ctx context.Context, s storage.StoredSession) error {
	if _, err := a.CreateUser(ctx, storage.User{ID: s.UserID}); ctx.Err() != nil {
		return err
	}
	return a.Adapter.CreateSession(ctx, s)
}

// once is a ReplayStore.
type once struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (o *once) Use(ctx context.Context, key string, expires time.Time) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.until[key].After(time.Now()) || ctx.Err() != nil {
		return false, ctx.Err()
	}
	o.until[key] = expires
	return true, nil
}

// S-001: the suite of roles, on one value with all of them, on an adapter, and
// on values with one role each.
func TestStores(t *testing.T) {
	for name, open := range map[string]func() any{
		"every role": func() any { return newRoles() },
		"an adapter": func() any { return memory() },
		"a limiter":  func() any { return memoryadapter.NewLimiter(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			storagetest.TestStores(t, func(*testing.T) any { return open() })
		})
	}
}

// brokenRoles break one promise each, and which sub-test must notice.
var brokenRoles = map[string]struct {
	open    func() any
	noticed string
}{
	"it reads, then counts":             {func() any { return &hesitant{Limiter: memoryadapter.NewLimiter(nil)} }, "of_100_callers_at_once"},
	"it waits too long":                 {func() any { return impatient{memoryadapter.NewLimiter(nil)} }, "within_one_interval"},
	"refused calls count":               {func() any { return &strict{Limiter: memoryadapter.NewLimiter(nil)} }, "a_refused_call_costs_nothing"},
	"it forgets everybody":              {func() any { return &amnesiac{memoryadapter.NewLimiter(nil)} }, "Forget_clears_one_key"},
	"it folds keys":                     {func() any { return folded{memoryadapter.NewLimiter(nil)} }, "keys_are_compared_exactly"},
	"it gives back whatever is asked":   {func() any { return generous{memoryadapter.NewLimiter(nil)} }, "Return_gives_back_one_event"},
	"a value stays used":                {func() any { return &forever{used: map[string]bool{}} }, "and_then_it_is_new"},
	"a value is read, then written":     {func() any { return &slowOnce{used: map[string]bool{}} }, "exactly_one_is_the_first"},
	"a session outlives its deletion":   {func() any { r := newRoles(); r.SessionStore = undying{r.SessionStore}; return r }, "DeleteSession_returns_what_it_removed"},
	"a session is anybody's":            {func() any { r := newRoles(); r.SessionStore = careless{r.SessionStore}; return r }, "DeleteSessionByID_removes_only"},
	"it can play no role":               {func() any { return 1 }, "TestBrokenRole"},
	"a renewed session comes back":      {func() any { r := newRoles(); r.SessionStore = necromancer{r.SessionStore}; return r }, "what_is_not_there_is_ErrNotFound"},
	"an earlier revocation is the last": {func() any { return &forgetful{Adapter: memory(), at: map[string]time.Time{}} }, "the_latest_instant_counts"},
}

// TestStoresNotices runs the suite on each broken value in a process of its own,
// where it must fail.
func TestStoresNotices(t *testing.T) {
	for name, broken := range brokenRoles {
		t.Run(name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBrokenRole$", "-test.v")
			c.Env = append(os.Environ(), "LATCHKEY_BROKEN_ROLE="+name)
			if out, err := c.CombinedOutput(); err == nil || !failedIn(string(out), broken.noticed) {
				t.Errorf("%v, and no sub-test %q failed:\n%s", err, broken.noticed, out)
			}
		})
	}
}

// TestBrokenRole is the other process; without one of the values it has nothing
// to do.
func TestBrokenRole(t *testing.T) {
	if broken, named := brokenRoles[os.Getenv("LATCHKEY_BROKEN_ROLE")]; named {
		storagetest.TestStores(t, func(*testing.T) any { return broken.open() })
	}
}

type hesitant struct {
	storage.Limiter
	mu    sync.Mutex
	taken int
}

func (l *hesitant) Take(context.Context, string, storage.Rate) (time.Duration, error) {
	l.mu.Lock()
	taken := l.taken
	l.mu.Unlock()
	time.Sleep(time.Millisecond) // between the two steps, where everybody else reads too
	if taken >= 20 {
		return time.Minute, nil
	}
	l.mu.Lock()
	l.taken = taken + 1
	l.mu.Unlock()
	return 0, nil
}

type impatient struct{ storage.Limiter }

func (l impatient) Take(ctx context.Context, key string, r storage.Rate) (time.Duration, error) {
	wait, err := l.Limiter.Take(ctx, key, r)
	return 100 * wait, err
}

type strict struct {
	storage.Limiter
	extra time.Duration
}

func (l *strict) Take(ctx context.Context, key string, r storage.Rate) (time.Duration, error) {
	wait, err := l.Limiter.Take(ctx, key, r)
	if wait > 0 {
		wait += l.extra
		l.extra += r.Per / time.Duration(r.Events)
	}
	return wait, err
}

type amnesiac struct{ storage.Limiter }

func (l *amnesiac) Forget(context.Context, string) error {
	l.Limiter = memoryadapter.NewLimiter(nil)
	return nil
}

type folded struct{ storage.Limiter }

func (l folded) Take(ctx context.Context, key string, r storage.Rate) (time.Duration, error) {
	return l.Limiter.Take(ctx, strings.ToLower(key), r)
}

type generous struct{ storage.ReturningLimiter }

func (l generous) Return(ctx context.Context, key string, _ storage.Rate) error {
	return l.Forget(ctx, key)
}

type forever struct {
	mu   sync.Mutex
	used map[string]bool
}

func (f *forever) Use(ctx context.Context, key string, _ time.Time) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	first := !f.used[key]
	f.used[key] = true
	return first, nil
}

type slowOnce struct {
	mu   sync.Mutex
	used map[string]bool
}

func (s *slowOnce) Use(_ context.Context, key string, _ time.Time) (bool, error) {
	s.mu.Lock()
	used := s.used[key]
	s.mu.Unlock()
	time.Sleep(time.Millisecond) // between the two steps, where everybody else reads too
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[key] = true
	return !used, nil
}

type undying struct{ storage.SessionStore }

func (s undying) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	return s.GetSession(ctx, token)
}

type careless struct{ storage.SessionStore }

func (s careless) DeleteSessionByID(context.Context, string, string) error { return nil }

type necromancer struct{ storage.SessionStore }

func (s necromancer) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	if err := s.SessionStore.UpdateSession(ctx, token, expires); err == nil || ctx.Err() != nil {
		return err
	}
	return s.CreateSession(ctx, storage.StoredSession{Token: token, UserID: "owner-0", Expires: expires})
}
