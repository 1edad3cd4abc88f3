package latchkey

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/texts"
)

// A session that is opened beside another one, for an app of the same user. It
// is as old as the sign-in, so that no limit on age is stretched, and ends for
// itself.

// branch implements sessionStrategy: it seals the claims of from, a session token, into a new
// token, which gets a session id of its own.
func (t *tokenStrategy) branch(ctx context.Context, v *visit, from browser.Token) (openedSession, error) {
	claims, err := t.openLive(ctx, from)
	if errors.Is(err, directory.ErrNoToken) {
		return openedSession{}, nil
	}
	if err != nil {
		return openedSession{}, err
	}
	if directory.ActorOf(claims) != nil {
		return openedSession{}, directory.ErrActing
	}
	t.track(claims)
	browser.BearerKind.Mark(claims)
	if t.setup.tracksSignIns() {
		claims[jwtclaims.SessionID] = besideID(claims.String(jwtclaims.SessionID))
	}
	if err := t.seal(ctx, v, claims, life{}); err != nil {
		return openedSession{}, err
	}
	c := &t.setup.config.Session
	expires := t.setup.now().Add(c.JWT.MaxAge)
	if began, ok := claims.Time(jwtclaims.AuthTime); ok && c.AbsoluteMaxAge > 0 && expires.After(began.Add(c.AbsoluteMaxAge)) {
		expires = began.Add(c.AbsoluteMaxAge)
	}
	return openedSession{
		token: v.credential.Bearer.Renewed, expires: expires,
		endedSession: endedSession{id: claims.String(jwtclaims.SessionID), userID: directory.OriginOfToken(claims).UserID},
	}, nil
}

// besideID returns a new id for a session beside the one with this id. If id is marked as
// adopted, so is the new one: when the user signed in is not known.
func besideID(id string) string {
	beside := secret.RandomHex(16)
	if jwtclaims.IsAdopted(id) {
		return jwtclaims.AdoptedID(beside)
	}
	return beside
}

// branch implements sessionStrategy: it stores a copy of the row with a new token and id.
func (d *databaseStrategy) branch(ctx context.Context, v *visit, from browser.Token) (openedSession, error) {
	s := d.setup
	begun := s.now().Truncate(time.Millisecond) // before the session is looked up
	found, former, err := d.live(ctx, v, from, false)
	if found == nil || err != nil {
		return openedSession{}, err
	}
	if found.Row.Actor != "" {
		return openedSession{}, directory.ErrActing
	}
	row := found.Row
	row.ID, row.Token, row.Sealed = secret.RandomHex(16), browser.BearerKind.RowKey(d.newToken()), directory.FormerOnly(row.Sealed)
	row.Expires = s.now().UTC().Add(s.config.Session.MaxAge)
	row.UserAgent = texts.Cut(v.request.Header.Get("User-Agent"), 256)
	v.hide(row.Token)
	err = directory.OpenBeside(ctx, s.directory, row, former, begun)
	if errors.Is(err, ErrNotFound) {
		return openedSession{}, nil
	}
	if err != nil {
		return openedSession{}, failure.Wrap(ErrSessionToken, err)
	}
	expires := row.Expires
	if limit := s.config.Session.AbsoluteMaxAge; limit > 0 && !row.Created.IsZero() && expires.After(row.Created.Add(limit)) {
		expires = row.Created.Add(limit)
	}
	return openedSession{token: row.Token, expires: expires, endedSession: endedSession{id: row.ID, userID: row.UserID, provider: row.Provider}}, nil
}
