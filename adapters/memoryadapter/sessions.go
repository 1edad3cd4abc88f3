package memoryadapter

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// CreateSession implements [latchkey.SessionAdapter]. An unknown user is
// ErrNotFound.
func (a *Adapter) CreateSession(ctx context.Context, s latchkey.StoredSession) error {
	return a.withData(ctx, func(d *data) error {
		key := a.stored(s.Token)
		if _, taken := d.sessions[key]; taken {
			return latchkey.ErrConflict
		}
		if _, known := d.users[s.UserID]; !known {
			return latchkey.ErrNotFound
		}
		s := copySession(s)
		s.ID = cmp.Or(s.ID, rand.Text())
		s.Token = key
		put(d, d.sessions, key, s)
		return nil
	})
}

// GetSession implements [latchkey.SessionStore].
func (a *Adapter) GetSession(ctx context.Context, token string) (s latchkey.StoredSession, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.sessions[a.stored(token)]
		if !known {
			return latchkey.ErrNotFound
		}
		s = copySession(found)
		s.Token = token
		return nil
	})
	return s, err
}

// GetSessionAndUser implements [latchkey.SessionAdapter].
func (a *Adapter) GetSessionAndUser(ctx context.Context, token string) (s latchkey.StoredSession, u latchkey.User, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.sessions[a.stored(token)]
		owner, exists := d.users[found.UserID]
		if !known || !exists {
			return latchkey.ErrNotFound
		}
		s = copySession(found)
		s.Token = token
		u, err = copyUser(owner)
		return err
	})
	return s, u, err
}

// UpdateSession implements [latchkey.SessionAdapter].
func (a *Adapter) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return a.withData(ctx, func(d *data) error {
		key := a.stored(token)
		s, known := d.sessions[key]
		if !known {
			return latchkey.ErrNotFound
		}
		if expires.After(s.Expires) {
			s.Expires = utc(expires)
			put(d, d.sessions, key, s)
		}
		return nil
	})
}

// DeleteSession implements [latchkey.SessionAdapter].
func (a *Adapter) DeleteSession(ctx context.Context, token string) (s latchkey.StoredSession, err error) {
	err = a.withData(ctx, func(d *data) (err error) {
		s, err = take(d, d.sessions, a.stored(token))
		return err
	})
	if err != nil {
		return latchkey.StoredSession{}, err
	}
	s = copySession(s) // a rollback would bring back the one that was stored
	s.Token = token
	return s, nil
}

// ListSessions implements [latchkey.SessionListAdapter]. The newest comes
// first.
func (a *Adapter) ListSessions(ctx context.Context, userID string) (list []latchkey.StoredSession, err error) {
	err = a.withData(ctx, func(d *data) error {
		for _, s := range d.sessions {
			if s.UserID == userID {
				s := copySession(s)
				s.Token = ""
				list = append(list, s)
			}
		}
		slices.SortFunc(list, func(a, b latchkey.StoredSession) int {
			return cmp.Or(b.Created.Compare(a.Created), b.Expires.Compare(a.Expires), cmp.Compare(a.ID, b.ID))
		})
		return nil
	})
	return list, err
}

// DeleteSessionByID implements [latchkey.SessionListAdapter].
func (a *Adapter) DeleteSessionByID(ctx context.Context, userID, id string) error {
	return a.withData(ctx, func(d *data) error {
		mine := func(_ string, s latchkey.StoredSession) bool { return s.UserID == userID && s.ID == id }
		if removeIf(d, d.sessions, mine) == 0 {
			return latchkey.ErrNotFound
		}
		return nil
	})
}

// DeleteSessions implements [latchkey.SessionListAdapter].
func (a *Adapter) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	err = a.withData(ctx, func(d *data) error {
		n = removeIf(d, d.sessions, func(_ string, s latchkey.StoredSession) bool { return s.UserID == userID && s.ID != keep })
		return nil
	})
	return n, err
}

// Revoke implements [latchkey.RevocationStore].
func (a *Adapter) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	return a.withData(ctx, func(d *data) error {
		old := d.revocations[key]
		put(d, d.revocations, key, revocation{later(old.at, at), later(old.expires, expires)})
		return nil
	})
}

// RevokedAt implements [latchkey.RevocationStore].
func (a *Adapter) RevokedAt(ctx context.Context, keys ...string) (at map[string]time.Time, err error) {
	err = a.withData(ctx, func(d *data) error {
		at = map[string]time.Time{}
		for _, key := range keys {
			if r, known := d.revocations[key]; known {
				at[key] = r.at
			}
		}
		return nil
	})
	return at, err
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return utc(b)
	}
	return a
}

// stored is what a token is kept as: a copy of the memory opens no session.
func (a *Adapter) stored(token string) string {
	if a.plain {
		return token
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
