package test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

const partitioned = "PostgreSQL, sixteen partitions"

// populated has n users with one session each; their tokens are "t0", "t1", ….
func populated(b *testing.B, e engine, n int) (*sql.DB, *sqladapter.Adapter) {
	b.Helper()
	db := e.migrated(b, e.start(b))
	if e.name == partitioned {
		partition(b, db)
	}
	db.SetMaxOpenConns(4)
	a := e.adapter(b, db, sqladapter.Options{Layout: sqlstore.Layout{PlainTokens: true}}) // so that SQL can make the rows
	expires := strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10)
	if e.dialect == sqladapter.Postgres {
		expires = "now() + interval '1 hour'"
	}
	insert := func(statement string, row func(i int) string) {
		const some = 1000
		for from := 0; from < n; from += some {
			rows := make([]string, min(some, n-from))
			for i := range rows {
				rows[i] = row(from + i)
			}
			exec(b, db, e.quoted(statement)+strings.Join(rows, ", "))
		}
	}
	insert(`INSERT INTO users (id, name, email) VALUES `, func(i int) string { return fmt.Sprintf("('u%d', 'Name', 'u%d@example.com')", i, i) })
	insert(`INSERT INTO sessions (id, "userId", "sessionToken", expires) VALUES `, func(i int) string {
		return fmt.Sprintf("('s%d', 'u%d', 't%d', %s)", i, i, i, expires)
	})
	if e.dialect == sqladapter.Postgres {
		exec(b, db, "ANALYZE")
	}
	return db, a
}

// sizes of the sessions table; LATCHKEY_BENCH_ROWS adds one, such as 1000000.
func sizes(b *testing.B) []int {
	more, err := strconv.Atoi(cmp.Or(os.Getenv("LATCHKEY_BENCH_ROWS"), "0"))
	ok(b, err)
	if more > 0 {
		return []int{1_000, 100_000, more}
	}
	return []int{1_000, 100_000}
}

// BenchmarkSessionRead compares reading a stored session to its bare, prepared
// query.
func BenchmarkSessionRead(b *testing.B) {
	inPartitions := engines[1]
	inPartitions.name = partitioned
	for _, e := range append(engines[:3:3], inPartitions) {
		for _, n := range sizes(b) {
			b.Run(fmt.Sprintf("%s/rows=%d", e.name, n), func(b *testing.B) {
				db, a := populated(b, e, n)
				ctx := context.Background()
				bare, err := db.PrepareContext(ctx, e.quoted(strings.ReplaceAll(`SELECT s.id, s."userId", s.expires, u.id, u.name, u.email, u."emailVerified", u.image
					FROM sessions s JOIN users u ON u.id = s."userId" WHERE s."sessionToken" = ?`, "?", e.argument())))
				ok(b, err)
				beside(b, func(i int) {
					var session, owner, expires, id, name, email string
					var verified, image sql.NullString
					ok(b, bare.QueryRowContext(ctx, token(i, n)).Scan(&session, &owner, &expires, &id, &name, &email, &verified, &image))
				}, func(i int) {
					_, _, err := a.GetSessionAndUser(ctx, token(i, n))
					ok(b, err)
				})
			})
		}
	}
}

// beside times the adapter and the bare call that does the same in turns, so that
// other work of the machine slows both, and reports medians.
func beside(b *testing.B, bare, ours func(i int)) {
	b.Helper()
	var took [2][]time.Duration
	for i := 0; b.Loop(); i++ {
		for which, f := range []func(int){bare, ours} {
			began := time.Now()
			f(i)
			took[which] = append(took[which], time.Since(began))
		}
	}
	var median [2]float64
	for which, all := range took {
		slices.Sort(all)
		median[which] = float64(all[len(all)/2])
	}
	b.ReportMetric(median[0], "ns-bare")
	b.ReportMetric(median[1], "ns-ours")
	b.ReportMetric(median[1]/median[0], "ratio")
}

// token walks through all rows in an order that caches cannot guess.
func token(i, n int) string { return "t" + strconv.Itoa(i*7919%n) }

func (e engine) argument() string {
	if e.dialect == sqladapter.Postgres {
		return "$1"
	}
	return "?"
}

// BenchmarkSessionReadParallel is what a busy site does.
func BenchmarkSessionReadParallel(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			_, a := populated(b, e, 1000)
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
		})
	}
}

// BenchmarkSignUp is one transaction: a user, an account, a session.
func BenchmarkSignUp(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			a := e.adapter(b, e.migrated(b, e.start(b)), sqladapter.Options{})
			ctx := context.Background()
			for i := 0; b.Loop(); i++ {
				ok(b, a.InTx(ctx, func(tx latchkey.Adapter) error {
					u, err := tx.CreateUser(ctx, latchkey.User{Name: "Ada", Email: fmt.Sprintf("u%d@example.com", i)})
					if err != nil {
						return err
					}
					err = tx.LinkAccount(ctx, latchkey.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: strconv.Itoa(i), Type: latchkey.TypeOIDC})
					if err != nil {
						return err
					}
					return tx.(latchkey.SessionAdapter).CreateSession(ctx, latchkey.StoredSession{Token: strconv.Itoa(i), UserID: u.ID, Expires: moment})
				}))
			}
		})
	}
}

// BenchmarkLimit compares counting an event to a bare, prepared upsert: the medians.
// Every key has had one before.
func BenchmarkLimit(b *testing.B) {
	upserts := map[sqlstore.Dialect]string{
		sqladapter.SQLite:   `INSERT INTO limits (key, full_at) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at`,
		sqladapter.Postgres: `INSERT INTO limits (key, full_at) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at`,
		sqladapter.MySQL:    "INSERT INTO limits (`key`, full_at) VALUES (?, ?) ON DUPLICATE KEY UPDATE full_at = VALUES(full_at)",
	}
	const keys = 1000
	often := latchkey.Rate{Events: 1_000_000_000, Per: time.Hour}
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			db := e.migrated(b, e.start(b))
			a := e.adapter(b, db, sqladapter.Options{})
			ctx := context.Background()
			for i := range keys {
				_, err := a.Take(ctx, token(i, keys), often)
				ok(b, err)
			}
			bare, err := db.PrepareContext(ctx, upserts[e.dialect])
			ok(b, err)
			beside(b, func(i int) {
				at := any(time.Now().UnixMilli())
				if e.dialect == sqladapter.Postgres {
					at = time.Now()
				}
				_, err := bare.ExecContext(ctx, token(i, keys), at)
				ok(b, err)
			}, func(i int) {
				wait, err := a.Take(ctx, token(i, keys), often)
				if ok(b, err); wait > 0 {
					b.Fatal("refused")
				}
			})
		})
	}
}

// BenchmarkSweep removes expired sessions, LATCHKEY_BENCH_ROWS or a hundred
// thousand, and says how long a reader waits meanwhile, at most.
func BenchmarkSweep(b *testing.B) {
	all := sizes(b)
	n := all[len(all)-1]
	for _, e := range engines {
		b.Run(fmt.Sprintf("%s/rows=%d", e.name, n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				_, a := populated(b, e, n)
				ok(b, a.CreateSession(b.Context(), latchkey.StoredSession{Token: "live", UserID: "u0", Expires: time.Now().Add(100 * time.Hour)}))
				done, longest := make(chan struct{}), time.Duration(0)
				var reader sync.WaitGroup
				reader.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
						}
						began := time.Now()
						if _, _, err := a.GetSessionAndUser(b.Context(), "live"); err != nil {
							b.Error(err)
						}
						longest = max(longest, time.Since(began))
					}
				})
				b.StartTimer()
				swept, err := a.Sweep(b.Context(), time.Now().Add(50*time.Hour))
				b.StopTimer()
				close(done)
				reader.Wait()
				if ok(b, err); swept != n {
					b.Errorf("removed %d", swept)
				}
				b.ReportMetric(float64(longest.Milliseconds()), "ms-longest-read")
				b.StartTimer()
			}
		})
	}
}
