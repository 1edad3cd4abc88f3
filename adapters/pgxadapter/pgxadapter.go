package pgxadapter

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/sqlstore"
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
}

// Adapter is a store in PostgreSQL, with every ability but
// [latchkey.SignUpAdapter], which is for stores without transactions. Make one
// with [New]. It is safe for concurrent use, by any number of processes.
type Adapter struct{ *sqlstore.Store }

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

// New returns a store in the pool's database. It asks nothing of it yet. The
// pool stays the caller's, to configure and to close.
func New(pool *pgxpool.Pool, o Options) (*Adapter, error) {
	if pool == nil {
		return nil, errors.New("pgxadapter: no pool")
	}
	store, err := sqlstore.New(conn{pool}, sqlstore.Postgres, o.Layout)
	if err != nil {
		return nil, err
	}
	return &Adapter{store}, nil
}

// ViolationError has the rules that rows of an existing database break. See [Migrate].
type ViolationError = sqlstore.ViolationError

// ErrForeignSchema reports a users table that is neither ours nor Auth.js'.
var ErrForeignSchema = sqlstore.ErrForeignSchema

// Migrate brings a database to the newest schema: from nothing, from an earlier
// version, or from the schema of Auth.js, whose rows stay and whose plain
// session tokens go on to work and are hashed when they are used. It is done as
// a whole or not at all.
//
// Several instances may call it at once: one works, the others wait and find it
// done. Rows of Auth.js that the unique and foreign keys would refuse are a
// [*ViolationError], which counts them. A users table of somebody else is
// [ErrForeignSchema]. It works with the usual names in the current schema of a
// connection.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	return sqlstore.Migrate(ctx, conn{pool}, sqlstore.Postgres)
}

// Schema returns the statements that [Migrate] runs in an empty database.
func Schema() string { return sqlstore.Schema(sqlstore.Postgres) }

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
func Detect(ctx context.Context, pool *pgxpool.Pool) (Found, error) {
	return sqlstore.Detect(ctx, conn{pool}, sqlstore.Postgres)
}
