package storagetest

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey/storage"
)

// TestStores tests that a value keeps every promise of each interface beside
// Adapter that it implements: [storage.SessionStore], [storage.Limiter],
// [storage.ReturningLimiter], [storage.ReplayStore], [storage.RevocationStore],
// [storage.LeaseStore] and [storage.ProviderLogoutAdapter] of a SessionStore. It runs
// one subtest for each promise, in a group for each interface. It logs the interfaces
// that the value lacks. A value that implements none fails.
//
//	func TestStores(t *testing.T) {
//		storagetest.TestStores(t, func(t *testing.T) any { return mystore.New(emptyServer(t)) })
//	}
//
// TestStores calls open for each promise. open returns an empty store that serves
// at least 100 concurrent calls. except names what the store cannot keep, as for
// [TestAdapter]: "SessionStore/promise", or "SessionStore" for the whole
// interface.
//
// If the value is an Adapter too, the users of its sessions are users of its own.
// Otherwise they are ids that it does not know.
func TestStores(t *testing.T, open func(t *testing.T) any, except ...string) {
	t.Helper()
	s := newSuite(open, except)
	prove(t, s, "Limiter", limiterPromises)
	prove(t, s, "ReturningLimiter", returningPromises)
	prove(t, s, "ReplayStore", replayPromises)
	prove(t, s, "RevocationStore", revocationPromises)
	prove(t, s, "LeaseStore", leasePromises)
	roles := s.open(t)
	_, limits := roles.(storage.Limiter)
	_, remembers := roles.(storage.ReplayStore)
	_, revokes := roles.(storage.RevocationStore)
	_, keeps := roles.(storage.SessionStore)
	_, leases := roles.(storage.LeaseStore)
	if !limits && !remembers && !revokes && !keeps && !leases {
		t.Errorf("%T is no SessionStore, Limiter, ReplayStore, RevocationStore or LeaseStore", roles)
	}
	s.open = func(t *testing.T) any { return withOwners(open(t)) }
	prove(t, s, "SessionStore", slices.Concat(
		as[sessionStore, storeWithOwners](sessionPromises),
		as[sessionStore, storeWithOwners](sessionFieldPromises),
		as[sessionListStore, storeWithOwners](sessionListPromises),
	))
	s.open = func(t *testing.T) any {
		able, _ := open(t).(storage.ProviderLogoutAdapter)
		if store, keeps := withOwners(able).(storeWithOwners); keeps {
			return logoutWithOwners{store, able}
		}
		return nil
	}
	prove(t, s, "ProviderLogoutAdapter", as[providerLogoutStore, logoutWithOwners](providerLogoutPromises))
	s.end(t)
}

// logoutWithOwners is a storeWithOwners that ends sessions by what a provider calls them.
type logoutWithOwners struct {
	storeWithOwners
	storage.ProviderLogoutAdapter
}

// as returns promises of A as promises of B. B implements A.
func as[A, B any](promises []promise[A]) []promise[B] {
	var all []promise[B]
	for _, p := range promises {
		all = append(all, promise[B]{p.name, func(t *testing.T, b B) { p.keep(t, any(b).(A)) }})
	}
	return all
}

// storeWithOwners is a SessionStore beside the users that own its sessions. The
// pair keeps the promises of a SessionAdapter.
type storeWithOwners struct {
	storage.Adapter
	storage.SessionStore
}

// withOwners returns a [storage.SessionStore] with users for its sessions, and any other
// value as it is.
func withOwners(v any) any {
	sessions, keeps := v.(storage.SessionStore)
	if !keeps {
		return v
	}
	users, own := v.(storage.Adapter)
	if !own {
		users = &owners{}
	}
	return storeWithOwners{users, sessions}
}

// GetSessionAndUser reads the session and its user as the library does.
func (s storeWithOwners) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	row, err := s.GetSession(ctx, token)
	if err != nil {
		return storage.StoredSession{}, storage.User{}, err
	}
	u, err := s.GetUser(ctx, row.UserID)
	if err != nil {
		return storage.StoredSession{}, storage.User{}, err
	}
	return row, u, nil
}

// owners keeps the users of sessions. It has the two methods that promises about
// sessions call.
type owners struct {
	storage.Adapter // nil

	mu    sync.Mutex
	users []storage.User
}

func (o *owners) CreateUser(_ context.Context, u storage.User) (storage.User, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	u.ID = "owner-" + strconv.Itoa(len(o.users))
	u.EmailVerified = u.EmailVerified.UTC()
	o.users = append(o.users, u)
	return u, nil
}

func (o *owners) GetUser(_ context.Context, id string) (storage.User, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, u := range o.users {
		if u.ID == id {
			return u, nil
		}
	}
	return storage.User{}, storage.ErrNotFound
}
