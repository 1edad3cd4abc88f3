package directory

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// Stored sessions are in the adapter, or in a store apart from the users. Only
// this file knows where.

// SessionsApart are sessions in a store apart from the users.
type SessionsApart struct {
	Store     storage.SessionStore
	Tenant    string
	InAdapter bool // sessions that Store does not know may be in the adapter
}

// SessionAndUser is a stored session with its user.
type SessionAndUser struct {
	Row  storage.StoredSession
	User storage.User
}

// Session returns a session with its user, or ErrNotFound. It returns sessions that have
// expired, too. A session of another tenant in a store apart comes without its user: only
// that tenant knows the user.
func (s *Store) Session(ctx context.Context, token string) (SessionAndUser, error) {
	return apartOr(s, func() (SessionAndUser, error) { return s.sessionApart(ctx, token) }, func() (SessionAndUser, error) {
		return guarded.CallFor(ctx, s.bounds, "GetSessionAndUser", func(f SessionAndUser) bool {
			return isSession(token)(f.Row) && f.Row.UserID == f.User.ID && !f.Row.Expires.IsZero()
		}, func(ctx context.Context) (f SessionAndUser, err error) {
			f.Row, f.User, err = s.SessionRows.GetSessionAndUser(ctx, token)
			return f, err
		})
	})
}

// apartOr calls apart if there is a store apart, and adapter otherwise. It calls
// adapter also if that store returns ErrNotFound and the session may be in the
// adapter.
func apartOr[T any](s *Store, apart, adapter func() (T, error)) (T, error) {
	if s.Apart == nil {
		return adapter()
	}
	found, err := apart()
	if s.Apart.InAdapter && errors.Is(err, storage.ErrNotFound) {
		return adapter()
	}
	return found, err
}

// isSession returns a function that reports whether a session has the token, and a user.
func isSession(token string) func(storage.StoredSession) bool {
	return func(row storage.StoredSession) bool { return row.Token == token && row.UserID != "" }
}

// sessionApart returns a session from the store apart, with its user unless the session is of
// another tenant. If the user is gone, it deletes the session and returns ErrNotFound.
func (s *Store) sessionApart(ctx context.Context, token string) (found SessionAndUser, err error) {
	found.Row, err = guarded.CallFor(ctx, s.bounds, "Session.Store: GetSession", func(row storage.StoredSession) bool {
		return isSession(token)(row) && !row.Expires.IsZero()
	}, func(ctx context.Context) (storage.StoredSession, error) { return s.Apart.Store.GetSession(ctx, token) })
	if err != nil || found.Row.Tenant != s.Apart.Tenant {
		return found, err
	}
	found.User, err = s.User(ctx, found.Row.UserID)
	if errors.Is(err, storage.ErrNotFound) {
		_, _ = s.DeleteSession(ctx, token) // ErrNotFound is returned even if this fails
	}
	return found, err
}

// CachedSession returns a session from the session cache, or loads it as Session does and
// caches it. Without a cache it reads it every time. A cached session may be out of date.
func (s *Store) CachedSession(ctx context.Context, token string) (found SessionAndUser, err error) {
	if s.SessionCache == nil {
		return s.Session(ctx, token)
	}
	if found, ok := s.SessionCache.session(token); ok {
		return found, nil
	}
	return s.SessionCache.loadSession(ctx, token, func(ctx context.Context) (SessionAndUser, error) { return s.Session(ctx, token) })
}

// CreateSession stores a session in the store apart, if there is one, and in the
// adapter otherwise.
func (s *Store) CreateSession(ctx context.Context, row storage.StoredSession) error {
	if s.Apart != nil {
		return guarded.Do(ctx, s.bounds, "Session.Store: CreateSession", func(ctx context.Context) error { return s.Apart.Store.CreateSession(ctx, row) })
	}
	return guarded.Do(ctx, s.bounds, "CreateSession", func(ctx context.Context) error { return s.SessionRows.CreateSession(ctx, row) })
}

// ExtendSession sets the expiry of a session. It returns ErrNotFound for an
// unknown one.
func (s *Store) ExtendSession(ctx context.Context, token string, expires time.Time) error {
	defer s.SessionCache.dropSession(token)()
	_, err := apartOr(s, func() (none struct{}, err error) {
		return none, guarded.Do(ctx, s.bounds, "Session.Store: UpdateSession", func(ctx context.Context) error {
			return s.Apart.Store.UpdateSession(ctx, token, expires)
		})
	}, func() (none struct{}, err error) {
		return none, guarded.Do(ctx, s.bounds, "UpdateSession", func(ctx context.Context) error { return s.SessionRows.UpdateSession(ctx, token, expires) })
	})
	return err
}

// DeleteSession deletes a session and returns it. It returns ErrNotFound for an
// unknown one.
func (s *Store) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	defer s.SessionCache.dropSession(token)()
	return apartOr(s, func() (storage.StoredSession, error) {
		return guarded.CallFor(ctx, s.bounds, "Session.Store: DeleteSession", isSession(token), func(ctx context.Context) (storage.StoredSession, error) {
			return s.Apart.Store.DeleteSession(ctx, token)
		})
	}, func() (storage.StoredSession, error) {
		return guarded.CallFor(ctx, s.bounds, "DeleteSession", isSession(token), func(ctx context.Context) (storage.StoredSession, error) {
			return s.SessionRows.DeleteSession(ctx, token)
		})
	})
}

// sessionLister lists sessions. prefix begins the names of its calls in errors.
type sessionLister struct {
	prefix string
	storage.SessionListAdapter
}

// SessionListers returns every store that has to be asked for the sessions of a
// user.
func (s *Store) SessionListers() (all []sessionLister) {
	if s.Apart != nil {
		all = append(all, sessionLister{"Session.Store: ", s.Apart.Store})
	}
	if s.sessionLists != nil && (s.Apart == nil || s.Apart.InAdapter) {
		all = append(all, sessionLister{"", s.sessionLists})
	}
	return all
}

// ListSessions returns the sessions of a user from every store, of every tenant and
// including those that have expired. It returns none if no store can list them.
func (s *Store) ListSessions(ctx context.Context, userID string) (all []storage.StoredSession, err error) {
	for _, in := range s.SessionListers() {
		rows, err := guarded.CallForList(ctx, s.bounds, in.prefix+"ListSessions", func(row storage.StoredSession) bool { return row.UserID == userID },
			func(ctx context.Context) ([]storage.StoredSession, error) { return in.ListSessions(ctx, userID) })
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// deleteSessionByID ends one session of a user. It returns ErrNotFound if no store
// has it.
func (s *Store) deleteSessionByID(ctx context.Context, userID, id string) error {
	defer s.SessionCache.dropUser(userID)()
	for _, in := range s.SessionListers() {
		err := guarded.Do(ctx, s.bounds, in.prefix+"DeleteSessionByID", func(ctx context.Context) error { return in.DeleteSessionByID(ctx, userID, id) })
		if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	return storage.ErrNotFound
}

// deleteSessions ends all sessions of a user in every store, except the one with the id
// keep. An empty keep ends all. It skips a store that cannot list sessions, goes on after
// an error, and returns all errors joined.
func (s *Store) deleteSessions(ctx context.Context, userID, keep string) error {
	defer s.SessionCache.dropUser(userID)()
	var failed error
	for _, in := range s.SessionListers() {
		failed = errors.Join(failed, failure.Ignoring(guarded.Do(ctx, s.bounds, in.prefix+"DeleteSessions", func(ctx context.Context) error {
			_, err := in.DeleteSessions(ctx, userID, keep)
			return err
		}), errors.ErrUnsupported))
	}
	return failed
}

// Sweep removes what expired before an instant from every store that supports it, and
// returns how many rows it removed, also beside an error. If the time did not suffice,
// the error is storage.ErrUnfinished.
func (s *Store) Sweep(ctx context.Context, before time.Time) (total int, err error) {
	sweepers := map[string]any{"": s.adapter}
	if s.Apart != nil {
		sweepers["Session.Store: "] = s.Apart.Store
	}
	for prefix, from := range sweepers {
		able, ok := from.(storage.SweepAdapter)
		if !ok {
			continue // the store expires its rows itself
		}
		var unfinished error
		n, failed := guarded.Call(ctx, s.bounds, prefix+"Sweep", func(ctx context.Context) (n int, err error) {
			n, err = able.Sweep(ctx, before)
			if errors.Is(err, storage.ErrUnfinished) {
				unfinished, err = storage.ErrUnfinished, nil
			}
			return n, err
		})
		total, err = total+n, errors.Join(err, failed, unfinished)
	}
	return total, err
}
