package directory

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
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// revocations make the end of a JWT session final. Two things can be void: one
// sign-in ("sid:…"), and everything of a user that began before an instant
// ("user:…"). A nil *revocations voids nothing.
type Revocations struct {
	Store        storage.RevocationStore
	Tenant       string          // empty: there is one site
	InAdapter    bool            // it is the Adapter's own, so that it can be part of a transaction
	Bounds       *guarded.Bounds // what bounds calls of the Adapter bounds these too
	SessionCache *SessionCache   // nil: it is asked every time
	Life         time.Duration   // of a token
	Now          func() time.Time
}

// check is errNoToken for a token that was signed out. A store that does not
// answer, or cannot, is a fault, and a fault signs nobody out. believes:
// who only reads a session may believe for a while what was said before.
func (r *Revocations) Check(ctx context.Context, from TokenOrigin, believes bool) error {
	if r == nil || r.SessionCache == nil || !believes || from.SessionID == "" { // without one, two sign-ins have one name
		return r.checkIn(ctx, nil, from)
	}
	keys := r.keys(from)
	if r.SessionCache.isUnrevoked(keys) {
		return nil
	}
	return r.SessionCache.loadUnrevoked(ctx, keys, from.UserID, func(ctx context.Context) error { return r.checkIn(ctx, nil, from) })
}

// checkIn is check as a part of the transaction of s; nil: there is none.
func (r *Revocations) checkIn(ctx context.Context, s *Store, from TokenOrigin) error {
	if r == nil {
		return nil
	}
	keys := r.keys(from)
	if len(keys) == 0 {
		return nil
	}
	voidAt, err := guarded.CallFor(ctx, r.Bounds, "Session.Revocations: RevokedAt", func(found map[string]time.Time) bool {
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
		if !strings.HasPrefix(key, userPrefix) || from.Began.IsZero() || !from.Began.After(at) {
			return ErrNoToken
		}
	}
	return nil
}

// revoke voids the sign-in that a token comes from.
func (r *Revocations) Revoke(ctx context.Context, from TokenOrigin) error {
	if r == nil {
		return nil
	}
	keys := r.keys(from)
	if len(keys) == 0 {
		return nil
	}
	defer r.SessionCache.dropKeys(keys)()
	return r.void(ctx, nil, keys[0], wholeMillisecond(r.Now()))
}

// revokeUser voids every JWT session that the user has now, and says from when
// on. s is the store of the transaction that this is part of.
func (r *Revocations) revokeUser(ctx context.Context, s *Store, id string) (time.Time, error) {
	if r == nil {
		return time.Time{}, nil
	}
	at := wholeMillisecond(r.Now())
	believed := r.SessionCache
	if s != nil {
		believed = s.SessionCache
	}
	defer believed.dropUser(id)()
	return at, r.void(ctx, s, r.userKey(id), at)
}

func (r *Revocations) void(ctx context.Context, s *Store, key string, at time.Time) error {
	return guarded.Do(ctx, r.Bounds, "Session.Revocations: Revoke", func(ctx context.Context) error {
		return r.storeIn(s).Revoke(ctx, key, at, at.Add(r.Life+time.Minute))
	})
}

// canRevoke asks a store for no key at all, which costs nothing, and is false
// for one whose tables were made for less.
func CanRevoke(store storage.RevocationStore, bounds *guarded.Bounds) bool {
	_, err := guarded.Call(context.Background(), bounds, "RevokedAt", func(ctx context.Context) (map[string]time.Time, error) {
		return store.RevokedAt(ctx)
	})
	return !errors.Is(err, errors.ErrUnsupported)
}

// storeIn is the store, as a part of the transaction of s where adapter and
// revocation store are one.
func (r *Revocations) storeIn(s *Store) storage.RevocationStore {
	if s != nil && s.Revocations != nil && r.InAdapter {
		return s.Revocations
	}
	return r.Store
}

// errNoToken: the cookie holds no token that is good for anything. The browser
// may forget it.
var ErrNoToken = errors.New("the session token is not valid")

// tokenOrigin is the sign-in that a token comes from, as far as the token knows.
type TokenOrigin struct {
	SessionID, TokenID, UserID string
	Began                      time.Time
}

func OriginOfToken(c jwt.Claims) TokenOrigin {
	o := TokenOrigin{SessionID: c.String(jwtclaims.SessionID), TokenID: c.String("jti"), UserID: c.String(jwtclaims.Subject)}
	if began, ok := AuthTime(c); ok {
		o.Began = began
	}
	return o
}

// originOfMark is the same of a session that a sign-in was begun in.
func originOfMark(m sessionref.Ref) TokenOrigin {
	o := TokenOrigin{SessionID: m.SessionID, UserID: m.UserID}
	if m.Since != 0 {
		o.Began = time.UnixMilli(m.Since)
	}
	return o
}

// keys are the names under which a token can be void.
func (r *Revocations) keys(o TokenOrigin) []string {
	var keys []string
	if o.SessionID != "" {
		keys = append(keys, "sid:"+o.SessionID)
	} else if o.TokenID != "" {
		keys = append(keys, "jti:"+o.TokenID)
	}
	if o.UserID != "" {
		keys = append(keys, r.userKey(o.UserID))
	}
	return keys
}

const userPrefix = "user:"

// userKey names a user. Users belong to the Adapter; in a store beside it, which
// tenants may share, two of them may have one id.
func (r *Revocations) userKey(id string) string {
	if r.Tenant != "" && !r.InAdapter {
		id = secret.Hash(r.Tenant + "\x00" + id)
	}
	return userPrefix + texts.Cut(id, 190)
}

// authTime is when the sign-in behind a token was; tokens from before that was
// recorded count from their issue.
func AuthTime(c jwt.Claims) (time.Time, bool) {
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
