package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/latchkeyhq/latchkey/storage"
)

// inspector compares the tables of a database with a layout, and remembers what
// their columns take. It is safe for concurrent use.
type inspector struct {
	layout    grammar
	unindexed bool
	learned   atomic.Pointer[bounds] // nil: not known yet
}

// inspect compares the tables with the layout. It returns a [*MisfitError] if they do not
// fit, and errors of the driver as they are. Without all, dispensable tables may be
// missing. If the tables fit, it stores what their columns take in i.learned.
func (i *inspector) inspect(ctx context.Context, c Conn, all bool) error {
	f, err := i.layout.fit(ctx, c, i.unindexed, all)
	if err == nil && len(f.misfits) == 0 {
		i.learned.Store(&f.bounds)
	}
	return cmp.Or(err, asError(f.misfits))
}

// inspectedConn is a Conn that inspects the tables before they are first used,
// and again when the database reports that one is missing. It sends no statement
// until the tables fit. From then on it costs nothing.
type inspectedConn struct {
	Conn
	inspect func(ctx context.Context, all bool) error // returns a *MisfitError if the tables do not fit

	fits    atomic.Bool
	lock    sync.Mutex
	running *inspection // nil: none is running
}

// inspection is one inspection. All callers that need it wait for it.
type inspection struct {
	done      chan struct{}
	abandoned bool // the context of the caller that runs it has ended
	err       error
}

// Exec implements Conn. It returns a [*MisfitError] if the tables do not fit.
func (c *inspectedConn) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	if err := c.wait(ctx); err != nil {
		return 0, err
	}
	n, err := c.Conn.Exec(ctx, statement, args...)
	return n, c.explain(ctx, err)
}

// One implements Conn. It returns a [*MisfitError] if the tables do not fit.
func (c *inspectedConn) One(ctx context.Context, statement string, args []any, dest ...any) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	return c.explain(ctx, c.Conn.One(ctx, statement, args, dest...))
}

// Each implements Conn. It returns a [*MisfitError] if the tables do not fit.
func (c *inspectedConn) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	return c.explain(ctx, c.Conn.Each(ctx, statement, args, row))
}

// Tx implements Conn. It inspects the tables outside of the transaction.
func (c *inspectedConn) Tx(ctx context.Context, f func(Conn) error) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	return c.explain(ctx, c.Conn.Tx(ctx, f))
}

// wait returns nil if the tables are known to fit. Otherwise it waits for the inspection
// that is running, or runs one, and returns the error of that inspection, such as a
// [*MisfitError]. If ctx ends while it waits for another caller's inspection, it returns
// the error of ctx.
func (c *inspectedConn) wait(ctx context.Context) error {
	for !c.fits.Load() {
		c.lock.Lock()
		if c.fits.Load() { // an inspection ended meanwhile
			c.lock.Unlock()
			return nil
		}
		i := c.running
		mine := i == nil
		if mine {
			i = &inspection{done: make(chan struct{})}
			c.running = i
		}
		c.lock.Unlock()
		if mine {
			c.run(ctx, i)
			return i.err
		}
		select {
		case <-i.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !i.abandoned {
			return i.err
		}
	}
	return nil
}

// run carries out the inspection i, sets i.err, and then wakes the callers that wait for
// it. It leaves i abandoned if ctx has ended or the driver panics: one of the others then
// inspects. If the database cannot tell which tables it has (see unaskable), they are
// taken to fit.
func (c *inspectedConn) run(ctx context.Context, i *inspection) {
	i.abandoned = true // a driver may panic
	defer func() {
		c.lock.Lock()
		c.running = nil
		c.lock.Unlock()
		close(i.done)
	}()
	i.err = c.inspect(ctx, false)
	i.abandoned = i.err != nil && ctx.Err() != nil
	if unaskable(i.err) {
		i.err = nil
	}
	if i.err == nil {
		c.fits.Store(true)
	}
}

// unaskable reports whether err, of an inspection, means that the database cannot tell
// which tables it has, as some relatives of PostgreSQL cannot. Callers then take the
// tables to fit. It returns false for nil and for a [*MisfitError].
func unaskable(err error) bool {
	_, misfit := errors.AsType[*MisfitError](err)
	if err == nil || misfit {
		return false
	}
	_, code := diagnose(err)
	return strings.HasPrefix(code, "SQLSTATE 42") || strings.HasPrefix(code, "SQLSTATE 0A")
}

// explain returns err as it is, or nil for nil, unless the database reported with it that
// a table or column is missing. In that case it inspects all tables, dispensable ones
// too, and returns a [*MisfitError] that names what is missing, or err if nothing is. The
// next statement then inspects the tables again.
func (c *inspectedConn) explain(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, storage.ErrNotFound) || !is(err, absent) {
		return err
	}
	c.fits.Store(false)
	if misfit, found := errors.AsType[*MisfitError](c.inspect(ctx, true)); found {
		return misfit
	}
	return err
}
