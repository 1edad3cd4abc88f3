package sqlstore

import (
	"context"
	"math/rand/v2"
	"time"
)

// maxRuns is how often a statement or a transaction is run at most.
const maxRuns = 20

// retryConn is a Conn that retries deadlocks and serialization failures. Galera,
// CockroachDB and TiDB report them at the commit. It runs a transaction again as
// a whole.
type retryConn struct{ Conn }

// Exec implements Conn.
func (c retryConn) Exec(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = retry(ctx, func() error { n, err = c.Conn.Exec(ctx, statement, args...); return err })
	return n, err
}

// One implements Conn.
func (c retryConn) One(ctx context.Context, statement string, args []any, dest ...any) error {
	return retry(ctx, func() error { return c.Conn.One(ctx, statement, args, dest...) })
}

// Each implements Conn. It does not retry once row has been called, so that row
// sees no row twice.
func (c retryConn) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	seen, last := false, error(nil)
	err := retry(ctx, func() error {
		last = c.Conn.Each(ctx, statement, args, func(scan func(...any) error) error {
			seen = true
			return row(scan)
		})
		if seen {
			return nil
		}
		return last
	})
	if seen {
		return last
	}
	return err
}

// Tx implements Conn.
func (c retryConn) Tx(ctx context.Context, f func(Conn) error) error {
	return retry(ctx, func() error { return c.Conn.Tx(ctx, f) })
}

// retry calls f, and calls it again after growing pauses while it returns an error of the
// kind conflict: maxRuns times in all, and not after the end of ctx. It returns what the
// last call of f returned.
func retry(ctx context.Context, f func() error) error {
	wait := 2 * time.Millisecond
	for run := 1; ; run++ {
		err := f()
		if run == maxRuns || !is(err, conflict) {
			return err
		}
		select {
		case <-time.After(wait + rand.N(wait)):
		case <-ctx.Done():
			return err
		}
		wait = min(2*wait, 100*time.Millisecond)
	}
}
