package redisadapter

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// Options say where and how an [Adapter] keeps its records. The zero value is
// what most sites want.
type Options struct {
	// Layout says which program's keys they are. The zero value means those of this
	// package.
	Layout Layout

	// Prefix begins every key. If it is empty, keys begin with "lk:", and those of a
	// layout of Auth.js with nothing. Sites that share a server and no users need
	// different ones.
	Prefix string

	// Replicas is how many replicas must have a write before the call succeeds, if
	// the write is the end of a session, of a link or of a user, a revocation or a
	// used value. With 1, no switch to that replica brings an ended session back. A
	// primary that loses writes in a restart, before there was a switch, still does.
	// If fewer replicas have the write within a second, the call returns an error,
	// though the primary has done the write. Each further try then fails as well.
	// With 0 Redis copies afterwards, and a switch may undo the last writes.
	Replicas int
}

// Layout says which keys an [Adapter] reads and writes. The zero value is the layout of
// this package.
type Layout struct{ authJS, unstorage bool }

// AuthJS returns the layout of @auth/upstash-redis-adapter, for a server that both use
// at the same time; [Options].Prefix is its baseKeyPrefix. A cluster cannot keep its
// keys: one script writes several of them.
func AuthJS() Layout { return Layout{authJS: true} }

// Unstorage returns the layout of @auth/unstorage-adapter on unstorage's Redis driver
// without a base of its own and without useItemRaw. It is otherwise like [AuthJS].
func Unstorage() Layout { return Layout{authJS: true, unstorage: true} }

// Adapter is a [storage.Adapter] with the abilities of a [kvstore.Store]. It has no
// transactions, and remembers sign-ups instead. Redis lets keys expire, so it sweeps nothing. It is
// a [storage.SessionStore], [storage.RevocationStore], [storage.ReturningLimiter],
// [storage.ReplayStore] and [storage.LeaseStore] as well. Make one with [New]. It is
// safe for concurrent use.
type Adapter struct {
	stores
	shared bool // Auth.js reads the same keys
}

// stores has the methods of an Adapter in each layout.
type stores interface {
	storage.Adapter
	storage.AccountAdapter
	storage.AuthenticatorAdapter
	storage.SessionAdapter
	storage.SessionStore
	storage.ProviderLogoutAdapter
	storage.UserDeletionAdapter
	storage.VerificationTokenAdapter
	storage.TokenAdapter
	storage.AccountWalker
	roles
}

// SharesTokens implements [storage.TokenSharer]. It returns true for the layouts of
// Auth.js, which reads the same accounts.
func (a *Adapter) SharesTokens() bool { return a.shared }

// New returns an adapter on a client: a [redis.Client], with or without Sentinels, or a
// [redis.ClusterClient]. It makes no call. It returns an error for any other client, for
// a number of replicas below zero, and for a cluster with a layout of Auth.js. It also
// returns one for a client of a cluster that reads from replicas, which learn of a
// sign-out only after it was answered. It cannot see this of a client for Sentinels:
// leave ReplicaOnly off.
func New(c redis.UniversalClient, o Options) (*Adapter, error) {
	if o.Replicas < 0 {
		return nil, errors.New("redisadapter: Options.Replicas is below zero")
	}
	prefix := o.Prefix
	if prefix == "" && !o.Layout.authJS {
		prefix = "lk:"
	}
	base := &conn{client: c, prefix: prefix, replicas: o.Replicas}
	switch c := c.(type) {
	case *redis.Client:
		base.timely = c.Options().ContextTimeoutEnabled
		return onOneServer(base, o.Layout), nil
	case *redis.ClusterClient:
		base.timely = c.Options().ContextTimeoutEnabled
		return onCluster(base, c.Options(), o.Layout)
	}
	return nil, fmt.Errorf("redisadapter: a %T is neither a *redis.Client nor a *redis.ClusterClient", c)
}

// onOneServer returns an adapter on a server that has all keys, in any layout. In a
// layout of Auth.js, "lk:" follows the prefix in the keys that Auth.js does not have.
func onOneServer(base *conn, layout Layout) *Adapter {
	if !layout.authJS {
		return &Adapter{stores: kvstore.New(single{base, new(atomic.Bool)}, kvstore.Options{})}
	}
	ours := *base
	ours.prefix += "lk:"
	return &Adapter{newAuthJS(base, kvstore.New(&ours, kvstore.Options{}), layout.unstorage), true}
}

// onCluster returns an adapter on a cluster. It returns an error if the client reads
// from replicas, or if the layout is one of Auth.js.
func onCluster(base *conn, o *redis.ClusterOptions, layout Layout) (*Adapter, error) {
	switch {
	case o.ReadOnly:
		return nil, errors.New("redisadapter: the client reads from replicas, where an ended session lives on: leave ReadOnly, RouteByLatency and RouteRandomly off")
	case layout.authJS:
		return nil, errors.New("redisadapter: a cluster cannot write keys of Auth.js together that belong together: use one server, or the layout of this package")
	}
	return &Adapter{stores: kvstore.New(base, kvstore.Options{})}, nil
}

// DBSystem returns the name of the database for traces.
func (a *Adapter) DBSystem() string { return "redis" }
