package sqlstore

import (
	"context"
	"math/rand/v2"
	"time"
)

// mostRuns is how often something is run that the database wants tried again.
const mostRuns = 10

// again is a Conn that tries again what the database itself asks to be tried
// again: of transactions that got in each other's way it chose this one to give
// up. Galera, CockroachDB and TiDB say so at the commit. A transaction is run
// again as a whole.
type again struct{ Conn }

// Exec implements Conn.
func (a again) Exec(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = untilThrough(ctx, func() error { n, err = a.Conn.Exec(ctx, statement, args...); return err })
	return n, err
}

// One implements Conn.
func (a again) One(ctx context.Context, statement string, args []any, dest ...any) error {
	return untilThrough(ctx, func() error { return a.Conn.One(ctx, statement, args, dest...) })
}

// Each implements Conn. Rows that were seen are not seen twice.
func (a again) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	seen, last := false, error(nil)
	err := untilThrough(ctx, func() error {
		last = a.Conn.Each(ctx, statement, args, func(scan func(...any) error) error {
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
func (a again) Tx(ctx context.Context, f func(Conn) error) error {
	return untilThrough(ctx, func() error { return a.Conn.Tx(ctx, f) })
}

// untilThrough runs f again, after pauses that grow, while that is what the
// database asks for. It ends early when ctx does.
func untilThrough(ctx context.Context, f func() error) error {
	wait := 2 * time.Millisecond
	for run := 1; ; run++ {
		err := f()
		if run == mostRuns || !is(err, conflict) {
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
