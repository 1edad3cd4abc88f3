package test

import (
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestPgBouncer: S-008, behind a pool that lends four connections of the database
// for one transaction at a time, to a hundred clients.
func TestPgBouncer(t *testing.T) {
	e := engines[1]
	server := realservers.Postgres(t, false)
	ok(t, sqladapter.Migrate(t.Context(), open(t, "pgx", server.DSN("postgres")), e.dialect, sqladapter.Options{}))
	db := open(t, "pgx", realservers.PgBouncer(t, server).DSN("postgres")+" default_query_exec_mode=cache_describe")
	db.SetMaxOpenConns(100)
	db.SetMaxIdleConns(100)
	empty := e.emptied(db, sqladapter.Options{Unprepared: true})
	storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return empty(t) })
	latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return empty(t) })
	storagetest.TestStores(t, func(t *testing.T) any { return empty(t) })
}
