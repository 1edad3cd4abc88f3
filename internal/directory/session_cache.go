package directory

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/secret"
)

// SessionCache keeps what this process has read of sessions for a while. A nil
// *SessionCache keeps nothing. Keys are hashes, so that no token is kept. It is
// safe for concurrent use.
type SessionCache struct {
	sessions *cache.Cache[hashed, SessionAndUser]
	tokens   *cache.Cache[hashed, struct{}] // that are not revoked

	// changes are what a transaction has changed so far; nil: this is none.
	changes *changes
}

// hashed is a key of the cache: the hash of a secret.
type hashed [sha256.Size]byte

// changes are the sessions and users that a transaction has changed. The cache
// drops them once more at its end.
type changes struct {
	of     *SessionCache
	tokens []string
	users  []string
}

func NewSessionCache(maxAge time.Duration, size int, now func() time.Time) *SessionCache {
	if maxAge <= 0 {
		return nil
	}
	fill.Default(&size, defaultCacheSize)
	rules := cache.Rules{Size: size, Age: maxAge, Now: now}
	return &SessionCache{sessions: cache.New[hashed, SessionAndUser](rules), tokens: cache.New[hashed, struct{}](rules)}
}

const defaultCacheSize = 10_000

// session returns a cached session.
func (b *SessionCache) session(token string) (found SessionAndUser, ok bool) {
	found, ok = b.sessions.Get(sha256.Sum256([]byte(token)))
	return found.with(token), ok
}

// loadSession loads a session and caches it.
func (b *SessionCache) loadSession(ctx context.Context, token string, load func(context.Context) (SessionAndUser, error)) (SessionAndUser, error) {
	found, err := b.sessions.Load(ctx, sha256.Sum256([]byte(token)), func(ctx context.Context) (SessionAndUser, string, error) {
		s, err := load(ctx)
		s.Row.Token = ""
		return s, s.Row.UserID, err
	})
	if err != nil {
		return SessionAndUser{}, err
	}
	return found.with(token), nil
}

// with returns a copy that the caller may change, with the token, which is not
// cached.
func (s SessionAndUser) with(token string) SessionAndUser {
	s.Row.Token = token
	s.Row.AMR, s.User.Extra = slices.Clone(s.Row.AMR), maps.Clone(s.User.Extra)
	return s
}

// isUnrevoked reports whether the cache knows that nothing voids keys.
func (b *SessionCache) isUnrevoked(keys []string) bool {
	_, ok := b.tokens.Get(nameOfKeys(keys))
	return ok
}

// loadUnrevoked calls ask and returns its error. A nil error is cached: nothing
// voids keys.
func (b *SessionCache) loadUnrevoked(ctx context.Context, keys []string, userID string, ask func(context.Context) error) error {
	_, err := b.tokens.Load(ctx, nameOfKeys(keys), func(ctx context.Context) (none struct{}, owner string, err error) {
		return none, userID, ask(ctx)
	})
	return err
}

func nameOfKeys(keys []string) hashed {
	h := sha256.New()
	for _, key := range keys {
		h.Write([]byte(secret.Hash(key)))
	}
	return hashed(h.Sum(nil))
}

// dropSession removes a session from the cache. The caller calls it before it
// changes the session, and what it returns afterwards: a read in between may
// have cached either state.
func (b *SessionCache) dropSession(token string) (again func()) {
	if b == nil {
		return func() {}
	}
	if b.changes != nil {
		b.changes.tokens = append(b.changes.tokens, token)
	}
	drop := func() { b.sessions.Delete(sha256.Sum256([]byte(token))) }
	drop()
	return drop
}

// dropUser removes everything of a user from the cache, as dropSession does for
// one session.
func (b *SessionCache) dropUser(id string) (again func()) {
	if b == nil {
		return func() {}
	}
	if b.changes != nil {
		b.changes.users = append(b.changes.users, id)
	}
	drop := func() {
		b.sessions.DeleteOwner(id)
		b.tokens.DeleteOwner(id)
	}
	drop()
	return drop
}

// dropKeys removes what is known of a session token, as dropSession does.
func (b *SessionCache) dropKeys(keys []string) (again func()) {
	if b == nil {
		return func() {}
	}
	drop := func() { b.tokens.Delete(nameOfKeys(keys)) }
	drop()
	return drop
}

// within returns the cache for a transaction, whose changes are dropped once
// more at its end.
func (b *SessionCache) within() *SessionCache {
	if b == nil {
		return nil
	}
	return &SessionCache{sessions: b.sessions, tokens: b.tokens, changes: &changes{of: b}}
}

// end drops what the transaction has changed.
func (b *SessionCache) end() {
	if b == nil {
		return
	}
	for _, token := range b.changes.tokens {
		b.changes.of.dropSession(token)
	}
	for _, id := range b.changes.users {
		b.changes.of.dropUser(id)
	}
}
