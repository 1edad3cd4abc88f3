package sqladapter

import (
	"context"
	"database/sql"
	"errors"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// The dialects, for programs that need nothing else of package sqlstore.
const (
	Postgres = sqlstore.Postgres // PostgreSQL 13 or later
	MySQL    = sqlstore.MySQL    // MariaDB 10.6 or later, MySQL 8 or later
	SQLite   = sqlstore.SQLite   // SQLite 3.35 or later
)

// Options says how an [Adapter] uses a database. The zero value has the defaults.
type Options struct {
	// Layout says what tables and columns are called and how rows are stored. The
	// zero value fits the tables that [Migrate] makes. [Detect] returns the layout
	// of an existing database.
	Layout sqlstore.Layout

	// Unprepared sends every statement as text. Set it behind a connection pool
	// that does not know prepared statements, such as PgBouncer before 1.21 in
	// transaction mode, and set the driver so too: of pgx
	// default_query_exec_mode=cache_describe.
	Unprepared bool

	// NewUser is called in the transaction that stores a new user, so that the
	// application can add rows of its own. An error rolls the sign-up back and is
	// logged. A nil NewUser is not called.
	NewUser func(ctx context.Context, tx Runner, u storage.User) error
}

// Runner sends statements to a transaction. [*sql.Tx] and [*sql.Conn] are such.
type Runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Adapter is a store in an SQL database, with every ability but
// [storage.SignUpAdapter], which is for stores without transactions. Make one
// with [New]. It is safe for concurrent use, by any number of processes.
type Adapter struct {
	*sqlstore.Store
	pool *pool
}

var (
	_ storage.SessionAdapter           = (*Adapter)(nil)
	_ storage.SessionListAdapter       = (*Adapter)(nil)
	_ storage.VerificationTokenAdapter = (*Adapter)(nil)
	_ storage.AccountAdapter           = (*Adapter)(nil)
	_ storage.UserDeletionAdapter      = (*Adapter)(nil)
	_ storage.AuthenticatorAdapter     = (*Adapter)(nil)
	_ storage.TxAdapter                = (*Adapter)(nil)
	_ storage.SweepAdapter             = (*Adapter)(nil)
	_ storage.RevocationStore          = (*Adapter)(nil)
	_ storage.SessionStore             = (*Adapter)(nil)
	_ storage.ReturningLimiter         = (*Adapter)(nil)
	_ storage.ReplayStore              = (*Adapter)(nil)
	_ storage.SessionRenewalAdapter    = (*Adapter)(nil)
	_ storage.ProviderLogoutAdapter    = (*Adapter)(nil)
	_ storage.FactorAdapter            = (*Adapter)(nil)
	_ storage.ChallengeAdapter         = (*Adapter)(nil)
	_ storage.BrowserAdapter           = (*Adapter)(nil)
	_ storage.PasswordAdapter          = (*Adapter)(nil)
)

var errNoDatabase = errors.New("sqladapter: no database")

// New returns a store in db. It sends nothing to the database: the first call of the
// adapter inspects the tables, and each statement is prepared when it is first used. If
// the tables do not fit the layout, every call of the adapter returns a
// [*sqlstore.MisfitError] until they do. The caller configures and closes db. New returns
// an error if db is nil, the dialect is unknown, or the Layout makes no sense.
func New(db *sql.DB, d sqlstore.Dialect, o Options) (*Adapter, error) {
	if db == nil {
		return nil, errNoDatabase
	}
	p := newPool(db, d, !o.Unprepared)
	store, err := sqlstore.New(p, d, o.Layout)
	if err != nil {
		return nil, err
	}
	if tell := o.NewUser; tell != nil {
		store = store.OnNewUser(func(ctx context.Context, tx sqlstore.Conn, u storage.User) error {
			return tell(ctx, tx.(*transaction).on, u) // all its transactions are of this type
		})
	}
	return &Adapter{store, p}, nil
}

// Bind returns an adapter with calls that are part of tx, a transaction of the caller's. They
// see what tx has done. The caller commits or rolls back tx, and with it all that the
// adapter did. InTx of the adapter is a savepoint. The adapter may be used until tx ends,
// by one goroutine at a time. On MySQL it cannot be used with a layout that is Unindexed.
// Bind sends nothing to the database. If a comes from Bind itself, the new adapter works
// in tx alone, and prepares no statements.
func (a *Adapter) Bind(tx *sql.Tx) *Adapter {
	return &Adapter{a.Store.Bind(a.pool.in(tx)), nil}
}

// Close closes the prepared statements, and waits for calls that use them. It does not
// close the database. The adapter can be used afterwards: it prepares statements anew.
// Close of an adapter from [Adapter.Bind] does nothing.
func (a *Adapter) Close() error {
	if a.pool == nil {
		return nil
	}
	return a.pool.statements.close()
}

// Migrate brings a database to the newest schema: from nothing, from an earlier version,
// or from the schema of Auth.js on PostgreSQL. Any number of instances may call it at the
// same time. Of the Options it uses only the Layout. It returns an error if db is nil.
// [sqlstore.Migrate] says what else it does and which errors it returns, and
// [sqlstore.Schema] has the statements.
func Migrate(ctx context.Context, db *sql.DB, d sqlstore.Dialect, o Options) error {
	if db == nil {
		return errNoDatabase
	}
	return sqlstore.Migrate(ctx, newPool(db, d, false), d, o.Layout)
}

// Reindex writes the folded names that users are searched by, where they are missing or
// out of date, and returns how many it wrote. Call it once after an upgrade that has
// added them, and again when no instance of the earlier version runs any more. Of the
// Options it uses only the Layout. It returns an error if db is nil. See
// [sqlstore.Reindex].
func Reindex(ctx context.Context, db *sql.DB, d sqlstore.Dialect, o Options) (int, error) {
	if db == nil {
		return 0, errNoDatabase
	}
	return sqlstore.Reindex(ctx, newPool(db, d, false), d, o.Layout)
}

// Check reports what [Migrate] would refuse, and changes nothing. It returns nil if
// Migrate would begin, and otherwise a [*sqlstore.ViolationError], a
// [*sqlstore.MisfitError] or an error that is [sqlstore.ErrForeignSchema]. Other errors
// say that the database could not be asked, or that an argument makes no sense. Of the
// Options it uses only the Layout. It may read whole tables.
func Check(ctx context.Context, db *sql.DB, d sqlstore.Dialect, o Options) error {
	if db == nil {
		return errNoDatabase
	}
	return sqlstore.Check(ctx, newPool(db, d, false), d, o.Layout)
}

// Detect reports which program's users are in the current schema of a connection, and
// which layout fits their tables. It changes nothing. A database without users is no
// error: see [sqlstore.Detect]. Detect returns an error if db is nil.
func Detect(ctx context.Context, db *sql.DB, d sqlstore.Dialect) (sqlstore.Found, error) {
	if db == nil {
		return sqlstore.Found{}, errNoDatabase
	}
	return sqlstore.Detect(ctx, newPool(db, d, false), d)
}
