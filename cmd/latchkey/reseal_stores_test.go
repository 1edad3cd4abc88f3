package main

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkeyhq/latchkey/adapters/dynamoadapter"
	"github.com/latchkeyhq/latchkey/adapters/mongoadapter"
	"github.com/latchkeyhq/latchkey/adapters/natsadapter"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// grantStore is an adapter that keeps provider tokens.
type grantStore interface {
	storage.Adapter
	tokenStore
}

// otherStores are the databases without SQL. Each function returns the variables that name
// the database, which is migrated, and its adapter.
var otherStores = map[string]func(*testing.T) (environment, grantStore){
	"Redis": func(t *testing.T) (environment, grantStore) { return redisGrants(t, "", redisadapter.Options{}) },
	"Redis, prefix": func(t *testing.T) (environment, grantStore) {
		return redisGrants(t, "?prefix=a*:", redisadapter.Options{Prefix: "a*:"})
	},
	"Redis, Auth.js": func(t *testing.T) (environment, grantStore) {
		return redisGrants(t, "?layout=authjs", redisadapter.Options{Layout: redisadapter.AuthJS()})
	},
	"Redis Cluster": clusterGrants, "MongoDB": mongoGrants, "NATS": natsGrants,
	"DynamoDB": func(t *testing.T) (environment, grantStore) { return dynamoGrants(t, "", dynamoadapter.Options{}) },
	"DynamoDB, Auth.js": func(t *testing.T) (environment, grantStore) {
		return dynamoGrants(t, "&layout=authjs", dynamoadapter.Options{Layout: dynamoadapter.AuthJS()})
	},
}

func redisGrants(t *testing.T, query string, o redisadapter.Options) (environment, grantStore) {
	address := realservers.NewRedisPrimary(t).Addr
	c := redis.NewClient(&redis.Options{Addr: address})
	t.Cleanup(func() { _ = c.Close() })
	a, err := redisadapter.New(c, o)
	fatal(t, err)
	return environment{"REDIS_URL=redis://" + address + query}, a
}

func clusterGrants(t *testing.T) (environment, grantStore) {
	cluster := realservers.NewRedisCluster(t)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs})
	t.Cleanup(func() { _ = c.Close() })
	a, err := redisadapter.New(c, redisadapter.Options{})
	fatal(t, err)
	return environment{"REDIS_URL=redis://" + cluster.Addrs[0] + "?addr=" + cluster.Addrs[1]}, a
}

func mongoGrants(t *testing.T) (environment, grantStore) {
	address := strings.TrimSuffix(realservers.MongoDB(t).URL, "/")
	c, err := mongo.Connect(options.Client().ApplyURI(address))
	fatal(t, err)
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	db := c.Database("grants")
	fatal(t, mongoadapter.Migrate(t.Context(), db, mongoadapter.Options{}))
	a, err := mongoadapter.New(db, mongoadapter.Options{})
	fatal(t, err)
	return environment{"DATABASE_URL=" + address + "/grants"}, a
}

func natsGrants(t *testing.T) (environment, grantStore) {
	address := realservers.NewNATS(t).URL
	nc, err := nats.Connect(address)
	fatal(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	fatal(t, err)
	fatal(t, natsadapter.Migrate(t.Context(), js, "grants", natsadapter.Options{Replicas: 1}))
	a, err := natsadapter.New(t.Context(), js, "grants", natsadapter.Options{})
	fatal(t, err)
	return environment{"DATABASE_URL=" + address + "/grants"}, a
}

func dynamoGrants(t *testing.T, query string, o dynamoadapter.Options) (environment, grantStore) {
	address := realservers.DynamoDB(t)
	c := dynamodb.NewFromConfig(aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("x", "y", "")}, func(o *dynamodb.Options) { o.BaseEndpoint = &address })
	fatal(t, dynamoadapter.Migrate(t.Context(), c, "grants", o))
	a, err := dynamoadapter.New(c, "grants", o)
	fatal(t, err)
	return environment{"DATABASE_URL=dynamodb://grants?endpoint=" + address + query, "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=y", "AWS_REGION=us-east-1"}, a
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestResealTokensElsewhere: what TestResealTokens shows of SQL, in every other
// store that keeps provider tokens.
func TestResealTokensElsewhere(t *testing.T) {
	for name, open := range otherStores {
		t.Run(name, func(t *testing.T) {
			env, store := open(t)
			s := &factorSite{T: t, env: append(env, "AUTH_URL=https://app.example/auth"), grants: store}
			n := len(s.env)
			with := func(more ...string) { s.env = append(s.env[:n:n], more...) }
			with("AUTH_SECRET=" + olderSecret)
			s.says(exitOK, ": no account has provider tokens.", "reseal")
			s.connect("ada", olderSecret)
			s.tells("OK    tokens: 1 account with provider tokens in ", "doctor")
			with("AUTH_SECRET_1="+newerSecret, "AUTH_SECRET="+olderSecret)
			s.connect("bob", newerSecret)
			s.connect("eve", "")
			s.tells("WARN  tokens: 1 of 3 accounts with provider tokens in ", "doctor")
			s.tells("are sealed under an older key", "doctor")
			s.tells("are not sealed", "doctor")
			s.says(exitOK, "sealed the tokens of 1 of 3 accounts anew under the newest key.", "reseal")
			s.says(exitOK, "sealed the tokens of 0 of 3 accounts", "reseal")
			with("AUTH_SECRET=" + newerSecret)
			s.tells("are not sealed", "doctor")
			s.opens("ada", newerSecret)
			s.opens("bob", newerSecret)
			s.opens("eve", "")
			if out, _ := s.run("doctor"); strings.Contains(out, "older key") || strings.Contains(out, "which is not here") {
				t.Errorf("after reseal something opens with the older secret alone: %s", out)
			}

			with("AUTH_SECRET="+olderSecret, "TOKEN_KEY="+newerSecret)
			s.tells(`are sealed under the key "`+vault.KeyIDOf(s.account("ada").Tokens.AccessToken)+`", which is not here`, "doctor")
			s.says(exitProblem, "the tokens of 2 accounts open with no key", "reseal")
			s.opens("ada", newerSecret)
			s.says(exitOK, "sealed the tokens of 2 of 3 accounts no more.", "reseal", "--plain", "--token-key", "TOKEN_KEY")
			for _, id := range []string{"ada", "bob", "eve"} {
				s.opens(id, "")
			}
		})
	}
}

// TestResealYields: what the site has written since an account was read stays, and a
// row that it changes each time is counted.
func TestResealYields(t *testing.T) {
	env, store := redisGrants(t, "", redisadapter.Options{})
	s := &factorSite{T: t, env: env, grants: store}
	s.connect("ada", olderSecret)
	writes := 0
	site := &writingStore{grantStore: store, before: func() {
		if writes++; writes == 1 {
			a := s.account("ada")
			next := s.sealed("ada", newerSecret)
			next.RefreshToken = s.seal("ada", newerSecret, "refresh_token", "renewed")
			s.must(store.SwapTokens(t.Context(), a.Provider, a.ProviderAccountID, a.Tokens, next))
		}
	}}
	var out strings.Builder
	in := tokens{where: "Redis", store: site, failed: func(err error) error { return err }}
	s.must(resealTokens(t.Context(), &out, in, []string{newerSecret, olderSecret}, false))
	if !strings.Contains(out.String(), "0 of 1 account") {
		t.Errorf("%s", &out)
	}
	seals, err := vault.NewSeals([]string{newerSecret}, false)
	s.must(err)
	token, _, err := seals.Open(vault.Place{Provider: "issuer", AccountID: "ada", Field: "refresh_token"}, s.account("ada").Tokens.RefreshToken)
	if err != nil || token != "renewed" {
		t.Errorf("the refresh token is %q (%v), want what the site wrote", token, err)
	}
}

// writingStore calls before ahead of each SwapTokens.
type writingStore struct {
	grantStore
	before func()
}

func (w *writingStore) SwapTokens(ctx context.Context, provider, id string, old, next storage.Tokens) error {
	w.before()
	return w.grantStore.SwapTokens(ctx, provider, id, old, next)
}

// TestResealBoth: without --database the command works on the database and on Redis.
func TestResealBoth(t *testing.T) {
	s := newFactorSite(t)
	env, store := redisGrants(t, "", redisadapter.Options{})
	s.env = append(append(s.env, env...), "AUTH_SECRET_1="+newerSecret, "AUTH_SECRET="+olderSecret)
	s.connect("ada", olderSecret)
	s.grants = store
	s.connect("bob", olderSecret)
	s.says(exitOK, "sealed the tokens of 1 of 1 account anew", "reseal", "--database", strings.TrimPrefix(s.env[0], "DATABASE_URL="))
	s.grants = nil
	s.opens("ada", newerSecret)
	s.grants = store
	s.opens("bob", olderSecret)
	s.says(exitOK, "Redis at ", "reseal")
	s.opens("bob", newerSecret)
	s.says(exitUsage, "the URL of Redis cannot be read", "reseal", "--database", "redis://me:hunter2/x@db")
	s.says(exitUsage, "layout is authjs, unstorage or nothing", "reseal", "--database", "redis://127.0.0.1:1?layout=other")
	s.says(exitProblem, "it does not answer", "reseal", "--database", "redis://127.0.0.1:1")
}
