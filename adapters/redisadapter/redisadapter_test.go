package redisadapter_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

type silence struct{}

// Printf implements the client's logger.
func (silence) Printf(context.Context, string, ...any) {}

// prove runs both suites.
func prove(t *testing.T, open func(testing.TB) *redisadapter.Adapter, except ...string) {
	t.Helper()
	t.Run("Adapter", func(t *testing.T) {
		storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return open(t) }, except...)
		latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return open(t) })
	})
	t.Run("Stores", func(t *testing.T) {
		storagetest.TestStores(t, func(t *testing.T) any { return open(t) })
	})
}

// TestOneServer: S-001, S-002. The client has no deadlines of its own.
func TestOneServer(t *testing.T) {
	c := closing(t, redis.NewClient(&redis.Options{Addr: realservers.NewRedis(t).Addr}))
	prove(t, emptyOn(c, redisadapter.Options{}))
}

// TestCluster: S-001, S-002.
func TestCluster(t *testing.T) {
	prove(t, emptyOn(clusterClient(t, realservers.NewRedisCluster(t)), redisadapter.Options{}))
}

// TestSentinel: S-001, S-002. What ends something waits for the replica.
func TestSentinel(t *testing.T) {
	prove(t, emptyOn(sentinelClient(t, realservers.NewRedisSentinel(t)), redisadapter.Options{Replicas: 1}))
}

// ambiguous is what Auth.js' layout cannot keep: it has one key for several
// pairs. Who comes second is refused.
var ambiguous = []string{
	"Adapter/provider and account id are two things, compared exactly",
}

// TestAuthJSLayouts runs the suite on the keys of Auth.js.
func TestAuthJSLayouts(t *testing.T) {
	c := oneServer(t)
	for name, layout := range map[string]redisadapter.Layout{"Upstash": redisadapter.AuthJS(), "unstorage": redisadapter.Unstorage()} {
		t.Run(name, func(t *testing.T) {
			c.FlushAll(t.Context())
			open := emptyOn(c, redisadapter.Options{Layout: layout})
			storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return open(t) }, append(ambiguous[:1:1], "ProviderLogoutAdapter")...)
			latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return open(t) })
			storagetest.TestStores(t, func(t *testing.T) any { return open(t) }, "ProviderLogoutAdapter")
		})
	}
}
