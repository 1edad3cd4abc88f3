package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
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
	if err := wanted.check(d); err != nil {
		return nil, err
	}
	l := wanted.grammar(d)
	look := func(ctx context.Context, all bool) error {
		misfits, err := l.misfits(ctx, conn, wanted.Unindexed, all)
		return cmp.Or(err, asError(misfits))
	}
	met := &meeting{Conn: again{conn}, look: look}
	return &Store{grammar: l, conn: met, q: l.queries(), plain: wanted.PlainTokens, unindexed: wanted.Unindexed}, nil
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
		if present {
			places = append(places, row[i])
		}
	}
	return places
}

// add inserts a row. A row that a unique key refuses is [latchkey.ErrConflict],
// one whose user does not exist [latchkey.ErrNotFound].
func (s *Store) add(ctx context.Context, in insert, row ...any) error {
	if err := in.fits(row); err != nil {
		return err
	}
	n, err := s.conn.Exec(ctx, in.sql, in.args(row)...)
	switch {
	case err == nil && n == 0, is(err, unique):
		return latchkey.ErrConflict
	case is(err, foreign), is(err, malformed):
		return latchkey.ErrNotFound
	}
	return err
}

// claim runs f while no other caller claims the same key, and reports
// ErrConflict when the statement finds the key taken. It stands in for a
// unique index that may be missing.
func (s *Store) claim(ctx context.Context, f func(*Store) error, statement string, key ...any) error {
	if !s.unindexed {
		return f(s)
	}
	return s.tx(ctx, func(tx *Store) error {
		var none string
		lock := []any{"latchkey " + fmt.Sprintf("%q", append([]any{statement}, key...))}
		if err := tx.conn.One(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text", lock, &none); err != nil {
			return err
		}
		taken := false
		err := tx.conn.Each(ctx, statement, key, func(func(...any) error) error {
			taken = true
			return nil
		})
		if err == nil && taken {
			err = latchkey.ErrConflict
		}
		if err != nil {
			return err
		}
		return f(tx)
	})
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
var errText = errors.New("a text is too long or has characters that the database cannot hold")

// fits reports texts that the database would refuse, or that MySQL, where it is
// not strict, would cut off.
func (in insert) fits(row []any) error {
	for i, v := range row {
		text, isText := v.(string)
		if !isText || !in.takes[i] {
			continue
		}
		if !findable(text) || in.widths[i] > 0 && len(text) > int(in.widths[i]) {
			return errText
		}
	}
	return nil
}

// Sweep implements [latchkey.SweepAdapter]. It removes some thousands of rows at
// a time, each time in a transaction of its own, so that it holds nobody up and
// keeps what it has done when ctx ends. It is the same [*MisfitError] as any other
// call, and removes nothing, where expiries are kept in another form.
func (s *Store) Sweep(ctx context.Context, before time.Time) (total int, err error) {
	for _, statement := range s.q.sweep {
		for n := int64(1); n > 0; total += int(n) { // of a partitioned table a batch may be any number
			n, err = s.conn.Exec(ctx, statement, s.dialect.time(before))
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
