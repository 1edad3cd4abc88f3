package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/latchkeyhq/latchkey/storage"
)

// hashed marks stored tokens that are hashes. Without it, an attacker who reads a
// hash in a copy of the database could present it as an old plain token.
const hashed = "sha256:"

// maxPlainToken is how long an old plain token may be at most.
const maxPlainToken = 512

// sessions finds and deletes sessions by their tokens, which it stores as hashes unless
// plain is set. Its methods return errors of the driver as they are.
type sessions struct {
	db    *database
	plain bool // tokens are kept as they are, not as hashes
}

// sessionRow is what a row of sessions is read into.
type sessionRow struct {
	session                          storage.StoredSession
	expires, created, issued, proved instant
	amr                              string
}

// dest returns a destination in r for each column of sessions, in the order of package
// model. The caller passes the list to database.into.
func (r *sessionRow) dest() []any {
	s := &r.session
	return []any{
		&s.ID, &s.UserID, &s.Token, &r.expires, &r.created, &s.UserAgent, &s.Tenant, &s.Provider,
		&s.ProviderSID, &s.ProviderSub, &r.issued, &s.Sealed, &r.proved, &r.amr, &s.ACR,
		&s.Actor, &s.ActorSession,
	}
}

// read returns the session of the row. Its Token is the given token, which may be
// "", since the row may have only a hash. Its ID is made of the stored token if
// the layout has no column for it.
func (r *sessionRow) read(token string) storage.StoredSession {
	s := r.session
	s.ID = cmp.Or(s.ID, idOfToken(s.Token))
	s.Token, s.Expires, s.Created = token, r.expires.t, r.created.t
	s.ProviderIssued, s.Proved = r.issued.t, r.proved.t
	if r.amr != "" {
		s.AMR = strings.Split(r.amr, " ")
	}
	return s
}

// values returns a value of v for each column of sessions, in the order of package model.
// stored is the token in its stored form, and v.Token is ignored. An id that the layout
// does not take is replaced by a random one.
func (s sessions) values(v storage.StoredSession, stored string) []any {
	at := s.db.layout.arg
	return []any{
		s.db.layout.newID(v.ID), v.UserID, stored, at(v.Expires), at(v.Created), null(plainAgent(v.UserAgent)), null(v.Tenant), null(v.Provider),
		null(v.ProviderSID), null(v.ProviderSub), at(v.ProviderIssued), null(v.Sealed), at(v.Proved),
		null(strings.Join(v.AMR, " ")), null(v.ACR), null(v.Actor), null(v.ActorSession),
	}
}

// renewal returns the statement that renews a session, and its arguments except the last.
// The caller appends that one: the old token in its stored form. renewal sends nothing
// that changes a row. It returns errText if no session can have the token of next, and an
// error if a column does not take a value of next.
func (s sessions) renewal(ctx context.Context, next storage.StoredSession) (statement string, args []any, err error) {
	if !s.canHave(next.Token) {
		return "", nil, errText
	}
	l := s.db.layout
	set := []string{"{sessions.sessionToken} = ?", "{sessions.expires} = ?"}
	args = append(l.touches("sessions"), s.stored(next.Token), l.arg(next.Expires))
	if err := s.db.fitsColumn(ctx, "sessions", "expires", l.arg(next.Expires)); err != nil {
		return "", nil, err
	}
	type change struct {
		column string
		to     any
	}
	changes := []change{{"proved", l.arg(next.Proved)}, {"amr", null(strings.Join(next.AMR, " "))}, {"acr", null(next.ACR)}}
	if next.ProviderSID != "" || next.ProviderSub != "" {
		changes = append(changes, change{"provider_sid", null(next.ProviderSID)}, change{"provider_sub", null(next.ProviderSub)},
			change{"provider_issued", l.arg(next.ProviderIssued)}, change{"sealed", null(next.Sealed)})
	}
	for _, change := range changes {
		if !l.has("sessions." + change.column) {
			continue
		}
		if err := s.db.fitsColumn(ctx, "sessions", change.column, change.to); err != nil {
			return "", nil, err
		}
		set, args = append(set, "{sessions."+change.column+"} = ?"), append(args, change.to)
	}
	return l.sql(l.update("sessions") + strings.Join(set, ", ") + " WHERE {sessions.sessionToken} = ?"), args, nil
}

// idOfToken returns the id of a session where there is no column for one: the first 32
// digits of the token's hash. stored is the token in its stored form, hashed or plain,
// which makes no difference to the id.
func idOfToken(stored string) string {
	sum, is := strings.CutPrefix(stored, hashed)
	if !is {
		plain := sha256.Sum256([]byte(stored))
		sum = hex.EncodeToString(plain[:])
	}
	return sum[:min(len(sum), 32)]
}

// stored returns the text that a token is stored as: its hash, or with
// PlainTokens itself.
func (s sessions) stored(token string) string {
	if s.plain {
		return token
	}
	return hash(token)
}

// hash returns the text that a token is stored as without PlainTokens: its SHA-256 in
// hex, behind the mark hashed.
func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hashed + hex.EncodeToString(sum[:])
}

// canHave reports whether a session can have the token: it is not empty and the database
// can hold it, and with plain it does not look like a hash. Tokens that no session can
// have are never looked for.
func (s sessions) canHave(token string) bool {
	return token != "" && findable(token) && !(s.plain && strings.HasPrefix(token, hashed))
}

// withToken calls f with the stored form of a token, and returns the error of f. If f
// returns ErrNotFound, the row may still have the plain token. If it has, withToken
// replaces it in the database by its hash and calls f again. It returns ErrNotFound for a
// token that no session can have, and if no row has either form.
func (s sessions) withToken(ctx context.Context, token string, f func(stored string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.canHave(token) {
		return storage.ErrNotFound
	}
	err := f(s.stored(token))
	if s.plain || !errors.Is(err, storage.ErrNotFound) || len(token) > maxPlainToken || strings.HasPrefix(token, hashed) {
		return err
	}
	expires := instant{of: &s.db.layout.form}
	if err := s.db.conn.One(ctx, s.db.q.sessionKnown, []any{s.stored(token), token}, &expires); err != nil {
		return err // a fault must not sign the user out, as ErrNotFound would
	}
	if _, err := s.db.conn.Exec(ctx, s.db.q.hashToken, append(s.db.layout.touches("sessions"), s.stored(token), token)...); err != nil {
		return err
	}
	return f(s.stored(token))
}

// deleteByToken deletes the sessions of a user with the ids for which wanted returns true.
// It is for layouts where sessions have no column for ids. It goes on after an error, and
// returns how many sessions it deleted, also beside an error.
func (s sessions) deleteByToken(ctx context.Context, userID string, wanted func(id string) bool) (int, error) {
	var stored []string
	var unread error
	err := s.db.each(ctx, s.db.q.sessionsOf, userID, func(scan func(...any) error) error {
		var row sessionRow
		failed := scan(s.db.into("sessions", row.dest())...)
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

// deleteStored deletes the session of a token as it was read from the database. If
// that was a plain token which another caller has replaced by its hash meanwhile,
// deleteStored deletes the session by the hash. It returns how many rows it deleted.
func (s sessions) deleteStored(ctx context.Context, token string) (int, error) {
	n, err := s.db.conn.Exec(ctx, s.db.q.deleteSession, token)
	if err != nil || n > 0 || strings.HasPrefix(token, hashed) {
		return int(n), err
	}
	n, err = s.db.conn.Exec(ctx, s.db.q.deleteSession, hash(token))
	return int(n), err
}

// deleteBy runs a statement that deletes sessions, with ids as arguments, and returns how
// many it deleted. It returns 0 and no error for ids that no row can have.
func (s sessions) deleteBy(ctx context.Context, statement string, ids ...string) (int, error) {
	n, err := s.deleteFound(ctx, statement, ids...)
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return n, err
}

// deleteFound does what deleteBy does, but returns ErrNotFound for ids that no row can have.
func (s sessions) deleteFound(ctx context.Context, statement string, ids ...string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !s.db.findableID(ids...) {
		return 0, storage.ErrNotFound
	}
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	var n int64
	err := s.db.byID(ctx, func(db *database) (err error) { n, err = db.conn.Exec(ctx, statement, args...); return err })
	return int(n), err
}
