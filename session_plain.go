package latchkey

import (
	"context"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
)

// A sealed session that nobody looks into: no callback or event needs its claims.

// plainRoom is the memory that reading without callbacks needs for a moment.
type plainRoom struct {
	members        [16]jsonscan.Member
	opened, issued []byte // what the old token says, and the new one
}

// keptRoom bounds what waits for the next request; it is more than a session
// ordinarily has.
const keptRoom = 16 << 10

func (t *tokenStrategy) giveBack(room *plainRoom) {
	if max(cap(room.opened), cap(room.issued)) <= keptRoom {
		t.rooms.Put(room)
	}
}

// plainReading is what stays of it.
type plainReading struct {
	reading
	of   Session
	said jwtclaims.Said
}

// readPlain reads a session whose claims no callback looks at: it cuts the
// token's JSON into members and puts both answers together from them.
func (t *tokenStrategy) readPlain(ctx context.Context, v *visit, token browser.Token) (*reading, error) {
	room := t.rooms.Get().(*plainRoom)
	defer t.giveBack(room)
	members, err := t.openPlain(token, room)
	if err != nil {
		return nil, err
	}
	c := &t.setup.config.Session
	now := t.setup.now()
	found := &plainReading{of: Session{Expires: now.Add(c.MaxAge), Via: viaOf(token.Kind)}}
	found.session = &found.of
	if members, err = t.readPlainMembers(ctx, found, members); err != nil {
		return nil, err
	}
	room.issued = jwtclaims.AppendIssued(room.issued[:0], members, now, c.JWT.MaxAge)
	sealed, err := v.cookies.Specs.Session.Codec.Seal(room.issued)
	if err != nil {
		return nil, failure.Wrap(ErrJWTSession, err)
	}
	t.sizes.warn(ctx, t.setup.log, v.about, len(sealed))
	v.credential.Put(sealed, found.of.Expires)
	found.json, err = appendSession(make([]byte, 0, 256), found.session)
	return &found.reading, err
}

// openPlain returns the token's members, or ErrNoToken.
func (t *tokenStrategy) openPlain(token browser.Token, room *plainRoom) ([]jsonscan.Member, error) {
	var err error
	if room.opened, err = token.Spec.Codec.AppendOpen(room.opened[:0], token.Text); err != nil {
		return nil, directory.ErrNoToken
	}
	members, err := jsonscan.Members(room.opened, room.members[:0])
	if err != nil || jwtclaims.Check(members, t.setup.now(), t.setup.config.Session.JWT.MaxAge) != nil || browser.KindOfMembers(members) != token.Kind {
		return nil, directory.ErrNoToken
	}
	return members, nil
}

// readPlainMembers does for readPlain what openToken and sessionOf do. It may
// add members.
func (t *tokenStrategy) readPlainMembers(ctx context.Context, found *plainReading, members []jsonscan.Member) ([]jsonscan.Member, error) {
	s := found.session
	readMembers(s, &found.said, members)
	from := directory.TokenOrigin{SessionID: s.ID, UserID: s.UserID, Began: s.AuthTime}
	if t.setup.tracksSignIns() {
		members = trackMembers(s, members, &from)
	}
	return members, t.judge(ctx, s.Tenant, from, true)
}

// judge returns ErrNoToken for the token of another tenant, and for a sign-in
// that is too old or revoked. With useCache it accepts a cached answer.
func (t *tokenStrategy) judge(ctx context.Context, tenant string, from directory.TokenOrigin, useCache bool) error {
	if tenant != t.setup.tenant {
		return errOtherTenant
	}
	if limit := t.setup.config.Session.AbsoluteMaxAge; limit > 0 && !from.Began.IsZero() && !t.setup.now().Before(from.Began.Add(limit)) {
		return directory.ErrNoToken
	}
	return t.setup.revocations.Check(ctx, from, useCache)
}
