package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// hashed marks stored tokens that are hashes. Without it, somebody who read a
// hash in a copy of the database could present it as an old plain token.
const hashed = "sha256:"

// longestPlain bounds what is looked for as an old plain token.
const longestPlain = 512

// sessionRow is where a row of sessions is read to.
type sessionRow struct {
	session                          latchkey.StoredSession
	expires, created, issued, proved instant
	amr                              string
}

func (r *sessionRow) dest() []any {
	s := &r.session
	return []any{
		&s.ID, &s.UserID, &s.Token, &r.expires, &r.created, &s.UserAgent, &s.Tenant, &s.Provider,
		&s.ProviderSID, &s.ProviderSub, &r.issued, &s.Sealed, &r.proved, &r.amr, &s.ACR,
	}
}

// read gives the session the token that its owner knows, which may be none.
func (r *sessionRow) read(token string) latchkey.StoredSession {
	s := r.session
	s.ID = cmp.Or(s.ID, idOfToken(s.Token))
	s.Token, s.Expires, s.Created = token, r.expires.Time, r.created.Time
	s.ProviderIssued, s.Proved = r.issued.Time, r.proved.Time
	if r.amr != "" {
		s.AMR = strings.Split(r.amr, " ")
	}
	return s
}

// sessionValues is the row of a session whose token is kept as stored.
func (s *Store) sessionValues(v latchkey.StoredSession, stored string) []any {
	// What a browser says of itself need not be text.
	agent := strings.ReplaceAll(strings.ToValidUTF8(v.UserAgent, "\uFFFD"), "\x00", "\uFFFD")
	at := s.arg
	return []any{
		s.newID(v.ID), v.UserID, stored, at(v.Expires), at(v.Created), null(agent), null(v.Tenant), null(v.Provider),
		null(v.ProviderSID), null(v.ProviderSub), at(v.ProviderIssued), null(v.Sealed), at(v.Proved),
		null(strings.Join(v.AMR, " ")), null(v.ACR),
	}
}

// idOfToken stands in for the id of a session where there is no column for one:
// a part of the token's hash, whether the token is kept so or plain.
func idOfToken(stored string) string {
	sum, is := strings.CutPrefix(stored, hashed)
	if !is {
		plain := sha256.Sum256([]byte(stored))
		sum = hex.EncodeToString(plain[:])
	}
	return sum[:min(len(sum), 32)]
}

// stored is what a token is kept as.
func (s *Store) stored(token string) string {
	if s.plain {
		return token
	}
	return hash(token)
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hashed + hex.EncodeToString(sum[:])
}

// withToken calls f with what token is stored as. A token that is not found so
// may be an old plain one: that is converted, and f called again.
func (s *Store) withToken(ctx context.Context, token string, f func(stored string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if token == "" || !findable(token) || s.plain && strings.HasPrefix(token, hashed) {
		return latchkey.ErrNotFound
	}
	err := f(s.stored(token))
	if s.plain || !errors.Is(err, latchkey.ErrNotFound) || len(token) > longestPlain || strings.HasPrefix(token, hashed) {
		return err
	}
	expires := instant{of: &s.form}
	if err := s.conn.One(ctx, s.q.sessionKnown, []any{s.stored(token), token}, &expires); err != nil {
		return err // a fault is not "nobody": that would sign somebody out
	}
	if _, err := s.conn.Exec(ctx, s.q.hashToken, append(s.touches("sessions"), s.stored(token), token)...); err != nil {
		return err
	}
	return f(s.stored(token))
}

// CreateSession implements [latchkey.SessionAdapter]. An unknown user is
// ErrNotFound where the schema knows, as ours does.
func (s *Store) CreateSession(ctx context.Context, v latchkey.StoredSession) error {
	key := s.stored(v.Token)
	row := s.sessionValues(v, key)
	err := error(latchkey.ErrNotFound)
	if s.findableID(v.UserID) {
		err = s.claim(ctx, func(s *Store) error { return s.add(ctx, s.q.insertSession, row...) },
			claimed("sessions.sessionToken", key), s.q.session, key)
	}
	return fail(ctx, "create session", err)
}

// GetSessionAndUser implements [latchkey.SessionAdapter].
func (s *Store) GetSessionAndUser(ctx context.Context, token string) (latchkey.StoredSession, latchkey.User, error) {
	var session sessionRow
	var user userRow
	err := s.withToken(ctx, token, func(stored string) error {
		return s.conn.One(ctx, s.q.sessionAndUser, []any{stored}, append(s.into("sessions", session.dest()), s.into("users", user.dest())...)...)
	})
	if err != nil {
		return latchkey.StoredSession{}, latchkey.User{}, fail(ctx, "get session", err)
	}
	u, err := user.read()
	return session.read(token), u, fail(ctx, "get session", err)
}

// GetSession implements [latchkey.SessionStore]: it asks nothing of the user. One that is unknown is
// ErrNotFound; one that has expired is found while it is there.
func (s *Store) GetSession(ctx context.Context, token string) (latchkey.StoredSession, error) {
	var row sessionRow
	err := s.withToken(ctx, token, func(stored string) error {
		return s.conn.One(ctx, s.q.session, []any{stored}, s.into("sessions", row.dest())...)
	})
	if err != nil {
		return latchkey.StoredSession{}, fail(ctx, "get session", err)
	}
	return row.read(token), nil
}

// UpdateSession implements [latchkey.SessionAdapter].
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	at := s.arg(expires)
	if err := s.fitsColumn(ctx, "sessions", "expires", at); err != nil {
		return fail(ctx, "update session", err)
	}
	err := s.withToken(ctx, token, func(stored string) error {
		n, err := s.conn.Exec(ctx, s.q.renewSession, append(s.touches("sessions"), at, stored, at)...)
		if err != nil || n > 0 {
			return err
		}
		current := instant{of: &s.form} // nothing changed: because of the expiry, or is there no such session?
		return s.conn.One(ctx, s.q.sessionExpiry, []any{stored}, &current)
	})
	return fail(ctx, "update session", err)
}

// DeleteSession implements [latchkey.SessionAdapter].
func (s *Store) DeleteSession(ctx context.Context, token string) (latchkey.StoredSession, error) {
	var row sessionRow
	err := s.withToken(ctx, token, func(stored string) error {
		return s.take(ctx, "sessions", s.q.session, s.q.deleteSession, []any{stored}, s.into("sessions", row.dest())...)
	})
	if err != nil {
		return latchkey.StoredSession{}, fail(ctx, "delete session", err)
	}
	return row.read(token), nil
}

// ListSessions implements [latchkey.SessionListAdapter]. The one that
// expires last comes first.
func (s *Store) ListSessions(ctx context.Context, userID string) (list []latchkey.StoredSession, err error) {
	err = s.each(ctx, s.q.sessionsOf, userID, func(scan func(...any) error) error {
		var row sessionRow
		err := scan(s.into("sessions", row.dest())...)
		list = append(list, row.read(""))
		return err
	})
	return list, fail(ctx, "list sessions", err)
}

// DeleteSessionByID implements [latchkey.SessionListAdapter].
func (s *Store) DeleteSessionByID(ctx context.Context, userID, id string) error {
	var n int
	var err error
	if s.has("sessions.id") {
		n, err = s.deleteBy(ctx, s.q.deleteSessionByID, userID, id)
	} else {
		n, err = s.deleteByToken(ctx, userID, func(of string) bool { return of == id })
	}
	if err == nil && n == 0 {
		err = latchkey.ErrNotFound
	}
	return fail(ctx, "delete session by id", err)
}

// DeleteSessions implements [latchkey.SessionListAdapter].
func (s *Store) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	switch {
	case keep == "":
		n, err = s.deleteBy(ctx, s.q.deleteSessions, userID)
	case !s.has("sessions.id"):
		n, err = s.deleteByToken(ctx, userID, func(of string) bool { return of != keep })
	default:
		n, err = s.deleteBy(ctx, s.q.deleteSessionsBut, userID, keep)
	}
	return n, fail(ctx, "delete sessions", err)
}

// deleteByToken deletes sessions of a user that have no ids of their own.
func (s *Store) deleteByToken(ctx context.Context, userID string, wanted func(id string) bool) (int, error) {
	var stored []string
	var unread error
	err := s.each(ctx, s.q.sessionsOf, userID, func(scan func(...any) error) error {
		var row sessionRow
		failed := scan(s.into("sessions", row.dest())...)
		if errors.Is(failed, ErrUnreadableTime) { // its token may have been read all the same, and the rows after it can be
			unread, failed = failed, nil
		}
		if token := row.session.Token; token != "" && wanted(idOfToken(token)) {
			stored = append(stored, token)
		}
		return failed
	})
	err = errors.Join(err, unread)
	total := 0
	for _, token := range stored {
		n, failed := s.deleteStored(ctx, token)
		total, err = total+n, errors.Join(err, failed)
	}
	return total, err
}

// deleteStored deletes a session by what its token was kept as, or by its hash, which
// a reader may have made of it meanwhile.
func (s *Store) deleteStored(ctx context.Context, token string) (int, error) {
	n, err := s.conn.Exec(ctx, s.q.deleteSession, token)
	if err != nil || n > 0 || strings.HasPrefix(token, hashed) {
		return int(n), err
	}
	n, err = s.conn.Exec(ctx, s.q.deleteSession, hash(token))
	return int(n), err
}

// deleteBy counts what went; ids that nobody can have are no error here.
func (s *Store) deleteBy(ctx context.Context, statement string, ids ...string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !s.findableID(ids...) {
		return 0, nil
	}
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	var n int64
	err := s.byID(ctx, func(s *Store) (err error) { n, err = s.conn.Exec(ctx, statement, args...); return err })
	if errors.Is(err, latchkey.ErrNotFound) {
		err = nil
	}
	return int(n), err
}
