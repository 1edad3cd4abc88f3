package pgxadapter

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// conn is the sqlstore.Conn of a pool or a transaction.
type conn struct {
	on interface {
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
		Begin(ctx context.Context) (pgx.Tx, error)
	}
}

// Exec implements sqlstore.Conn.
func (c conn) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	tag, err := c.on.Exec(ctx, statement, args...)
	return tag.RowsAffected(), c.seen(err)
}

// One implements sqlstore.Conn.
func (c conn) One(ctx context.Context, statement string, args []any, dest ...any) error {
	err := c.on.QueryRow(ctx, statement, args...).Scan(dest...)
	if errors.Is(err, pgx.ErrNoRows) {
		return storage.ErrNotFound
	}
	return c.seen(err)
}

// seen returns err as it is. If err shows that the server behind a connection cannot
// serve, it first resets the pool, since other connections most likely lead to that
// server, too. In a transaction it resets nothing.
func (c conn) seen(err error) error {
	if p, isPool := c.on.(*pool); isPool && sqlstore.Unfit(err) {
		p.resetOnce()
	}
	return err
}

// pool remembers its last reset, so that a database that cannot serve does not get
// a storm of new connections.
type pool struct {
	*pgxpool.Pool
	lastReset atomic.Int64 // in nanoseconds
}

const betweenResets = time.Second

// resetOnce has the pool close all its connections, those in use as soon as they are
// returned. It does nothing if that was done less than betweenResets ago.
func (p *pool) resetOnce() {
	last, now := p.lastReset.Load(), time.Now().UnixNano()
	if now-last > int64(betweenResets) && p.lastReset.CompareAndSwap(last, now) {
		p.Reset()
	}
}

// Each implements sqlstore.Conn.
func (c conn) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	rows, err := c.on.Query(ctx, statement, args...)
	if err != nil {
		return c.seen(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return c.seen(rows.Err())
}

// Tx implements sqlstore.Conn.
func (c conn) Tx(ctx context.Context, f func(sqlstore.Conn) error) error {
	return c.seen(c.tx(ctx, f))
}

// tx commits what f did if f returns nil and ctx has not ended. It does not reset the pool.
func (c conn) tx(ctx context.Context, f func(sqlstore.Conn) error) error {
	tx, err := c.begin(ctx)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // an error, a panic, or runtime.Goexit; a cancelled context must not keep it from ending
			rollback(ctx, tx)
		}
	}()
	if err := f(conn{tx}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done = true
	return tx.Commit(ctx)
}

// maxRollback is how long a rollback may take. One that takes longer ends the
// connection, which undoes as much.
const maxRollback = 500 * time.Millisecond

// rollback rolls tx back, even if ctx has ended. It takes maxRollback at most, and
// ignores errors.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxRollback)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// begin starts a transaction (READ COMMITTED) on a pool, or a savepoint in a
// transaction.
func (c conn) begin(ctx context.Context) (pgx.Tx, error) {
	pool, isPool := c.on.(interface {
		BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error)
	})
	if isPool {
		return pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	}
	return c.on.Begin(ctx)
}
