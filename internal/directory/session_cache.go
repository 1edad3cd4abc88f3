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
	sessions *cache.Cache[cacheKey, SessionAndUser]
	tokens   *cache.Cache[cacheKey, struct{}] // the tokens that are not revoked

	// changes are what a transaction has changed so far; nil: no transaction.
	changes *changes
}

// cacheKey is the hash of a secret.
type cacheKey [sha256.Size]byte

// changes are the sessions and users that a transaction has changed. The cache
// drops them once more at its end.
type changes struct {
	of     *SessionCache
	tokens []string
	users  []string
}

// NewSessionCache returns a cache of size sessions and size tokens; a size of 0
// means 10 000. A maxAge of 0 or less returns nil.
func NewSessionCache(maxAge time.Duration, size int, now func() time.Time) *SessionCache {
	if maxAge <= 0 {
		return nil
	}
	fill.Default(&size, defaultCacheSize)
	rules := cache.Rules{Size: size, Age: maxAge, Now: now}
	return &SessionCache{sessions: cache.New[cacheKey, SessionAndUser](rules), tokens: cache.New[cacheKey, struct{}](rules)}
}

const defaultCacheSize = 10_000

// session returns a cached session, or false if there is none. c must not be nil.
func (c *SessionCache) session(token string) (found SessionAndUser, ok bool) {
	found, ok = c.sessions.Get(sha256.Sum256([]byte(token)))
	return found.with(token), ok
}

// loadSession loads a session and caches it, without its token. It does not cache an
// error. c must not be nil.
func (c *SessionCache) loadSession(ctx context.Context, token string, load func(context.Context) (SessionAndUser, error)) (SessionAndUser, error) {
	found, err := c.sessions.Load(ctx, sha256.Sum256([]byte(token)), func(ctx context.Context) (SessionAndUser, string, error) {
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

// isUnrevoked reports whether the cache knows that nothing voids keys. c must not be nil.
func (c *SessionCache) isUnrevoked(keys []string) bool {
	_, ok := c.tokens.Get(keyOf(keys))
	return ok
}

// loadUnrevoked calls ask and returns its error. A nil error is cached: nothing
// voids keys.
func (c *SessionCache) loadUnrevoked(ctx context.Context, keys []string, userID string, ask func(context.Context) error) error {
	_, err := c.tokens.Load(ctx, keyOf(keys), func(ctx context.Context) (none struct{}, owner string, err error) {
		return none, userID, ask(ctx)
	})
	return err
}

// keyOf returns one key for several texts, in their order.
func keyOf(keys []string) cacheKey {
	h := sha256.New()
	for _, key := range keys {
		h.Write([]byte(secret.Hash(key)))
	}
	return cacheKey(h.Sum(nil))
}

// dropSession removes a session from the cache. The caller calls it before it
// changes the session, and calls the returned function afterwards: a read in
// between may have cached either state.
func (c *SessionCache) dropSession(token string) (again func()) {
	if c == nil {
		return func() {}
	}
	if c.changes != nil {
		c.changes.tokens = append(c.changes.tokens, token)
	}
	drop := func() { c.sessions.Delete(sha256.Sum256([]byte(token))) }
	drop()
	return drop
}

// dropUser removes everything of a user from the cache, as dropSession does for
// one session.
func (c *SessionCache) dropUser(id string) (again func()) {
	if c == nil {
		return func() {}
	}
	if c.changes != nil {
		c.changes.users = append(c.changes.users, id)
	}
	drop := func() {
		c.sessions.DeleteOwner(id)
		c.tokens.DeleteOwner(id)
	}
	drop()
	return drop
}

// dropKeys removes the result of Check for the token with the ids keys from the cache, as
// dropSession does.
func (c *SessionCache) dropKeys(keys []string) (again func()) {
	if c == nil {
		return func() {}
	}
	drop := func() { c.tokens.Delete(keyOf(keys)) }
	drop()
	return drop
}

// dropTokens removes the results of Check for all tokens from the cache, as dropSession
// does: the cache does not know which of them a provider has ended.
func (c *SessionCache) dropTokens() (again func()) {
	if c == nil {
		return func() {}
	}
	c.tokens.DeleteAll()
	return c.tokens.DeleteAll
}

// within returns the cache for a transaction. Its end method drops the changes of
// the transaction once more.
func (c *SessionCache) within() *SessionCache {
	if c == nil {
		return nil
	}
	return &SessionCache{sessions: c.sessions, tokens: c.tokens, changes: &changes{of: c}}
}

// end drops once more what the transaction has changed. The caller calls it after the
// transaction, on the cache that within has returned.
func (c *SessionCache) end() {
	if c == nil {
		return
	}
	for _, token := range c.changes.tokens {
		c.changes.of.dropSession(token)
	}
	for _, id := range c.changes.users {
		c.changes.of.dropUser(id)
	}
}
