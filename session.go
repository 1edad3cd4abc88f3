package latchkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/wirejson"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// errOtherTenant reports that a session is another tenant's. It is no session here,
// and its cookie and its row stay.
var errOtherTenant = fmt.Errorf("the session of another tenant: %w", directory.ErrNoToken)

// What is wrong with a token: each is a directory.ErrNoToken.
var (
	errUnsealed = fmt.Errorf("not sealed by us: %w", directory.ErrNoToken)
	errOutlived = fmt.Errorf("expired: %w", directory.ErrNoToken)
)

// sessionJSON answers GET /session and, with a change, POST /session. It
// returns null without a session, and also if the session cannot be read: the
// fault is logged and the cookie left alone.
func (x *exchange) sessionJSON(ctx context.Context, c *change) []byte {
	r, err := readWith(ctx, x.setup, &x.visit, c)
	if err != nil {
		x.setup.log.Error(ctx, x, err)
	}
	if err != nil || r == nil {
		return wirejson.Null
	}
	return r.json
}

// readSession returns the session for the application's own code. Without a session it
// returns ErrNoSession, ErrSessionExpired or ErrSessionEnded. It logs any other error,
// and returns what of it the application may see. A panic becomes an error.
func (x *exchange) readSession(ctx context.Context, c *change) (r *reading, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = guarded.Panicked(p)
			x.setup.log.Error(ctx, x, err)
			r, err = nil, handOut(x, err)
		}
	}()
	r, err = x.ask(ctx, c)
	tell(ctx, x)
	if err != nil {
		x.setup.log.Error(ctx, x, err)
		return nil, handOut(x, err)
	}
	if r == nil {
		return nil, noSession(x.why)
	}
	return r, nil
}

// noSession returns the error for a request without a session. why is [visit].why: the
// reason under which the request is counted.
func noSession(why string) error {
	switch why {
	case "expired":
		return ErrSessionExpired
	case "ended", "revoked":
		return ErrSessionEnded
	}
	return ErrNoSession
}

// ask returns the session of a request, or nil: the first that one of setup.principals
// finds, else that of the session cookie.
func (x *exchange) ask(ctx context.Context, c *change) (*reading, error) {
	for _, known := range x.setup.principals {
		if r, err := known(ctx, x); r != nil || err != nil {
			return r, err
		}
	}
	return readWith(ctx, x.setup, &x.visit, c)
}

// readWith reads a session by the configured strategy, and counts what came of it.
func readWith(ctx context.Context, s *setup, v *visit, c *change) (*reading, error) {
	r, err := s.sessions.read(ctx, v, c)
	if s.log.Traces() {
		result := v.why
		switch {
		case err != nil:
			result = "error"
		case r != nil:
			result = cmp.Or(v.why, "live")
		case result == "":
			result = "none"
		}
		s.log.Count(ctx, telemetry.Measure{Kind: telemetry.SessionReads, Value: result})
	}
	return r, err
}

// prepareEnds sets s.revocations on a site with stored sessions. They remember when the
// sessions of a user were ended, in the Adapter if it can, else in Session.Revocations, else
// in the memory of this process alone.
func prepareEnds(s *setup) {
	var chosen storage.RevocationStore
	if given := s.config.Session.Revocations; given != nil && directory.CanRevoke(given, s.bounds) {
		chosen = given
	}
	if s.store != nil && s.store.Revocations != nil && directory.CanRevoke(s.store.Revocations, s.bounds) {
		chosen = s.store.Revocations
	}
	s.revocations = revocationsIn(s, chosen)
	s.revocations.RowLife = max(s.config.Session.MaxAge, jwt.DefaultMaxAge) // it may have been longer before
}

// revocationsIn returns the revocations that are kept in store, or in the memory of this
// process alone if store is nil.
func revocationsIn(s *setup, store storage.RevocationStore) *directory.Revocations {
	var own storage.RevocationStore
	if s.store != nil {
		own = s.store.Revocations
	}
	return directory.NewRevocations(directory.Revocations{
		Store: store, Keys: s.keys, InAdapter: own != nil && store != nil && sameStore(own, store), Bounds: s.bounds, SessionCache: s.beliefs, Now: s.now,
	})
}

// warnOfEndlessTokens warns on a hardened site that nothing can end JWT sessions.
func (s *setup) warnOfEndlessTokens() {
	if s.config.Hardened {
		s.log.WarnAtStart("nothing remembers that JWT sessions have ended: set Session.Revocations, or an Adapter that is a RevocationStore")
	}
}

// sameStore reports whether a and b, which are not nil, are the same store. Values of a
// type that cannot be compared never are.
func sameStore(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Type() == y.Type() && x.Comparable() && x.Equal(y)
}

// revoke voids the sign-in that a token comes from, and returns its claims. It returns an
// error that is directory.ErrNoToken for a token that opens no session here.
func (t *tokenStrategy) revoke(ctx context.Context, token browser.Token) (Claims, error) {
	claims, err := t.openLive(ctx, token)
	if err == nil {
		err = t.setup.revocations.Revoke(ctx, directory.OriginOfToken(claims))
	}
	return claims, err
}

// close revokes the session token that a request shows, and deletes its cookie. If the store
// fails twice, it returns the error, and has the token revoked after the response. It returns
// the zero endedSession for a token that is not valid. A cookie of another tenant stays.
func (t *tokenStrategy) close(ctx context.Context, v *visit) (endedSession, error) {
	token := v.credential.Token()
	if token.Text == "" {
		v.credential.Clear()
		return endedSession{}, nil
	}
	claims, err := t.revoke(ctx, token)
	if errors.Is(err, errOtherTenant) {
		return endedSession{}, nil
	}
	v.credential.Clear()
	if errors.Is(err, directory.ErrNoToken) { // it was good for nothing before
		if t.setup.config.Session.JWT.Decode != nil { // Auth.js tells only what a decoder of the application's own makes nothing of
			addSignOut(&v.events, endedSession{}, SignOutEvent{})
		}
		return endedSession{}, nil
	}
	if err != nil { // once more, whether or not the visitor waits, and then again after the response
		retry, cancel := guarded.Background(ctx, t.setup.config.Limits.StoreTimeout)
		defer cancel()
		if claims, err = t.revoke(retry, token); errors.Is(err, directory.ErrNoToken) {
			return endedSession{}, nil
		}
	}
	if err != nil {
		endLate(ctx, t.setup, v, func(ctx context.Context, o *directory.Outbox) error {
			claims, err := t.revoke(ctx, token)
			if err == nil {
				t.addEnd(o, claims)
			}
			return err
		})
		return endedSession{}, err
	}
	ended := t.addEnd(&v.events, claims)
	if ended.provider != "" {
		ended.hint = t.setup.hints.Open(v.cookies.Hint(), ended.id, ended.provider, v.now(), t.setup.config.Session.MaxAge)
	}
	return ended, nil
}

// addEnd adds the event for the end of a token's session, and returns which one that was.
// The provider is empty for a session in which an administrator acts, and on a site where
// no provider has a Logout.
func (t *tokenStrategy) addEnd(o *directory.Outbox, claims Claims) endedSession {
	ended := endedSession{id: claims.String(jwtclaims.SessionID), userID: directory.OriginOfToken(claims).UserID}
	if a := directory.ActorOf(claims); a != nil {
		o.Add(a.Ended(ended.userID, ended.id), nil)
		return ended
	}
	if t.setup.config.logouts.any {
		ended.provider, _ = namesIn(claims)
	}
	addSignOut(o, ended, SignOutEvent{Claims: claims})
	return ended
}

// isNamed implements sessionStrategy: it compares the names that the token has.
func (t *tokenStrategy) isNamed(ctx context.Context, v *visit, provider, name string) (bool, error) {
	claims, err := t.claims(ctx, v)
	if claims == nil || err != nil {
		return false, err
	}
	_, names := namesIn(claims)
	return directory.HasSID(names, provider, name), nil
}

// current implements sessionStrategy: it accepts no cached revocation result, and reads
// the user from the store. Without an Adapter it returns nil.
func (t *tokenStrategy) current(ctx context.Context, v *visit) (*currentUser, error) {
	if t.setup.store == nil {
		return nil, nil
	}
	claims, err := t.claims(ctx, v)
	if claims == nil || err != nil {
		return nil, err
	}
	t.track(claims)
	id := directory.OriginOfToken(claims).UserID
	if id == "" {
		return nil, nil
	}
	u, err := guarded.Optional(t.setup.store.User(ctx, id))
	if u == nil || err != nil {
		return nil, err
	}
	since, _ := claims.Time(jwtclaims.AuthTime)
	here := &currentUser{user: *u, sessionID: claims.String(jwtclaims.SessionID), since: since}
	if keepsProofs(t.setup) && !here.isAdopted() {
		readAssurance(&here.Assurance, claims)
	}
	if t.setup.config.logouts.any {
		_, here.names = namesIn(claims)
	}
	if a := directory.ActorOf(claims); a != nil {
		here.actor = a.UserID
	}
	return ownUser(v, here)
}

// acts implements sessionStrategy. It returns false if a store fails.
func (t *tokenStrategy) acts(ctx context.Context, v *visit) bool {
	claims, err := t.claims(ctx, v)
	return err == nil && directory.ActorOf(claims) != nil
}

// visitor implements sessionStrategy: the user is what the token says, without an id.
func (t *tokenStrategy) visitor(ctx context.Context, v *visit) (*User, error) {
	claims, err := t.claims(ctx, v)
	if claims == nil || err != nil {
		return nil, err
	}
	u, _, err := userFromClaims(claims)
	return &User{Name: u.Name, Email: u.Email, Image: u.Image}, err
}
