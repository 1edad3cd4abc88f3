package latchkey

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/belief"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/secret"
)

// beliefs are what this process has read of sessions and goes on to believe for
// a while: see [SessionCache]. nil: nothing, it asks every time. Sessions are
// named by a hash, so that no token is kept.
type beliefs struct {
	sessions *belief.Cache[sessionAndUser]
	tokens   *belief.Cache[struct{}] // that are not revoked

	// changes are what a transaction has changed so far; nil: this is none.
	changes *changes
}

// changes are believed to be as before by everybody else, until the end of their
// transaction.
type changes struct {
	of     *beliefs
	tokens []string
	users  []string
}

func newBeliefs(c SessionCache, now func() time.Time) *beliefs {
	if c.MaxAge <= 0 {
		return nil
	}
	fill.Default(&c.Size, defaultCacheSize)
	return &beliefs{sessions: belief.New[sessionAndUser](c.MaxAge, c.Size, now), tokens: belief.New[struct{}](c.MaxAge, c.Size, now)}
}

const defaultCacheSize = 10_000

// session is what is believed of a session, or what load says of it.
func (b *beliefs) session(ctx context.Context, token string, load func(context.Context) (sessionAndUser, error)) (sessionAndUser, error) {
	found, err := b.sessions.Get(ctx, sha256.Sum256([]byte(token)), func(ctx context.Context) (sessionAndUser, string, error) {
		s, err := load(ctx)
		s.row.Token = ""
		return s, s.row.UserID, err
	})
	if err != nil {
		return sessionAndUser{}, err
	}
	found.row.Token = token
	found.row.AMR, found.user.Extra = slices.Clone(found.row.AMR), maps.Clone(found.user.Extra)
	return found, nil
}

// unrevoked is nil for keys that nothing voids, as far as is believed, or as
// ask says.
func (b *beliefs) unrevoked(ctx context.Context, keys []string, userID string, ask func(context.Context) error) error {
	_, err := b.tokens.Get(ctx, nameOfKeys(keys), func(ctx context.Context) (none struct{}, owner string, err error) {
		return none, userID, ask(ctx)
	})
	return err
}

func nameOfKeys(keys []string) belief.Name {
	h := sha256.New()
	for _, key := range keys {
		h.Write([]byte(secret.Hash(key)))
	}
	return belief.Name(h.Sum(nil))
}

// dropSession ends what is believed of a session. It is called before the
// session is changed, and what it returns afterwards: who read it in between
// may have read either.
func (b *beliefs) dropSession(token string) (again func()) {
	if b == nil {
		return func() {}
	}
	if b.changes != nil {
		b.changes.tokens = append(b.changes.tokens, token)
	}
	drop := func() { b.sessions.Drop(sha256.Sum256([]byte(token))) }
	drop()
	return drop
}

// dropUser is dropSession for all that is believed of a user.
func (b *beliefs) dropUser(id string) (again func()) {
	if b == nil {
		return func() {}
	}
	if b.changes != nil {
		b.changes.users = append(b.changes.users, id)
	}
	drop := func() {
		b.sessions.DropOwner(id)
		b.tokens.DropOwner(id)
	}
	drop()
	return drop
}

// dropKeys is dropSession for a session token.
func (b *beliefs) dropKeys(keys []string) (again func()) {
	if b == nil {
		return func() {}
	}
	drop := func() { b.tokens.Drop(nameOfKeys(keys)) }
	drop()
	return drop
}

// within are the beliefs for a transaction, which nobody else sees before its
// end.
func (b *beliefs) within() *beliefs {
	if b == nil {
		return nil
	}
	return &beliefs{sessions: b.sessions, tokens: b.tokens, changes: &changes{of: b}}
}

// end is called when the transaction has ended.
func (b *beliefs) end() {
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
