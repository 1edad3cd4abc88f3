package oauth

import (
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
)

// Shared remembers what providers publish for several clients: those that ask
// the same provider in the same way share the answer, and the request. Clients
// that live in different times (Config.Time) need one each. It is bounded, and
// safe for concurrent use.
type Shared struct {
	providers *cache.Cache[askedAs, *published]
}

// mostShared is how many providers a Shared remembers.
const mostShared = 4096

// NewShared returns a Shared that knows nothing.
func NewShared() *Shared {
	return &Shared{cache.New[askedAs, *published](cache.Rules{Size: mostShared})}
}

// published is what is remembered of one provider: the same for each of its
// clients, so that nothing in it comes from one of them.
type published struct {
	metadata *recall[*Metadata] // as the provider states it
	keys     *recall[*keySet]
	useful   atomic.Pointer[memory[*keySet]] // the last keys that verified a token as soon as they were fetched
}

// askedAs is everything that decides what is published, whether it is accepted
// and how long it is kept.
type askedAs struct {
	via                                          any
	issuer, authorization, token, userInfo, keys string
	allowInsecure, matches                       bool
	callTimeout                                  time.Duration
	maxBody                                      int64
	cache                                        Cache
}

func (c *Config) askedAs() askedAs {
	return askedAs{
		via: c.Via, issuer: c.Issuer,
		authorization: c.Authorization.URL, token: c.Token.URL, userInfo: c.UserInfo.URL, keys: c.JWKS,
		allowInsecure: c.AllowInsecure, matches: c.MatchIssuer != nil,
		callTimeout: c.CallTimeout, maxBody: c.MaxBody, cache: *c.Cache,
	}
}

// published is what is remembered for c, alone or together with others.
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
