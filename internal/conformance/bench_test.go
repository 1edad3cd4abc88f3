package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/internal/turns"
	"github.com/latchkeyhq/latchkey/storage"
)

// BenchmarkSessionApart reads a session that is in Redis and its user, who is in
// PostgreSQL, beside the two bare calls that this takes.
func BenchmarkSessionApart(b *testing.B) {
	ctx := b.Context()
	pool, err := pgxpool.New(ctx, realservers.Postgres(b, false).DSN("postgres"))
	must(b, err)
	b.Cleanup(pool.Close)
	must(b, pgxadapter.Migrate(ctx, pool, pgxadapter.Options{}))
	users, err := pgxadapter.New(pool, pgxadapter.Options{})
	must(b, err)
	client := redis.NewClient(&redis.Options{Addr: realservers.NewRedis(b).Addr, ContextTimeoutEnabled: true})
	b.Cleanup(func() { _ = client.Close() })
	sessions, err := redisadapter.New(client, redisadapter.Options{})
	must(b, err)

	now, token := time.Now(), strings.Repeat("t", 64)
	u, err := users.CreateUser(ctx, latchkey.User{Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: now, Image: "https://example.com/a.png"})
	must(b, err)
	must(b, sessions.CreateSession(ctx, storage.StoredSession{ID: "1", Token: token, UserID: u.ID, Created: now, Expires: now.Add(30 * 24 * time.Hour)}))
	keys, err := client.Keys(ctx, "lk:s:*").Result()
	if must(b, err); len(keys) != 1 {
		b.Fatalf("the session is under %q", keys)
	}

	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "http://localhost"},
		Secrets:   []string{strings.Repeat("s", 32)},
		Adapter:   users,
		Session:   latchkey.SessionConfig{Strategy: latchkey.DatabaseSessions, Store: sessions},
		Providers: []latchkey.Provider{&latchkey.OAuth{ID: "p", OIDC: true, Issuer: "https://id.example", ClientID: "x", ClientSecret: "y"}},
	})
	must(b, err)
	core, visit := auth.Core(), &latchkey.Request{
		Method: http.MethodGet, URL: &url.URL{Path: "/"}, Host: "localhost", Header: http.Header{"Cookie": {"authjs.session-token=" + token}},
	}
	turns.Compare(b, func(int) error {
		_, _, err := core.ReadSession(ctx, visit)
		return err
	}, func(int) error {
		if err := client.Get(ctx, keys[0]).Err(); err != nil {
			return err
		}
		var id, name, email, image string
		var verified time.Time
		return pool.QueryRow(ctx, `SELECT id, name, email, "emailVerified", image FROM users WHERE id = $1`, u.ID).Scan(&id, &name, &email, &verified, &image)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
