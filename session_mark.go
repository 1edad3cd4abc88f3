package latchkey

import (
	"context"
	"errors"
	"slices"
	"time"
)

// The session that a sign-in was begun in, found again by its name: where a
// provider posts from its own site, its cookie stays away.

func (t *tokenStrategy) marked(ctx context.Context, m sessionMark) (*currentUser, error) {
	err := t.judge(ctx, t.setup.tenant, originOfMark(m))
	if errors.Is(err, errNoToken) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	u, err := optional(t.setup.store.user(ctx, m.UserID))
	if u == nil || err != nil {
		return nil, err
	}
	return &currentUser{user: *u, sessionID: m.SessionID, since: time.UnixMilli(m.Since)}, nil
}

func (t *tokenStrategy) markOf(_ context.Context, who *signInResult) (sessionMark, error) {
	return sessionMark{who.user.ID, who.session.ID, who.since}, nil
}

func (d *databaseStrategy) marked(ctx context.Context, m sessionMark) (*currentUser, error) {
	rows, err := d.setup.store.listSessions(ctx, m.UserID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(row StoredSession) bool { return row.ID == m.SessionID && row.Tenant == d.setup.tenant })
	if i < 0 || m.SessionID == "" || d.expired(&rows[i]) {
		return nil, nil
	}
	u, err := optional(d.setup.store.user(ctx, m.UserID))
	if u == nil || err != nil {
		return nil, err
	}
	return &currentUser{user: *u, sessionID: m.SessionID, provider: rows[i].Provider, since: rows[i].Created}, nil
}

// markOf reads the row again, since the store may have chosen another id.
func (d *databaseStrategy) markOf(ctx context.Context, who *signInResult) (sessionMark, error) {
	found, err := d.setup.store.session(ctx, who.session.Token)
	if err != nil {
		return sessionMark{}, err
	}
	return currentUserOf(&found, who.session.Token).mark(), nil
}
