package pgxadapter

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// Options says how an [Adapter] uses a database. The zero value has the defaults.
type Options struct {
	// Layout says what tables and columns are called and how rows are stored. The
	// zero value fits the tables that [Migrate] makes. [Detect] returns the layout
	// of an existing database.
	Layout sqlstore.Layout

	// NewUser is called in the transaction that stores a new user, so that the
	// application can add rows of its own. An error rolls the sign-up back and is
	// logged. A nil NewUser is not called.
	NewUser func(ctx context.Context, tx pgx.Tx, u storage.User) error
}

// Adapter is a store in PostgreSQL, with every ability but
// [storage.SignUpAdapter], which is for stores without transactions. Make one
// with [New]. It is safe for concurrent use, by any number of processes.
type Adapter struct{ *sqlstore.Store }

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

var errNoPool = errors.New("pgxadapter: no pool")

// New returns a store in the database of p. It sends nothing to the database: the tables
// are inspected when they are first used. If they do not fit the layout, every call
// returns a [*sqlstore.MisfitError]. The caller configures and closes the pool. New
// returns an error if p is nil or if o.Layout makes no sense.
func New(p *pgxpool.Pool, o Options) (*Adapter, error) {
	if p == nil {
		return nil, errNoPool
	}
	store, err := sqlstore.New(conn{&pool{Pool: p}}, sqlstore.Postgres, o.Layout)
	if err != nil {
		return nil, err
	}
	if tell := o.NewUser; tell != nil {
		store = store.OnNewUser(func(ctx context.Context, tx sqlstore.Conn, u storage.User) error {
			return tell(ctx, tx.(conn).on.(pgx.Tx), u) // which begin made
		})
	}
	return &Adapter{store}, nil
}

// Bind returns an adapter that works in tx, a transaction of the caller's, and sees what
// tx has done. The adapter never commits or rolls back tx: its InTx is a savepoint, and
// all that it does is gone if the caller rolls tx back. It may be used until tx ends, by
// one goroutine at a time.
func (a *Adapter) Bind(tx pgx.Tx) *Adapter { return &Adapter{a.Store.Bind(conn{tx})} }

// Migrate brings a database to the newest schema: from nothing, from an earlier
// version, or from the schema of Auth.js. It runs in one transaction. Any number of
// instances may call it at the same time. Its arguments are those of [New]; of the
// Options it uses the Layout. [sqlstore.Migrate] says what it does and which errors
// it returns, and [sqlstore.Schema] has the statements.
func Migrate(ctx context.Context, p *pgxpool.Pool, o Options) error {
	if p == nil {
		return errNoPool
	}
	return sqlstore.Migrate(ctx, conn{&pool{Pool: p}}, sqlstore.Postgres, o.Layout)
}

// Reindex writes the folded names that users are searched by, where they are missing or out
// of date, and returns how many it wrote, also beside an error. Call it after an upgrade that
// adds them, and again when no older program runs any more. See [sqlstore.Reindex].
func Reindex(ctx context.Context, p *pgxpool.Pool, o Options) (int, error) {
	if p == nil {
		return 0, errNoPool
	}
	return sqlstore.Reindex(ctx, conn{&pool{Pool: p}}, sqlstore.Postgres, o.Layout)
}

// Check returns nil if [Migrate] would begin, and a [*sqlstore.ViolationError], a
// [*sqlstore.MisfitError] or [sqlstore.ErrForeignSchema] if it would refuse. Other errors are
// about an argument or the database. Check changes nothing, but may read whole tables.
func Check(ctx context.Context, p *pgxpool.Pool, o Options) error {
	if p == nil {
		return errNoPool
	}
	return sqlstore.Check(ctx, conn{&pool{Pool: p}}, sqlstore.Postgres, o.Layout)
}

// Detect reports which program's users the current schema of a connection has, and which
// layout fits their tables. See [sqlstore.Detect].
func Detect(ctx context.Context, p *pgxpool.Pool) (sqlstore.Found, error) {
	if p == nil {
		return sqlstore.Found{}, errNoPool
	}
	return sqlstore.Detect(ctx, conn{&pool{Pool: p}}, sqlstore.Postgres)
}
