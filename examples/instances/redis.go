package main

import (
	"errors"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
)

// shared is a Redis that keeps sessions, limits, used values and revocations. Users
// stay in the database.
type shared struct {
	*redisadapter.Adapter
	close func() error
}

// openShared returns a client of one server or, if the URL names further nodes as
// "addr", of a cluster: redis://127.0.0.1:7000?addr=127.0.0.1:7001. It does not
// connect yet.
func openShared(redisURL string) (*shared, error) {
	u, err := url.Parse(redisURL)
	if err != nil {
		return nil, errNoRedisURL // the cause would repeat the password
	}
	open := serverOf
	if u.Query().Has("addr") {
		open = clusterOf
	}
	client, err := open(redisURL)
	if err != nil {
		return nil, errNoRedisURL
	}
	a, err := redisadapter.New(client, redisadapter.Options{Prefix: "instances:"})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &shared{a, client.Close}, nil
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

// clusterOf returns a client that finds the new primary within seconds after the loss
// of one.
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

// share makes c keep in Redis what the instances have in common.
func (s *shared) share(c *latchkey.Config) {
	c.Limits.Limiter, c.Limits.Replay = s, s
	if c.Session.Strategy == latchkey.JWTSessions {
		c.Session.Revocations = s
		return
	}
	c.Session.Store = s
	c.Session.AdapterToo = true // sessions from before there was a REDIS_URL
}
