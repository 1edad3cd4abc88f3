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

// beliefs are what this process has read of sessions and goes on to believe for
// a while: see [SessionCache]. nil: nothing, it asks every time. Sessions are
// named by a hash, so that no token is kept.
type SessionCache struct {
	sessions *cache.Cache[hashed, SessionAndUser]
	tokens   *cache.Cache[hashed, struct{}] // that are not revoked

	// changes are what a transaction has changed so far; nil: this is none.
	changes *changes
}

// hashed names what is cached, so that no secret is kept.
type hashed [sha256.Size]byte

// changes are believed to be as before by everybody else, until the end of their
// transaction.
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

// session returns what is believed of a session.
func (b *SessionCache) session(token string) (found SessionAndUser, ok bool) {
	found, ok = b.sessions.Get(sha256.Sum256([]byte(token)))
	return found.with(token), ok
}

// loadSession returns what load says of a session, and believes it from now on.
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

// with returns a copy that its caller may change, with the token that is not
// cached.
func (s SessionAndUser) with(token string) SessionAndUser {
	s.Row.Token = token
	s.Row.AMR, s.User.Extra = slices.Clone(s.Row.AMR), maps.Clone(s.User.Extra)
	return s
}

// isUnrevoked reports whether keys are believed to be void of nothing.
func (b *SessionCache) isUnrevoked(keys []string) bool {
	_, ok := b.tokens.Get(nameOfKeys(keys))
	return ok
}

// loadUnrevoked returns what ask says of keys; nil, that nothing voids them, is
// believed from now on.
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

// dropSession ends what is believed of a session. It is called before the
// session is changed, and what it returns afterwards: who read it in between
// may have read either.
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

// dropUser is dropSession for all that is believed of a user.
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

// dropKeys is dropSession for a session token.
func (b *SessionCache) dropKeys(keys []string) (again func()) {
	if b == nil {
		return func() {}
	}
	drop := func() { b.tokens.Delete(nameOfKeys(keys)) }
	drop()
	return drop
}

// within are the beliefs for a transaction, which nobody else sees before its
// end.
func (b *SessionCache) within() *SessionCache {
	if b == nil {
		return nil
	}
	return &SessionCache{sessions: b.sessions, tokens: b.tokens, changes: &changes{of: b}}
}

// end is called when the transaction has ended.
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
