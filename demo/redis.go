package main

import (
	"errors"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
)

// shared is what instances keep in Redis, beside users in the database.
type shared struct {
	*redisadapter.Adapter
	kind  string // for people
	close func() error
}

// openShared is for a server, or with further nodes as "addr" for a cluster:
// redis://127.0.0.1:7000?addr=127.0.0.1:7001. Nobody is asked yet.
func openShared(redisURL string) (*shared, error) {
	u, err := url.Parse(redisURL)
	if err != nil {
		return nil, errNoRedisURL // the cause would repeat the password
	}
	open, kind := serverOf, "Redis"
	if u.Query().Has("addr") {
		open, kind = clusterOf, "a Redis Cluster"
	}
	client, err := open(redisURL)
	if err != nil {
		return nil, errNoRedisURL
	}
	a, err := redisadapter.New(client, redisadapter.Options{Prefix: "demo:"})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &shared{a, kind, client.Close}, nil
}

var errNoRedisURL = errors.New("REDIS_URL is no URL of Redis: want redis://host:port, rediss:// or unix://")

func serverOf(redisURL string) (redis.UniversalClient, error) {
	o, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled, o.DialerRetries, o.DialTimeout = true, 1, 500*time.Millisecond
	return redis.NewClient(o), nil
}

// clusterOf finds the new primary within seconds after the loss of one.
func clusterOf(redisURL string) (redis.UniversalClient, error) {
	o, err := redis.ParseClusterURL(redisURL)
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled = true
	o.ClusterStateReloadInterval, o.DialerRetries, o.DialTimeout = time.Second, 1, 500*time.Millisecond
	o.MaxRedirects = 8
	return redis.NewClusterClient(o), nil
}

// share puts into c what instances keep in Redis.
func (s *shared) share(c *latchkey.Config) {
	c.Limits.Limiter, c.Limits.Replay = s, s
	if c.Session.Strategy == latchkey.JWTSessions {
		c.Session.Revocations = s
		return
	}
	c.Session.Store = s
	c.Session.AdapterToo = true // those from before there was a REDIS_URL
}
