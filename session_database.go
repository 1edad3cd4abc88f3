package latchkey

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"
)

// rowKeeper keeps a session in a row; the cookie holds the row's key.
type rowKeeper struct {
	newToken func() string
}

func newRowKeeper(s *setup) *rowKeeper {
	k := &rowKeeper{newToken: s.Session.NewToken}
	if k.newToken == nil {
		k.newToken = func() string { return randomHex(32) }
	}
	return k
}

// record stores a fresh session and ends the one that the visit came with,
// whoever's it was: a token never survives a sign-in.
func (k *rowKeeper) record(ctx context.Context, v *visit, s *store, who *admission) error {
	now := v.now().UTC()
	who.session = StoredSession{
		ID: randomHex(16), Token: k.newToken(), UserID: who.user.ID,
		Created: now, Expires: now.Add(v.Session.MaxAge), UserAgent: cut(v.request.Header.Get("User-Agent"), 256),
	}
	v.learned = append(v.learned, who.session.Token)
	if err := s.createSession(ctx, who.session); err != nil {
		return err
	}
	if token := v.rowToken(); token != "" {
		if _, err := s.deleteSession(ctx, token); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

func (k *rowKeeper) open(_ context.Context, v *visit, who *admission) error {
	v.putSession(escapeCookie(who.session.Token), who.session.Expires)
	return nil
}

// live is the session behind the visit's cookie. A nil result is nobody; one
// that has expired is removed on the way.
func (k *rowKeeper) live(ctx context.Context, v *visit) (*sessionAndUser, string, error) {
	token := v.rowToken()
	if token == "" {
		return nil, "", nil
	}
	s, err := found(v.store.session(ctx, token))
	if s == nil || err != nil {
		return nil, token, err
	}
	if !k.expired(v, &s.row) {
		return s, token, nil
	}
	if _, err := v.store.deleteSession(ctx, token); err != nil && !errors.Is(err, ErrNotFound) {
		v.log.error(v, ErrSessionToken.because(err)) // it stays dead all the same
	}
	return nil, token, nil
}

// rowToken is what the cookie says, if a store could ever have said it.
func (v *visit) rowToken() string {
	token, _ := v.sessionCookie()
	if len(token) > 4096 || hasControl(token) || !utf8.ValidString(token) {
		return ""
	}
	return token
}

func (k *rowKeeper) expired(v *visit, row *StoredSession) bool {
	now := v.now()
	if limit := v.Session.AbsoluteMaxAge; limit > 0 && !row.Created.IsZero() && !now.Before(row.Created.Add(limit)) {
		return true
	}
	return !now.Before(row.Expires)
}

func (k *rowKeeper) read(ctx context.Context, v *visit, c *change) (*reading, error) {
	s, token, err := k.live(ctx, v)
	if err != nil {
		return nil, ErrSessionToken.because(err)
	}
	if s == nil {
		if v.hasSessionCookie() {
			v.clearSession()
		}
		return nil, nil
	}
	gone, err := k.extend(ctx, v, &s.row, token)
	if err != nil {
		return nil, ErrSessionToken.because(err)
	}
	if gone {
		v.clearSession()
		return nil, nil
	}
	u := s.user
	shown := &Session{User: User{Name: u.Name, Email: u.Email, Image: u.Image}, Expires: s.row.Expires}
	in := SessionRead{Session: shown, User: &u}
	if c != nil {
		in.Trigger, in.Update = TriggerUpdate, c.data
	}
	r, err := v.expose(ctx, in)
	if err != nil {
		return nil, ErrSessionToken.because(err)
	}
	v.putSession(escapeCookie(token), v.now().Add(v.Session.MaxAge))
	return r, nil
}

// extend moves the stored expiry when it is due, at most once in UpdateAge. A
// session that was ended meanwhile stays ended: gone.
func (k *rowKeeper) extend(ctx context.Context, v *visit, row *StoredSession, token string) (gone bool, err error) {
	due := row.Expires.Add(-v.Session.MaxAge)
	if every := v.Session.UpdateAge; every > 0 {
		due = due.Add(every)
	}
	now := v.now()
	if now.Before(due) {
		return false, nil
	}
	err = v.store.extendSession(ctx, token, now.Add(v.Session.MaxAge).UTC().Truncate(time.Millisecond))
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	return false, err
}

func (k *rowKeeper) current(ctx context.Context, v *visit) (*holder, error) {
	s, token, err := k.live(ctx, v)
	if s == nil || err != nil {
		return nil, err
	}
	return &holder{user: s.user, sessionID: s.row.ID, token: token}, nil
}

// close deletes the row; a store that fails is asked once more.
func (k *rowKeeper) close(ctx context.Context, v *visit) error {
	token := v.rowToken()
	if v.hasSessionCookie() {
		v.clearSession()
	}
	if token == "" {
		return nil
	}
	row, err := v.store.deleteSession(ctx, token)
	if err != nil && !errors.Is(err, ErrNotFound) {
		retry, cancel := background(ctx, v.Limits.Store)
		defer cancel()
		row, err = v.store.deleteSession(retry, token)
	}
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if told := v.Events.SignOut; told != nil && err == nil {
		v.tell("signOut", func(ctx context.Context) error { return told(ctx, SignOutEvent{Session: &row}) })
	}
	return err
}

func cut(s string, limit int) string {
	if len(s) > limit {
		return s[:limit]
	}
	return s
}
