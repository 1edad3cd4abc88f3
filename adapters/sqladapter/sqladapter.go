package sqladapter

import (
	"context"
	"database/sql"
	"errors"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/sqlstore"
)

// Dialect is the language of a database: [Postgres], [MySQL] or [SQLite].
type Dialect = sqlstore.Dialect

// The dialects.
const (
	Postgres = sqlstore.Postgres // PostgreSQL 13 or later
	MySQL    = sqlstore.MySQL    // MariaDB 10.6 or later, MySQL 8 or later
	SQLite   = sqlstore.SQLite   // SQLite 3.35 or later
)

// Layout says what tables and columns are called and how rows are kept:
// Names map[string]string, PlainTokens, DatabaseIDs and Unindexed bool. The
// zero value fits what [Migrate] makes.
type Layout = sqlstore.Layout

// AuthJS is the layout of the PostgreSQL adapter of Auth.js, to share a
// database with it: plain session tokens, ids that the database chooses, and
// unique indexes that may be missing.
func AuthJS() Layout { return sqlstore.AuthJS() }

// Options says how an [Adapter] uses a database. The zero value is the usual.
type Options struct {
	Layout Layout // zero: what Migrate makes

	// Unprepared sends every statement as text. Set it behind a connection pool
	// that does not know prepared statements, such as PgBouncer before 1.21 in
	// transaction mode, and tell the driver too.
	Unprepared bool
}

// Adapter is a store in an SQL database, with every ability but
// [latchkey.SignUpAdapter], which is for stores without transactions. Make one
// with [New]. It is safe for concurrent use, by any number of processes.
type Adapter struct {
	*sqlstore.Store
	pool *pool
}

var (
	_ latchkey.SessionAdapter           = (*Adapter)(nil)
	_ latchkey.SessionListAdapter       = (*Adapter)(nil)
	_ latchkey.VerificationTokenAdapter = (*Adapter)(nil)
	_ latchkey.AccountAdapter           = (*Adapter)(nil)
	_ latchkey.UserDeletionAdapter      = (*Adapter)(nil)
	_ latchkey.AuthenticatorAdapter     = (*Adapter)(nil)
	_ latchkey.TxAdapter                = (*Adapter)(nil)
	_ latchkey.SweepAdapter             = (*Adapter)(nil)
	_ latchkey.RevocationStore          = (*Adapter)(nil)
)

// New returns a store in db. It asks nothing of the database: statements are
// prepared when they are first used. db stays the caller's, to configure and to close.
func New(db *sql.DB, d Dialect, o Options) (*Adapter, error) {
	if db == nil {
		return nil, errors.New("sqladapter: no database")
	}
	p := newPool(db, d, !o.Unprepared)
	store, err := sqlstore.New(p, d, o.Layout)
	if err != nil {
		return nil, err
	}
	return &Adapter{store, p}, nil
}

// Close releases the prepared statements. It does not close the database.
func (a *Adapter) Close() error { return a.pool.statements.close() }

// ViolationError has the rules that rows of an existing database break. See [Migrate].
type ViolationError = sqlstore.ViolationError

// ErrForeignSchema reports a users table that is neither ours nor Auth.js'.
var ErrForeignSchema = sqlstore.ErrForeignSchema

// Migrate brings a database to the newest schema: from nothing, from an earlier
// version, or from the schema of Auth.js on PostgreSQL, whose rows stay and
// whose plain session tokens go on to work and are hashed when they are used.
//
// Several instances may call it at once: one works, the others wait and find it
// done. On PostgreSQL and SQLite it is done as a whole or not at all; on MySQL,
// which cannot, an interrupted migration is finished by the next call.
//
// Rows of Auth.js that the unique and foreign keys would refuse are a
// [*ViolationError], which counts them, and then nothing is changed. A users
// table of somebody else is [ErrForeignSchema]. It works with the usual names in
// the current schema of a connection.
func Migrate(ctx context.Context, db *sql.DB, d Dialect) error {
	return sqlstore.Migrate(ctx, newPool(db, d, false), d)
}

// Schema returns the statements that [Migrate] runs in an empty database.
func Schema(d Dialect) string { return sqlstore.Schema(d) }

// Found is what a database has: Schema, one of the kinds below, the Version of
// our schema, and the Layout that fits.
type Found = sqlstore.Found

// The kinds of schema.
const (
	SchemaAbsent  = sqlstore.SchemaAbsent  // no users table
	SchemaOwn     = sqlstore.SchemaOwn     // what Migrate makes
	SchemaAuthJS  = sqlstore.SchemaAuthJS  // that of Auth.js' PostgreSQL adapter
	SchemaForeign = sqlstore.SchemaForeign // a users table of somebody else
)

// Detect tells which schema a database has, by the usual names in the current
// schema of a connection.
func Detect(ctx context.Context, db *sql.DB, d Dialect) (Found, error) {
	return sqlstore.Detect(ctx, newPool(db, d, false), d)
}
