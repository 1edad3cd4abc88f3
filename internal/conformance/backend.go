package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// backend has the stores of the app, which are new and empty at each start.
type backend struct {
	users    full
	sessions full         // the same store as users, or another one
	suite    full         // in which the suite reads and puts users and sessions; nil: users and sessions above
	shared   *redisShared // keeps used values and limits; nil: the library's own memory does
	seen     *seen
}

// redisShared keeps sessions, used values and limits apart from the users.
type redisShared = redisadapter.Adapter

// newBackend returns the backend that STORE names: postgres+redis, mongodb or drizzle; empty:
// in memory. The variables POSTGRES, REDIS, MONGODB and PEER say where the servers are.
func newBackend(ctx context.Context) (b *backend, err error) {
	b = &backend{seen: &seen{}}
	switch store := os.Getenv("STORE"); store {
	case "":
		b.users = memoryadapter.New(memoryadapter.Options{PlainTokens: true})
	case "postgres+redis":
		if b.users, err = postgres(ctx); err != nil {
			return nil, err
		}
		cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: strings.Split(os.Getenv("REDIS"), ","), ContextTimeoutEnabled: true})
		b.shared, err = redisadapter.New(cluster, redisadapter.Options{Prefix: rand.Text() + ":"})
		b.sessions = b.shared
	case "mongodb":
		b.users, err = mongodb(ctx)
	case "drizzle":
		b.users, b.suite, err = drizzle(ctx)
	default:
		err = fmt.Errorf("there is no STORE called %q", store)
	}
	if b.sessions == nil {
		b.sessions = b.users
	}
	return b, err
}

// postgres makes a new database on the server POSTGRES and returns an adapter for it.
func postgres(ctx context.Context) (full, error) {
	server, err := pgxpool.New(ctx, os.Getenv("POSTGRES"))
	if err != nil {
		return nil, err
	}
	defer server.Close()
	name := newName()
	if _, err := server.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	config := server.Config()
	config.ConnConfig.Database, config.MaxConns = name, 4
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := pgxadapter.Migrate(ctx, pool, pgxadapter.Options{}); err != nil {
		return nil, err
	}
	return pgxadapter.New(pool, pgxadapter.Options{})
}

func newName() string { return "conformance_" + strings.ToLower(rand.Text()) }

// mongodb makes a new database on the server MONGODB and returns an adapter for it.
func mongodb(ctx context.Context) (full, error) {
	client, err := mongo.Connect(options.Client().ApplyURI(os.Getenv("MONGODB")))
	if err != nil {
		return nil, err
	}
	db := client.Database("conformance_" + rand.Text())
	o := mongoadapter.Options{PlainTokens: true}
	if err := mongoadapter.Migrate(ctx, db, o); err != nil {
		return nil, err
	}
	return mongoadapter.New(db, o)
}

// configure makes c keep everything in the stores of b, with the faults of ADAPTER_THROW.
func (b *backend) configure(c *latchkey.Config) {
	store := faulty{b.users, b.seen}
	c.Adapter = store
	if tx, able := b.users.(storage.TxAdapter); able {
		c.Adapter = withTx{store, tx}
	} else if signUps, able := b.users.(storage.SignUpAdapter); able {
		c.Adapter = withSignUps{store, signUps}
	}
	if b.shared == nil {
		return
	}
	if c.Session.Strategy == latchkey.DatabaseSessions {
		c.Session.Store = faulty{b.sessions, b.seen}
	}
	c.Limits.Replay, c.Limits.Limiter = b.shared, b.shared
}

// seen is what has been stored, so that it can be looked for again.
type seen struct {
	mu              sync.Mutex
	users, sessions []string
	links           []storage.VerificationToken
}

func (s *seen) add(list *[]string, one string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one != "" && !slices.Contains(*list, one) {
		*list = append(*list, one)
	}
}

func (s *seen) user(id string) { s.add(&s.users, id) }

func (s *seen) session(token string) { s.add(&s.sessions, token) }

func (s *seen) link(t storage.VerificationToken) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = append(s.links, t)
}

func (s *seen) used(identifier, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = slices.DeleteFunc(s.links, func(t storage.VerificationToken) bool { return t.Identifier == identifier && t.Token == token })
}

// rows returns the stores in which the suite reads and puts users and sessions.
func (b *backend) rows() (users, sessions full) {
	if b.suite != nil {
		return b.suite, b.suite
	}
	return b.users, b.sessions
}

// contents returns what the stores still have of all that was seen. Links come from b.seen.
func (b *backend) contents(ctx context.Context) (c memoryadapter.Contents, err error) {
	b.seen.mu.Lock()
	defer b.seen.mu.Unlock()
	users, sessions := b.rows()
	for _, id := range b.seen.users {
		u, failed := users.GetUser(ctx, id)
		if errors.Is(failed, latchkey.ErrNotFound) {
			continue
		}
		accounts, listed := users.ListAccounts(ctx, id)
		err = errors.Join(err, failed, listed)
		c.Users, c.Accounts = append(c.Users, u), append(c.Accounts, accounts...)
	}
	for _, token := range b.seen.sessions {
		s, failed := sessions.GetSession(ctx, token)
		if errors.Is(failed, latchkey.ErrNotFound) {
			continue
		}
		err = errors.Join(err, failed)
		c.Sessions = append(c.Sessions, s)
	}
	c.VerificationTokens = slices.Clone(b.seen.links)
	return c, err
}
