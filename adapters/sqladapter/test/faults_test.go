package test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestErrorsTellNothing makes each database complain about values, and looks
// for them.
func TestErrorsTellNothing(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := empty(t) // without tables
		a := e.adapter(t, db, sqladapter.Options{})
		_, errCreate := a.CreateUser(t.Context(), storage.User{ID: "secret", Email: "secret@example.com"})
		_, _, errGet := a.GetSessionAndUser(t.Context(), "secret")
		ok(t, sqladapter.Migrate(t.Context(), db, e.dialect, sqladapter.Options{}))
		errText := a.LinkAccount(t.Context(), storage.Account{UserID: "secret", Provider: "secret\x00", ProviderAccountID: "secret"})
		errJSON := a.LinkAccount(t.Context(), storage.Account{UserID: "secret", Provider: "p", ProviderAccountID: "1", Extra: map[string]any{"secret": func() {}}})
		_ = db.Close()
		_, errClosed := a.GetUser(t.Context(), "secret")
		for what, err := range map[string]error{
			"a table is missing": errCreate, "reading from a missing table": errGet, "text that cannot be stored": errText,
			"a member that is no JSON": errJSON, "the database is closed": errClosed,
		} {
			switch {
			case err == nil:
				t.Errorf("%s: no error", what)
			case strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "INSERT") || strings.Contains(err.Error(), "SELECT"):
				t.Errorf("%s: the error has values or statements: %v", what, err)
			case errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrConflict):
				t.Errorf("%s: a fault is taken for an answer: %v", what, err)
			default:
				t.Logf("%s: %v", what, err)
			}
		}
	})
}

func TestErrorsTellNoSettings(t *testing.T) {
	for driver, dsn := range map[string]string{
		"pgx":   "host=/nowhere user=secretuser password=secretpassword dbname=secretname",
		"mysql": "secretuser:secretpassword@tcp(127.0.0.1:1)/secretname",
	} {
		db, err := sql.Open(driver, dsn)
		ok(t, err)
		dialect := map[string]sqlstore.Dialect{"pgx": sqladapter.Postgres, "mysql": sqladapter.MySQL}[driver]
		a, err := sqladapter.New(db, dialect, sqladapter.Options{})
		ok(t, err)
		_, errGet := a.GetUser(t.Context(), "1")
		for _, err := range []error{errGet, sqladapter.Migrate(t.Context(), db, dialect, sqladapter.Options{})} {
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", driver, err)
			}
		}
		_ = db.Close()
	}
}

func TestNewRefuses(t *testing.T) {
	db := sqliteFiles(t)(t)
	for what, try := range map[string]func() error{
		"no database":            func() error { _, err := sqladapter.New(nil, sqladapter.SQLite, sqladapter.Options{}); return err },
		"an unknown dialect":     func() error { _, err := sqladapter.New(db, "oracle", sqladapter.Options{}); return err },
		"an unknown table":       func() error { return names(db, "user", "x") },
		"an unknown column":      func() error { return names(db, "users.mail", "x") },
		"doing without a key":    func() error { return names(db, "users.email", "") },
		"ids that both make":     func() error { return laidOut(db, sqlstore.Layout{DatabaseIDs: true, UUIDs: true}) },
		"an unknown form":        func() error { return laidOut(db, sqlstore.Layout{Times: "sundial"}) },
		"touching any table":     func() error { return laidOut(db, sqlstore.Layout{Touched: []string{"people.updatedAt"}}) },
		"R-763 a revocation":     func() error { return laidOut(db, sqlstore.Layout{Touched: []string{"revocations.updatedAt"}}) },
		"R-763 a limit":          func() error { return laidOut(db, sqlstore.Layout{Touched: []string{"limits.updatedAt"}}) },
		"R-763 a used value":     func() error { return laidOut(db, sqlstore.Layout{Touched: []string{"used_values.updatedAt"}}) },
		"R-763 a lease":          func() error { return laidOut(db, sqlstore.Layout{Touched: []string{"leases.updatedAt"}}) },
		"R-763 a suspension":     func() error { return laidOut(db, sqlstore.Layout{Touched: []string{"suspensions.updatedAt"}}) },
		"R-763 an activity":      func() error { return laidOut(db, sqlstore.Layout{Touched: []string{"activities.updatedAt"}}) },
		"R-763 a code":           func() error { return laidOut(db, sqlstore.Layout{Touched: []string{"recovery_codes.updatedAt"}}) },
		"sharing with anybody":   func() error { _, err := sqlstore.SharedWith(sqladapter.SQLite, "mongodb"); return err },
		"sharing elsewhere":      func() error { _, err := sqlstore.SharedWith(sqladapter.SQLite, "supabase"); return err },
		"migrating to something": func() error { return sqladapter.Migrate(t.Context(), db, "oracle", sqladapter.Options{}) },
		"detecting something":    func() error { _, err := sqladapter.Detect(t.Context(), db, "oracle"); return err },
	} {
		if try() == nil {
			t.Errorf("%s was accepted", what)
		}
	}
	if sqlstore.Schema("oracle") != "" {
		t.Error("there is a schema for an unknown dialect")
	}
}

func names(db *sql.DB, name, to string) error {
	return laidOut(db, sqlstore.Layout{Names: map[string]string{name: to}})
}

func laidOut(db *sql.DB, l sqlstore.Layout) error {
	_, err := sqladapter.New(db, sqladapter.SQLite, sqladapter.Options{Layout: l})
	return err
}

// TestSQLiteManyProcesses has several writers that know nothing of one another,
// on connections that do not wait by themselves.
func TestSQLiteManyProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth.db")
	var adapters []*sqladapter.Adapter
	for range 4 {
		db := open(t, "sqlite", "file:"+file+"?_pragma=busy_timeout(0)&_pragma=synchronous(OFF)") // a slow disk is another matter, but this pragma meets locks, too
		ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.SQLite, sqladapter.Options{}))
		adapters = append(adapters, engines[0].adapter(t, db, sqladapter.Options{}))
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			a := adapters[i%len(adapters)]
			err := a.InTx(t.Context(), func(tx storage.Adapter) error {
				u, err := tx.CreateUser(t.Context(), storage.User{Email: fmt.Sprintf("u%d@example.com", i)})
				if err != nil {
					return err
				}
				return tx.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: fmt.Sprint(i)})
			})
			if err != nil {
				t.Errorf("sign-up %d: %v", i, err)
			}
			if _, err := a.GetUserByAccount(t.Context(), "acme", fmt.Sprint(i)); err != nil {
				t.Errorf("reading %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// TestSQLiteOneConnection is how a database in memory has to be used.
func TestSQLiteOneConnection(t *testing.T) {
	db := open(t, "sqlite", ":memory:")
	db.SetMaxOpenConns(1)
	ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.SQLite, sqladapter.Options{}))
	a := engines[0].adapter(t, db, sqladapter.Options{})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			err := a.InTx(t.Context(), func(tx storage.Adapter) error {
				_, err := tx.CreateUser(t.Context(), storage.User{Email: fmt.Sprintf("u%d@example.com", i)})
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestTransactionsInTransactions rolls an inner one back and keeps the outer
// one.
func TestTransactionsInTransactions(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		a := e.adapter(t, e.migrated(t, empty), sqladapter.Options{})
		fault := errors.New("fault")
		ok(t, a.InTx(t.Context(), func(outer storage.Adapter) error {
			if _, err := outer.CreateUser(t.Context(), storage.User{Email: "ada@example.com"}); err != nil {
				return err
			}
			err := outer.(storage.TxAdapter).InTx(t.Context(), func(inner storage.Adapter) error {
				if _, err := inner.CreateUser(t.Context(), storage.User{Email: "eve@example.com"}); err != nil {
					return err
				}
				return fault
			})
			if !errors.Is(err, fault) {
				return err
			}
			return nil
		}))
		_, err := a.GetUserByEmail(t.Context(), "ada@example.com")
		ok(t, err)
		if _, err := a.GetUserByEmail(t.Context(), "eve@example.com"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the inner user: %v", err)
		}
	})
}

// TestServiceResumes cuts every connection, as a restart of the server does.
func TestServiceResumes(t *testing.T) {
	e := engines[1]
	db := e.migrated(t, postgresSchemas(realservers.Postgres(t, false)))
	a := e.adapter(t, db, sqladapter.Options{})
	u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
	ok(t, err)
	_, _ = db.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'latchkey'")
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

// TestSlowStoreIsCutOff locks a row and lets the caller's deadline pass.
func TestSlowStoreIsCutOff(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		a := e.adapter(t, db, sqladapter.Options{})
		u, err := a.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
		ok(t, err)
		err = a.InTx(t.Context(), func(tx storage.Adapter) error {
			if _, err := tx.UpdateUser(t.Context(), u.ID, storage.UserChange{Name: new("Ada")}); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := a.UpdateUser(ctx, u.ID, storage.UserChange{Name: new("Eve")}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("R-195 the other writer: %v", err)
			}
			return nil
		})
		ok(t, err)
		// Whether the server still carries out what nobody waits for is its own
		// affair.
		got, err := a.GetUser(t.Context(), u.ID)
		if err != nil || got.Name != "Ada" && got.Name != "Eve" {
			t.Errorf("name %q, error %v", got.Name, err)
		}
	})
}
