package directory

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Revocations make the end of a session final. A revocation voids one sign-in, or
// everything of a user from before an instant: tokens, and whatever a sign-in was
// begun with. A nil *Revocations voids nothing. Make one with [NewRevocations].
type Revocations struct {
	Store        storage.RevocationStore // nil: this process alone remembers when the sessions of a user ended
	Keys         *keys.Keys              // of the configuration
	InAdapter    bool                    // Store is the Adapter itself, so that it can be part of a transaction
	Bounds       *guarded.Bounds         // the bounds of calls of the Adapter, which hold for Store too
	SessionCache *SessionCache           // nil: Store is asked every time
	Life         time.Duration           // how long a token lives
	RowLife      time.Duration           // how long a stored session lives that is not read; 0: none is stored
	EvidenceLife time.Duration           // how long anything lives that a sign-in can be completed with, such as a link
	Now          func() time.Time

	own *cache.Cache[string, ownEnd] // the ends that this process has recorded, by key
}

// NewRevocations returns a copy of r that is ready for use.
func NewRevocations(r Revocations) *Revocations {
	r.own = cache.New[string, ownEnd](cache.Rules{Size: rememberedEnds})
	return &r
}

// Check returns ErrNoToken if the sign-in of a token was signed out, if its user's
// sessions were ended since, or if its provider has ended it. If the store fails, Check
// returns its error, which signs no user out. With useCache, Check accepts a
// cached result: callers that only read a session do. believed reports that Check did so:
// the caller must then issue no token that lives longer, because the token may have been
// revoked elsewhere since.
func (r *Revocations) Check(ctx context.Context, from TokenOrigin, useCache bool) (believed bool, err error) {
	if r == nil || r.SessionCache == nil || !useCache || from.SessionID == "" { // without a session id, two sign-ins share a key
		return false, r.checkIn(ctx, nil, from)
	}
	return r.checkCached(ctx, from)
}

// checkCached does what Check does with useCache. The session of from has an id, and
// there is a cache.
func (r *Revocations) checkCached(ctx context.Context, from TokenOrigin) (believed bool, err error) {
	ids := from.ids()
	if r.SessionCache.isUnrevoked(ids) {
		return true, nil
	}
	return false, r.SessionCache.loadUnrevoked(ctx, ids, from.UserID, func(ctx context.Context) error { return r.checkIn(ctx, nil, from) })
}

// checkIn does the work of Check in the transaction of s. A nil s means no
// transaction.
func (r *Revocations) checkIn(ctx context.Context, s *Store, from TokenOrigin) error {
	if r == nil {
		return nil
	}
	signIn := r.signInKeys(from)
	issued := r.issuedThere(from.There)
	all := slices.AppendSeq(slices.Concat(signIn, r.userKeys(from.UserID)), maps.Keys(issued))
	if from.Subject != from.UserID {
		all = append(all, r.userKeys(from.Subject)...)
	}
	if len(all) == 0 {
		return nil
	}
	voidAt, err := r.revokedAt(ctx, s, all)
	if err != nil {
		return err
	}
	for key, at := range voidAt {
		if there, named := issued[key]; named {
			if !there.After(at) {
				return ErrNoToken
			}
			continue
		}
		// A revoked sign-in is void as a whole. A revoked user voids the sign-ins that
		// began before.
		if slices.Contains(signIn, key) || from.Began.IsZero() || !from.lastProof().After(at) {
			return ErrNoToken
		}
	}
	return nil
}

// revokedAt returns the instants that the store has on record, by key. It leaves out keys
// without one. r must not be nil, and neither may its Store.
func (r *Revocations) revokedAt(ctx context.Context, s *Store, keys []string) (map[string]time.Time, error) {
	return guarded.CallFor(ctx, r.Bounds, "Session.Revocations: RevokedAt", func(found map[string]time.Time) bool {
		for key := range found {
			if !slices.Contains(keys, key) {
				return false
			}
		}
		return true
	}, func(ctx context.Context) (map[string]time.Time, error) { return r.storeIn(s).RevokedAt(ctx, keys...) })
}

// Revoke voids the sign-in that a token comes from, for as long as its tokens can live.
// If the token has no session id, Revoke voids all sign-ins of the user until now. A nil
// r voids nothing.
func (r *Revocations) Revoke(ctx context.Context, from TokenOrigin) error {
	if r == nil {
		return nil
	}
	voided := r.signInNames(from)
	if from.SessionID == "" {
		voided = r.writtenFor(from.UserID)
	}
	defer r.SessionCache.dropKeys(from.ids())()
	now := wholeMillisecond(r.Now())
	until := now.Add(r.Life)
	if from.Ends.After(until) { // it was issued with a longer life
		until = from.Ends
		if last := now.Add(longestLife); until.After(last) {
			until = last
		}
	}
	return r.void(ctx, nil, voided, now, until)
}

const (
	// longestLife is how long browsers keep a cookie at most (RFC 6265bis, section
	// 5.5). A revocation lasts no longer, whatever a token says of its own life.
	longestLife = 400 * 24 * time.Hour

	// voidMargin is how much longer a revocation is kept than what it voids can
	// live: a token may have been issued a minute after it, by a read that was
	// under way, and be accepted for as long as another process caches that it is
	// unrevoked. The clocks of the processes that issue, revoke, accept and sweep
	// may all differ.
	voidMargin = 10 * time.Minute
)

// void writes a revocation under every one of the keys. r must not be nil.
func (r *Revocations) void(ctx context.Context, s *Store, under []string, at, until time.Time) error {
	for _, key := range under {
		err := guarded.Do(ctx, r.Bounds, "Session.Revocations: Revoke", func(ctx context.Context) error {
			return r.storeIn(s).Revoke(ctx, key, at, until.Add(voidMargin))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CanRevoke reports whether the tables of a store have room for revocations. It asks the store
// for no key, which costs nothing. For a store that fails otherwise it returns true.
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
	SessionID string
	UserID    string          // of the stored user
	Subject   string          // what the application calls the user; empty, or UserID: the same
	Began     time.Time       // the sign-in
	Proved    time.Time       // the latest proof of the user's identity; zero: the sign-in
	There     []ProviderNames // what its providers call the session
	Ends      time.Time       // the token's own exp; zero: not known, or not needed
}

// lastProof returns the later of the sign-in and the latest proof. The end of a user's
// sessions is compared with it.
func (o TokenOrigin) lastProof() time.Time {
	if o.Proved.After(o.Began) {
		return o.Proved
	}
	return o.Began
}

// OriginOfToken returns the origin of a token with the claims c, without Proved and There.
// Began is auth_time, or else iat, or else zero. A token without auth_time or session id was
// made elsewhere: AdoptedID makes its session id of the one that it has, or else of its jti.
func OriginOfToken(c jwt.Claims) TokenOrigin {
	o := TokenOrigin{SessionID: c.String(jwtclaims.SessionID), UserID: c.String(jwtclaims.StoreID, jwtclaims.Subject), Subject: c.String(jwtclaims.Subject)}
	began, known := c.Time(jwtclaims.AuthTime)
	if id := cmp.Or(o.SessionID, c.String("jti")); id != "" && (o.SessionID == "" || !known) {
		o.SessionID = jwtclaims.AdoptedID(id)
	}
	if !known {
		began, known = c.Time("iat")
	}
	if known {
		o.Began = began
	}
	o.Ends, _ = c.Time("exp")
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

// AuthTime returns the time of the sign-in behind a token. A token without auth_time
// counts from its issue. AuthTime returns false if the token has neither.
func AuthTime(c jwt.Claims) (time.Time, bool) {
	if t, ok := c.Time(jwtclaims.AuthTime); ok {
		return t, true
	}
	return c.Time("iat")
}

// wholeMillisecond rounds up to the millisecond. Revocations are kept like that,
// and the time of a sign-in is rounded down: a sign-in in the millisecond of a
// revocation counts as earlier.
func wholeMillisecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); whole.Before(t) {
		return whole.Add(time.Millisecond)
	}
	return t.Truncate(time.Millisecond)
}
