package test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// engine is a kind of database that the tests can have empty ones of.
type engine struct {
	name    string
	dialect sqlstore.Dialect
	start   func(t testing.TB) source
	whole   bool // times are kept in whole seconds
}

// patience is how long a busy machine may take until a database is back.
var patience = race.Patience(5 * time.Minute)

// servers are shared: whoever wants to end one, or change it for all, starts another.
var servers realservers.Shared

func TestMain(m *testing.M) {
	if isInstance() {
		return
	}
	m.Run()
	servers.Close()
}

// same compares times as far as they are kept.
func (e engine) same(got, want time.Time) bool {
	if e.whole {
		got, want = got.Truncate(time.Second), want.Truncate(time.Second)
	}
	return got.Equal(want)
}

// source opens an empty database, which is dropped with the server.
type source func(t testing.TB) *sql.DB

var engines = []engine{
	{"SQLite", sqladapter.SQLite, sqliteFiles, false},
	{"PostgreSQL", sqladapter.Postgres, func(t testing.TB) source { return postgresSchemas(servers.Postgres(t)) }, false},
	{"MariaDB", sqladapter.MySQL, func(t testing.TB) source { return mariaDatabases(servers.MariaDB(t)) }, false},
}

// each runs f once for each engine.
func each(t *testing.T, f func(t *testing.T, e engine, empty source)) {
	t.Helper()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { f(t, e, e.start(t)) })
	}
}

func sqliteFiles(testing.TB) source {
	return func(t testing.TB) *sql.DB {
		return open(t, "sqlite", sqliteDSN(filepath.Join(t.TempDir(), "auth.db")))
	}
}

// sqliteDSN waits for others as long as a busy machine takes: SQLite lets no one
// stand in line.
func sqliteDSN(file string) string {
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(60000)&_pragma=synchronous(NORMAL)"
}

// made is how many schemas and databases there were.
var made atomic.Int64

// postgresSchemas gives each test a schema, which is a thousand times cheaper
// than a database.
func postgresSchemas(server realservers.PG) source {
	return func(t testing.TB) *sql.DB {
		schema := fmt.Sprintf("s%d", made.Add(1))
		db := open(t, "pgx", server.DSN("postgres")+" search_path="+schema)
		exec(t, db, "CREATE SCHEMA "+schema)
		return db
	}
}

func mariaDatabases(socket string) source {
	return func(t testing.TB) *sql.DB {
		db := open(t, "mysql", "root@unix("+socket+")/")
		name := fmt.Sprintf("d%d", made.Add(1))
		exec(t, db, "CREATE DATABASE "+name)
		t.Cleanup(func() { exec(t, db, "DROP DATABASE "+name) })
		return open(t, "mysql", "root@unix("+socket+")/"+name+"?interpolateParams=true")
	}
}

// open bounds the pool, so that a hundred callers have to wait for one another.
func open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	ok(t, err)
	db.SetMaxOpenConns(12)
	db.SetMaxIdleConns(12)
	opened.Store(db, [2]string{driver, dsn})
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// opened has how each database was opened.
var opened sync.Map

// another is a pool of another instance on the same database.
func another(t testing.TB, db *sql.DB) *sql.DB {
	t.Helper()
	how, _ := opened.Load(db)
	return open(t, how.([2]string)[0], how.([2]string)[1])
}

// migrated is an empty database with our schema.
func (e engine) migrated(t testing.TB, empty source) *sql.DB {
	t.Helper()
	db := empty(t)
	ok(t, sqladapter.Migrate(context.WithoutCancel(t.Context()), db, e.dialect, sqladapter.Options{}))
	return db
}

func (e engine) adapter(t testing.TB, db *sql.DB, o sqladapter.Options) *sqladapter.Adapter {
	t.Helper()
	a, err := sqladapter.New(db, e.dialect, o)
	ok(t, err)
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// emptied returns adapters on one database, from which every row is removed each
// time: to make a database takes longer than most promises.
func (e engine) emptied(db *sql.DB, o sqladapter.Options) func(t *testing.T) *sqladapter.Adapter {
	var deletions []string
	for _, table := range []string{"audit_events", "factors", "recovery_codes", "challenges", "browsers", "passwords", "verification_token", "revocations", "limits", "used_values", "leases", "suspensions", "activities", "authenticators", "sessions", "accounts", "users"} {
		name, renamed := o.Layout.Names[table]
		if !renamed {
			name = table
		}
		if name != "" {
			deletions = append(deletions, e.quoted(`DELETE FROM "`+strings.ReplaceAll(name, ".", `"."`)+`"`))
		}
	}
	return func(t *testing.T) *sqladapter.Adapter {
		t.Helper()
		exec(t, db, deletions...)
		return e.adapter(t, db, o)
	}
}

func exec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%.200s: %v", statement, err)
		}
	}
}

// count asks for one number.
func count(t testing.TB, db *sql.DB, statement string) (n int) {
	t.Helper()
	if err := db.QueryRow(statement).Scan(&n); err != nil {
		t.Fatalf("%.200s: %v", statement, err)
	}
	return n
}

// quoted writes the names in a PostgreSQL statement as the engine wants them.
func (e engine) quoted(statement string) string {
	if e.dialect == sqladapter.MySQL {
		return strings.ReplaceAll(statement, `"`, "`")
	}
	return statement
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}
