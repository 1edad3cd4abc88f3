package oauth

import (
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
)

// Shared caches for several clients what providers publish. Clients that ask the
// same provider in the same way share the answer and the request. Clients with
// different clocks (Config.Time) need a Shared each. It is bounded, and safe for
// concurrent use.
type Shared struct {
	providers *cache.Cache[askedAs, *published]
}

// mostShared bounds the providers of a Shared.
const mostShared = 4096

// NewShared returns an empty Shared.
func NewShared() *Shared {
	return &Shared{cache.New[askedAs, *published](cache.Rules{Size: mostShared})}
}

// published caches the documents of one provider. It is the same for each of the
// provider's clients, so nothing in it comes from one of them.
type published struct {
	metadata *recall[*Metadata] // as the provider states it
	keys     *recall[*keySet]
	useful   atomic.Pointer[memory[*keySet]] // the last keys that verified a token as soon as they were fetched
}

// askedAs holds every setting on which the documents, their acceptance and their
// lifetime depend.
type askedAs struct {
	via                                          any
	issuer, authorization, token, userInfo, keys string
	revocation, endSession                       string
	allowInsecure, matches                       bool
	callTimeout                                  time.Duration
	maxBody                                      int64
	cache                                        Cache
}

// askedAs returns the key under which clients with such settings share their documents.
func (c *Config) askedAs() askedAs {
	return askedAs{
		via: c.Via, issuer: c.Issuer,
		authorization: c.Authorization.URL, token: c.Token.URL, userInfo: c.UserInfo.URL, keys: c.JWKS,
		revocation: c.Revocation.URL, endSession: c.EndSession.URL,
		allowInsecure: c.AllowInsecure, matches: c.MatchIssuer != nil,
		callTimeout: c.CallTimeout, maxBody: c.MaxBody, cache: *c.Cache,
	}
}

// published returns the caches of the documents for c. If c.Shared is set, it returns
// those of the clients that ask in the same way, and otherwise new ones.
func (c *Config) published() *published {
	fresh := &published{
		metadata: newRecall(c.Cache.forMetadata(), (*Client).fetchMetadata),
		keys:     newRecall(c.Cache.forKeys(), (*Client).fetchKeys),
	}
	fresh.keys.stale = (*Client).tellStale
	if c.Shared == nil {
		return fresh
	}
	return c.Shared.providers.GetOrAdd(c.askedAs(), fresh)
}
