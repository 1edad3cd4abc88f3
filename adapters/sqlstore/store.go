package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey"
)

// Store is an adapter with every ability a database with transactions needs:
// all but [latchkey.SignUpAdapter]. Make one with [New]. It is safe for
// concurrent use if its Conn is, by any number of processes.
type Store struct {
	grammar
	conn      Conn
	q         *queries
	plain     bool
	unindexed bool
	bound     bool
	newUser   func(ctx context.Context, tx Conn, u latchkey.User) error // nil: nobody is told
	learned   *atomic.Pointer[bounds]                                   // what the tables take; nil: not known yet
	look      func(ctx context.Context, c Conn, all bool) error         // looks at the tables
	repeats   *sync.Map                                                 // of exactConn
}

var (
	_ latchkey.SessionAdapter           = (*Store)(nil)
	_ latchkey.SessionListAdapter       = (*Store)(nil)
	_ latchkey.VerificationTokenAdapter = (*Store)(nil)
	_ latchkey.AccountAdapter           = (*Store)(nil)
	_ latchkey.UserDeletionAdapter      = (*Store)(nil)
	_ latchkey.AuthenticatorAdapter     = (*Store)(nil)
	_ latchkey.TxAdapter                = (*Store)(nil)
	_ latchkey.SweepAdapter             = (*Store)(nil)
	_ latchkey.RevocationStore          = (*Store)(nil)
	_ latchkey.SessionStore             = (*Store)(nil)
	_ latchkey.ReturningLimiter         = (*Store)(nil)
	_ latchkey.ReplayStore              = (*Store)(nil)
)

// New returns a store in the database that conn reaches. It asks nothing of it
// yet: the database may come up later. The first call looks at the tables, once
// for all, and what does not fit the layout is a [*MisfitError], then and at
// every call until it fits. An unknown dialect, or a layout that makes no sense,
// is an error.
func New(conn Conn, d Dialect, wanted Layout) (*Store, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if err := wanted.check(); err != nil {
		return nil, err
	}
	l := wanted.grammar(d)
	s := &Store{grammar: l, q: l.queries(), plain: wanted.PlainTokens, unindexed: wanted.Unindexed, learned: &atomic.Pointer[bounds]{}, repeats: &sync.Map{}}
	s.look = func(ctx context.Context, c Conn, all bool) error {
		f, err := l.fit(ctx, c, wanted.Unindexed, all)
		if err == nil && len(f.misfits) == 0 {
			s.learned.Store(&f.bounds)
		}
		return cmp.Or(err, asError(f.misfits))
	}
	s.conn = s.comparing(&meeting{Conn: retryConn{conn}, look: func(ctx context.Context, all bool) error { return s.look(ctx, conn, all) }})
	return s, nil
}

// InTx implements [latchkey.TxAdapter]. Transactions see what others have
// committed meanwhile (READ COMMITTED, or what SQLite has instead). A
// transaction in a transaction is a savepoint.
func (s *Store) InTx(ctx context.Context, f func(latchkey.Adapter) error) error {
	own := error(nil) // what f said is passed on as it is
	err := s.tx(ctx, func(tx *Store) error {
		own = f(tx)
		return own
	})
	if _, misfit := errors.AsType[*MisfitError](err); own != nil && !misfit {
		return own
	}
	return fail(ctx, "transaction", err)
}

func (s *Store) tx(ctx context.Context, f func(*Store) error) error {
	return s.conn.Tx(ctx, func(c Conn) error {
		return f(s.Bind(c))
	})
}

// guarded runs a statement that may fail where others of the same transaction
// are to go on: PostgreSQL refuses them after a failure, but for a savepoint.
func (s *Store) guarded(ctx context.Context, f func(*Store) error) error {
	if s.bound && s.dialect == Postgres {
		return s.tx(ctx, f)
	}
	return f(s)
}

// into leaves out the places of columns that are not read. What they would have
// held is zero.
func (s *Store) into(table string, row []any) []any {
	places := row[:0]
	for i, present := range s.q.present[table] {
		if at, is := row[i].(*instant); is {
			at.of = &s.form
		}
		if present {
			places = append(places, row[i])
		}
	}
	return places
}

// add inserts a row. A row that a unique key refuses is [latchkey.ErrConflict],
// one whose user does not exist [latchkey.ErrNotFound].
func (s *Store) add(ctx context.Context, in insert, row ...any) error {
	if err := s.fits(ctx, in, row); err != nil {
		return err
	}
	n, err := s.conn.Exec(ctx, in.sql, s.args(in, row)...)
	switch {
	case err == nil && n == 0, is(err, unique):
		return latchkey.ErrConflict
	case is(err, orphan), is(err, malformed):
		return latchkey.ErrNotFound
	}
	return err
}

// take removes one row and reads what it was into dest: in one statement where
// the database can, else the row that the deletion found is the one it removed.
func (s *Store) take(ctx context.Context, table, read, remove string, key []any, dest ...any) error {
	if s.dialect.returning() {
		return s.conn.One(ctx, remove+" RETURNING "+s.read(table, ""), key, dest...)
	}
	if err := s.conn.One(ctx, read, key, dest...); err != nil {
		return err
	}
	n, err := s.conn.Exec(ctx, remove, key...)
	if err == nil && n == 0 {
		return latchkey.ErrNotFound // somebody else was faster
	}
	return err
}

// findable says whether the database can hold all the texts, so that it is
// worth asking for them. What it cannot hold, it would answer with an error.
func findable(texts ...string) bool {
	for _, text := range texts {
		if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// errText says nothing of the text: it may be a token.
var errText = errors.New("a text has characters that the database cannot hold")

// Sweep implements [latchkey.SweepAdapter]. It removes some thousands of rows at
// a time, each time in a transaction of its own, so that it holds nobody up and
// keeps what it has done when ctx ends. It is the same [*MisfitError] as any other
// call, and removes nothing, where expiries are kept in another form.
func (s *Store) Sweep(ctx context.Context, before time.Time) (total int, err error) {
	for _, statement := range s.q.sweep {
		for n := int64(1); n > 0; total += int(n) { // of a partitioned table a batch may be any number
			n, err = s.conn.Exec(ctx, statement.sql, statement.arg(before))
			if errors.Is(err, errors.ErrUnsupported) { // tables of a later version have nothing to be removed
				break
			}
			if err != nil {
				return total, fail(ctx, "sweep", err)
			}
		}
	}
	return total, nil
}
