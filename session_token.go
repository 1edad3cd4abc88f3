package latchkey

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/internal/tokenjar"
	"github.com/latchkeyhq/latchkey/jwt"
)

// tokenStrategy keeps a session in its cookie, sealed: nothing is stored.
type tokenStrategy struct {
	setup *setup
	plain bool      // no callback or event needs the claims: the short way will do
	rooms sync.Pool // *plainRoom
	sizes sizeWarnings
}

// newTokenStrategy returns the strategy of JWT sessions. It reads only the config of s.
func newTokenStrategy(s *setup) *tokenStrategy {
	c := &s.config
	t := &tokenStrategy{setup: s}
	t.plain = c.Callbacks.Token == nil && c.Callbacks.Session == nil && c.Events.Session == nil && c.Session.JWT.Decode == nil && c.Session.JWT.Encode == nil
	t.rooms.New = func() any { return new(plainRoom) }
	return t
}

// plan returns nil: no session is stored.
func (*tokenStrategy) plan(*visit) *directory.SessionPlan { return nil }

// open makes a token and puts it into the session cookie. If Callbacks.Token returns no
// claims, open sets IsRefused and opens no session; revokeFormer ends the one before. As
// in Auth.js, the browser still goes to its page and Events.SignIn is called. Logs,
// counts and all else take the sign-in for refused.
func (t *tokenStrategy) open(ctx context.Context, v *visit, who *directory.SignIn) error {
	claims := claimsOf(&who.User, who.Said)
	if t.setup.tenant != "" {
		claims[jwtclaims.Tenant] = t.setup.tenant
	}
	if t.setup.tracksSignIns() {
		who.Session.ID = cmp.Or(who.Session.ID, secret.RandomHex(16))
		if who.IsLink && who.IsAdopted {
			who.Session.ID = jwtclaims.AdoptedID(who.Session.ID)
		}
		claims[jwtclaims.SessionID], claims[jwtclaims.AuthTime] = who.Session.ID, who.StampAuthTime()
	}
	if err := t.nameSession(v, who.AtProvider, who.Session.ID, who.Account.Provider, claims); err != nil {
		return err
	}
	trigger := TriggerSignIn
	switch {
	case who.Actor != nil:
		trigger = TriggerActAs
		claims[jwtclaims.Actor], claims[jwtclaims.ActorSession] = who.Actor.Claims()
	case who.IsNew:
		trigger = TriggerSignUp
	}
	if who.Actor == nil && assures(t.setup) {
		putAssurance(claims, who.Proof())
	}
	user := t.setup.config.withoutUnprovenEmail(who.User, &who.Account)
	info := TokenInfo{Claims: claims, Trigger: trigger, User: &user, Account: &who.Account, Profile: who.Profile, IDToken: who.IDToken}
	former := t.formerJar(ctx, v)
	claims, err := t.shape(ctx, v, info) // sub is the application's to choose, now
	if err != nil {
		return err
	}
	if claims == nil {
		who.IsRefused = true
		v.credential.Clear()
		v.cookies.EndHint()
		return nil
	}
	if t.setup.tracksSignIns() {
		claims = nameUser(claims, who.User.ID)
	}
	if err := t.setup.jar.SignIn(&v.cookies, former, jarSessionOf(claims), &who.Account, who.Keep); err != nil {
		return failure.Wrap(ErrJWTSession, err)
	}
	return t.seal(ctx, v, claims, life{who.Until})
}

// revokeFormer revokes the token that the browser brought to a sign-in. It
// leaves a token of another tenant alone.
func (t *tokenStrategy) revokeFormer(ctx context.Context, v *visit) error {
	token := v.credential.Token()
	if token.Text == "" || t.setup.revocations == nil {
		return nil
	}
	claims, err := t.decode(ctx, token.Text, token.Spec)
	if err != nil || claims.String(jwtclaims.Tenant) != t.setup.tenant {
		return nil // it is no session here
	}
	return t.setup.revocations.Revoke(ctx, directory.OriginOfToken(claims))
}

// seal seals claims into a token, which becomes the session cookie or the bearer token. l
// bounds its life. It does nothing if the request's credential is not to be renewed.
func (t *tokenStrategy) seal(ctx context.Context, v *visit, claims Claims, l life) error {
	if !v.credential.Renews() {
		return nil
	}
	k, c := &v.cookies.Specs.Session, &t.setup.config.Session
	now := t.setup.now()
	maxAge := l.of(now, c.JWT.MaxAge)
	var token string
	var err error
	if encode := c.JWT.Encode; encode != nil {
		token, err = hookOnRead(ctx, t.setup, "JWTConfig.Encode", func(ctx context.Context) (string, error) { return encode(ctx, t.params(k, claims, maxAge)) })
		token = browser.Escape(token)
	} else { // needs no escaping
		token, err = k.Codec.SealClaims(claims, now, maxAge)
	}
	if err != nil {
		return failure.Wrap(ErrJWTSession, err)
	}
	t.sizes.warn(ctx, t.setup.log, v.about, len(token))
	countSealed(ctx, t.setup, v, len(token))
	v.credential.Put(token, now.Add(l.of(now, c.MaxAge)))
	return nil
}

// params returns what JWTConfig.Encode and Decode get. claims is nil for Decode.
func (t *tokenStrategy) params(k *browser.Spec, claims Claims, maxAge time.Duration) JWTParams {
	return JWTParams{Claims: claims, Secrets: t.setup.config.Secrets, Salt: k.Name(), MaxAge: maxAge}
}

// shape returns the claims that Callbacks.Token wants a token to have, or info.Claims
// without that callback. It puts back the claims that the callback may not change: the
// library's own, and fixed. No claims and no error: there shall be no session.
func (t *tokenStrategy) shape(ctx context.Context, v *visit, info TokenInfo, fixed ...string) (Claims, error) {
	own := t.setup.config.Callbacks.Token
	if own == nil {
		return info.Claims, nil
	}
	kept := keepOwn(info.Claims, keepsProofs(t.setup), t.setup.acting != nil, append(ownNames(t.setup), fixed...)...)
	call := hook[Claims]
	if info.Trigger == TriggerRead {
		call = hookOnRead[Claims]
	}
	claims, err := call(ctx, t.setup, "Callbacks.Token", func(ctx context.Context) (Claims, error) { return own(ctx, info) })
	if err != nil || claims == nil {
		return nil, err
	}
	if !kept.holds(claims, jwtclaims.Subject) {
		t.setup.log.Note(ctx, v.about, "Callbacks.Token has changed sub after the sign-in; the change is dropped")
	}
	return kept.putBack(claims), nil
}

// read implements sessionStrategy. Without a change, a cached revocation result will do.
func (t *tokenStrategy) read(ctx context.Context, v *visit, c *change) (*reading, error) {
	token := v.credential.Token()
	if token.Text == "" {
		if v.cookies.HasSession() {
			t.refuse(ctx, v, token, errUnsealed)
		}
		return nil, nil
	}
	if t.plain && v.credential.Bearer == nil {
		r, err := t.readPlain(ctx, v, token)
		if errors.Is(err, directory.ErrNoToken) {
			t.refuse(ctx, v, token, err)
			return nil, nil
		}
		if !errors.Is(err, errActs) {
			return r, err
		}
	}
	claims, believed, err := t.openToken(ctx, token, c == nil) // what changes something asks the store
	if errors.Is(err, directory.ErrNoToken) {
		t.refuse(ctx, v, token, err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return t.readClaims(ctx, v, claims, c, believed)
}

// refuse makes the browser forget a token that is undecodable, expired or revoked, unless
// it is another tenant's, or may be another instance's during a rollout. It sets v.why.
func (t *tokenStrategy) refuse(ctx context.Context, v *visit, token browser.Token, err error) {
	t.setup.log.Debug(ctx, v.about, failure.Wrap(ErrJWTSession, err))
	v.why = reasonOf(token, err)
	if errors.Is(err, errOtherTenant) || v.why == "unknown_key" && isRollingOut(t.setup) {
		return
	}
	v.credential.Clear()
}

// openToken decrypts and validates a session token. It returns ErrNoToken if
// the token is invalid, expired, revoked or of another kind. With useCache it
// accepts a cached revocation result, and believed reports that it did.
func (t *tokenStrategy) openToken(ctx context.Context, token browser.Token, useCache bool) (claims Claims, believed bool, err error) {
	if claims, err = t.decode(ctx, token.Text, token.Spec); err != nil {
		return nil, false, err
	}
	if browser.KindOfClaims(claims) != token.Kind {
		return nil, false, errUnsealed
	}
	from := directory.OriginOfToken(claims)
	if keepsProofs(t.setup) {
		from.Proved, _ = claims.Time(jwtclaims.Proved)
	}
	if t.setup.config.logouts.any {
		_, from.There = namesIn(claims)
	}
	if believed, err = t.judge(ctx, claims.String(jwtclaims.Tenant), from, useCache); err == nil {
		err = t.setup.acting.CheckToken(ctx, claims)
	}
	return claims, believed, err
}

// openLive does what openToken does, but accepts no cached revocation result.
func (t *tokenStrategy) openLive(ctx context.Context, token browser.Token) (Claims, error) {
	claims, _, err := t.openToken(ctx, token, false)
	return claims, err
}

// decode returns the claims of a token that has not expired. It does not look whether the
// token was revoked. Any error is a directory.ErrNoToken: errOutlived for a token that
// has expired or is older than the configuration lets tokens become, whatever its exp
// says, else errUnsealed.
func (t *tokenStrategy) decode(ctx context.Context, token string, spec *browser.Spec) (claims Claims, err error) {
	c := &t.setup.config.Session.JWT
	if c.Decode == nil {
		claims, err = spec.Codec.OpenClaims(token, t.setup.now(), c.MaxAge)
	} else {
		claims, err = hookOnRead(ctx, t.setup, "JWTConfig.Decode", func(ctx context.Context) (Claims, error) {
			return c.Decode(ctx, token, t.params(spec, nil, c.MaxAge))
		})
	}
	if errors.Is(err, jwt.ErrExpired) {
		return nil, errOutlived
	}
	if err != nil || claims == nil {
		return nil, errUnsealed
	}
	if iat, ok := claims.Time("iat"); ok && jwtclaims.IsOutlived(iat, t.setup.now(), c.MaxAge) {
		return nil, errOutlived
	}
	return claims, nil
}

// readClaims reads a session with the application's callbacks. It returns nil if
// Callbacks.Token ends the session. believed says that the revocation result came from
// the cache: then what a callback changes is kept in a token that ends when the old one
// does.
func (t *tokenStrategy) readClaims(ctx context.Context, v *visit, claims Claims, c *change, believed bool) (*reading, error) {
	info := TokenInfo{Claims: claims}
	if c != nil {
		info.Trigger, info.Update = TriggerUpdate, c.data
	}
	t.track(claims)
	end := endOf(claims, t.setup.config.Session.JWT.MaxAge)
	claims, err := t.shape(ctx, v, info, jwtclaims.Subject)
	if err != nil {
		return nil, failure.Wrap(ErrJWTSession, err)
	}
	if claims == nil {
		v.credential.Clear()
		return nil, nil
	}
	s, err := t.sessionOf(claims)
	if err != nil {
		return nil, failure.Wrap(ErrJWTSession, err)
	}
	if !v.credential.Renews() && !end.IsZero() {
		s.Expires = end // the token stays
	}
	var l life
	if (believed || s.Actor != nil) && !end.IsZero() {
		l.until, s.Expires = end, end
	}
	r, err := t.setup.expose(ctx, &v.events, SessionInfo{Session: s, Claims: claims, Trigger: info.Trigger, Update: info.Update})
	if err != nil {
		return nil, failure.Wrap(ErrJWTSession, err)
	}
	return r, t.seal(ctx, v, claims, l)
}

// claims returns the claims of the request's token, or nil if it has no valid
// one.
func (t *tokenStrategy) claims(ctx context.Context, v *visit) (Claims, error) {
	token := v.credential.Token()
	if token.Text == "" {
		return nil, nil
	}
	claims, err := t.openLive(ctx, token)
	if errors.Is(err, directory.ErrNoToken) {
		return nil, nil
	}
	return claims, err
}

// markOf returns a reference to the session that a sign-in has just opened.
func (*tokenStrategy) markOf(_ context.Context, who *directory.SignIn) (sessionref.Ref, error) {
	return sessionref.Ref{UserID: who.User.ID, SessionID: who.Session.ID, Since: who.Since}, nil
}

// ownNames returns the names of the claims that a logout needs, which no callback may
// change. It returns none if no logout is configured.
func ownNames(s *setup) []string {
	if s.config.logouts.any {
		return []string{jwtclaims.Provider}
	}
	return nil
}

// jarSession is the session that provider tokens in a cookie belong to.
type jarSession = tokenjar.Session

func jarSessionOf(claims Claims) jarSession {
	return jarSession{Subject: claims.String(jwtclaims.Subject), ID: claims.String(jwtclaims.SessionID)}
}

// formerJar returns the session of the token that a sign-in replaces. It is zero if there is
// no such token, or if the browser keeps no provider tokens.
func (t *tokenStrategy) formerJar(ctx context.Context, v *visit) jarSession {
	if t.setup.jar == nil || !browser.BringsTokens(&v.cookies) {
		return jarSession{}
	}
	token := v.credential.Token()
	claims, err := t.decode(ctx, token.Text, token.Spec)
	if err != nil {
		return jarSession{}
	}
	return jarSessionOf(claims)
}
