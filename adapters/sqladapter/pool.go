package sqladapter

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// maxLockWait is how long a statement that met a lock is retried.
const maxLockWait = 5 * time.Second

// pool is the sqlstore.Conn of a database.
type pool struct {
	db         *sql.DB
	dialect    sqlstore.Dialect
	statements *statements
	writer     chan struct{} // SQLite: held by the one writer; nil: there are many
	emptied    atomic.Int64  // when idle connections were last closed, in nanoseconds
}

// betweenEmptying is the time between two closings of idle connections, so that a
// database that cannot serve does not get a storm of new connections.
const betweenEmptying = time.Second

// newPool returns the pool of a database. With prepare it prepares each statement once,
// when the statement is first used. It sends nothing to the database yet.
func newPool(db *sql.DB, d sqlstore.Dialect, prepare bool) *pool {
	p := &pool{db: db, dialect: d, statements: &statements{made: map[string]*sql.Stmt{}}}
	if prepare {
		p.statements.db = db
	}
	if d == SQLite {
		p.writer = make(chan struct{}, 1)
	}
	return p
}

// Exec implements sqlstore.Conn. See run for locks and retries.
func (p *pool) Exec(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = p.run(ctx, statement, func(q querier) error { n, err = q.exec(ctx, args); return err })
	return n, err
}

// One implements sqlstore.Conn. See run for locks and retries.
func (p *pool) One(ctx context.Context, statement string, args []any, dest ...any) error {
	return p.run(ctx, statement, func(q querier) error { return q.one(ctx, args, dest) })
}

// Each implements sqlstore.Conn. See run for locks and retries. If a read of SQLite meets
// a lock after its first row, Each returns that error: a retry would call row twice for
// the rows that came.
func (p *pool) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	seen, last := false, error(nil)
	err := p.run(ctx, statement, func(q querier) error {
		last = q.each(ctx, args, func(scan func(...any) error) error { seen = true; return row(scan) })
		if seen {
			return nil // run retries nothing
		}
		return last
	})
	if seen {
		return p.seen(ctx, last)
	}
	return err
}

// run calls f with one statement, which is prepared if the pool prepares any. On SQLite a
// statement that is no SELECT first waits until it is the one writer of this pool. run
// calls f again while f meets a lock of SQLite, for maxLockWait at most. If the error shows
// that a connection is unfit, run closes the idle connections, at most once a second.
func (p *pool) run(ctx context.Context, statement string, f func(querier) error) error {
	if p.writer != nil && !strings.HasPrefix(statement, "SELECT") {
		if err := p.lockWriter(ctx); err != nil {
			return err
		}
		defer p.unlockWriter()
	}
	err := retryLocked(ctx, func() error {
		made, err := p.statements.get(ctx, statement)
		if err != nil {
			return err
		}
		return f(querier{made, p.db, statement})
	})
	return p.seen(ctx, err)
}

// seen returns err as it is, which may be nil. If err shows that a connection is unfit,
// seen first closes the idle connections: they most likely are unfit, too, and package
// sql would hand them out for ever. It does so at most once in betweenEmptying. A
// connection that is in use is closed when its next statement fails.
func (p *pool) seen(ctx context.Context, err error) error {
	last, now := p.emptied.Load(), time.Now().UnixNano()
	if !sqlstore.Unfit(err) || now-last < int64(betweenEmptying) || !p.emptied.CompareAndSwap(last, now) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxRollback)
	defer cancel()
	for range p.db.Stats().Idle {
		conn, err := p.db.Conn(ctx)
		if err != nil {
			break
		}
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		_ = conn.Close()
	}
	return err
}

// lockWriter waits until the caller is the one writer of this pool. The caller then calls
// unlockWriter. If ctx ends first, lockWriter returns its error, and the caller must not
// call unlockWriter. lockWriter is for SQLite alone: in other pools it waits until ctx
// ends.
func (p *pool) lockWriter(ctx context.Context) error {
	select {
	case p.writer <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unlockWriter lets the next writer go on. Only the caller that lockWriter let through
// calls it.
func (p *pool) unlockWriter() { <-p.writer }

// Tx implements sqlstore.Conn. On SQLite the other writers of this pool wait until f has
// returned.
func (p *pool) Tx(ctx context.Context, f func(sqlstore.Conn) error) error {
	switch p.dialect {
	case SQLite:
		return p.sqliteTx(ctx, f)
	case MySQL:
		return p.seen(ctx, p.lockingTx(ctx, f))
	}
	return p.seen(ctx, p.serverTx(ctx, p.db, func(t *transaction) error { return f(t) }))
}

// lockingTx runs f in a transaction of MySQL, as serverTx does, on one connection. Locks
// of transaction.Lock belong to the connection, so lockingTx releases them when the
// transaction has ended.
func (p *pool) lockingTx(ctx context.Context, f func(sqlstore.Conn) error) error {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	locked := false
	defer func() {
		if locked {
			unlock(context.WithoutCancel(ctx), conn)
		}
	}()
	return p.serverTx(ctx, conn, func(t *transaction) error { t.locks = &locked; return f(t) })
}

// unlock releases all named locks of a connection of MySQL. If that fails, it has the
// pool drop the connection. It waits no longer than maxRollback.
func unlock(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(ctx, maxRollback)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "DO RELEASE_ALL_LOCKS()"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// beginner is a database, or one connection to it.
type beginner interface {
	BeginTx(ctx context.Context, o *sql.TxOptions) (*sql.Tx, error)
}

// serverTx calls f with a READ COMMITTED transaction, and commits it if f returns nil. If
// f returns an error or panics, it rolls back, and passes the error or panic on.
func (p *pool) serverTx(ctx context.Context, on beginner, f func(*transaction) error) error {
	tx, err := on.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // an error, a panic, or runtime.Goexit
			_ = tx.Rollback()
		}
	}()
	if err := f(p.in(tx)); err != nil {
		return err
	}
	done = true
	return tx.Commit()
}

// in returns the sqlstore.Conn of a transaction that the caller ends. A nil p has no
// prepared statements.
func (p *pool) in(tx *sql.Tx) *transaction {
	t := &transaction{on: tx, bind: tx.StmtContext, statements: &statements{}}
	if p != nil {
		t.statements = p.statements
	}
	return t
}

// sqliteTx calls f with a transaction of SQLite that begins as a writer, and commits it
// if f returns nil. If f returns an error or panics, it rolls back, and passes the error
// or panic on. A transaction that begins as a reader and then writes fails if another one
// wrote meanwhile, and no waiting helps. Package sql cannot begin a transaction as a
// writer, so sqliteTx sends the statements itself. It waits for other writers: those of
// this pool until ctx ends, and those of other programs for maxLockWait at each statement.
func (p *pool) sqliteTx(ctx context.Context, f func(sqlstore.Conn) error) error {
	if err := p.lockWriter(ctx); err != nil {
		return err
	}
	defer p.unlockWriter()
	var conn *sql.Conn
	if err := retryLocked(ctx, func() (err error) { conn, err = p.db.Conn(ctx); return err }); err != nil { // its pragmas may meet a lock
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := retryLocked(ctx, func() error { _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); return err }); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			rollback(context.WithoutCancel(ctx), conn)
		}
	}()
	if err := f(&transaction{on: conn}); err != nil {
		return err
	}
	if err := retryLocked(ctx, func() error { _, err := conn.ExecContext(ctx, "COMMIT"); return err }); err != nil {
		return err
	}
	done = true
	return nil
}

// rollback rolls the transaction of a connection of SQLite back. If that fails, it has
// the pool drop the connection.
func rollback(ctx context.Context, conn *sql.Conn) {
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// retryLocked calls f, and calls it again at growing intervals while it fails because
// another connection of SQLite is writing. Such a failure has no effect in the database.
// It stops when ctx ends or maxLockWait is over. It returns what the last call of f
// returned, joined with the error of ctx if that ended the wait.
func retryLocked(ctx context.Context, f func() error) error {
	err := f()
	if !sqlstore.Busy(err) {
		return err
	}
	end, wait := time.Now().Add(maxLockWait), time.Millisecond
	for sqlstore.Busy(err) && time.Now().Before(end) {
		select {
		case <-time.After(wait + rand.N(wait)):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
		wait = min(2*wait, 50*time.Millisecond)
		err = f()
	}
	return err
}

// querier is one statement: prepared, or as text with the connection to send it to.
type querier struct {
	made      *sql.Stmt
	on        Runner
	statement string
}

// exec runs the statement and returns how many rows it added, changed or removed.
func (q querier) exec(ctx context.Context, args []any) (int64, error) {
	var r sql.Result
	var err error
	if q.made != nil {
		r, err = q.made.ExecContext(ctx, args...)
	} else {
		r, err = q.on.ExecContext(ctx, q.statement, args...)
	}
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// one reads the first row that the statement returns into dest. It returns
// storage.ErrNotFound if there is none.
func (q querier) one(ctx context.Context, args, dest []any) error {
	var row *sql.Row
	if q.made != nil {
		row = q.made.QueryRowContext(ctx, args...)
	} else {
		row = q.on.QueryRowContext(ctx, q.statement, args...)
	}
	err := row.Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return storage.ErrNotFound
	}
	return err
}

// each calls row for each row that the statement returns. If row returns an error, each
// stops and returns that error.
func (q querier) each(ctx context.Context, args []any, row func(func(...any) error) error) error {
	var rows *sql.Rows
	var err error
	if q.made != nil {
		rows, err = q.made.QueryContext(ctx, args...)
	} else {
		rows, err = q.on.QueryContext(ctx, q.statement, args...)
	}
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
