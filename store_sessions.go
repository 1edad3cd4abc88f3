package latchkey

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// Stored sessions: in the adapter, or in a store apart from the users. Nothing
// but this file knows where.

// sessionsApart are sessions that are kept beside the users.
type sessionsApart struct {
	store     storage.SessionStore
	tenant    string
	inAdapter bool // what the store does not know may be in the adapter
}

// sessionAndUser is a stored session and whose it is.
type sessionAndUser struct {
	row  storage.StoredSession
	user User
}

// session finds a session with its user. One of another tenant that is kept
// apart has no user: whose it is, is known there.
func (s *store) session(ctx context.Context, token string) (sessionAndUser, error) {
	return apartOr(s, func() (sessionAndUser, error) { return s.sessionApart(ctx, token) }, func() (sessionAndUser, error) {
		return guarded.CallFor(ctx, s.bounds, "GetSessionAndUser", func(f sessionAndUser) bool {
			return isSession(token)(f.row) && f.row.UserID == f.user.ID && !f.row.Expires.IsZero()
		}, func(ctx context.Context) (f sessionAndUser, err error) {
			f.row, f.user, err = s.sessionRows.GetSessionAndUser(ctx, token)
			return f, err
		})
	})
}

// apartOr asks the store apart, if there is one, and the adapter for what that
// does not know, where it may.
func apartOr[T any](s *store, apart, adapter func() (T, error)) (T, error) {
	if s.apart == nil {
		return adapter()
	}
	found, err := apart()
	if s.apart.inAdapter && errors.Is(err, ErrNotFound) {
		return adapter()
	}
	return found, err
}

func isSession(token string) func(storage.StoredSession) bool {
	return func(row storage.StoredSession) bool { return row.Token == token && row.UserID != "" }
}

// sessionApart deletes on the way a session whose user is gone.
func (s *store) sessionApart(ctx context.Context, token string) (found sessionAndUser, err error) {
	found.row, err = guarded.CallFor(ctx, s.bounds, "Session.Store: GetSession", func(row storage.StoredSession) bool {
		return isSession(token)(row) && !row.Expires.IsZero()
	}, func(ctx context.Context) (storage.StoredSession, error) { return s.apart.store.GetSession(ctx, token) })
	if err != nil || found.row.Tenant != s.apart.tenant {
		return found, err
	}
	found.user, err = s.user(ctx, found.row.UserID)
	if errors.Is(err, ErrNotFound) {
		_, _ = s.deleteSession(ctx, token) // nobody's all the same
	}
	return found, err
}

// sessionOrBelief is session, or what this process believes of it.
func (s *store) sessionOrBelief(ctx context.Context, token string) (found sessionAndUser, err error) {
	if s.beliefs == nil {
		return s.session(ctx, token)
	}
	if found, ok := s.beliefs.session(token); ok {
		return found, nil
	}
	return s.beliefs.loadSession(ctx, token, func(ctx context.Context) (sessionAndUser, error) { return s.session(ctx, token) })
}

func (s *store) createSession(ctx context.Context, row storage.StoredSession) error {
	if s.apart != nil {
		return guarded.Do(ctx, s.bounds, "Session.Store: CreateSession", func(ctx context.Context) error { return s.apart.store.CreateSession(ctx, row) })
	}
	return guarded.Do(ctx, s.bounds, "CreateSession", func(ctx context.Context) error { return s.sessionRows.CreateSession(ctx, row) })
}

func (s *store) extendSession(ctx context.Context, token string, expires time.Time) error {
	defer s.beliefs.dropSession(token)()
	_, err := apartOr(s, func() (none struct{}, err error) {
		return none, guarded.Do(ctx, s.bounds, "Session.Store: UpdateSession", func(ctx context.Context) error {
			return s.apart.store.UpdateSession(ctx, token, expires)
		})
	}, func() (none struct{}, err error) {
		return none, guarded.Do(ctx, s.bounds, "UpdateSession", func(ctx context.Context) error { return s.sessionRows.UpdateSession(ctx, token, expires) })
	})
	return err
}

func (s *store) deleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	defer s.beliefs.dropSession(token)()
	return apartOr(s, func() (storage.StoredSession, error) {
		return guarded.CallFor(ctx, s.bounds, "Session.Store: DeleteSession", isSession(token), func(ctx context.Context) (storage.StoredSession, error) {
			return s.apart.store.DeleteSession(ctx, token)
		})
	}, func() (storage.StoredSession, error) {
		return guarded.CallFor(ctx, s.bounds, "DeleteSession", isSession(token), func(ctx context.Context) (storage.StoredSession, error) {
			return s.sessionRows.DeleteSession(ctx, token)
		})
	})
}

// sessionLister is where lists of sessions can be had, and what its calls are
// called.
type sessionLister struct {
	prefix string
	storage.SessionListAdapter
}

// sessionListers are all that have to be asked.
func (s *store) sessionListers() (all []sessionLister) {
	if s.apart != nil {
		all = append(all, sessionLister{"Session.Store: ", s.apart.store})
	}
	if s.sessionLists != nil && (s.apart == nil || s.apart.inAdapter) {
		all = append(all, sessionLister{"", s.sessionLists})
	}
	return all
}

func (s *store) listSessions(ctx context.Context, userID string) (all []storage.StoredSession, err error) {
	for _, in := range s.sessionListers() {
		rows, err := guarded.CallForList(ctx, s.bounds, in.prefix+"ListSessions", func(row storage.StoredSession) bool { return row.UserID == userID },
			func(ctx context.Context) ([]storage.StoredSession, error) { return in.ListSessions(ctx, userID) })
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func (s *store) deleteSessionByID(ctx context.Context, userID, id string) error {
	defer s.beliefs.dropUser(userID)()
	for _, in := range s.sessionListers() {
		err := guarded.Do(ctx, s.bounds, in.prefix+"DeleteSessionByID", func(ctx context.Context) error { return in.DeleteSessionByID(ctx, userID, id) })
		if !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return ErrNotFound
}

// deleteSessions ends all sessions of a user but keep, wherever they are.
func (s *store) deleteSessions(ctx context.Context, userID, keep string) error {
	defer s.beliefs.dropUser(userID)()
	var failed error
	for _, in := range s.sessionListers() {
		failed = errors.Join(failed, failure.Ignoring(guarded.Do(ctx, s.bounds, in.prefix+"DeleteSessions", func(ctx context.Context) error {
			_, err := in.DeleteSessions(ctx, userID, keep)
			return err
		}), errors.ErrUnsupported))
	}
	return failed
}

// sweep removes what has expired from each store that wants it.
func (s *store) sweep(ctx context.Context, before time.Time) (total int, err error) {
	sweepers := map[string]any{"": s.adapter}
	if s.apart != nil {
		sweepers["Session.Store: "] = s.apart.store
	}
	for prefix, from := range sweepers {
		able, ok := from.(storage.SweepAdapter)
		if !ok {
			continue // it lets its rows expire
		}
		n, failed := guarded.Call(ctx, s.bounds, prefix+"Sweep", func(ctx context.Context) (int, error) { return able.Sweep(ctx, before) })
		total, err = total+n, errors.Join(err, failed)
	}
	return total, err
}
