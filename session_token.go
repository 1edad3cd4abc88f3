package latchkey

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/latchkeyhq/latchkey/internal/jsontext"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

// tokenKeeper keeps a session in its cookie, sealed: nothing is stored.
type tokenKeeper struct {
	plain bool // no callback, event or check needs the claims: the short way will do
}

func newTokenKeeper(s *setup) *tokenKeeper {
	return &tokenKeeper{
		plain: s.Callbacks.Token == nil && s.Callbacks.Session == nil && s.Events.Session == nil &&
			s.JWT.Decode == nil && s.revocations == nil && s.Session.AbsoluteMaxAge == 0,
	}
}

// Claims of ours beside the original's.
const (
	claimSessionID = "sid"       // one sign-in, however often its token is renewed
	claimAuthTime  = "auth_time" // when that sign-in was, in Unix seconds
)

// errNoToken: the cookie holds no token that is good for anything. The browser
// may forget it.
var errNoToken = errors.New("the session token is not valid")

func (*tokenKeeper) record(context.Context, *visit, *store, *admission) error { return nil }

// open mints a token.
func (*tokenKeeper) open(ctx context.Context, v *visit, who *admission) error {
	claims := claimsOf(&who.user)
	if v.tracksSignIns() {
		claims[claimSessionID], claims[claimAuthTime] = randomHex(16), v.signInTime()
	}
	trigger := TriggerSignIn
	if who.isNew {
		trigger = TriggerSignUp
	}
	update := TokenUpdate{Claims: claims, Trigger: trigger, User: &who.user, Account: &who.account, Profile: who.profile}
	tracked := maps.Clone(claims)
	claims, err := v.shapeToken(ctx, update)
	if err != nil {
		return err
	}
	if claims == nil { // the application gave up: no session, and none that was there before
		v.clearSession()
		return nil
	}
	return v.sealSession(ctx, keepTracked(claims, tracked))
}

// tracksSignIns: tokens have to say which sign-in they come from.
func (s *setup) tracksSignIns() bool {
	return s.revocations != nil || s.Session.AbsoluteMaxAge > 0
}

// keepTracked puts back what a callback may not lose. The map that the callback
// returned may be shared by others, so it is not changed.
func keepTracked(claims, before Claims) Claims {
	copied := false
	for _, name := range []string{claimSessionID, claimAuthTime} {
		value, ok := before[name]
		if !ok {
			continue
		}
		if !copied {
			claims, copied = maps.Clone(claims), true
		}
		claims[name] = value
	}
	return claims
}

func (v *visit) shapeToken(ctx context.Context, t TokenUpdate) (Claims, error) {
	shape := v.Callbacks.Token
	if shape == nil {
		return t.Claims, nil
	}
	return containResult(func() (Claims, error) { return shape(ctx, t) })
}

// sealSession makes claims the content of the session cookie.
func (v *visit) sealSession(ctx context.Context, claims Claims) error {
	k := &v.kinds.session
	var token string
	var err error
	if encode := v.JWT.Encode; encode != nil {
		token, err = containResult(func() (string, error) { return encode(ctx, v.jwtParams(k, claims)) })
	} else {
		token, err = k.codec.SealClaims(claims, v.now(), v.JWT.MaxAge)
	}
	if err != nil {
		return ErrJWTSession.because(err)
	}
	v.putSession(escapeCookie(token), v.now().Add(v.Session.MaxAge))
	return nil
}

func (v *visit) jwtParams(k *cookieKind, claims Claims) JWTParams {
	return JWTParams{Claims: claims, Secrets: v.Secrets, Salt: k.name(), MaxAge: v.JWT.MaxAge}
}

func (t *tokenKeeper) read(ctx context.Context, v *visit, c *change) (*reading, error) {
	token, kind := v.sessionCookie()
	if token == "" {
		if v.hasSessionCookie() {
			v.refuseToken(errNoToken)
		}
		return nil, nil
	}
	if t.plain {
		return t.readPlain(v, token, kind)
	}
	claims, err := v.openSession(ctx, token, kind)
	if errors.Is(err, errNoToken) {
		v.refuseToken(err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return t.readClaims(ctx, v, claims, c)
}

// refuseToken makes the browser forget a token that is undecodable, expired or revoked.
func (v *visit) refuseToken(err error) {
	v.log.debug(v, ErrJWTSession.because(err))
	v.clearSession()
}

// readPlain is reading without anybody looking at the claims: the token's JSON
// is cut into members, and both answers are put together from them.
func (*tokenKeeper) readPlain(v *visit, token string, kind *cookieKind) (*reading, error) {
	payload, err := kind.codec.Open(token)
	if err != nil {
		v.refuseToken(err)
		return nil, nil
	}
	now := v.now()
	var room [16]jsontext.Member
	members, err := jsontext.Members(payload, room[:0])
	if err == nil {
		err = jwtclaims.Check(members, now, v.JWT.MaxAge)
	}
	if err != nil {
		v.refuseToken(err)
		return nil, nil
	}
	issued := jwtclaims.AppendIssued(make([]byte, 0, len(payload)+128), members, now, v.JWT.MaxAge)
	sealed, err := v.kinds.session.codec.Seal(issued)
	if err != nil {
		return nil, ErrJWTSession.because(err)
	}
	expires := now.Add(v.Session.MaxAge)
	v.putSession(sealed, expires)
	s := &Session{User: userFromMembers(members), Expires: expires}
	json, err := appendSession(make([]byte, 0, 256), s)
	return &reading{json, s}, err
}

// openSession is the token's content, or errNoToken, or a fault.
func (v *visit) openSession(ctx context.Context, token string, kind *cookieKind) (Claims, error) {
	claims, err := v.decodeSession(ctx, token, kind)
	if err != nil {
		return nil, err
	}
	if limit := v.Session.AbsoluteMaxAge; limit > 0 {
		if began, ok := authTime(claims); ok && !v.now().Before(began.Add(limit)) {
			return nil, errNoToken
		}
	}
	return claims, v.checkRevoked(ctx, claims)
}

func (v *visit) decodeSession(ctx context.Context, token string, kind *cookieKind) (Claims, error) {
	if decode := v.JWT.Decode; decode != nil {
		claims, err := containResult(func() (Claims, error) { return decode(ctx, token, v.jwtParams(kind, nil)) })
		if err != nil || claims == nil {
			return nil, errNoToken
		}
		return claims, nil
	}
	claims, err := kind.codec.OpenClaims(token, v.now(), v.JWT.MaxAge)
	if err != nil {
		return nil, errNoToken
	}
	return claims, nil
}

// authTime is when the sign-in behind a token was; tokens from before that was
// recorded count from their issue.
func authTime(c Claims) (time.Time, bool) {
	if t, ok := c.Time(claimAuthTime); ok {
		return t, true
	}
	return c.Time("iat")
}

// readClaims is reading with the application's say.
func (*tokenKeeper) readClaims(ctx context.Context, v *visit, claims Claims, c *change) (*reading, error) {
	update := TokenUpdate{Claims: claims}
	if c != nil {
		update.Trigger, update.Update = TriggerUpdate, c.data
	}
	tracked := v.trackedClaims(claims)
	claims, err := v.shapeToken(ctx, update)
	if err != nil {
		return nil, ErrJWTSession.because(err)
	}
	if claims == nil {
		v.clearSession()
		return nil, nil
	}
	claims = keepTracked(claims, tracked)
	user, err := userFromClaims(claims)
	if err != nil {
		return nil, ErrJWTSession.because(err)
	}
	s := &Session{User: user, Expires: v.now().Add(v.Session.MaxAge)}
	r, err := v.expose(ctx, SessionRead{Session: s, Claims: claims, Trigger: update.Trigger, Update: update.Update})
	if err != nil {
		return nil, ErrJWTSession.because(err)
	}
	return r, v.sealSession(ctx, claims)
}

// trackedClaims says which sign-in the claims come from, and makes it up for
// tokens that do not know.
func (v *visit) trackedClaims(claims Claims) Claims {
	if !v.tracksSignIns() {
		return nil
	}
	tracked := Claims{claimSessionID: claims[claimSessionID], claimAuthTime: claims[claimAuthTime]}
	if claims.String(claimSessionID) == "" {
		tracked[claimSessionID] = randomHex(16)
	}
	if began, ok := authTime(claims); ok && tracked[claimAuthTime] == nil {
		tracked[claimAuthTime] = unixSeconds(began)
	}
	return tracked
}

func (*tokenKeeper) current(ctx context.Context, v *visit) (*holder, error) {
	token, kind := v.sessionCookie()
	if token == "" || v.store == nil {
		return nil, nil
	}
	claims, err := v.openSession(ctx, token, kind)
	if errors.Is(err, errNoToken) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	id := claims.String("sub")
	if id == "" {
		return nil, nil
	}
	u, err := found(v.store.user(ctx, id))
	if u == nil || err != nil {
		return nil, err
	}
	return &holder{user: *u}, nil
}

// close revokes the token where the operator wants that, and forgets it.
func (*tokenKeeper) close(ctx context.Context, v *visit) error {
	token, kind := v.sessionCookie()
	v.clearSession()
	if token == "" {
		return nil
	}
	claims, err := v.openSession(ctx, token, kind)
	if errors.Is(err, errNoToken) {
		return nil
	}
	if err == nil {
		err = v.revoke(ctx, claims)
	}
	if told := v.Events.SignOut; told != nil && err == nil {
		v.tell("signOut", func(ctx context.Context) error { return told(ctx, SignOutEvent{Claims: claims}) })
	}
	return err
}
