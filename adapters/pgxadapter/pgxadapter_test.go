package pgxadapter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// servers are shared: whoever wants to end one starts another.
var servers realservers.Shared

func TestMain(m *testing.M) {
	m.Run()
	servers.Close()
}

// server has an empty schema for each caller.
type server struct{ realservers.PG }

// made is how many schemas there were.
var made atomic.Int64

func start(t testing.TB) *server { return &server{servers.Postgres(t)} }

func (s *server) empty(t testing.TB) *pgxpool.Pool {
	t.Helper()
	schema := fmt.Sprintf("s%d", made.Add(1))
	pool, err := pgxpool.New(context.WithoutCancel(t.Context()), s.DSN("postgres")+" search_path="+schema+" pool_max_conns=12")
	ok(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), "CREATE SCHEMA "+schema)
	ok(t, err)
	return pool
}

func (s *server) migrated(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool := s.empty(t)
	ok(t, pgxadapter.Migrate(t.Context(), pool, pgxadapter.Options{}))
	return pool
}

func adapter(t testing.TB, pool *pgxpool.Pool, o pgxadapter.Options) *pgxadapter.Adapter {
	t.Helper()
	a, err := pgxadapter.New(pool, o)
	ok(t, err)
	return a
}

// emptied returns an adapter on tables from which every row is removed: to make a
// database takes longer than most promises.
func emptied(t testing.TB, pool *pgxpool.Pool, o pgxadapter.Options) *pgxadapter.Adapter {
	t.Helper()
	removeRows(t, pool)
	return adapter(t, pool, o)
}

// removeRows removes every row of every table in the schema, and keeps the record of
// migrations. It asks the database for the tables, so that a new one is not forgotten.
func removeRows(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `DO $$ DECLARE name text; BEGIN
		FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'latchkey_migrations' LOOP
			EXECUTE format('ALTER TABLE %I DISABLE TRIGGER ALL; DELETE FROM %I; ALTER TABLE %I ENABLE TRIGGER ALL', name, name, name);
		END LOOP;
	END $$`)
	ok(t, err)
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// TestStores: S-001, the same value as a store of sessions, limits, used values and
// revocations beside an adapter.
func TestStores(t *testing.T) {
	s := start(t)
	pool := s.migrated(t)
	storagetest.TestStores(t, func(t *testing.T) any { return emptied(t, pool, pgxadapter.Options{}) })
}

func TestAdapter(t *testing.T) {
	s := start(t)
	for name, o := range map[string]pgxadapter.Options{
		"as it comes":  {},
		"plain tokens": {Layout: sqlstore.Layout{PlainTokens: true}},
		"database ids": {Layout: sqlstore.Layout{DatabaseIDs: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var except []string
			if o.Layout.DatabaseIDs {
				except = append(except, "SessionListAdapter/a session keeps the id that it was given")
			}
			pool := s.migrated(t)
			if o.Layout.DatabaseIDs {
				_, err := pool.Exec(t.Context(), "ALTER TABLE users ALTER COLUMN id SET DEFAULT gen_random_uuid()::text")
				ok(t, err)
			}
			storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter { return emptied(t, pool, o) }, except...)
			latchkeytest.TestUnlink(t, func(t *testing.T) storage.Adapter { return emptied(t, pool, o) })
			if name == "as it comes" { // the others change nothing of it
				latchkeytest.TestRecovery(t, func(t *testing.T) storage.Adapter { return emptied(t, pool, o) })
			}
		})
	}
}

func TestManyInstancesMigrateAtOnce(t *testing.T) {
	pool := start(t).empty(t)
	errs := make(chan error)
	for range 8 {
		go func() { errs <- pgxadapter.Migrate(t.Context(), pool, pgxadapter.Options{}) }()
	}
	for range 8 {
		ok(t, <-errs)
	}
	found, err := pgxadapter.Detect(t.Context(), pool)
	ok(t, err)
	if found.Schema != sqlstore.SchemaOwn || found.Version != sqlstore.Version(sqlstore.Postgres) {
		t.Errorf("found the schema %q at version %d", found.Schema, found.Version)
	}
}

func TestNewNeedsAPool(t *testing.T) {
	if _, err := pgxadapter.New(nil, pgxadapter.Options{}); err == nil {
		t.Error("a nil pool was accepted")
	}
	if err := pgxadapter.Migrate(t.Context(), nil, pgxadapter.Options{}); err == nil {
		t.Error("Migrate accepted a nil pool")
	}
	if err := pgxadapter.Check(t.Context(), nil, pgxadapter.Options{}); err == nil {
		t.Error("Check accepted a nil pool")
	}
	if _, err := pgxadapter.Detect(t.Context(), nil); err == nil {
		t.Error("Detect accepted a nil pool")
	}
}

func TestErrorsTellNoSettings(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), "host=/nowhere user=secretuser password=secretpassword dbname=secretname")
	ok(t, err)
	defer pool.Close()
	_, err = adapter(t, pool, pgxadapter.Options{}).GetUser(t.Context(), "secretid")
	if err == nil || strings.Contains(err.Error(), "secret") || errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// TestServiceResumes cuts every connection, as a restart of the server does.
func TestServiceResumes(t *testing.T) {
	s := &server{realservers.Postgres(t, false)}
	pool := s.migrated(t)
	a := adapter(t, pool, pgxadapter.Options{})
	u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	ok(t, err)
	var many sync.WaitGroup
	for range 12 {
		many.Go(func() { _, _ = a.GetUser(t.Context(), u.ID) })
	}
	many.Wait()
	_, _ = pool.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'latchkey'")
	deadline := time.Now().Add(patience)
	for {
		got, err := a.GetUser(t.Context(), u.ID)
		if err == nil && got.ID == u.ID {
			return
		}
		if time.Now().After(deadline) || errors.Is(err, storage.ErrNotFound) {
			t.Fatalf("the store does not come back: %v", err)
		}
	}
}

// TestMisfits meets tables that are not there, and such as do not fit.
func TestMisfits(t *testing.T) {
	pool := start(t).empty(t)
	a := adapter(t, pool, pgxadapter.Options{})
	_, err := a.GetUserByEmail(t.Context(), "ada@example.com")
	if misfit, is := errors.AsType[*sqlstore.MisfitError](err); !is || !strings.Contains(err.Error(), "users: there is no such table: was `latchkey migrate` forgotten?") {
		t.Errorf("R-323 without tables: %v (%v)", err, misfit)
	}
	ok(t, pgxadapter.Migrate(t.Context(), pool, pgxadapter.Options{}))
	_, err = a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	ok(t, err)
	_, err = pool.Exec(t.Context(), "ALTER TABLE sessions ALTER expires TYPE text; DROP INDEX accounts_provider")
	ok(t, err)
	var all sync.WaitGroup
	fresh := adapter(t, pool, pgxadapter.Options{})
	for range 50 {
		all.Go(func() {
			_, err := fresh.Sweep(t.Context(), time.Now())
			if misfit, is := errors.AsType[*sqlstore.MisfitError](err); !is || len(misfit.Misfits) != 2 {
				t.Errorf("R-364 Sweep: %v", err)
			}
		})
	}
	all.Wait()
	found, err := pgxadapter.Detect(t.Context(), pool)
	if err != nil || found.Usable() {
		t.Errorf("R-361 found %+v, error %v", found, err)
	}
}

// TestBindAndNewUser: S-073, the application and the adapter act in one
// transaction, whoever begins it.
func TestBindAndNewUser(t *testing.T) {
	pool := start(t).migrated(t)
	_, err := pool.Exec(t.Context(), "CREATE TABLE members (user_id text PRIMARY KEY REFERENCES users)")
	ok(t, err)
	full := false
	a := adapter(t, pool, pgxadapter.Options{NewUser: func(ctx context.Context, tx pgx.Tx, u storage.User) error {
		if _, err := tx.Exec(ctx, "INSERT INTO members VALUES ($1)", u.ID); err != nil || !full {
			return err
		}
		return errors.New("no seat is left")
	}})
	rows := func() (n int) {
		ok(t, pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM members)").Scan(&n))
		return n
	}
	tx, err := pool.Begin(t.Context())
	ok(t, err)
	_, err = a.Bind(tx).CreateUser(t.Context(), storage.User{ID: "ada", Email: "ada@example.com"})
	ok(t, err)
	if n := rows(); n != 0 {
		t.Errorf("%d rows before the commit", n)
	}
	ok(t, tx.Rollback(t.Context()))
	full = true
	if _, err := a.CreateUser(t.Context(), storage.User{ID: "ada"}); err == nil || !strings.Contains(err.Error(), "no seat is left") || rows() != 0 {
		t.Errorf("CreateUser: %v, %d rows", err, rows())
	}
	full = false
	_, err = a.CreateUser(t.Context(), storage.User{ID: "ada", Email: "ada@example.com"})
	ok(t, err)
	if n := rows(); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// TestConnectionsThatCannotServe: connections to a primary that has become a
// standby answer for ever that they cannot write. The first who meets one is told,
// and nobody after.
func TestConnectionsThatCannotServe(t *testing.T) {
	pool := start(t).migrated(t)
	a := adapter(t, pool, pgxadapter.Options{})
	conns := make([]*pgxpool.Conn, 8)
	for i := range conns {
		var err error
		conns[i], err = pool.Acquire(t.Context())
		ok(t, err)
		_, err = conns[i].Exec(t.Context(), "SET default_transaction_read_only = on")
		ok(t, err)
	}
	for _, c := range conns {
		c.Release()
	}
	if _, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"}); err == nil {
		t.Fatal("a connection that cannot write was not met")
	}
	for range 8 {
		_, err := a.CreateUser(t.Context(), storage.User{})
		ok(t, err)
	}
}

// TestRefusedConnections: an error says what a newcomer can do about it, and
// nothing of the connection string but where it led.
func TestRefusedConnections(t *testing.T) {
	s := start(t)
	host := fmt.Sprintf("host=%s port=%d ", s.Dir, s.Port)
	for name, row := range map[string]struct{ dsn, want string }{
		"no such user":     {host + "user=stranger password=hunter2 dbname=postgres", "sql: migrate: SQLSTATE 28000: it refuses the user or the password"},
		"no such database": {s.DSN("nowhere"), "sql: migrate: SQLSTATE 3D000: there is no database of this name: create it first"},
		"nobody":           {"host=127.0.0.1 port=1 user=me password=hunter2 dbname=site sslmode=disable", "sql: migrate: the database cannot be reached at 127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			pool, err := pgxpool.New(t.Context(), row.dsn)
			ok(t, err)
			defer pool.Close()
			if err := pgxadapter.Migrate(t.Context(), pool, pgxadapter.Options{}); err == nil || err.Error() != row.want {
				t.Errorf("error %v, want %s", err, row.want)
			}
		})
	}
}

// TestErasureWaitsForRowsThatAreHeld is R-849: a transaction that is given up leaves the
// personal data in the rows that it held, so an erasure must not pass them over.
func TestErasureWaitsForRowsThatAreHeld(t *testing.T) {
	pool := start(t).migrated(t)
	a := adapter(t, pool, pgxadapter.Options{})
	ok(t, a.Audit().Append(t.Context(), []storage.AuditRecord{{ID: "0193e4a0-0000-7000-8000-000000000001", Time: time.Now(), Type: "sign_in", UserID: "42"}}))
	tx, err := pool.Begin(t.Context())
	ok(t, err)
	var pid uint32
	ok(t, tx.QueryRow(t.Context(), "SELECT pg_backend_pid() FROM audit_events WHERE user_id = '42' FOR UPDATE").Scan(&pid))
	erased := make(chan int, 1)
	go func() {
		n, err := a.Audit().Erase(t.Context(), "42")
		if err != nil {
			t.Error(err)
		}
		erased <- n
	}()
	for waiting := false; !waiting; {
		ok(t, pool.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid)))", int32(pid)).Scan(&waiting))
		select {
		case n := <-erased:
			t.Fatalf("R-849 it was over before the row was free, with %d erased", n)
		default:
		}
	}
	ok(t, tx.Rollback(t.Context()))
	if n := <-erased; n != 1 {
		t.Errorf("R-849 %d erased, want 1", n)
	}
}
