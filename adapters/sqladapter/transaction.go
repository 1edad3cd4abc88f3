package sqladapter

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// maxRollback is how long a rollback may take if the database does not answer.
const maxRollback = 500 * time.Millisecond

// transaction is the sqlstore.Conn of one transaction, or of a savepoint in it. It is
// good for one goroutine at a time.
type transaction struct {
	on         Runner
	bind       func(context.Context, *sql.Stmt) *sql.Stmt // nil: statements are not shared with it
	statements *statements
	depth      int
	locks      *bool // MySQL: whether it holds some; nil: nothing would release them
}

var _ sqlstore.Locker = (*transaction)(nil)

// errNotLocked reports a lock that another transaction held for too long.
var errNotLocked = errors.New("sqladapter: another transaction holds the lock")

// lockWait is how long a lock is waited for, in seconds.
const lockWait = 10

// Lock implements sqlstore.Locker, for MySQL alone. It returns errNotLocked if another
// transaction still holds the lock after lockWait seconds. lockingTx releases the lock.
// In a transaction of [Adapter.Bind] nothing would, and Lock returns an
// [errors.ErrUnsupported].
func (t *transaction) Lock(ctx context.Context, name string) error {
	if t.locks == nil {
		return errors.ErrUnsupported
	}
	var got sql.NullInt64
	if err := t.One(ctx, "SELECT GET_LOCK(?, ?)", []any{name, lockWait}, &got); err != nil {
		return err
	}
	if got.Int64 != 1 {
		return errNotLocked
	}
	*t.locks = true
	return nil
}

// querier returns the statement for this transaction. It uses a prepared statement if the
// pool has one, and prepares none itself.
func (t *transaction) querier(ctx context.Context, statement string) querier {
	q := querier{on: t.on, statement: statement}
	if t.bind != nil {
		if made := t.statements.peek(statement); made != nil {
			q.made = t.bind(ctx, made)
		}
	}
	return q
}

// Exec implements sqlstore.Conn.
func (t *transaction) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return t.querier(ctx, statement).exec(ctx, args)
}

// One implements sqlstore.Conn.
func (t *transaction) One(ctx context.Context, statement string, args []any, dest ...any) error {
	return t.querier(ctx, statement).one(ctx, args, dest)
}

// Each implements sqlstore.Conn.
func (t *transaction) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	return t.querier(ctx, statement).each(ctx, args, row)
}

// Tx implements sqlstore.Conn. It calls f in a savepoint of the transaction. If f returns
// an error or panics, Tx rolls back to the savepoint, also if ctx has ended, and the
// transaction goes on.
func (t *transaction) Tx(ctx context.Context, f func(sqlstore.Conn) error) error {
	inner := *t
	inner.depth++
	name := "latchkey_" + strconv.Itoa(inner.depth)
	if _, err := t.on.ExecContext(ctx, "SAVEPOINT "+name); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // a cancelled context must not keep the rest from going on
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxRollback)
			defer cancel()
			_, _ = t.on.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+name)
			_, _ = t.on.ExecContext(ctx, "RELEASE SAVEPOINT "+name)
		}
	}()
	if err := f(&inner); err != nil {
		return err
	}
	if _, err := t.on.ExecContext(ctx, "RELEASE SAVEPOINT "+name); err != nil {
		return err
	}
	done = true
	return nil
}
