package sqlstore

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// Store is an adapter with every ability that a database with transactions needs: all but
// [storage.SignUpAdapter]. Make one with [New]. It is safe for concurrent use if its Conn
// is, by any number of processes.
//
// Its methods do what the interfaces of package storage say. While the tables do not fit
// the layout, they return a [*MisfitError]. If the layout lacks the table that a method
// needs, the method returns an [errors.ErrUnsupported]. A method that finds a session by
// an old plain token replaces that token in the database by its hash.
type Store struct {
	db       *database
	users    users
	sessions sessions
	passkeys passkeys
}

var (
	_ storage.SessionAdapter           = (*Store)(nil)
	_ storage.SessionListAdapter       = (*Store)(nil)
	_ storage.VerificationTokenAdapter = (*Store)(nil)
	_ storage.AccountAdapter           = (*Store)(nil)
	_ storage.UserDeletionAdapter      = (*Store)(nil)
	_ storage.AuthenticatorAdapter     = (*Store)(nil)
	_ storage.TxAdapter                = (*Store)(nil)
	_ storage.SweepAdapter             = (*Store)(nil)
	_ storage.RevocationStore          = (*Store)(nil)
	_ storage.SessionStore             = (*Store)(nil)
	_ storage.ReturningLimiter         = (*Store)(nil)
	_ storage.ReplayStore              = (*Store)(nil)
	_ storage.TokenAdapter             = (*Store)(nil)
	_ storage.TokenSharer              = (*Store)(nil)
	_ storage.AccountWalker            = (*Store)(nil)
	_ storage.LeaseStore               = (*Store)(nil)
	_ storage.DirectoryAdapter         = (*Store)(nil)
	_ storage.SuspensionAdapter        = (*Store)(nil)
	_ storage.ActivityAdapter          = (*Store)(nil)
	_ storage.SessionRenewalAdapter    = (*Store)(nil)
	_ storage.ProviderLogoutAdapter    = (*Store)(nil)
	_ storage.FactorAdapter            = (*Store)(nil)
	_ storage.ChallengeAdapter         = (*Store)(nil)
	_ storage.BrowserAdapter           = (*Store)(nil)
	_ storage.PasswordAdapter          = (*Store)(nil)
	_ storage.AuditAdapter             = (*Store)(nil)
)

// New returns a store in the database that conn reaches. It sends nothing to the
// database yet, which may come up later. The first call compares the tables with
// the layout. If they do not fit, that call and all others return a
// [*MisfitError] until they do. An unknown dialect, or a layout that makes no
// sense, is an error.
func New(conn Conn, d Dialect, wanted Layout) (*Store, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if err := wanted.check(); err != nil {
		return nil, err
	}
	return storeIn(newDatabase(conn, wanted.grammar(d), wanted.Unindexed), wanted.PlainTokens, nil), nil
}

// storeIn returns a store that uses a database or a transaction. It calls created
// for each new user, unless that is nil.
func storeIn(db *database, plainTokens bool, created newUserFunc) *Store {
	return &Store{db: db, users: users{db, created}, sessions: sessions{db, plainTokens}, passkeys: passkeys{db}}
}

// Bind returns a store with statements that are part of tx, a transaction of the caller's.
// That store commits nothing and rolls nothing back: its own transactions are savepoints.
// It retries nothing, since only the caller can run tx again. It may be used until tx
// ends, by one goroutine at a time.
func (s *Store) Bind(tx Conn) *Store {
	return storeIn(s.db.in(tx), s.sessions.plain, s.users.created)
}

// OnNewUser returns a copy of s that calls f, and no function of an earlier OnNewUser, in
// the transaction that stores a new user. u is the user as stored. f may be called again
// after a serialization failure. An error of f rolls the transaction back. CreateUser
// then returns an error with its text, which wraps it unless it is an ErrConflict or an
// ErrNotFound.
func (s *Store) OnNewUser(f func(ctx context.Context, tx Conn, u storage.User) error) *Store {
	return storeIn(s.db, s.sessions.plain, f)
}

// InTx implements [storage.TxAdapter]. It returns an error of f as it is, and may
// call f up to twenty times. Transactions see what others have committed meanwhile
// (READ COMMITTED, or what SQLite has instead). A transaction in a transaction is
// a savepoint.
func (s *Store) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	err := s.db.tx(ctx, func(tx *database) error {
		if own := f(storeIn(tx, s.sessions.plain, s.users.created)); own != nil {
			return &runError{own}
		}
		return nil
	})
	if run, ok := errors.AsType[*runError](err); ok { // no later run has failed before it called f
		if _, misfit := errors.AsType[*MisfitError](err); !misfit {
			return run.error
		}
	}
	return fail(ctx, "transaction", err)
}

// runError wraps what the function of a transaction has returned in one run, not what the
// database said before or after it. The runs of InTx share nothing else, so that the
// error of an earlier run cannot be taken for that of the last one.
type runError struct{ error }

// Unwrap returns the error that the function has returned.
func (r *runError) Unwrap() error { return r.error }

// DBSystem returns the name of the database for traces: "postgresql", "mysql" or
// "sqlite".
func (s *Store) DBSystem() string {
	if s.db.layout.dialect == Postgres {
		return "postgresql"
	}
	return string(s.db.layout.dialect)
}
