package pgxadapter_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestPgBouncer: S-008, behind a pool that lends four connections of the database
// for one transaction at a time, to a hundred clients.
func TestPgBouncer(t *testing.T) {
	server := realservers.Postgres(t, false)
	behind := realservers.PgBouncer(t, server)
	connect := func(t *testing.T, dsn string) *pgxpool.Pool {
		t.Helper()
		pool, err := pgxpool.New(context.WithoutCancel(t.Context()), dsn)
		ok(t, err)
		t.Cleanup(pool.Close)
		return pool
	}
	direct := connect(t, server.DSN("postgres"))
	ok(t, pgxadapter.Migrate(t.Context(), direct, pgxadapter.Options{}))
	for _, mode := range []string{"cache_describe", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			pool := connect(t, behind.DSN("postgres")+" pool_max_conns=100 default_query_exec_mode="+mode)
			open := func(t *testing.T) *pgxadapter.Adapter {
				removeRows(t, direct)
				return adapter(t, pool, pgxadapter.Options{})
			}
			storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return open(t) })
			latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return open(t) })
			if mode == "cache_describe" { // the one that is recommended
				storagetest.TestStores(t, func(t *testing.T) any { return open(t) })
			}
		})
	}
	t.Run("the default mode says what to set", func(t *testing.T) {
		for range 100 { // two clients and one connection are enough
			_, err := adapter(t, connect(t, behind.DSN("postgres")), pgxadapter.Options{}).RevokedAt(t.Context(), "k")
			if err == nil {
				continue
			}
			if !strings.Contains(err.Error(), "PgBouncer") || !strings.Contains(err.Error(), "default_query_exec_mode=cache_describe") {
				t.Errorf("it says %v", err)
			}
			return
		}
		t.Error("no prepared statement got lost")
	})
}
