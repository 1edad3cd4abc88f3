package test

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/turns"
	"github.com/latchkeyhq/latchkey/storage"
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
				turns.Compare(b, func(i int) error {
					_, _, err := a.GetSessionAndUser(ctx, token(i, n))
					return err
				}, func(i int) error {
					var session, owner, expires, id, name, email string
					var verified, image sql.NullString
					return bare.QueryRowContext(ctx, token(i, n)).Scan(&session, &owner, &expires, &id, &name, &email, &verified, &image)
				})
			})
		}
	}
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
				ok(b, a.InTx(ctx, func(tx storage.Adapter) error {
					u, err := tx.CreateUser(ctx, storage.User{Name: "Ada", Email: fmt.Sprintf("u%d@example.com", i)})
					if err != nil {
						return err
					}
					err = tx.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: strconv.Itoa(i), Type: storage.TypeOIDC})
					if err != nil {
						return err
					}
					return tx.(storage.SessionAdapter).CreateSession(ctx, storage.StoredSession{Token: strconv.Itoa(i), UserID: u.ID, Expires: moment})
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
	often := storage.Rate{Events: 1_000_000_000, Per: time.Hour}
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
			turns.Compare(b, func(i int) error {
				wait, err := a.Take(ctx, token(i, keys), often)
				if wait > 0 {
					b.Fatal("refused")
				}
				return err
			}, func(i int) error {
				at := any(time.Now().UnixMilli())
				if e.dialect == sqladapter.Postgres {
					at = time.Now()
				}
				_, err := bare.ExecContext(ctx, token(i, keys), at)
				return err
			})
		})
	}
}

// BenchmarkSweep removes expired sessions, LATCHKEY_BENCH_ROWS or a hundred
// thousand, by calls that have ten seconds each, as an operator would. It says how
// many calls that takes, and how long somebody else's read takes meanwhile, and
// before (99 of 100 take less).
func BenchmarkSweep(b *testing.B) {
	all := sizes(b)
	n := all[len(all)-1]
	for _, e := range engines {
		b.Run(fmt.Sprintf("%s/rows=%d", e.name, n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				_, a := populated(b, e, n)
				ok(b, a.CreateSession(b.Context(), storage.StoredSession{Token: "live", UserID: "u0", Expires: time.Now().Add(100 * time.Hour)}))
				quiet := slowReads(b, a, func() { time.Sleep(2 * time.Second) })
				calls := 0
				b.StartTimer()
				meanwhile := slowReads(b, a, func() { calls = sweepAll(b, a) })
				b.StopTimer()
				b.ReportMetric(float64(calls), "calls")
				b.ReportMetric(float64(quiet.Microseconds()), "µs-read-before")
				b.ReportMetric(float64(meanwhile.Microseconds()), "µs-read-meanwhile")
				b.StartTimer()
			}
		})
	}
}

// sweepAll is done when a call ends before its time.
func sweepAll(b *testing.B, a *sqladapter.Adapter) (calls int) {
	for {
		ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
		n, err := a.Sweep(ctx, time.Now().Add(50*time.Hour))
		cancel()
		calls++
		if err == nil {
			return calls
		}
		if !errors.Is(err, context.DeadlineExceeded) || n == 0 {
			b.Fatalf("call %d removed %d rows: %v", calls, n, err)
		}
	}
}

// slowReads reads a session again and again while f runs: all but one of a hundred
// reads take less.
func slowReads(b *testing.B, a *sqladapter.Adapter, f func()) time.Duration {
	var (
		took   []time.Duration
		over   = make(chan struct{})
		reader sync.WaitGroup
	)
	reader.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			began := time.Now()
			if _, _, err := a.GetSessionAndUser(b.Context(), "live"); err != nil {
				b.Error(err)
				return
			}
			took = append(took, time.Since(began))
		}
	})
	f()
	close(over)
	reader.Wait()
	slices.Sort(took)
	return took[len(took)*99/100]
}
