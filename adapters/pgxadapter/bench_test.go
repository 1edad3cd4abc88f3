package pgxadapter_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// populated has n users with one session each; their tokens are "t0", "t1", ….
func populated(b *testing.B, n int) (*pgxpool.Pool, *pgxadapter.Adapter) {
	b.Helper()
	pool := start(b).migrated(b)
	for _, statement := range []string{
		`INSERT INTO users (id, name, email) SELECT 'u' || i, 'Name', 'u' || i || '@example.com' FROM generate_series(0, $1 - 1) i`,
		`INSERT INTO sessions (id, "userId", "sessionToken", expires) SELECT 's' || i, 'u' || i, 't' || i, now() + interval '1 hour' FROM generate_series(0, $1 - 1) i`,
	} {
		_, err := pool.Exec(b.Context(), statement, n)
		ok(b, err)
	}
	_, err := pool.Exec(b.Context(), "ANALYZE")
	ok(b, err)
	return pool, adapter(b, pool, pgxadapter.Options{Layout: sqlstore.Layout{PlainTokens: true}}) // so that SQL can make the rows
}

// token walks through all rows in an order that caches cannot guess.
func token(i, n int) string { return "t" + strconv.Itoa(i*7919%n) }

// BenchmarkSessionRead compares reading a stored session to its bare query.
// LATCHKEY_BENCH_ROWS adds a size, such as 1000000.
func BenchmarkSessionRead(b *testing.B) {
	sizes := []int{1_000, 100_000}
	if more, err := strconv.Atoi(os.Getenv("LATCHKEY_BENCH_ROWS")); err == nil {
		sizes = append(sizes, more)
	}
	const bare = `SELECT s.id, s."userId", s.expires, u.id, u.name, u.email, u."emailVerified", u.image
		FROM sessions s JOIN users u ON u.id = s."userId" WHERE s."sessionToken" = $1`
	for _, n := range sizes {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			pool, a := populated(b, n)
			ctx := context.Background()
			b.Run("bare", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					var session, owner, id, name, email string
					var expires time.Time
					var verified *time.Time
					var image *string
					ok(b, pool.QueryRow(ctx, bare, token(i, n)).Scan(&session, &owner, &expires, &id, &name, &email, &verified, &image))
				}
			})
			b.Run("adapter", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					_, _, err := a.GetSessionAndUser(ctx, token(i, n))
					ok(b, err)
				}
			})
		})
	}
}

// BenchmarkSessionReadParallel is what a busy site does.
func BenchmarkSessionReadParallel(b *testing.B) {
	_, a := populated(b, 1000)
	var next atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, _, err := a.GetSessionAndUser(context.Background(), token(int(next.Add(1)), 1000)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkSignUp is one transaction: a user, an account, a session.
func BenchmarkSignUp(b *testing.B) {
	a := adapter(b, start(b).migrated(b), pgxadapter.Options{})
	ctx := context.Background()
	for i := 0; b.Loop(); i++ {
		ok(b, a.InTx(ctx, func(tx storage.Adapter) error {
			u, err := tx.CreateUser(ctx, storage.User{Name: "Ada", Email: fmt.Sprintf("u%d@example.com", i)})
			if err != nil {
				return err
			}
			if err := tx.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: strconv.Itoa(i), Type: storage.TypeOIDC}); err != nil {
				return err
			}
			return tx.(storage.SessionAdapter).CreateSession(ctx, storage.StoredSession{Token: strconv.Itoa(i), UserID: u.ID, Expires: time.Now()})
		}))
	}
}
