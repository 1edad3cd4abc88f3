package pgxadapter

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// conn is a pool or a transaction as a store sees it.
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
	return tag.RowsAffected(), err
}

// One implements sqlstore.Conn.
func (c conn) One(ctx context.Context, statement string, args []any, dest ...any) error {
	err := c.on.QueryRow(ctx, statement, args...).Scan(dest...)
	if errors.Is(err, pgx.ErrNoRows) {
		return latchkey.ErrNotFound
	}
	return err
}

// Each implements sqlstore.Conn.
func (c conn) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	rows, err := c.on.Query(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Tx implements sqlstore.Conn.
func (c conn) Tx(ctx context.Context, f func(sqlstore.Conn) error) error {
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

func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxRollback)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// begin starts a transaction, or a savepoint in the one there is.
func (c conn) begin(ctx context.Context) (pgx.Tx, error) {
	pool, isPool := c.on.(interface {
		BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error)
	})
	if isPool {
		return pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	}
	return c.on.Begin(ctx)
}
