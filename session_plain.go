package latchkey

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/secret"
)

// A sealed session without readers: no callback or event needs its claims.

// errActs reports a token in which an administrator acts: readClaims reads it.
var errActs = errors.New("an administrator acts in the session")

// plainRoom holds the buffers of one call of readPlain. tokenStrategy.rooms pools them.
type plainRoom struct {
	members        [16]jsonscan.Member
	opened, issued []byte // what the old token says, and the new one
}

// keptRoom is how many bytes a buffer may have that goes back to the pool; it is more
// than a session ordinarily has.
const keptRoom = 16 << 10

// giveBack puts room into the pool again, unless its buffers have grown beyond keptRoom.
func (t *tokenStrategy) giveBack(room *plainRoom) {
	if max(cap(room.opened), cap(room.issued)) <= keptRoom {
		t.rooms.Put(room)
	}
}

// plainReading is what readPlain returns. It has nothing of a plainRoom.
type plainReading struct {
	reading
	of   Session
	said jwtclaims.Said
}

// readPlain reads a session with claims that no callback looks at: it cuts the token's
// JSON into members and puts the session's JSON and the new token together from them. It
// returns ErrNoToken as openPlain and judge do, and errActs if readClaims has to read the
// token.
func (t *tokenStrategy) readPlain(ctx context.Context, v *visit, token browser.Token) (*reading, error) {
	room := t.rooms.Get().(*plainRoom)
	defer t.giveBack(room)
	members, err := t.openPlain(token, room)
	if err != nil {
		return nil, err
	}
	if _, acts := jsonscan.Lookup(members, jwtclaims.ActorSession); acts {
		return nil, errActs
	}
	c := &t.setup.config.Session
	now := t.setup.now()
	found := &plainReading{of: Session{Expires: now.Add(c.MaxAge), Via: viaOf(token.Kind)}}
	found.session = &found.of
	var believed bool
	if members, believed, err = t.readPlainMembers(ctx, found, members); err != nil {
		return nil, err
	}
	if believed {
		return found.unrenewed(members, c.JWT.MaxAge)
	}
	room.issued = jwtclaims.AppendIssued(room.issued[:0], members, now, c.JWT.MaxAge)
	sealed, err := v.cookies.Specs.Session.Codec.Seal(room.issued)
	if err != nil {
		return nil, failure.Wrap(ErrJWTSession, err)
	}
	t.sizes.warn(ctx, t.setup.log, v.about, len(sealed))
	countSealed(ctx, t.setup, v, len(sealed))
	v.credential.Put(sealed, found.of.Expires)
	found.json, err = appendSession(make([]byte, 0, 256), found.session)
	return &found.reading, err
}

// unrenewed completes the reading of a token whose revocation result came from the cache.
// It gets no successor, which would live longer, and the session ends when the token does
//
func (r *plainReading) unrenewed(members []jsonscan.Member, maxAge time.Duration) (*reading, error) {
	end, known := jwtclaims.Time(members, "exp")
	if iat, ok := jwtclaims.Time(members, "iat"); ok {
		if last := iat.Add(maxAge); !known || last.Before(end) {
			end, known = last, true
		}
	}
	if known {
		r.of.Expires = end
	}
	var err error
	r.json, err = appendSession(make([]byte, 0, 256), r.session)
	return &r.reading, err
}

// openPlain returns the token's members, which are valid until room is used again, or
// ErrNoToken.
func (t *tokenStrategy) openPlain(token browser.Token, room *plainRoom) ([]jsonscan.Member, error) {
	var err error
	if room.opened, err = token.Spec.Codec.AppendOpen(room.opened[:0], token.Text); err != nil {
		return nil, errUnsealed
	}
	now, maxAge := t.setup.now(), t.setup.config.Session.JWT.MaxAge
	members, err := jsonscan.Members(room.opened, room.members[:0])
	if err != nil || browser.KindOfMembers(members) != token.Kind {
		return nil, errUnsealed
	}
	if err := jwtclaims.Check(members, now, maxAge); errors.Is(err, jwtclaims.ErrExpired) {
		return nil, errOutlived
	} else if err != nil {
		return nil, errUnsealed
	}
	if iat, ok := jwtclaims.Time(members, "iat"); ok && jwtclaims.IsOutlived(iat, now, maxAge) {
		return nil, errOutlived
	}
	return members, nil
}

// readPlainMembers reads members into found, completes them as track does, and judges the
// token as judge does. It returns the members, and whether the answer came from the
// cache.
func (t *tokenStrategy) readPlainMembers(ctx context.Context, found *plainReading, members []jsonscan.Member) (same []jsonscan.Member, believed bool, err error) {
	s := found.session
	from := readMembers(s, &found.said, members)
	if t.setup.tracksSignIns() {
		members = trackMembers(s, members, &from)
	}
	if keepsProofs(t.setup) {
		from.Proved = readMembersAssurance(&s.Assurance, members)
	}
	if t.setup.config.logouts.any {
		if raw, ok := jsonscan.Lookup(members, jwtclaims.Provider); ok {
			s.Provider, from.There = directory.ReadNames(raw)
		}
	}
	if jwtclaims.IsAdopted(s.ID) {
		s.Assurance = Assurance{}
	}
	believed, err = t.judge(ctx, s.Tenant, from, true)
	return members, believed, err
}

// sessionOf returns the session that claims describe, or an error if one is malformed.
func (t *tokenStrategy) sessionOf(claims Claims) (*Session, error) {
	user, said, err := userFromClaims(claims)
	if err != nil {
		return nil, err
	}
	s := &Session{
		User: user, said: said, Expires: t.setup.now().Add(t.setup.config.Session.MaxAge),
		UserID: claims.String("sub"), ID: claims.String(jwtclaims.SessionID), Tenant: t.setup.tenant, Via: viaOf(browser.KindOfClaims(claims)),
	}
	if t.setup.config.logouts.any {
		s.Provider, _ = namesIn(claims)
	}
	if !jwtclaims.IsAdopted(s.ID) {
		s.signedInAt(claims.Time(jwtclaims.AuthTime))
		if keepsProofs(t.setup) {
			readAssurance(&s.Assurance, claims)
		}
	}
	if a := directory.ActorOf(claims); a != nil {
		by := a.By()
		s.Actor, s.Assurance = &by, Assurance{}
	}
	return s, nil
}

// judge returns ErrNoToken for the token of another tenant, for a sign-in that is too old
// or revoked, and for the adopted session of a suspended user. With useCache it accepts a
// cached revocation result, and believed reports that it did.
func (t *tokenStrategy) judge(ctx context.Context, tenant string, from directory.TokenOrigin, useCache bool) (believed bool, err error) {
	if tenant != t.setup.tenant {
		return false, errOtherTenant
	}
	if limit := t.setup.config.Session.AbsoluteMaxAge; limit > 0 && !from.Began.IsZero() && !t.setup.now().Before(from.Began.Add(limit)) {
		return false, errOutlived
	}
	believed, err = t.setup.revocations.Check(ctx, from, useCache)
	if err == nil && !believed && jwtclaims.IsAdopted(from.SessionID) && t.setup.directory != nil {
		err = t.judgeUser(ctx, from.UserID)
	}
	return believed, err
}

// judgeUser returns ErrNoToken if the user is suspended. It is for tokens that were made
// elsewhere: ending the sessions of a user does not reach those in time.
func (t *tokenStrategy) judgeUser(ctx context.Context, userID string) error {
	suspended, err := directory.IsSuspended(ctx, t.setup.directory, userID)
	if err == nil && suspended {
		err = directory.ErrNoToken
	}
	return err
}

// reasonOf returns the word by which a token that opens no session is counted.
func reasonOf(token browser.Token, err error) string {
	switch {
	case errors.Is(err, errOtherTenant):
		return "none"
	case errors.Is(err, errOutlived):
		return "expired"
	case !errors.Is(err, errUnsealed):
		return "revoked"
	case token.Spec != nil && token.Spec.Codec.SealedBy(token.Text) < 0:
		return "unknown_key"
	}
	return "invalid"
}

// isRollingOut reports whether RolloutGrace has not yet passed since the start: a secret
// that is unknown here may be another instance's.
func isRollingOut(s *setup) bool {
	grace := s.config.Operations.RolloutGrace
	return grace > 0 && s.now().Before(s.started.Add(grace))
}

// track adds to claims the id and the time of their sign-in if they lack them, as tokens
// of Auth.js do. It makes the id from the jti of the token, which is the same for every
// copy; a token without jti gets a random one. It does nothing where sign-ins are not
// tracked.
func (t *tokenStrategy) track(claims Claims) {
	if !t.setup.tracksSignIns() {
		return
	}
	claims[jwtclaims.SessionID] = cmp.Or(directory.OriginOfToken(claims).SessionID, jwtclaims.AdoptedID(secret.RandomHex(16)))
	if began, ok := directory.AuthTime(claims); ok {
		if _, known := claims.Time(jwtclaims.AuthTime); !known {
			claims[jwtclaims.AuthTime] = jwtclaims.UnixSeconds(began)
		}
	}
}

// namesIn returns what nameSession has written into claims: the provider that opened the
// session, and what its providers call it.
func namesIn(claims Claims) (provider string, names []directory.ProviderNames) {
	raw, err := json.Marshal(claims[jwtclaims.Provider])
	if err != nil {
		return "", nil
	}
	return directory.ReadNames(raw)
}
