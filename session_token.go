package latchkey

import (
	"context"
	"errors"
	"sync"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
)

// tokenStrategy keeps a session in its cookie, sealed: nothing is stored.
type tokenStrategy struct {
	setup *setup
	plain bool      // no callback or event needs the claims: the short way will do
	rooms sync.Pool // *plainRoom
	sizes sizeWarnings
}

func newTokenStrategy(s *setup) *tokenStrategy {
	c := &s.config
	t := &tokenStrategy{setup: s}
	t.plain = c.Callbacks.Token == nil && c.Callbacks.Session == nil && c.Events.Session == nil && c.Session.JWT.Decode == nil && c.Session.JWT.Encode == nil
	t.rooms.New = func() any { return new(plainRoom) }
	return t
}

func (*tokenStrategy) plan(*visit) *directory.SessionPlan { return nil }

// open mints a token.
func (t *tokenStrategy) open(ctx context.Context, v *visit, who *directory.SignIn) error {
	claims := claimsOf(&who.User, who.Said)
	if t.setup.tenant != "" {
		claims[jwtclaims.Tenant] = t.setup.tenant
	}
	if t.setup.tracksSignIns() {
		who.Session.ID = secret.RandomHex(16)
		claims[jwtclaims.SessionID], claims[jwtclaims.AuthTime] = who.Session.ID, who.SignInTime(t.setup.now())
	}
	trigger := TriggerSignIn
	if who.IsNew {
		trigger = TriggerSignUp
	}
	info := TokenInfo{Claims: claims, Trigger: trigger, User: &who.User, Account: &who.Account, Profile: who.Profile}
	kept := keepClaims(claims, jwtclaims.Tenant, jwtclaims.SessionID, jwtclaims.AuthTime) // sub is the application's to choose, now
	claims, err := t.shape(ctx, info)
	if err != nil {
		return err
	}
	if claims == nil { // the application gave up: no session, and none that was there before
		v.credential.Clear()
		return nil
	}
	return t.seal(ctx, v, kept.putBack(claims))
}

// shape asks the application what a token should hold.
func (t *tokenStrategy) shape(ctx context.Context, info TokenInfo) (Claims, error) {
	own := t.setup.config.Callbacks.Token
	if own == nil {
		return info.Claims, nil
	}
	call := func(ctx context.Context) (Claims, error) { return own(ctx, info) }
	if info.Trigger == TriggerRead {
		return hookOnRead(ctx, t.setup, "Callbacks.Token", call)
	}
	return hook(ctx, t.setup, "Callbacks.Token", call)
}

// seal makes claims the content of the session cookie.
func (t *tokenStrategy) seal(ctx context.Context, v *visit, claims Claims) error {
	if !v.credential.Renews() {
		return nil
	}
	k, c := &v.cookies.Specs.Session, &t.setup.config.Session
	now := t.setup.now()
	var token string
	var err error
	if encode := c.JWT.Encode; encode != nil {
		token, err = hookOnRead(ctx, t.setup, "JWTConfig.Encode", func(ctx context.Context) (string, error) { return encode(ctx, t.params(k, claims)) })
		token = browser.Escape(token)
	} else { // needs no escaping
		token, err = k.Codec.SealClaims(claims, now, c.JWT.MaxAge)
	}
	if err != nil {
		return failure.Wrap(ErrJWTSession, err)
	}
	t.sizes.warn(ctx, t.setup.log, v.about, len(token))
	v.credential.Put(token, now.Add(c.MaxAge))
	return nil
}

func (t *tokenStrategy) params(k *browser.Spec, claims Claims) JWTParams {
	return JWTParams{Claims: claims, Secrets: t.setup.config.Secrets, Salt: k.Name(), MaxAge: t.setup.config.Session.JWT.MaxAge}
}

func (t *tokenStrategy) read(ctx context.Context, v *visit, c *change) (*reading, error) {
	token, spec := v.credential.Token()
	if token == "" {
		if v.cookies.HasSession() {
			t.refuse(ctx, v, directory.ErrNoToken)
		}
		return nil, nil
	}
	if t.plain && v.credential.Bearer == nil {
		r, err := t.readPlain(ctx, v, token, spec)
		if errors.Is(err, directory.ErrNoToken) {
			t.refuse(ctx, v, err)
			return nil, nil
		}
		return r, err
	}
	claims, err := t.openToken(ctx, token, spec, c == nil) // what changes something asks the store
	if errors.Is(err, directory.ErrNoToken) {
		t.refuse(ctx, v, err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return t.readClaims(ctx, v, claims, c)
}

// refuse makes the browser forget a token that is undecodable, expired or
// revoked.
func (t *tokenStrategy) refuse(ctx context.Context, v *visit, err error) {
	t.setup.log.Debug(ctx, v.about, failure.Wrap(ErrJWTSession, err))
	v.credential.Clear()
}

// openToken decrypts and validates a session token. It returns ErrNoToken if
// the token is invalid, expired or revoked. With useCache it accepts a cached
// revocation result.
func (t *tokenStrategy) openToken(ctx context.Context, token string, spec *browser.Spec, useCache bool) (Claims, error) {
	claims, err := t.decode(ctx, token, spec)
	if err != nil {
		return nil, err
	}
	return claims, t.judge(ctx, claims.String(jwtclaims.Tenant), directory.OriginOfToken(claims), useCache)
}

func (t *tokenStrategy) decode(ctx context.Context, token string, spec *browser.Spec) (Claims, error) {
	c := &t.setup.config.Session.JWT
	if c.Decode == nil {
		claims, err := spec.Codec.OpenClaims(token, t.setup.now(), c.MaxAge)
		if err != nil {
			return nil, directory.ErrNoToken
		}
		return claims, nil
	}
	claims, err := hookOnRead(ctx, t.setup, "JWTConfig.Decode", func(ctx context.Context) (Claims, error) { return c.Decode(ctx, token, t.params(spec, nil)) })
	if err != nil || claims == nil {
		return nil, directory.ErrNoToken
	}
	return claims, nil
}

// readClaims reads a session with the application's callbacks.
func (t *tokenStrategy) readClaims(ctx context.Context, v *visit, claims Claims, c *change) (*reading, error) {
	info := TokenInfo{Claims: claims}
	if c != nil {
		info.Trigger, info.Update = TriggerUpdate, c.data
	}
	t.track(claims)
	end, _ := claims.Time("exp")
	kept := keepClaims(claims, jwtclaims.Subject, jwtclaims.Tenant, jwtclaims.SessionID, jwtclaims.AuthTime)
	claims, err := t.shape(ctx, info)
	if err != nil {
		return nil, failure.Wrap(ErrJWTSession, err)
	}
	if claims == nil {
		v.credential.Clear()
		return nil, nil
	}
	claims = kept.putBack(claims)
	s, err := t.sessionOf(claims)
	if err != nil {
		return nil, failure.Wrap(ErrJWTSession, err)
	}
	describe(s, v.credential.Bearer, end)
	r, err := t.setup.expose(ctx, &v.events, SessionInfo{Session: s, Claims: claims, Trigger: info.Trigger, Update: info.Update})
	if err != nil {
		return nil, failure.Wrap(ErrJWTSession, err)
	}
	return r, t.seal(ctx, v, claims)
}

// sessionOf returns the session of claims, as Go sees it.
func (t *tokenStrategy) sessionOf(claims Claims) (*Session, error) {
	user, said, err := userFromClaims(claims)
	if err != nil {
		return nil, err
	}
	s := &Session{
		User: user, said: said, Expires: t.setup.now().Add(t.setup.config.Session.MaxAge),
		UserID: claims.String("sub"), ID: claims.String(jwtclaims.SessionID), Tenant: t.setup.tenant, Via: ViaCookie,
	}
	s.signedInAt(claims.Time(jwtclaims.AuthTime))
	return s, nil
}

// track makes up which sign-in the claims come from, for tokens that do not know.
func (t *tokenStrategy) track(claims Claims) {
	if !t.setup.tracksSignIns() {
		return
	}
	if claims.String(jwtclaims.SessionID) == "" {
		claims[jwtclaims.SessionID] = secret.RandomHex(16)
	}
	if began, ok := directory.AuthTime(claims); ok {
		if _, known := claims.Time(jwtclaims.AuthTime); !known {
			claims[jwtclaims.AuthTime] = jwtclaims.UnixSeconds(began)
		}
	}
}

func (t *tokenStrategy) current(ctx context.Context, v *visit) (*currentUser, error) {
	if t.setup.store == nil {
		return nil, nil
	}
	claims, err := t.claims(ctx, v)
	id := claims.String("sub")
	if id == "" || err != nil {
		return nil, err
	}
	u, err := guarded.Optional(t.setup.store.User(ctx, id))
	if u == nil || err != nil {
		return nil, err
	}
	since, _ := claims.Time(jwtclaims.AuthTime)
	return &currentUser{user: *u, sessionID: claims.String(jwtclaims.SessionID), since: since}, nil
}

func (t *tokenStrategy) visitor(ctx context.Context, v *visit) (*User, error) {
	claims, err := t.claims(ctx, v)
	if claims == nil || err != nil {
		return nil, err
	}
	u, _, err := userFromClaims(claims)
	return &User{Name: u.Name, Email: u.Email, Image: u.Image}, err
}

// claims returns the claims of the request's token, or nil if it has no valid
// one.
func (t *tokenStrategy) claims(ctx context.Context, v *visit) (Claims, error) {
	token, spec := v.credential.Token()
	if token == "" {
		return nil, nil
	}
	claims, err := t.openToken(ctx, token, spec, false)
	if errors.Is(err, directory.ErrNoToken) {
		return nil, nil
	}
	return claims, err
}

func (*tokenStrategy) markOf(_ context.Context, who *directory.SignIn) (sessionref.Ref, error) {
	return sessionref.Ref{UserID: who.User.ID, SessionID: who.Session.ID, Since: who.Since}, nil
}

// revoke voids the sign-in that a token comes from, and returns its claims. A token that
// is good for nothing is ErrNoToken.
func (t *tokenStrategy) revoke(ctx context.Context, token string, spec *browser.Spec) (Claims, error) {
	claims, err := t.openToken(ctx, token, spec, false)
	if err == nil {
		err = t.setup.revocations.Revoke(ctx, directory.OriginOfToken(claims))
	}
	return claims, err
}

// close revokes the token where the operator wants that, and forgets it.
func (t *tokenStrategy) close(ctx context.Context, v *visit) (endedSession, error) {
	token, spec := v.credential.Token()
	v.credential.Clear()
	if token == "" {
		return endedSession{}, nil
	}
	claims, err := t.revoke(ctx, token, spec)
	if errors.Is(err, directory.ErrNoToken) { // it was good for nothing before
		if t.setup.config.Session.JWT.Decode != nil { // Auth.js tells only what a decoder of the application's own makes nothing of
			addSignOut(&v.events, endedSession{}, SignOutEvent{})
		}
		return endedSession{}, nil
	}
	if err != nil { // once more, whether or not the visitor waits, and then again after the response
		retry, cancel := guarded.Background(ctx, t.setup.config.Limits.StoreTimeout)
		defer cancel()
		if claims, err = t.revoke(retry, token, spec); errors.Is(err, directory.ErrNoToken) {
			return endedSession{}, nil
		}
	}
	if err != nil {
		t.setup.lateEnds.Add(ctx, func(ctx context.Context) error {
			_, err := t.revoke(ctx, token, spec)
			return failure.Ignoring(err, directory.ErrNoToken)
		})
		return endedSession{}, err
	}
	ended := endedSession{id: claims.String(jwtclaims.SessionID), userID: claims.String("sub")}
	addSignOut(&v.events, ended, SignOutEvent{Claims: claims})
	return ended, nil
}
