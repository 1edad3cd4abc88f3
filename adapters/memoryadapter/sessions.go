package memoryadapter

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateSession implements [storage.SessionAdapter]. An unknown user is
// ErrNotFound.
func (a *Adapter) CreateSession(ctx context.Context, s storage.StoredSession) error {
	return a.withData(ctx, func(d *data) error {
		key := stored(a, s.Token)
		if _, taken := d.sessions[key]; taken {
			return storage.ErrConflict
		}
		if _, known := d.users[s.UserID]; !known {
			return storage.ErrNotFound
		}
		s := copySession(s)
		s.ID = cmp.Or(s.ID, rand.Text())
		s.Token = key
		put(d, d.sessions, key, s)
		return nil
	})
}

// GetSession implements [storage.SessionStore].
func (a *Adapter) GetSession(ctx context.Context, token string) (s storage.StoredSession, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.sessions[stored(a, token)]
		if !known {
			return storage.ErrNotFound
		}
		s = copySession(found)
		s.Token = token
		return nil
	})
	return s, err
}

// GetSessionAndUser implements [storage.SessionAdapter].
func (a *Adapter) GetSessionAndUser(ctx context.Context, token string) (s storage.StoredSession, u storage.User, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.sessions[stored(a, token)]
		owner, exists := d.users[found.UserID]
		if !known || !exists {
			return storage.ErrNotFound
		}
		s = copySession(found)
		s.Token = token
		u, err = copyUser(owner)
		return err
	})
	return s, u, err
}

// UpdateSession implements [storage.SessionAdapter].
func (a *Adapter) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return a.withData(ctx, func(d *data) error {
		key := stored(a, token)
		s, known := d.sessions[key]
		if !known {
			return storage.ErrNotFound
		}
		if expires.After(s.Expires) {
			s.Expires = utc(expires)
			put(d, d.sessions, key, s)
		}
		return nil
	})
}

// RenewSession implements [storage.SessionRenewalAdapter].
func (a *Adapter) RenewSession(ctx context.Context, token string, next storage.StoredSession) error {
	return a.withData(ctx, func(d *data) error {
		from, to := stored(a, token), stored(a, next.Token)
		s, known := d.sessions[from]
		if !known {
			return storage.ErrNotFound
		}
		if _, taken := d.sessions[to]; taken {
			return storage.ErrConflict
		}
		s.Token, s.Expires, s.Proved, s.AMR, s.ACR = to, next.Expires, next.Proved, next.AMR, next.ACR
		if next.ProviderSID != "" || next.ProviderSub != "" {
			s.ProviderSID, s.ProviderSub, s.ProviderIssued, s.Sealed = next.ProviderSID, next.ProviderSub, next.ProviderIssued, next.Sealed
		}
		remove(d, d.sessions, from)
		put(d, d.sessions, to, copySession(s))
		return nil
	})
}

// DeleteSession implements [storage.SessionAdapter].
func (a *Adapter) DeleteSession(ctx context.Context, token string) (s storage.StoredSession, err error) {
	err = a.withData(ctx, func(d *data) (err error) {
		s, err = take(d, d.sessions, stored(a, token))
		return err
	})
	if err != nil {
		return storage.StoredSession{}, err
	}
	s = copySession(s) // a rollback would bring back the one that was stored
	s.Token = token
	return s, nil
}

// ListSessions implements [storage.SessionListAdapter]. The newest comes
// first.
func (a *Adapter) ListSessions(ctx context.Context, userID string) (list []storage.StoredSession, err error) {
	err = a.withData(ctx, func(d *data) error {
		for _, s := range d.sessions {
			if s.UserID == userID {
				s := copySession(s)
				s.Token = ""
				list = append(list, s)
			}
		}
		slices.SortFunc(list, func(a, b storage.StoredSession) int {
			return cmp.Or(b.Created.Compare(a.Created), b.Expires.Compare(a.Expires), cmp.Compare(a.ID, b.ID))
		})
		return nil
	})
	return list, err
}

// DeleteSessionByID implements [storage.SessionListAdapter].
func (a *Adapter) DeleteSessionByID(ctx context.Context, userID, id string) error {
	return a.withData(ctx, func(d *data) error {
		mine := func(_ string, s storage.StoredSession) bool { return s.UserID == userID && s.ID == id }
		if removeIf(d, d.sessions, mine) == 0 {
			return storage.ErrNotFound
		}
		return nil
	})
}

// DeleteSessions implements [storage.SessionListAdapter].
func (a *Adapter) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	err = a.withData(ctx, func(d *data) error {
		n = removeIf(d, d.sessions, func(_ string, s storage.StoredSession) bool { return s.UserID == userID && s.ID != keep })
		return nil
	})
	return n, err
}

// DeleteProviderSessions implements [storage.ProviderLogoutAdapter]. The returned
// sessions have no Token.
func (a *Adapter) DeleteProviderSessions(ctx context.Context, sids, subs []string, issued time.Time) (gone []storage.StoredSession, err error) {
	err = a.withData(ctx, func(d *data) error {
		removeIf(d, d.sessions, func(_ string, s storage.StoredSession) bool {
			named := s.ProviderSID != "" && slices.Contains(sids, s.ProviderSID)
			if len(sids) == 0 {
				named = s.ProviderSub != "" && slices.Contains(subs, s.ProviderSub)
			}
			if !named || s.ProviderIssued.After(issued) {
				return false
			}
			s = copySession(s)
			s.Token = ""
			gone = append(gone, s)
			return true
		})
		return nil
	})
	return gone, err
}

// Revoke implements [storage.RevocationStore].
func (a *Adapter) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	return a.withData(ctx, func(d *data) error {
		old := d.revocations[key]
		put(d, d.revocations, key, revocation{later(old.at, at), later(old.expires, expires)})
		return nil
	})
}

// RevokedAt implements [storage.RevocationStore]. A revocation stays on record until
// Sweep removes it.
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

// later returns the later of two instants, b to the millisecond and in UTC.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return utc(b)
	}
	return a
}

// stored returns the text that a token is stored as: its SHA-256 in hexadecimal, so that
// a copy of the memory opens no session. With the option PlainTokens it returns the
// token itself.
func stored(a *Adapter, token string) string {
	if a.plain {
		return token
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
