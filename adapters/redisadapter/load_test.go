package redisadapter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// signIn brings in who has the account, in the steps of the library on a store
// without transactions.
func signIn(ctx context.Context, a *redisadapter.Adapter, account, email, token string) (storage.User, error) {
	u, err := a.GetUserByAccount(ctx, "acme", account)
	if errors.Is(err, storage.ErrNotFound) {
		u, err = signUp(ctx, a, account, email)
	}
	if err != nil {
		return u, err
	}
	return u, a.CreateSession(ctx, storage.StoredSession{Token: token, UserID: u.ID, Expires: time.Now().Add(time.Hour)})
}

func signUp(ctx context.Context, a *redisadapter.Adapter, account, email string) (storage.User, error) {
	id, err := a.BeginSignUp(ctx, "acme", account, fmt.Sprintf("%s-%d", account, time.Now().UnixNano()))
	if err != nil {
		return storage.User{}, err
	}
	u, err := a.CreateUser(ctx, storage.User{ID: id, Email: email})
	if errors.Is(err, storage.ErrConflict) { // begun before
		if u, err = a.GetUser(ctx, id); errors.Is(err, storage.ErrNotFound) {
			err = storage.ErrConflict
		}
	}
	if err == nil {
		err = a.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: account})
	}
	if err == nil {
		err = a.EndSignUp(ctx, "acme", account)
	}
	return u, err
}

// load reads 200 sessions a second, signs 20 people in and ends 20 sessions, each
// call by itself, and writes down what comes back.
type load struct {
	a        *redisadapter.Adapter
	standing []string // tokens of sessions from before

	mu                  sync.Mutex
	calls, errs, inARow int
	first, last         time.Time // errors
	begun               int       // how often the clock of the load has ticked
	firstTick, lastTick int       // at the first error and at the last
	firstErr            error
	signedOut           []string          // standing sessions that were not found
	people              map[string]string // account to user, of sign-ins that were answered
	tokens, ended       []string          // of sessions that were made, and ended, with an answer
}

func newLoad(t *testing.T, a *redisadapter.Adapter) *load {
	t.Helper()
	l := &load{a: a, people: map[string]string{}}
	for i := range 60 {
		token := fmt.Sprintf("standing-%d", i)
		_, err := signIn(t.Context(), a, token, token+"@example.com", token)
		ok(t, err)
		l.standing = append(l.standing, token)
	}
	return l
}

func (l *load) saw(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	l.inARow++
	if err != nil {
		if l.errs++; l.errs == 1 {
			l.first, l.firstErr, l.firstTick = time.Now(), err, l.begun
		}
		l.last, l.inARow, l.lastTick = time.Now(), 0, l.begun
	}
}

func (l *load) read(ctx context.Context, token string) {
	_, _, err := l.a.GetSessionAndUser(ctx, token)
	if errors.Is(err, storage.ErrNotFound) {
		l.mu.Lock()
		l.signedOut = append(l.signedOut, token)
		l.mu.Unlock()
	}
	l.saw(err)
}

func (l *load) signIn(ctx context.Context, account string) {
	u, err := signIn(ctx, l.a, account, account+"@example.com", "of-"+account)
	l.saw(err)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.people[account] = u.ID
		l.tokens = append(l.tokens, "of-"+account)
	}
}

func (l *load) signOut(ctx context.Context) {
	l.mu.Lock()
	var token string
	if n := len(l.tokens); n > 0 {
		token, l.tokens = l.tokens[n-1], l.tokens[:n-1]
	}
	l.mu.Unlock()
	if token == "" {
		return
	}
	if _, err := l.a.DeleteSession(ctx, token); err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ended = append(l.ended, token)
	}
}

func (l *load) ticked() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun++
}

// beat is how often the load makes a call.
const beat = 5 * time.Millisecond

// within fails unless the errors have ended within a time, as the load has counted it: a
// machine that has much else to do makes fewer calls in that time. Such a machine may
// need twice as long all the same.
func (l *load) within(t *testing.T, most time.Duration) {
	t.Helper()
	if window := time.Duration(l.lastTick-l.firstTick) * beat; window > 2*most {
		t.Errorf("R-545: errors for %v, want at most %v", window, most)
	}
}

// calm tells whether that many calls in a row were answered.
func (l *load) calm(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inARow >= n
}

// patience is how long a busy machine may take.
var patience = race.Patience(time.Minute)

// await waits until that many more calls in a row were answered.
func (l *load) await(t *testing.T, n int) {
	t.Helper()
	l.mu.Lock()
	l.inARow = 0
	l.mu.Unlock()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !l.calm(n); <-tick.C {
		if time.Now().After(deadline) {
			l.mu.Lock()
			defer l.mu.Unlock()
			t.Fatalf("it is not calm: %d errors in %d calls, such as %v", l.errs, l.calls, l.firstErr)
		}
	}
}

// during keeps the load up while the event takes place, from when everything is
// calm before it, and until that many calls in a row are answered after it.
func (l *load) during(t *testing.T, event func(), calm int) {
	t.Helper()
	over := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { l.keepUp(t.Context(), over) })
	defer all.Wait()
	defer close(over)
	l.await(t, 100)
	event()
	l.await(t, calm)
}

// keepUp makes calls until it is over, and waits for them.
func (l *load) keepUp(ctx context.Context, over <-chan struct{}) {
	var calls sync.WaitGroup
	defer calls.Wait()
	call := func(f func(context.Context)) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		calls.Go(func() { defer cancel(); f(ctx) })
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		l.ticked()
		call(func(ctx context.Context) { l.read(ctx, l.standing[n%len(l.standing)]) })
		if n%10 == 0 {
			call(func(ctx context.Context) { l.signIn(ctx, fmt.Sprintf("n%d", n)) })
			call(l.signOut)
		}
	}
}

// judge is what must hold afterwards: nobody was signed out, and everybody who
// signs in once more is in, as one person for one e-mail address.
func (l *load) judge(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	if len(l.signedOut) > 0 {
		t.Errorf("%d sessions from before were not found, such as %s", len(l.signedOut), l.signedOut[0])
	}
	lost, undone, revived := 0, 0, 0
	for account, id := range l.people {
		email := account + "@example.com"
		if _, err := l.a.GetUserByAccount(ctx, "acme", account); err != nil {
			lost++
		}
		u, err := signIn(ctx, l.a, account, email, "again-"+account)
		if err != nil {
			t.Errorf("%s cannot sign in again: %v", account, err)
			continue
		}
		if u.ID != id {
			undone++
		}
		if whose, err := l.a.GetUserByEmail(ctx, email); err != nil || whose.ID != u.ID {
			t.Errorf("%s is %s, but the e-mail address is of %s, error %v", account, u.ID, whose.ID, err)
		}
	}
	for _, token := range l.ended {
		if _, err := l.a.GetSession(ctx, token); err == nil {
			revived++
		}
	}
	t.Logf("%d calls, %d errors within %v; of %d sign-ins %d were lost, %d people began anew; of %d ended sessions %d came back; first error: %v",
		l.calls, l.errs, l.last.Sub(l.first).Round(time.Millisecond), len(l.people), lost, undone, len(l.ended), revived, l.firstErr)
}
