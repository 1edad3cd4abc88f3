package test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// givesUp says what PostgreSQL and its relatives say of a transaction that is to
// be tried again.
type givesUp struct{}

func (givesUp) Error() string    { return "could not serialize access" }
func (givesUp) SQLState() string { return "40001" }

// fragile is SQLite, of which some statements give up instead of doing
// anything.
type fragile struct {
	driver.Driver
	statements atomic.Int64 // that were sent
	first      atomic.Int64 // that gives up, counted from 1
	times      atomic.Int64 // how many in a row
}

func (f *fragile) Open(name string) (driver.Conn, error) {
	c, err := f.Driver.Open(name)
	return &fragileConn{c, f}, err
}

func (f *fragile) dsn(name string) driver.Connector { return connector{f, name} }

type connector struct {
	f    *fragile
	name string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.f.Open(c.name) }
func (c connector) Driver() driver.Driver                        { return c.f }

type fragileConn struct {
	driver.Conn
	f *fragile
}

func (c *fragileConn) meet() error {
	n, first := c.f.statements.Add(1), c.f.first.Load()
	if first > 0 && n >= first && n < first+c.f.times.Load() {
		return givesUp{}
	}
	return nil
}

func (c *fragileConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.meet(); err != nil && query != "ROLLBACK" {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *fragileConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.meet(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

// breakAt has the statements from the nth on give up, times in a row.
func (f *fragile) breakAt(n, times int64) {
	f.statements.Store(0)
	f.times.Store(times)
	f.first.Store(n)
}

// TestGivenUpTransactions: S-067, a sign-up whose transaction the database gives
// up, at any statement or at the commit, is run again, and what happened is told
// once.
func TestGivenUpTransactions(t *testing.T) {
	f := &fragile{Driver: &sqlite.Driver{}}
	db := sql.OpenDB(f.dsn(sqliteDSN(filepath.Join(t.TempDir(), "auth.db"))))
	t.Cleanup(func() { _ = db.Close() })
	ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.SQLite, sqladapter.Options{}))
	issuer := latchkeytest.NewIssuer(t)
	told := map[string]int{}
	tell := func(what string) error { told[what]++; return nil }
	a, err := sqladapter.New(db, sqladapter.SQLite, sqladapter.Options{Unprepared: true})
	ok(t, err)
	site, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{"a secret of the site's that is long enough"},
		Adapter: a, Session: latchkey.SessionConfig{Strategy: latchkey.DatabaseSessions}, Limits: latchkey.Limits{Disabled: true},
		Providers: []latchkey.Provider{issuer.Provider()}, Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Events: latchkey.Events{
			SignIn:      func(context.Context, latchkey.SignInEvent) error { return tell("sign-in") },
			CreateUser:  func(context.Context, storage.User) error { return tell("new user") },
			LinkAccount: func(context.Context, latchkey.LinkAccountEvent) error { return tell("link") },
		},
	})
	ok(t, err)
	people := 0
	signUp := func(n, times int64) (statements int64, failed bool) {
		people++
		issuer.SignInAs(latchkeytest.Person{Subject: fmt.Sprint("person", people), Email: fmt.Sprintf("p%d@example.com", people)})
		browser := latchkeytest.NewClient(t, site)
		clear(told)
		f.breakAt(n, times)
		browser.TrySignIn(issuer)
		statements = f.statements.Load()
		f.breakAt(0, 0)
		return statements, browser.Cookie("authjs.session-token") == nil
	}
	statements, failed := signUp(0, 0)
	if failed || statements < 8 {
		t.Fatalf("a quiet sign-up: %d statements, failed: %v", statements, failed)
	}
	for n := int64(1); n <= statements; n++ {
		if _, failed := signUp(n, 1); failed {
			t.Errorf("statement %d of %d gave up, and the sign-up failed", n, statements)
		}
		for _, what := range []string{"new user", "link", "sign-in"} {
			if told[what] != 1 {
				t.Errorf("statement %d of %d gave up: %s was told %d times", n, statements, what, told[what])
			}
		}
	}
	if n, want := count(t, db, "SELECT count(*) FROM users"), people; n != want {
		t.Errorf("%d users, want %d", n, want)
	}
	f.breakAt(1, 1000)
	_, failure := a.GetUser(t.Context(), "nobody")
	asked := f.statements.Load()
	f.breakAt(0, 0)
	if !errors.Is(failure, givesUp{}) || asked != 20 {
		t.Errorf("what gives up for ever: %v after %d tries", failure, asked)
	}
}

// TestGivenUpNewUser: S-067, a user whose transaction is run again is stored as it
// was given.
func TestGivenUpNewUser(t *testing.T) {
	f := &fragile{Driver: &sqlite.Driver{}}
	db := sql.OpenDB(f.dsn(sqliteDSN(filepath.Join(t.TempDir(), "auth.db"))))
	t.Cleanup(func() { _ = db.Close() })
	ok(t, sqladapter.Migrate(t.Context(), db, sqladapter.SQLite, sqladapter.Options{}))
	var told storage.User
	a, err := sqladapter.New(db, sqladapter.SQLite, sqladapter.Options{
		Unprepared: true,
		NewUser:    func(_ context.Context, _ sqladapter.Runner, u storage.User) error { told = u; return nil },
	})
	ok(t, err)
	_, err = a.GetUser(t.Context(), "nobody") // the tables have been looked at
	if !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	for n := int64(1); n <= 3; n++ { // the begin, the row, the commit
		f.breakAt(n, 1)
		u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada", Email: fmt.Sprintf("ada%d@example.com", n)})
		f.breakAt(0, 0)
		ok(t, err)
		kept, err := a.GetUserByEmail(t.Context(), fmt.Sprintf("ada%d@example.com", n))
		ok(t, err)
		if u.Name != "Ada" || kept.ID != u.ID || told.ID != u.ID {
			t.Errorf("statement %d gave up: stored %+v, told %+v, kept %+v", n, u, told, kept)
		}
	}
}
