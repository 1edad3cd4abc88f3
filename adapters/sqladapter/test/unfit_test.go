package test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestConnectionsThatCannotServe: connections to a primary that has become a
// standby answer for ever that they cannot write. The first who meets one is told,
// and nobody after.
func TestConnectionsThatCannotServe(t *testing.T) {
	db := postgresSchemas(servers.Postgres(t))(t)
	ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{}))
	a, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{})
	ok(t, err)
	demote(t, db)
	if _, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"}); err == nil {
		t.Fatal("a connection that cannot write was not met")
	}
	for range 8 {
		_, err := a.CreateUser(t.Context(), storage.User{})
		ok(t, err)
	}
}

// demote leaves the pool with connections that cannot write.
func demote(t *testing.T, db *sql.DB) {
	t.Helper()
	var conns []*sql.Conn
	for range 8 {
		conn, err := db.Conn(t.Context())
		ok(t, err)
		_, err = conn.ExecContext(context.WithoutCancel(t.Context()), "SET default_transaction_read_only = on")
		ok(t, err)
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		ok(t, conn.Close())
	}
}
