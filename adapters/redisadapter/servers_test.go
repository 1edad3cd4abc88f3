package redisadapter_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// TestMain keeps the client's log of lost servers out of the output of tests
// that take servers away.
func TestMain(m *testing.M) {
	redis.SetLogger(silence{})
	m.Run()
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// closing closes a client with the test.
func closing[C interface{ Close() error }](t testing.TB, c C) C {
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func oneServer(t testing.TB) *redis.Client {
	t.Helper()
	return closing(t, redis.NewClient(&redis.Options{Addr: realservers.NewRedis(t).Addr, ContextTimeoutEnabled: true, ReadTimeout: patience}))
}

func clusterClient(t testing.TB, c realservers.RedisCluster) *redis.ClusterClient {
	t.Helper()
	return closing(t, redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: c.Addrs, ContextTimeoutEnabled: true,
		ClusterStateReloadInterval: time.Second, MaxRedirects: 8, DialerRetries: 1, DialTimeout: 500 * time.Millisecond, PoolTimeout: patience,
	}))
}

func sentinelClient(t testing.TB, s realservers.RedisSentinel) *redis.Client {
	t.Helper()
	return closing(t, redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: "lk", SentinelAddrs: s.Addrs, ContextTimeoutEnabled: true, DialerRetries: 1, DialTimeout: 500 * time.Millisecond, PoolTimeout: patience,
	}))
}

// emptyOn returns adapters that share a server and see nothing of each other.
func emptyOn(c redis.UniversalClient, o redisadapter.Options) func(testing.TB) *redisadapter.Adapter {
	var made atomic.Int64
	return func(t testing.TB) *redisadapter.Adapter {
		t.Helper()
		o := o
		o.Prefix = fmt.Sprintf("%d:", made.Add(1))
		return on(t, c, o)
	}
}

func on(t testing.TB, c redis.UniversalClient, o redisadapter.Options) *redisadapter.Adapter {
	t.Helper()
	a, err := redisadapter.New(c, o)
	ok(t, err)
	return a
}
