package latchkey

import (
	"cmp"
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/storage"
)

// databaseStrategy keeps a session in a row; the cookie holds the row's key.
type databaseStrategy struct {
	setup *setup
}

// longestRowToken is the longest key that is looked up: no store ever made a
// longer one.
const longestRowToken = 4096

// plan implements sessionStrategy: it makes the row of a new session, with a new token.
func (d *databaseStrategy) plan(v *visit) *directory.SessionPlan {
	s := d.setup
	now := s.now().UTC()
	token := d.newToken()
	v.hide(token)
	return &directory.SessionPlan{
		Row: storage.StoredSession{
			ID: secret.RandomHex(16), Token: token, Tenant: s.tenant,
			Created: now, Expires: now.Add(s.config.Session.MaxAge), UserAgent: texts.Cut(v.request.Header.Get("User-Agent"), 256),
		},
		Former: rowToken(v.credential.Token()),
	}
}

// newToken returns a token of Session.NewToken, or else 32 random bytes in hex.
func (d *databaseStrategy) newToken() string {
	if own := d.setup.config.Session.NewToken; own != nil {
		return own()
	}
	return secret.RandomHex(32)
}

// open implements sessionStrategy. The row was stored with the sign-in.
func (d *databaseStrategy) open(_ context.Context, v *visit, who *directory.SignIn) error {
	v.credential.Put(browser.Escape(who.Session.Token), who.Session.Expires)
	return nil
}

// revokeFormer does nothing: the former row was deleted when the sign-in was stored.
func (*databaseStrategy) revokeFormer(context.Context, *visit) error { return nil }

// rowToken returns the key that a request shows, or "" if no store can have made it
// or it is of another kind.
func rowToken(t browser.Token) string {
	if len(t.Text) > longestRowToken || weburl.HasControl(t.Text) || !utf8.ValidString(t.Text) || browser.KindOfRow(t.Text) != t.Kind {
		return ""
	}
	return t.Text
}

// live does what find does, but returns nil and no error for the session of another
// tenant.
func (d *databaseStrategy) live(ctx context.Context, v *visit, shown browser.Token, useCache bool) (*directory.SessionAndUser, string, error) {
	found, token, err := d.find(ctx, v, shown, useCache)
	return found, token, failure.Ignoring(err, errOtherTenant)
}

// find returns the session that a token opens, or nil, and the key of its row. It deletes
// an expired session and one that a provider has ended, and returns nil for them
// and for that of a suspended user. It returns errOtherTenant for the session of another
// tenant. With useCache, for callers that only read, a cached session will do unless a
// renewal is due. It sets v.why for a session that is over.
func (d *databaseStrategy) find(ctx context.Context, v *visit, shown browser.Token, useCache bool) (*directory.SessionAndUser, string, error) {
	s := d.setup
	token := rowToken(shown)
	if token == "" {
		return nil, "", nil
	}
	ask := s.store.Session
	if useCache {
		ask = s.store.CachedSession
	}
	found, err := guarded.Optional(ask(ctx, token))
	if useCache && found != nil && d.isDue(&found.Row) {
		found, err = guarded.Optional(s.store.Session(ctx, token))
	}
	if found == nil || err != nil {
		return nil, token, err
	}
	if found.Row.Tenant != s.tenant {
		if found.Row.Tenant == "" {
			s.log.Error(ctx, v.about, failure.Wrap(ErrSessionToken, failure.Of(fault.SessionTenant, errors.New("the stored session names no tenant: the Adapter must keep StoredSession.Tenant"))))
		}
		return nil, token, errOtherTenant
	}
	if found.User.Suspension.Holds(s.now()) {
		return nil, token, nil
	}
	if err := s.acting.CheckRow(ctx, &found.Row); err != nil {
		return nil, token, failure.Ignoring(err, directory.ErrNoToken)
	}
	err = s.revocations.CheckFormer(ctx, nil, &found.Row)
	switch {
	case errors.Is(err, directory.ErrNoToken):
		v.why = "ended"
	case err != nil:
		return nil, token, err
	case !d.expired(&found.Row):
		return found, token, nil
	default:
		v.why = "expired"
	}
	if _, err := s.store.DeleteSession(ctx, token); failure.Ignoring(err, ErrNotFound) != nil {
		s.log.Error(ctx, v.about, failure.Wrap(ErrSessionToken, err)) // it stays dead all the same
	}
	return nil, token, nil
}

// expired reports whether a stored session has reached its expiry or AbsoluteMaxAge.
func (d *databaseStrategy) expired(row *storage.StoredSession) bool {
	now := d.setup.now()
	if limit := d.setup.config.Session.AbsoluteMaxAge; limit > 0 && !row.Created.IsZero() && !now.Before(row.Created.Add(limit)) {
		return true
	}
	return !now.Before(row.Expires)
}

// read implements sessionStrategy. Without a change, a cached session will do.
func (d *databaseStrategy) read(ctx context.Context, v *visit, c *change) (*reading, error) {
	s, token, err := d.find(ctx, v, v.credential.Token(), c == nil) // what changes something asks the store
	if errors.Is(err, errOtherTenant) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.Wrap(ErrSessionToken, err)
	}
	if s == nil {
		if v.cookies.HasSession() {
			v.why = cmp.Or(v.why, "ended")
			v.credential.Clear()
		}
		return nil, nil
	}
	if d.isDue(&s.Row) {
		v.why = "renewed"
	}
	gone, err := d.extend(ctx, &s.Row, token)
	if err != nil {
		return nil, failure.Wrap(ErrSessionToken, err)
	}
	if gone {
		v.why = "ended"
		v.credential.Clear()
		return nil, nil
	}
	in := SessionInfo{Session: sessionOfRow(&s.Row, &s.User), User: &s.User, Stored: &s.Row}
	if c != nil {
		in.Trigger, in.Update = TriggerUpdate, c.data
	}
	r, err := d.setup.expose(ctx, &v.events, in)
	if err != nil {
		return nil, failure.Wrap(ErrSessionToken, err)
	}
	end := d.setup.now().Add(d.setup.config.Session.MaxAge)
	if s.Row.Actor != "" {
		end = s.Row.Expires
	}
	v.credential.Put(browser.Escape(token), end)
	return r, nil
}

// sessionOfRow returns a stored session of user u as a [Session].
func sessionOfRow(row *storage.StoredSession, u *User) *Session {
	s := &Session{
		User: SessionUser{Name: u.Name, Email: u.Email, Image: u.Image}, Expires: row.Expires,
		UserID: u.ID, ID: row.ID, Tenant: row.Tenant, Provider: row.Provider, Via: viaOf(browser.KindOfRow(row.Token)),
		Assurance: Assurance{AuthTime: row.Created, Proved: row.Proved, AMR: row.AMR, ACR: row.ACR},
	}
	s.User.setKnown()
	fill.Default(&s.Proved, s.AuthTime)
	if row.Actor != "" {
		s.Actor, s.Assurance = &Actor{Kind: event.ActorAdmin, ID: row.Actor}, Assurance{}
	}
	return s
}

// extend moves the stored expiry if that is due, at most once in UpdateAge, and does
// nothing otherwise. gone reports that the session was ended meanwhile: it stays ended
//
func (d *databaseStrategy) extend(ctx context.Context, row *storage.StoredSession, token string) (gone bool, err error) {
	if !d.isDue(row) {
		return false, nil
	}
	err = d.setup.store.ExtendSession(ctx, token, d.setup.now().Add(d.setup.config.Session.MaxAge).UTC().Truncate(time.Millisecond))
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	return false, err
}

// isDue reports whether UpdateAge has passed since the expiry was last moved. It returns
// false for a session in which an administrator acts: its expiry never moves.
func (d *databaseStrategy) isDue(row *storage.StoredSession) bool {
	if row.Actor != "" {
		return false
	}
	due := row.Expires.Add(-d.setup.config.Session.MaxAge)
	if every := d.setup.config.Session.UpdateAge; every > 0 {
		due = due.Add(every)
	}
	return !d.setup.now().Before(due)
}

// current implements sessionStrategy. It asks the store, and no cache.
func (d *databaseStrategy) current(ctx context.Context, v *visit) (*currentUser, error) {
	s, token, err := d.live(ctx, v, v.credential.Token(), false)
	if s == nil || err != nil {
		return nil, err
	}
	return ownUser(v, currentUserOf(s, token))
}

// acts implements sessionStrategy. It returns false if a store fails.
func (d *databaseStrategy) acts(ctx context.Context, v *visit) bool {
	s, _, err := d.live(ctx, v, v.credential.Token(), true)
	return err == nil && s != nil && s.Row.Actor != ""
}

// visitor implements sessionStrategy. It asks the store, and no cache.
func (d *databaseStrategy) visitor(ctx context.Context, v *visit) (*User, error) {
	s, _, err := d.live(ctx, v, v.credential.Token(), false)
	if s == nil || err != nil {
		return nil, err
	}
	return &s.User, nil
}

// currentUserOf returns the user of a stored session. token names the session if the
// store gives it no ID.
func currentUserOf(s *directory.SessionAndUser, token string) *currentUser {
	here := &currentUser{user: s.User, sessionID: s.Row.ID, provider: s.Row.Provider, names: directory.NamesOf(&s.Row), since: s.Row.Created, actor: s.Row.Actor}
	here.Assurance = Assurance{Proved: s.Row.Proved, AMR: s.Row.AMR, ACR: s.Row.ACR}
	if here.sessionID == "" {
		here.tokenHash = sessionref.HashPrefix + secret.Hash(token)
	}
	return here
}

// markOf returns a reference to the session that a sign-in opened. It reads the row
// again, since the store may have chosen another id.
func (d *databaseStrategy) markOf(ctx context.Context, who *directory.SignIn) (sessionref.Ref, error) {
	found, err := d.setup.store.Session(ctx, who.Session.Token)
	if err != nil {
		return sessionref.Ref{}, err
	}
	return currentUserOf(&found, who.Session.Token).mark(), nil
}

// close deletes the row and the cookie. A store that fails is asked once more,
// and then again after the response. It returns the zero endedSession if there was no
// session, or one of another tenant, which stays.
func (d *databaseStrategy) close(ctx context.Context, v *visit) (endedSession, error) {
	s := d.setup
	token := rowToken(v.credential.Token())
	ended, err := d.end(ctx, &v.events, token)
	if errors.Is(err, errOtherTenant) {
		return endedSession{}, nil
	}
	if v.cookies.HasSession() {
		v.credential.Clear()
	}
	if token == "" {
		return endedSession{}, nil
	}
	if failure.Ignoring(err, ErrNotFound) != nil {
		retry, cancel := guarded.Background(ctx, s.config.Limits.StoreTimeout)
		defer cancel()
		ended, err = d.end(retry, &v.events, token)
	}
	if errors.Is(err, ErrNotFound) { // it was gone before
		addSignOut(&v.events, endedSession{}, SignOutEvent{})
		return endedSession{}, nil
	}
	if err != nil {
		endLate(ctx, s, v, func(ctx context.Context, o *directory.Outbox) error {
			_, err := d.end(ctx, o, token)
			return err
		})
		return endedSession{}, err
	}
	return ended, nil
}

// end deletes the row with a key, adds the event of it, and returns the session. It
// returns ErrNotFound if there is none, and errOtherTenant for the row of another tenant,
// which stays. A site without tenants does not look first.
func (d *databaseStrategy) end(ctx context.Context, events *directory.Outbox, token string) (ended endedSession, err error) {
	if token == "" {
		return endedSession{}, ErrNotFound
	}
	if d.setup.tenant != "" {
		found, err := d.setup.store.Session(ctx, token)
		if err == nil && found.Row.Tenant != d.setup.tenant {
			err = errOtherTenant
		}
		if err != nil {
			return endedSession{}, err
		}
	}
	err = events.EndSession(ctx, d.setup.store, token, func(row *storage.StoredSession) {
		ended = endedSession{id: row.ID, userID: row.UserID}
		if row.Actor != "" { // such a session ends here alone, not at the provider
			by := directory.ActorSession{UserID: row.Actor}
			events.Add(by.Ended(row.UserID, row.ID), nil)
			return
		}
		ended.provider, ended.hint = row.Provider, d.setup.hints.OpenHint(row, d.setup.now())
		addSignOut(events, ended, SignOutEvent{Session: row})
	})
	return ended, err
}

// isNamed implements sessionStrategy. It compares the names that the row has.
func (d *databaseStrategy) isNamed(ctx context.Context, v *visit, provider, name string) (bool, error) {
	found, _, err := d.live(ctx, v, v.credential.Token(), false)
	if found == nil || err != nil {
		return false, err
	}
	return directory.HasSID(directory.NamesOf(&found.Row), provider, name), nil
}
