package dynamoadapter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateSession implements [storage.SessionAdapter] and [storage.SessionStore]. It does
// not ask whether there is such a user. It stores the token as it is.
func (a *authJS) CreateSession(ctx context.Context, s storage.StoredSession) error {
	in, err := a.sessions.item(s)
	if err != nil {
		return err
	}
	note := holder{User: s.UserID}.note(noteOfSession(s.Token), a.sessions.now().Add(noteLife))
	if err := a.items.db.Put(ctx, note, ""); err != nil {
		return err
	}
	return a.items.create(ctx, in)
}

// GetSession implements [storage.SessionStore].
func (a *authJS) GetSession(ctx context.Context, token string) (storage.StoredSession, error) {
	in, _, err := a.sessions.find(ctx, token)
	if err != nil {
		return storage.StoredSession{}, err
	}
	return asSession(in)
}

// GetSessionAndUser implements [storage.SessionAdapter], in two round trips.
func (a *authJS) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	in, of, err := a.sessions.find(ctx, token)
	if err != nil {
		return storage.StoredSession{}, storage.User{}, err
	}
	s, err := asSession(in)
	if err != nil {
		return s, storage.User{}, err
	}
	u, err := a.users.asUser(ctx, s.UserID, of)
	if err != nil {
		return storage.StoredSession{}, storage.User{}, err
	}
	return s, u, nil
}

// UpdateSession implements [storage.SessionStore].
func (a *authJS) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	in, _, err := a.sessions.find(ctx, token)
	if err != nil {
		return err
	}
	if until, says := expiryOf(in["expires"]); says && !expires.After(until) {
		return nil
	}
	if err := a.sessions.renew(ctx, in, expires); !errors.Is(err, storage.ErrConflict) {
		return err
	}
	_, err = a.GetSession(ctx, token) // another call was faster: with a later expiry, or with the end
	return err
}

// DeleteSession implements [storage.SessionStore].
func (a *authJS) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	in, _, err := a.sessions.find(ctx, token)
	if err != nil {
		return storage.StoredSession{}, err
	}
	return a.sessions.end(ctx, in)
}

// ListSessions implements [storage.SessionListAdapter]. It leaves out items that are no
// sessions: Auth.js makes such an item when it renews a session that has just ended.
func (a *authJS) ListSessions(ctx context.Context, userID string) (list []storage.StoredSession, err error) {
	found, err := a.sessions.list(ctx, userID)
	for _, in := range found {
		if s, err := asSession(in); err == nil && s.UserID == userID {
			s.Token = ""
			list = append(list, s)
		}
	}
	return list, err
}

// DeleteSessionByID implements [storage.SessionListAdapter].
func (a *authJS) DeleteSessionByID(ctx context.Context, userID, id string) error {
	found, err := a.sessions.list(ctx, userID)
	if err != nil {
		return err
	}
	for _, in := range found {
		if s, err := asSession(in); err == nil && s.ID == id {
			_, err := a.sessions.end(ctx, in)
			return err
		}
	}
	return storage.ErrNotFound
}

// DeleteSessions implements [storage.SessionListAdapter]. It goes on after a session
// that it cannot end. It returns how many it has ended, and all errors joined. It also
// removes items that ListSessions leaves out, and does not count them.
func (a *authJS) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	found, err := a.sessions.list(ctx, userID)
	for _, in := range found {
		if s, err := asSession(in); err == nil && keep != "" && s.ID == keep {
			continue
		}
		_, failed := a.sessions.end(ctx, in)
		if failed == nil {
			n++
		}
		err = errors.Join(err, ignore(failed, storage.ErrNotFound))
	}
	return n, err
}

// DeleteProviderSessions implements [storage.ProviderLogoutAdapter]. It always returns
// an error that wraps [errors.ErrUnsupported]: Auth.js has no items for what a provider
// calls its sessions.
func (*authJS) DeleteProviderSessions(context.Context, []string, []string, time.Time) ([]storage.StoredSession, error) {
	return nil, fmt.Errorf("dynamoadapter: the layout of Auth.js does not name sessions as their provider does: %w", errors.ErrUnsupported)
}
