package latchkey

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/storage"
)

// revocations make the end of a JWT session final. Two things can be void: one
// sign-in ("sid:…"), and everything of a user that began before an instant
// ("user:…"). A nil *revocations voids nothing.
type revocations struct {
	store     storage.RevocationStore
	tenant    string          // empty: there is one site
	inAdapter bool            // it is the Adapter's own, so that it can be part of a transaction
	bounds    *guarded.Bounds // what bounds calls of the Adapter bounds these too
	beliefs   *beliefs        // nil: it is asked every time
	life      time.Duration   // of a token
	now       func() time.Time
}

// check is errNoToken for a token that was signed out. A store that does not
// answer, or cannot, is a fault, and a fault signs nobody out. believes:
// who only reads a session may believe for a while what was said before.
func (r *revocations) check(ctx context.Context, from tokenOrigin, believes bool) error {
	if r == nil || r.beliefs == nil || !believes || from.sessionID == "" { // without one, two sign-ins have one name
		return r.checkIn(ctx, nil, from)
	}
	keys := r.keys(from)
	if r.beliefs.isUnrevoked(keys) {
		return nil
	}
	return r.beliefs.loadUnrevoked(ctx, keys, from.userID, func(ctx context.Context) error { return r.checkIn(ctx, nil, from) })
}

// checkIn is check as a part of the transaction of s; nil: there is none.
func (r *revocations) checkIn(ctx context.Context, s *store, from tokenOrigin) error {
	if r == nil {
		return nil
	}
	keys := r.keys(from)
	if len(keys) == 0 {
		return nil
	}
	voidAt, err := guarded.CallFor(ctx, r.bounds, "Session.Revocations: RevokedAt", func(found map[string]time.Time) bool {
		for key := range found {
			if !slices.Contains(keys, key) {
				return false
			}
		}
		return true
	}, func(ctx context.Context) (map[string]time.Time, error) { return r.storeIn(s).RevokedAt(ctx, keys...) })
	if err != nil {
		return err
	}
	for key, at := range voidAt {
		// One sign-in is void as a whole; of a user, what began before.
		if !strings.HasPrefix(key, userPrefix) || from.began.IsZero() || !from.began.After(at) {
			return errNoToken
		}
	}
	return nil
}

// revoke voids the sign-in that a token comes from.
func (r *revocations) revoke(ctx context.Context, from tokenOrigin) error {
	if r == nil {
		return nil
	}
	keys := r.keys(from)
	if len(keys) == 0 {
		return nil
	}
	defer r.beliefs.dropKeys(keys)()
	return r.void(ctx, nil, keys[0], wholeMillisecond(r.now()))
}

// revokeUser voids every JWT session that the user has now, and says from when
// on. s is the store of the transaction that this is part of.
func (r *revocations) revokeUser(ctx context.Context, s *store, id string) (time.Time, error) {
	if r == nil {
		return time.Time{}, nil
	}
	at := wholeMillisecond(r.now())
	believed := r.beliefs
	if s != nil {
		believed = s.beliefs
	}
	defer believed.dropUser(id)()
	return at, r.void(ctx, s, r.userKey(id), at)
}

func (r *revocations) void(ctx context.Context, s *store, key string, at time.Time) error {
	return guarded.Do(ctx, r.bounds, "Session.Revocations: Revoke", func(ctx context.Context) error {
		return r.storeIn(s).Revoke(ctx, key, at, at.Add(r.life+time.Minute))
	})
}

// canRevoke asks a store for no key at all, which costs nothing, and is false
// for one whose tables were made for less.
func canRevoke(store storage.RevocationStore, bounds *guarded.Bounds) bool {
	_, err := guarded.Call(context.Background(), bounds, "RevokedAt", func(ctx context.Context) (map[string]time.Time, error) {
		return store.RevokedAt(ctx)
	})
	return !errors.Is(err, errors.ErrUnsupported)
}

// storeIn is the store, as a part of the transaction of s where adapter and
// revocation store are one.
func (r *revocations) storeIn(s *store) storage.RevocationStore {
	if s != nil && s.revocations != nil && r.inAdapter {
		return s.revocations
	}
	return r.store
}

// errNoToken: the cookie holds no token that is good for anything. The browser
// may forget it.
var errNoToken = errors.New("the session token is not valid")

// tokenOrigin is the sign-in that a token comes from, as far as the token knows.
type tokenOrigin struct {
	sessionID, tokenID, userID string
	began                      time.Time
}

func originOfToken(c Claims) tokenOrigin {
	o := tokenOrigin{sessionID: c.String(jwtclaims.SessionID), tokenID: c.String("jti"), userID: c.String(jwtclaims.Subject)}
	if began, ok := authTime(c); ok {
		o.began = began
	}
	return o
}

// originOfMark is the same of a session that a sign-in was begun in.
func originOfMark(m sessionref.Ref) tokenOrigin {
	o := tokenOrigin{sessionID: m.SessionID, userID: m.UserID}
	if m.Since != 0 {
		o.began = time.UnixMilli(m.Since)
	}
	return o
}

// keys are the names under which a token can be void.
func (r *revocations) keys(o tokenOrigin) []string {
	var keys []string
	if o.sessionID != "" {
		keys = append(keys, "sid:"+o.sessionID)
	} else if o.tokenID != "" {
		keys = append(keys, "jti:"+o.tokenID)
	}
	if o.userID != "" {
		keys = append(keys, r.userKey(o.userID))
	}
	return keys
}

const userPrefix = "user:"

// userKey names a user. Users belong to the Adapter; in a store beside it, which
// tenants may share, two of them may have one id.
func (r *revocations) userKey(id string) string {
	if r.tenant != "" && !r.inAdapter {
		id = secret.Hash(r.tenant + "\x00" + id)
	}
	return userPrefix + texts.Cut(id, 190)
}

// authTime is when the sign-in behind a token was; tokens from before that was
// recorded count from their issue.
func authTime(c Claims) (time.Time, bool) {
	if t, ok := c.Time(jwtclaims.AuthTime); ok {
		return t, true
	}
	return c.Time("iat")
}

// signInTime is auth_time for a sign-in now: in seconds, to the millisecond and
// rounded up, so that it is later than any revocation that came before it, the
// one of the same sign-in too.
func signInTime(now, revokedAt time.Time) json.Number {
	now = wholeMillisecond(now)
	if !now.After(revokedAt) {
		now = revokedAt.Add(time.Millisecond)
	}
	return jwtclaims.UnixSeconds(now)
}

// wholeMillisecond rounds up: sign-ins and what voids them are kept like that, so
// that one in the millisecond of another counts as earlier than its end.
func wholeMillisecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); whole.Before(t) {
		return whole.Add(time.Millisecond)
	}
	return t.Truncate(time.Millisecond)
}
