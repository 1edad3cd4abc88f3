package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateSession implements [storage.SessionAdapter]. It returns ErrConflict if the token is
// taken. It returns ErrNotFound for an unknown user if the schema has a foreign key, as ours
// does. It returns another error for a token that no session can have, such as an empty one.
func (s *Store) CreateSession(ctx context.Context, v storage.StoredSession) error {
	key := s.sessions.stored(v.Token)
	row := s.sessions.values(v, key)
	err := error(storage.ErrNotFound)
	if !s.sessions.canHave(v.Token) {
		err = errText
	} else if s.db.findableID(v.UserID) {
		err = s.db.claim(ctx, func(db *database) error { return db.add(ctx, db.q.insertSession, row...) },
			claimed("sessions.sessionToken", key), s.db.q.session, key)
	}
	return fail(ctx, "create session", err)
}

// GetSessionAndUser implements [storage.SessionAdapter]. It returns ErrNotFound for an
// unknown session, and for one without a user. It returns an expired session as long as
// the row exists. The user comes without the suspension.
func (s *Store) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	var session sessionRow
	var user userRow
	err := s.sessions.withToken(ctx, token, func(stored string) error {
		return s.db.conn.One(ctx, s.db.q.sessionAndUser, []any{stored}, append(s.db.into("sessions", session.dest()), s.db.into("users", user.dest())...)...)
	})
	if err != nil {
		return storage.StoredSession{}, storage.User{}, fail(ctx, "get session", err)
	}
	u, err := user.read()
	return session.read(token), u, fail(ctx, "get session", err)
}

// GetSession implements [storage.SessionStore]. It does not read the user. It
// returns ErrNotFound for an unknown session. It returns an expired session as long
// as the row exists.
func (s *Store) GetSession(ctx context.Context, token string) (storage.StoredSession, error) {
	var row sessionRow
	err := s.sessions.withToken(ctx, token, func(stored string) error {
		return s.db.conn.One(ctx, s.db.q.session, []any{stored}, s.db.into("sessions", row.dest())...)
	})
	if err != nil {
		return storage.StoredSession{}, fail(ctx, "get session", err)
	}
	return row.read(token), nil
}

// UpdateSession implements [storage.SessionAdapter]. It returns ErrNotFound for an
// unknown session, and nil for one that expires later already.
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	at := s.db.layout.arg(expires)
	if err := s.db.fitsColumn(ctx, "sessions", "expires", at); err != nil {
		return fail(ctx, "update session", err)
	}
	err := s.sessions.withToken(ctx, token, func(stored string) error {
		n, err := s.db.conn.Exec(ctx, s.db.q.renewSession, append(s.db.layout.touches("sessions"), at, stored, at)...)
		if err != nil || n > 0 {
			return err
		}
		current := instant{of: &s.db.layout.form} // nothing changed: because of the expiry, or is there no such session?
		return s.db.conn.One(ctx, s.db.q.sessionExpiry, []any{stored}, &current)
	})
	return fail(ctx, "update session", err)
}

// RenewSession implements [storage.SessionRenewalAdapter]: it gives a session the token of
// next. It returns ErrNotFound for an unknown session, and ErrConflict if the new token is
// taken. In a layout without ids of sessions the id is made of the token, and changes with it.
func (s *Store) RenewSession(ctx context.Context, token string, next storage.StoredSession) error {
	set, args, err := s.sessions.renewal(ctx, next)
	if err != nil {
		return fail(ctx, "renew session", err)
	}
	key := s.sessions.stored(next.Token)
	err = s.sessions.withToken(ctx, token, func(stored string) error {
		return s.db.claim(ctx, func(db *database) error {
			n, err := db.conn.Exec(ctx, set, append(args[:len(args):len(args)], stored)...)
			switch {
			case is(err, unique):
				return storage.ErrConflict
			case err == nil && n == 0:
				return storage.ErrNotFound
			}
			return err
		}, claimed("sessions.sessionToken", key), s.db.q.session, key)
	})
	return fail(ctx, "renew session", err)
}

// DeleteSession implements [storage.SessionAdapter]. It returns the session as removed,
// or ErrNotFound for an unknown session.
func (s *Store) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	var row sessionRow
	err := s.sessions.withToken(ctx, token, func(stored string) error {
		return s.db.take(ctx, "sessions", s.db.q.session, s.db.q.deleteSession, []any{stored}, s.db.into("sessions", row.dest())...)
	})
	if err != nil {
		return storage.StoredSession{}, fail(ctx, "delete session", err)
	}
	return row.read(token), nil
}

// ListSessions implements [storage.SessionListAdapter]. The session that expires last
// comes first, and expired sessions are included. The Token of each is empty.
func (s *Store) ListSessions(ctx context.Context, userID string) (list []storage.StoredSession, err error) {
	err = s.db.each(ctx, s.db.q.sessionsOf, userID, func(scan func(...any) error) error {
		var row sessionRow
		err := scan(s.db.into("sessions", row.dest())...)
		list = append(list, row.read(""))
		return err
	})
	return list, fail(ctx, "list sessions", err)
}

// DeleteSessionByID implements [storage.SessionListAdapter]. It returns ErrNotFound if
// the user has no session with the id.
func (s *Store) DeleteSessionByID(ctx context.Context, userID, id string) error {
	var n int
	var err error
	if s.db.layout.has("sessions.id") {
		n, err = s.sessions.deleteBy(ctx, s.db.q.deleteSessionByID, userID, id)
	} else {
		n, err = s.sessions.deleteByToken(ctx, userID, func(of string) bool { return of == id })
	}
	if err == nil && n == 0 {
		err = storage.ErrNotFound
	}
	return fail(ctx, "delete session by id", err)
}

// DeleteSessions implements [storage.SessionListAdapter]. It deletes the sessions of the user
// except the one with the id keep, or all if keep is empty. It returns how many it deleted, in
// a layout without ids of sessions also beside an error.
func (s *Store) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	switch {
	case keep == "":
		n, err = s.sessions.deleteBy(ctx, s.db.q.deleteSessions, userID)
	case !s.db.layout.has("sessions.id"):
		n, err = s.sessions.deleteByToken(ctx, userID, func(of string) bool { return of != keep })
	default:
		n, err = s.sessions.deleteFound(ctx, s.db.q.deleteSessionsBut, userID, keep)
		if errors.Is(err, storage.ErrNotFound) { // no row has such an id as keep: the session is in another store, or has no id
			n, err = s.sessions.deleteByToken(ctx, userID, func(of string) bool { return of != keep })
		}
	}
	return n, fail(ctx, "delete sessions", err)
}
