package sqlstore

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/latchkeyhq/latchkey"
)

// meeting is a Conn that looks at the tables before they are first used, and
// again when one turns out to be missing. Until they fit, nothing is asked of
// them; once they do, it costs nothing.
type meeting struct {
	Conn
	look func(ctx context.Context, all bool) error // nil, or a *MisfitError if they do not fit

	fits  atomic.Bool
	lock  sync.Mutex
	under *looking // under way; nil: nobody is looking
}

// looking is one look, for all who wait for it.
type looking struct {
	over      chan struct{}
	abandoned bool // the context of the one who looked has ended
	err       error
}

// Exec implements Conn.
func (m *meeting) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	if err := m.meet(ctx); err != nil {
		return 0, err
	}
	n, err := m.Conn.Exec(ctx, statement, args...)
	return n, m.explain(ctx, err)
}

// One implements Conn.
func (m *meeting) One(ctx context.Context, statement string, args []any, dest ...any) error {
	if err := m.meet(ctx); err != nil {
		return err
	}
	return m.explain(ctx, m.Conn.One(ctx, statement, args, dest...))
}

// Each implements Conn.
func (m *meeting) Each(ctx context.Context, statement string, args []any, row func(func(...any) error) error) error {
	if err := m.meet(ctx); err != nil {
		return err
	}
	return m.explain(ctx, m.Conn.Each(ctx, statement, args, row))
}

// Tx implements Conn. The tables are looked at outside of the transaction.
func (m *meeting) Tx(ctx context.Context, f func(Conn) error) error {
	if err := m.meet(ctx); err != nil {
		return err
	}
	return m.explain(ctx, m.Conn.Tx(ctx, f))
}

// meet waits for the look that is under way, or looks itself.
func (m *meeting) meet(ctx context.Context) error {
	for !m.fits.Load() {
		m.lock.Lock()
		if m.fits.Load() { // a look ended since
			m.lock.Unlock()
			return nil
		}
		l := m.under
		mine := l == nil
		if mine {
			l = &looking{over: make(chan struct{})}
			m.under = l
		}
		m.lock.Unlock()
		if mine {
			m.examine(ctx, l)
			return l.err
		}
		select {
		case <-l.over:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !l.abandoned {
			return l.err
		}
	}
	return nil
}

func (m *meeting) examine(ctx context.Context, l *looking) {
	l.abandoned = true // a driver may panic
	defer func() {
		m.lock.Lock()
		m.under = nil
		m.lock.Unlock()
		close(l.over)
	}()
	l.err = m.look(ctx, false)
	l.abandoned = l.err != nil && ctx.Err() != nil
	if unaskable(l.err) {
		l.err = nil
	}
	if l.err == nil {
		m.fits.Store(true)
	}
}

// unaskable reports a relative of PostgreSQL that cannot be asked what tables it
// has. It is believed.
func unaskable(err error) bool {
	_, misfit := errors.AsType[*MisfitError](err)
	if err == nil || misfit {
		return false
	}
	_, code := diagnose(err)
	return strings.HasPrefix(code, "SQLSTATE 42") || strings.HasPrefix(code, "SQLSTATE 0A")
}

// explain finds out what is missing, where the database says that something is.
func (m *meeting) explain(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, latchkey.ErrNotFound) || !is(err, absent) {
		return err
	}
	m.fits.Store(false)
	if misfit, found := errors.AsType[*MisfitError](m.look(ctx, true)); found {
		return misfit
	}
	return err
}
