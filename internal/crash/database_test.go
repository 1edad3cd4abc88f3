package crash

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// driver is the way to PostgreSQL.
type driver string

const (
	bySQL driver = "database/sql"
	byPgx driver = "pgx"
)

var drivers = []driver{bySQL, byPgx}

// connect opens a pool of at most conns connections, and a store in it.
func connect(ctx context.Context, by driver, dsn string, conns int) (a storage.Adapter, end func(), err error) {
	if by == byPgx {
		return connectPgx(ctx, dsn, conns)
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	if a, err = sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{}); err == nil {
		err = db.PingContext(ctx)
	}
	return a, func() { _ = db.Close() }, err
}

func connectPgx(ctx context.Context, dsn string, conns int) (storage.Adapter, func(), error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, nil, err
	}
	config.MaxConns = int32(conns)
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, nil, err
	}
	a, err := pgxadapter.New(pool, pgxadapter.Options{})
	if err == nil {
		err = pool.Ping(ctx)
	}
	return a, pool.Close, err
}

// store is connect for the length of a test.
func store(t testing.TB, by driver, dsn string, conns int) storage.Adapter {
	t.Helper()
	a, end, err := connect(t.Context(), by, dsn, conns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return a
}

// ledger looks at the rows themselves, past every adapter.
type ledger struct {
	db  *sql.DB
	dsn string
}

// newLedger makes a schema of that name with our tables in it. The rest of the
// test reaches it by the ledger's dsn.
func newLedger(t testing.TB, dsn, schema string) *ledger {
	t.Helper()
	dsn += " search_path=" + schema
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+schema); err != nil {
		t.Fatal(err)
	}
	if err := sqladapter.Migrate(t.Context(), db, sqladapter.Postgres, sqladapter.Options{}); err != nil {
		t.Fatal(err)
	}
	return &ledger{db, dsn}
}

// count is the one number that a query answers.
func (l *ledger) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	if err := l.db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// rows is what there is of one person.
type rows struct{ users, accounts, sessions int }

func (r rows) String() string {
	return fmt.Sprintf("%d users, %d accounts, %d sessions", r.users, r.accounts, r.sessions)
}

// of counts in one statement, and so at one instant.
func (l *ledger) of(t testing.TB, email string) (r rows) {
	t.Helper()
	const query = `SELECT count(*),
		(SELECT count(*) FROM accounts a JOIN users u ON u.id = a."userId" WHERE u.email = $1),
		(SELECT count(*) FROM sessions s JOIN users u ON u.id = s."userId" WHERE u.email = $1)
		FROM users WHERE email = $1`
	if err := l.db.QueryRowContext(t.Context(), query, email).Scan(&r.users, &r.accounts, &r.sessions); err != nil {
		t.Fatal(err)
	}
	return r
}

// order is what must hold at every instant, with how to count what breaks it.
type order struct{ name, broken string }

var orders = []order{
	{"R-185 no user of a provider is without an account", `SELECT count(*) FROM users u
		WHERE email LIKE 'person-%' AND NOT EXISTS (SELECT FROM accounts a WHERE a."userId" = u.id)`},
	{"R-185 no account is without its user", `SELECT count(*) FROM accounts a
		WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = a."userId")`},
	{"R-185 no session is without its user", `SELECT count(*) FROM sessions s
		WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = s."userId")`},
	{"R-186 nobody is two users", `SELECT count(*) FROM
		(SELECT 1 FROM users GROUP BY lower(email) HAVING count(*) > 1) twice`},
	{"R-186 no account is there twice", `SELECT count(*) FROM
		(SELECT 1 FROM accounts GROUP BY provider, "providerAccountId" HAVING count(*) > 1) twice`},
}

// auditOrders hold where the site keeps an audit log in the same database.
var auditOrders = []order{
	{"O-038 no user is without the event", `SELECT count(*) FROM users u
		WHERE NOT EXISTS (SELECT FROM audit_events e WHERE e.user_id = u.id::text AND e.type = 'user.created')`},
	{"O-038 no event of a user is without the user", `SELECT count(*) FROM audit_events e
		WHERE e.type = 'user.created' AND NOT EXISTS (SELECT FROM users u WHERE e.user_id = u.id::text)`},
	{"O-038 accounts and their events are as many", `SELECT count(*) FROM users u
		WHERE (SELECT count(*) FROM accounts a WHERE a."userId" = u.id)
			<> (SELECT count(*) FROM audit_events e WHERE e.user_id = u.id::text AND e.type = 'account.linked')`},
	{"O-038 no session is without its sign-in", `SELECT count(*) FROM users u
		WHERE (SELECT count(*) FROM sessions s WHERE s."userId" = u.id)
			> (SELECT count(*) FROM audit_events e WHERE e.user_id = u.id::text AND e.type = 'sign_in' AND e.outcome = 'success')`},
	{"O-038 no session has ended without the event", `SELECT count(*) FROM users u
		WHERE NOT EXISTS (SELECT FROM sessions s WHERE s."userId" = u.id)
			AND NOT EXISTS (SELECT FROM audit_events e WHERE e.user_id = u.id::text AND e.type = 'session.ended')`},
}

// inOrder checks the given orders.
func (l *ledger) inOrder(t testing.TB, lists ...[]order) {
	t.Helper()
	for _, list := range lists {
		for _, o := range list {
			if n := l.count(t, o.broken); n != 0 {
				t.Errorf("%s: %d do", o.name, n)
			}
		}
	}
}
