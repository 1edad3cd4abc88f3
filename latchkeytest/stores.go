package latchkeytest

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// Stores proves that a value keeps every promise of each role that it can play
// beside an Adapter: [latchkey.SessionStore], [latchkey.Limiter],
// [latchkey.ReplayStore] and [latchkey.RevocationStore]. It has one sub-test for
// each promise, in a group for each role; of a role that the value cannot play
// it only says so. A value that can play none fails.
//
//	func TestStores(t *testing.T) {
//		latchkeytest.Stores(t, func(t *testing.T) any { return mystore.New(emptyServer(t)) })
//	}
//
// open is called for each promise anew and returns an empty store that allows
// at least 100 calls at once. except names what it cannot keep, as for
// [Adapter]: "SessionStore/promise", or "SessionStore" for the whole role.
//
// Where the value is an Adapter too, the owners of its sessions are users of
// its own; else they are ids that it has never heard of.
func Stores(t *testing.T, open func(t *testing.T) any, except ...string) {
	t.Helper()
	s := newSuite(open, except)
	prove(t, s, "Limiter", limiterPromises)
	prove(t, s, "ReturningLimiter", returningPromises)
	prove(t, s, "ReplayStore", replayPromises)
	prove(t, s, "RevocationStore", revocationPromises)
	roles := s.open(t)
	_, limits := roles.(latchkey.Limiter)
	_, remembers := roles.(latchkey.ReplayStore)
	_, revokes := roles.(latchkey.RevocationStore)
	_, keeps := roles.(latchkey.SessionStore)
	if !limits && !remembers && !revokes && !keeps {
		t.Errorf("%T is no SessionStore, Limiter, ReplayStore or RevocationStore", roles)
	}
	s.open = func(t *testing.T) any { return withOwners(open(t)) }
	prove(t, s, "SessionStore", slices.Concat(
		as[sessionStore, storeWithOwners](sessionPromises),
		as[sessionStore, storeWithOwners](sessionFieldPromises),
		as[sessionListStore, storeWithOwners](sessionListPromises),
	))
	s.end(t)
}

// as is promises of A for a B, which is an A.
func as[A, B any](promises []promise[A]) []promise[B] {
	var all []promise[B]
	for _, p := range promises {
		all = append(all, promise[B]{p.name, func(t *testing.T, b B) { p.keep(t, any(b).(A)) }})
	}
	return all
}

// storeWithOwners is a SessionStore beside the users that own its sessions: of
// such a pair the promises of a SessionAdapter have to hold.
type storeWithOwners struct {
	latchkey.Adapter
	latchkey.SessionStore
}

func withOwners(v any) any {
	sessions, keeps := v.(latchkey.SessionStore)
	if !keeps {
		return v
	}
	users, own := v.(latchkey.Adapter)
	if !own {
		users = &owners{}
	}
	return storeWithOwners{users, sessions}
}

// GetSessionAndUser is how the library reads the two.
func (s storeWithOwners) GetSessionAndUser(ctx context.Context, token string) (latchkey.StoredSession, latchkey.User, error) {
	row, err := s.GetSession(ctx, token)
	if err != nil {
		return latchkey.StoredSession{}, latchkey.User{}, err
	}
	u, err := s.GetUser(ctx, row.UserID)
	if err != nil {
		return latchkey.StoredSession{}, latchkey.User{}, err
	}
	return row, u, nil
}

// owners are users as far as promises about sessions ask for them.
type owners struct {
	latchkey.Adapter // absent: nothing else is asked

	mu    sync.Mutex
	users []latchkey.User
}

func (o *owners) CreateUser(_ context.Context, u latchkey.User) (latchkey.User, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	u.ID = "owner-" + strconv.Itoa(len(o.users))
	u.EmailVerified = u.EmailVerified.UTC()
	o.users = append(o.users, u)
	return u, nil
}

func (o *owners) GetUser(_ context.Context, id string) (latchkey.User, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, u := range o.users {
		if u.ID == id {
			return u, nil
		}
	}
	return latchkey.User{}, latchkey.ErrNotFound
}
