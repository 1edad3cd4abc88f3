package test

import (
	"database/sql"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// emptied removes the rows of every table, for servers on which a database costs
// more.
func emptied(t testing.TB, db *sql.DB) {
	t.Helper()
	for _, table := range []string{"users", "verification_token", "revocations", "limits", "used_values"} { // what users have goes with them
		exec(t, db, "DELETE FROM "+table)
	}
}

// TestPgBouncer: S-008, behind a pool that lends four connections of the database
// for one transaction at a time, to a hundred clients.
func TestPgBouncer(t *testing.T) {
	e := engines[1]
	server := realservers.Postgres(t, false)
	direct := open(t, "pgx", server.DSN("postgres"))
	ok(t, sqladapter.Migrate(t.Context(), direct, e.dialect))
	db := open(t, "pgx", realservers.PgBouncer(t, server).DSN("postgres")+" default_query_exec_mode=cache_describe")
	db.SetMaxOpenConns(100)
	db.SetMaxIdleConns(100)
	empty := func(t *testing.T) *sqladapter.Adapter {
		emptied(t, direct)
		return e.adapter(t, db, sqladapter.Options{Unprepared: true})
	}
	latchkeytest.Adapter(t, func(t *testing.T) latchkey.Adapter { return empty(t) })
	latchkeytest.Stores(t, func(t *testing.T) any { return empty(t) })
}
