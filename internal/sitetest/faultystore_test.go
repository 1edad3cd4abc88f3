package sitetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// fault is a way for a call of a store to go wrong.
type fault string

const (
	faultAway   fault = "not there"
	faultBefore fault = "error before"
	faultAfter  fault = "error after effect"
	faultHang   fault = "hang"
	faultPanic  fault = "panic"
	faultLie    fault = "nil without error"
)

// patienceFor returns the StoreTimeout of a site whose store fails in this way. It is
// short only where a call hangs, so that a busy machine fails nothing else.
func patienceFor(f fault) time.Duration {
	if f == faultHang {
		return 100 * time.Millisecond
	}
	return time.Minute
}

var errStore = errors.New("the store is down")

// faultPlan says which call fails, and remembers what was called.
type faultPlan struct {
	mu      sync.Mutex
	method  string
	fault   fault
	nth     int               // the call that fails, whatever its method; 0: none
	calls   int               // counted since failNth
	hooks   map[string]func() // run after a call that went well
	called  map[string]bool
	hung    bool          // a call has, since this was planned
	longest time.Duration // that a call was given
	endless bool          // a call was given no deadline
}

// faultyStore is a store in memory that fails as planned.
type faultyStore struct {
	inner *memoryadapter.Adapter
	plan  *faultPlan
}

func newFaultyStore() *faultyStore {
	s := &faultyStore{plan: &faultPlan{}}
	s.reset()
	return s
}

// reset empties the store and mends it.
func (s *faultyStore) reset() {
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	s.inner = memoryadapter.New(memoryadapter.Options{})
	s.plan.method, s.plan.hooks, s.plan.called, s.plan.hung = "", nil, map[string]bool{}, false
}

// store returns the store behind the faults. A sign-out that failed asks again after the
// test that it belongs to.
func (s *faultyStore) store() *memoryadapter.Adapter {
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	return s.inner
}

func (s *faultyStore) fail(method string, f fault) {
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	s.plan.method, s.plan.fault, s.plan.hung = method, f, false
}

// failNth lets the nth call from now fail before it has an effect; 0: none. It returns how
// many calls there were since it was called before.
func (p *faultPlan) failNth(n int) (calls int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls = p.calls
	p.nth, p.calls = n, 0
	return calls
}

func (s *faultyStore) mend() { s.fail("", "") }

// afterwards runs f once, after the next call of method.
func (s *faultyStore) afterwards(method string, f func()) {
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	s.plan.hooks = map[string]func(){method: f}
}

// mendThen mends the store and runs f once, after the next call of method.
func (s *faultyStore) mendThen(method string, f func()) {
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	s.plan.method, s.plan.hooks = "", map[string]func(){method: f}
}

func (p *faultPlan) enter(ctx context.Context, method string) (f fault, hook func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called[method] = true
	if p.calls++; p.calls == p.nth {
		return faultBefore, nil
	}
	if deadline, ok := ctx.Deadline(); ok {
		p.longest = max(p.longest, time.Until(deadline))
	} else {
		p.endless = true
	}
	if method == p.method {
		f = p.fault
		p.hung = p.hung || f == faultHang
	}
	hook = p.hooks[method]
	delete(p.hooks, method)
	return f, hook
}

func attempt[T any](ctx context.Context, s *faultyStore, method string, call func(context.Context) (T, error)) (result T, err error) {
	f, hook := s.plan.enter(ctx, method)
	switch f {
	case faultAway:
		return result, storage.ErrUnavailable
	case faultBefore:
		return result, errStore
	case faultAfter:
		_, _ = call(s.plan.patient(ctx))
		return result, errStore
	case faultHang:
		<-ctx.Done()
		return result, ctx.Err()
	case faultPanic:
		panic(errStore)
	case faultLie:
		return result, nil
	}
	result, err = call(s.plan.patient(ctx))
	if hook != nil {
		hook()
	}
	return result, err
}

// patient is ctx without its end, unless somebody has left, or a call has hung until
// then: the short limits that end such a call would, whenever the machine is busy,
// end one that is well too.
func (p *faultPlan) patient(ctx context.Context) context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); errors.Is(err, context.Canceled) || p.hung && err != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

func act(ctx context.Context, s *faultyStore, method string, call func(context.Context) error) error {
	_, err := attempt(ctx, s, method, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

func (s *faultyStore) CreateUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	return attempt(ctx, s, "CreateUser", func(ctx context.Context) (latchkey.User, error) { return s.store().CreateUser(ctx, u) })
}

func (s *faultyStore) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	return attempt(ctx, s, "GetUser", func(ctx context.Context) (latchkey.User, error) { return s.store().GetUser(ctx, id) })
}

func (s *faultyStore) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	return attempt(ctx, s, "GetUserByEmail", func(ctx context.Context) (latchkey.User, error) { return s.store().GetUserByEmail(ctx, email) })
}

func (s *faultyStore) GetUserByAccount(ctx context.Context, provider, id string) (latchkey.User, error) {
	return attempt(ctx, s, "GetUserByAccount", func(ctx context.Context) (latchkey.User, error) { return s.store().GetUserByAccount(ctx, provider, id) })
}

func (s *faultyStore) UpdateUser(ctx context.Context, id string, c storage.UserChange) (latchkey.User, error) {
	return attempt(ctx, s, "UpdateUser", func(ctx context.Context) (latchkey.User, error) { return s.store().UpdateUser(ctx, id, c) })
}

func (s *faultyStore) LinkAccount(ctx context.Context, a latchkey.Account) error {
	return act(ctx, s, "LinkAccount", func(ctx context.Context) error { return s.store().LinkAccount(ctx, a) })
}

func (s *faultyStore) CreateSession(ctx context.Context, row storage.StoredSession) error {
	return act(ctx, s, "CreateSession", func(ctx context.Context) error { return s.store().CreateSession(ctx, row) })
}

func (s *faultyStore) GetSession(ctx context.Context, token string) (storage.StoredSession, error) {
	return attempt(ctx, s, "GetSession", func(ctx context.Context) (storage.StoredSession, error) { return s.store().GetSession(ctx, token) })
}

func (s *faultyStore) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	type both struct {
		row  storage.StoredSession
		user latchkey.User
	}
	b, err := attempt(ctx, s, "GetSessionAndUser", func(ctx context.Context) (b both, err error) {
		b.row, b.user, err = s.store().GetSessionAndUser(ctx, token)
		return b, err
	})
	return b.row, b.user, err
}

func (s *faultyStore) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return act(ctx, s, "UpdateSession", func(ctx context.Context) error { return s.store().UpdateSession(ctx, token, expires) })
}

func (s *faultyStore) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	return attempt(ctx, s, "DeleteSession", func(ctx context.Context) (storage.StoredSession, error) { return s.store().DeleteSession(ctx, token) })
}

func (s *faultyStore) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	return act(ctx, s, "CreateVerificationToken", func(ctx context.Context) error { return s.store().CreateVerificationToken(ctx, t) })
}

func (s *faultyStore) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	return attempt(ctx, s, "UseVerificationToken", func(ctx context.Context) (storage.VerificationToken, error) {
		return s.store().UseVerificationToken(ctx, identifier, token)
	})
}

func (s *faultyStore) GetAccount(ctx context.Context, provider, id string) (latchkey.Account, error) {
	return attempt(ctx, s, "GetAccount", func(ctx context.Context) (latchkey.Account, error) { return s.store().GetAccount(ctx, provider, id) })
}

func (s *faultyStore) ListAccounts(ctx context.Context, userID string) ([]latchkey.Account, error) {
	return attempt(ctx, s, "ListAccounts", func(ctx context.Context) ([]latchkey.Account, error) { return s.store().ListAccounts(ctx, userID) })
}

func (s *faultyStore) UnlinkAccount(ctx context.Context, provider, id string) (latchkey.Account, error) {
	return attempt(ctx, s, "UnlinkAccount", func(ctx context.Context) (latchkey.Account, error) { return s.store().UnlinkAccount(ctx, provider, id) })
}

func (s *faultyStore) ListSessions(ctx context.Context, userID string) ([]storage.StoredSession, error) {
	return attempt(ctx, s, "ListSessions", func(ctx context.Context) ([]storage.StoredSession, error) { return s.store().ListSessions(ctx, userID) })
}

func (s *faultyStore) DeleteSessionByID(ctx context.Context, userID, id string) error {
	return act(ctx, s, "DeleteSessionByID", func(ctx context.Context) error { return s.store().DeleteSessionByID(ctx, userID, id) })
}

func (s *faultyStore) DeleteSessions(ctx context.Context, userID, keep string) (int, error) {
	return attempt(ctx, s, "DeleteSessions", func(ctx context.Context) (int, error) { return s.store().DeleteSessions(ctx, userID, keep) })
}

func (s *faultyStore) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return act(ctx, s, "InTx", func(patient context.Context) error {
		return s.store().InTx(patient, func(a storage.Adapter) error {
			if err := f(&faultyStore{a.(*memoryadapter.Adapter), s.plan}); err != nil {
				return err
			}
			return s.plan.patient(ctx).Err()
		})
	})
}

// noTx is a faulty store without transactions: it remembers half-done sign-ups
// instead.
type noTx struct {
	storage.Adapter
	storage.SessionAdapter
	storage.VerificationTokenAdapter
	storage.AccountAdapter
	storage.SignUpAdapter
}

func (s *faultyStore) withoutTx() storage.Adapter { return noTx{s, s, s, s, s.inner} }
