package kvstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// sessionValue is the stored form of a session, without its token.
type sessionValue struct {
	owned             // its Born is empty, since another store may keep the user
	ID       string   `json:"id"`
	Expires  stamp    `json:"expires"`
	Created  stamp    `json:"created,omitzero"`
	Agent    string   `json:"agent,omitempty"`
	Tenant   string   `json:"tenant,omitempty"`
	Provider string   `json:"provider,omitempty"`
	SID      string   `json:"provider_sid,omitempty"`
	Sub      string   `json:"provider_sub,omitempty"`
	Issued   stamp    `json:"provider_issued,omitzero"`
	Sealed   string   `json:"sealed,omitempty"`
	Proved   stamp    `json:"proved,omitzero"`
	AMR      []string `json:"amr,omitempty"`
	ACR      string   `json:"acr,omitempty"`
	Actor    string   `json:"actor,omitempty"`
	ActsIn   string   `json:"actor_session,omitempty"`
}

// isWhole implements value. A session has a user and an expiry.
func (v sessionValue) isWhole() bool { return v.User != "" && !v.Expires.IsZero() }

// of implements ownedValue: it returns the id of the user.
func (v sessionValue) of() string { return v.User }

// session returns v as a session with the given token, which may be "".
func (v *sessionValue) session(token string) storage.StoredSession {
	return storage.StoredSession{
		ID: v.ID, Token: token, UserID: v.User, Expires: v.Expires.Time, Created: v.Created.Time, UserAgent: v.Agent,
		Tenant: v.Tenant, Provider: v.Provider, ProviderSID: v.SID, ProviderSub: v.Sub, ProviderIssued: v.Issued.Time,
		Sealed: v.Sealed, Proved: v.Proved.Time, AMR: v.AMR, ACR: v.ACR,
		Actor: v.Actor, ActorSession: v.ActsIn,
	}
}

// CreateSession implements [storage.SessionAdapter] and [storage.SessionStore]. It does
// not ask whether there is such a user, but an empty UserID is ErrNotFound.
func (s *Store) CreateSession(ctx context.Context, row storage.StoredSession) error {
	if row.UserID == "" {
		return storage.ErrNotFound
	}
	if !isText(row.AMR...) || !isText(row.ID, row.UserID, row.Tenant, row.Provider, row.ProviderSID, row.ProviderSub, row.Sealed, row.ACR, row.Actor, row.ActorSession) {
		return errText
	}
	v := sessionValue{
		owned: owned{owner: owner{User: row.UserID}}, ID: cmp.Or(row.ID, rand.Text()), Expires: stampOf(row.Expires), Created: stampOf(row.Created),
		Agent: strings.ToValidUTF8(row.UserAgent, "\uFFFD"), Tenant: row.Tenant, Provider: row.Provider,
		SID: row.ProviderSID, Sub: row.ProviderSub, Issued: stampOf(row.ProviderIssued), Sealed: row.Sealed,
		Proved: stampOf(row.Proved), AMR: row.AMR, ACR: row.ACR, Actor: row.Actor, ActsIn: row.ActorSession,
	}
	taken := func(context.Context, *Record) (bool, error) { return false, nil }
	with := func(part string) value {
		v.Entry = part
		return v
	}
	if err := ownByProvider(ctx, s.records, keyOfSession(row.Token), &v, s.records.until(row.Expires)); err != nil {
		return err
	}
	return s.owned.create(ctx, row.UserID, Record{Key: keyOfSession(row.Token)}, with, s.records.until(row.Expires), taken)
}

// GetSession implements [storage.SessionStore]. It returns an expired session, too.
func (s *Store) GetSession(ctx context.Context, token string) (storage.StoredSession, error) {
	r, err := s.records.find(ctx, keyOfSession(token))
	if err != nil {
		return storage.StoredSession{}, err
	}
	return asSession(&r, token)
}

// asSession returns the session that is stored in a record, with the given token. The
// record has no token; a caller that does not know it passes "".
func asSession(r *Record, token string) (storage.StoredSession, error) {
	v, err := decode[sessionValue](r)
	if err != nil {
		return storage.StoredSession{}, err
	}
	return v.session(token), nil
}

// GetSessionAndUser implements [storage.SessionAdapter].
func (s *Store) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	_, v, stored, err := findWithUser[sessionValue](ctx, s.users, keyOfSession(token))
	if err != nil {
		return storage.StoredSession{}, storage.User{}, err
	}
	u, err := stored.user()
	return v.session(token), u, err
}

// UpdateSession implements [storage.SessionAdapter]. If expires is not after the stored one,
// it changes nothing and returns nil. Otherwise it also prolongs the session's list entries.
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	var renewed owned
	for try := 0; ; try++ {
		seen, err := s.records.find(ctx, keyOfSession(token))
		if errors.Is(err, storage.ErrNotFound) && try > 0 {
			s.owned.disown(ctx, seen.Key, renewed) // the call that ended the session may have removed the entry before renew wrote it again
		}
		if err != nil {
			return err
		}
		v, err := decode[sessionValue](&seen)
		renewed = v.owned
		to := stampOf(expires)
		if err != nil || !to.Time.After(v.Expires.Time) {
			return err
		}
		v.Expires = to
		if err := ownByProvider(ctx, s.records, seen.Key, &v, s.records.until(expires)); err != nil {
			return err
		}
		if err := s.owned.renew(ctx, seen, v.owned, v, s.records.until(expires)); !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// DeleteSession implements [storage.SessionAdapter]. If the answer of the store was lost and
// another call ends the session before the driver asks again, both calls return ErrNotFound.
func (s *Store) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	r, err := s.owned.take(ctx, keyOfSession(token))
	if err != nil {
		return storage.StoredSession{}, err
	}
	v, err := decode[sessionValue](&r)
	if err != nil {
		return storage.StoredSession{}, err
	}
	disownByProvider(ctx, s.records, r.Key, &v)
	return v.session(token), nil
}

// ListSessions implements [storage.SessionListAdapter]. The newest comes first.
func (s *Store) ListSessions(ctx context.Context, userID string) (list []storage.StoredSession, err error) {
	records, err := s.owned.list(ctx, userID, KindSession)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		row, err := asSession(&r, "")
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	slices.SortFunc(list, func(a, b storage.StoredSession) int {
		return cmp.Or(b.Created.Compare(a.Created), b.Expires.Compare(a.Expires), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// DeleteSessionByID implements [storage.SessionListAdapter].
func (s *Store) DeleteSessionByID(ctx context.Context, userID, id string) error {
	n, err := s.endSessions(ctx, userID, mostPruned, func(v *sessionValue) bool { return v.ID == id })
	if err == nil && n == 0 {
		err = storage.ErrNotFound
	}
	return err
}

// DeleteSessions implements [storage.SessionListAdapter]. keep is the ID of a session, or "".
func (s *Store) DeleteSessions(ctx context.Context, userID, keep string) (int, error) {
	return s.endSessions(ctx, userID, math.MaxInt, func(v *sessionValue) bool { return v.ID != keep })
}

// endSessions ends those sessions of a user for which ends returns true, and returns how
// many, also beside an error. It goes on with the others if one cannot be ended, and
// returns the first error. It stops when ctx ends or when the list cannot be read on;
// the next call then begins with the sessions that are left. It writes all marks of
// sessions anew, since a mark does not say which session it was of. It prunes entries
// without a live record, up to the number most.
func (s *Store) endSessions(ctx context.Context, userID string, most int, ends func(*sessionValue) bool) (n int, err error) {
	left := most
	var failed error // the first: thousands may
	for p, err := range s.owned.pages(ctx, userID, KindSession) {
		failed = cmp.Or(failed, err)
		var mu sync.Mutex
		err := parallel(append(p.alive, p.ended...), func(r Record) error {
			ended, err := s.endSession(ctx, userID, r, ends)
			mu.Lock()
			defer mu.Unlock()
			if ended {
				n++
			}
			failed = cmp.Or(failed, err)
			return ctx.Err()
		})
		if err != nil {
			return n, cmp.Or(failed, err)
		}
		left = s.owned.tidy(ctx, userID, p.dead, left)
	}
	return n, failed
}

// endSession ends the session in r if it belongs to the user and ends returns true for it.
// Otherwise, and if another call has ended it, endSession returns false and no error. If r
// is a mark, it is written anew. A session that cannot be decoded stays, with an error.
func (s *Store) endSession(ctx context.Context, userID string, r Record, ends func(*sessionValue) bool) (ended bool, err error) {
	if r.isAlive() {
		if v, err := decode[sessionValue](&r); err != nil || !ends(&v) {
			return false, err
		}
	}
	_, err = s.owned.takeSeen(ctx, r, func(now *Record) error {
		v, err := decode[sessionValue](now)
		if err == nil && (v.User != userID || !ends(&v)) {
			err = storage.ErrNotFound
		}
		return err
	})
	return err == nil, orAbsent(err)
}
