package directory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Revocations make the end of a JWT session final. A revocation voids one
// sign-in, or every sign-in of a user before an instant. A nil *Revocations voids
// nothing.
type Revocations struct {
	Store        storage.RevocationStore
	Keys         *keys.Keys      // of the configuration
	InAdapter    bool            // Store is the Adapter itself, so that it can be part of a transaction
	Bounds       *guarded.Bounds // the bounds of calls of the Adapter, which hold for Store too
	SessionCache *SessionCache   // nil: Store is asked every time
	Life         time.Duration   // how long a token lives
	Now          func() time.Time
}

// Check returns ErrNoToken for a token that was signed out. If the store fails,
// Check returns its error, which signs no user out. With useCache, Check
// accepts a cached result: callers that only read a session do.
func (r *Revocations) Check(ctx context.Context, from TokenOrigin, useCache bool) error {
	if r == nil || r.SessionCache == nil || !useCache || from.SessionID == "" { // without a session id, two sign-ins share a key
		return r.checkIn(ctx, nil, from)
	}
	ids := from.ids()
	if r.SessionCache.isUnrevoked(ids) {
		return nil
	}
	return r.SessionCache.loadUnrevoked(ctx, ids, from.UserID, func(ctx context.Context) error { return r.checkIn(ctx, nil, from) })
}

// checkIn does the work of Check in the transaction of s. A nil s means no
// transaction.
func (r *Revocations) checkIn(ctx context.Context, s *Store, from TokenOrigin) error {
	if r == nil {
		return nil
	}
	signIn, user := r.signInKeys(from), r.userKeys(from.UserID)
	all := slices.Concat(signIn, user)
	if len(all) == 0 {
		return nil
	}
	voidAt, err := guarded.CallFor(ctx, r.Bounds, "Session.Revocations: RevokedAt", func(found map[string]time.Time) bool {
		for key := range found {
			if !slices.Contains(all, key) {
				return false
			}
		}
		return true
	}, func(ctx context.Context) (map[string]time.Time, error) { return r.storeIn(s).RevokedAt(ctx, all...) })
	if err != nil {
		return err
	}
	for key, at := range voidAt {
		// A revoked sign-in is void as a whole. A revoked user voids the sign-ins that
		// began before.
		if slices.Contains(signIn, key) || from.Began.IsZero() || !from.Began.After(at) {
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
	voided := r.signInKeys(from)
	if len(voided) == 0 {
		voided = r.writtenFor(from.UserID)
	}
	defer r.SessionCache.dropKeys(from.ids())()
	return r.void(ctx, nil, voided, wholeMillisecond(r.Now()))
}

// revokeUser voids every JWT session of the user and returns the instant before
// which they are void. s is the store of the transaction that this is part of;
// nil: none.
func (r *Revocations) revokeUser(ctx context.Context, s *Store, id string) (time.Time, error) {
	if r == nil {
		return time.Time{}, nil
	}
	at := wholeMillisecond(r.Now())
	sessionCache := r.SessionCache
	if s != nil {
		sessionCache = s.SessionCache
	}
	defer sessionCache.dropUser(id)()
	return at, r.void(ctx, s, r.writtenFor(id), at)
}

// void writes a revocation under every one of the keys.
func (r *Revocations) void(ctx context.Context, s *Store, under []string, at time.Time) error {
	for _, key := range under {
		err := guarded.Do(ctx, r.Bounds, "Session.Revocations: Revoke", func(ctx context.Context) error {
			return r.storeIn(s).Revoke(ctx, key, at, at.Add(r.Life+time.Minute))
		})
		if err != nil {
			return err
		}
	}
	return nil
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

// OriginOfToken returns the origin of a token with the claims c. Began is zero if
// they have neither auth_time nor iat.
func OriginOfToken(c jwt.Claims) TokenOrigin {
	o := TokenOrigin{SessionID: c.String(jwtclaims.SessionID), TokenID: c.String("jti"), UserID: c.String(jwtclaims.Subject)}
	if began, ok := AuthTime(c); ok {
		o.Began = began
	}
	return o
}

// originOfRef returns the origin of a session in which a sign-in was begun.
func originOfRef(ref sessionref.Ref) TokenOrigin {
	o := TokenOrigin{SessionID: ref.SessionID, UserID: ref.UserID}
	if ref.Since != 0 {
		o.Began = time.UnixMilli(ref.Since)
	}
	return o
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
