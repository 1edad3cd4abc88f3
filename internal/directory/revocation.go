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

// Revocations make the end of a JWT session final. A revocation voids one
// sign-in ("sid:…"), or every sign-in of a user before an instant ("user:…"). A
// nil *Revocations voids nothing.
type Revocations struct {
	Store        storage.RevocationStore
	Tenant       string          // empty: there is one site
	InAdapter    bool            // it is the Adapter's own, so that it can be part of a transaction
	Bounds       *guarded.Bounds // what bounds calls of the Adapter bounds these too
	SessionCache *SessionCache   // nil: it is asked every time
	Life         time.Duration   // of a token
	Now          func() time.Time
}

// Check returns ErrNoToken for a token that was signed out. A store that fails
// is an error of its own, and signs no user out. With useCache, Check
// accepts a cached result: callers that only read a session do.
func (r *Revocations) Check(ctx context.Context, from TokenOrigin, useCache bool) error {
	if r == nil || r.SessionCache == nil || !useCache || from.SessionID == "" { // without one, two sign-ins have one name
		return r.checkIn(ctx, nil, from)
	}
	keys := r.keys(from)
	if r.SessionCache.isUnrevoked(keys) {
		return nil
	}
	return r.SessionCache.loadUnrevoked(ctx, keys, from.UserID, func(ctx context.Context) error { return r.checkIn(ctx, nil, from) })
}

// checkIn is Check as a part of the transaction of s. A nil s means no
// transaction.
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

// Revoke voids the sign-in that a token comes from.
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

// revokeUser voids every JWT session of the user and returns the instant before
// which they are void. s is the store of the transaction that this is part of;
// nil: none.
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

// CanRevoke reports whether the tables of a store have room for revocations. It
// asks the store for no key, which costs nothing.
func CanRevoke(store storage.RevocationStore, bounds *guarded.Bounds) bool {
	_, err := guarded.Call(context.Background(), bounds, "RevokedAt", func(ctx context.Context) (map[string]time.Time, error) {
		return store.RevokedAt(ctx)
	})
	return !errors.Is(err, errors.ErrUnsupported)
}

// storeIn returns the revocation store, bound to the transaction of s if it is
// the adapter itself.
func (r *Revocations) storeIn(s *Store) storage.RevocationStore {
	if s != nil && s.Revocations != nil && r.InAdapter {
		return s.Revocations
	}
	return r.Store
}

// ErrNoToken reports that a token is invalid, expired or revoked. The browser
// may forget it.
var ErrNoToken = errors.New("the session token is not valid")

// TokenOrigin is the sign-in that a token comes from, as far as the token
// knows.
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

// originOfMark returns the origin of a session in which a sign-in was begun.
func originOfMark(m sessionref.Ref) TokenOrigin {
	o := TokenOrigin{SessionID: m.SessionID, UserID: m.UserID}
	if m.Since != 0 {
		o.Began = time.UnixMilli(m.Since)
	}
	return o
}

// keys returns the names under which a token can be void.
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

// userKey names a user. Users belong to the Adapter; in a store beside it,
// which tenants may share, two users may have one id.
func (r *Revocations) userKey(id string) string {
	if r.Tenant != "" && !r.InAdapter {
		id = secret.Hash(r.Tenant + "\x00" + id)
	}
	return userPrefix + texts.Cut(id, 190)
}

// AuthTime returns the time of the sign-in behind a token. A token without
// auth_time counts from its issue.
func AuthTime(c jwt.Claims) (time.Time, bool) {
	if t, ok := c.Time(jwtclaims.AuthTime); ok {
		return t, true
	}
	return c.Time("iat")
}

// signInTime returns auth_time for a sign-in now, in seconds. It is rounded up
// to the millisecond, so that it is later than any revocation before it, the
// one of the same sign-in included.
func signInTime(now, revokedAt time.Time) json.Number {
	now = wholeMillisecond(now)
	if !now.After(revokedAt) {
		now = revokedAt.Add(time.Millisecond)
	}
	return jwtclaims.UnixSeconds(now)
}

// wholeMillisecond rounds up to the millisecond. Sign-ins and revocations are
// kept like that, so that a sign-in in the millisecond of a revocation counts
// as earlier.
func wholeMillisecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); whole.Before(t) {
		return whole.Add(time.Millisecond)
	}
	return t.Truncate(time.Millisecond)
}
