package sqlstore

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// idle is a Conn whose statements do nothing.
type idle struct{ Conn }

func (idle) Exec(context.Context, string, ...any) (int64, error) { return 1, nil }

func TestInspectedConn(t *testing.T) {
	t.Run("R-364 a hundred first callers share one look", func(t *testing.T) {
		var looks atomic.Int64
		all, release := make(chan struct{}, 100), make(chan struct{})
		m := &inspectedConn{Conn: idle{}, inspect: func(context.Context, bool) error { looks.Add(1); <-release; return nil }}
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				all <- struct{}{}
				if _, err := m.Exec(t.Context(), "UPDATE"); err != nil {
					t.Error(err)
				}
			})
		}
		for range 100 {
			<-all
		}
		close(release)
		callers.Wait()
		if _, err := m.Exec(t.Context(), "UPDATE"); err != nil || looks.Load() != 1 {
			t.Errorf("%d looks, error %v", looks.Load(), err)
		}
	})
	t.Run("R-364 a database that comes up later is looked at then", func(t *testing.T) {
		down := errors.New("nobody answers")
		m := &inspectedConn{Conn: idle{}, inspect: func(context.Context, bool) error { return down }}
		if _, err := m.Exec(t.Context(), "UPDATE"); !errors.Is(err, down) {
			t.Errorf("while it is down: %v", err)
		}
		down = nil
		if _, err := m.Exec(t.Context(), "UPDATE"); err != nil {
			t.Errorf("once it is up: %v", err)
		}
	})
	t.Run("a caller who gives up does not answer for the others", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := make(chan struct{})
		var once sync.Once
		m := &inspectedConn{Conn: idle{}, inspect: func(ctx context.Context, _ bool) error {
			first := false
			once.Do(func() { first = true })
			if !first {
				return nil
			}
			close(began)
			<-ctx.Done()
			return ctx.Err()
		}}
		var gone, stays sync.WaitGroup
		gone.Go(func() {
			if _, err := m.Exec(ctx, "UPDATE"); !errors.Is(err, context.Canceled) {
				t.Errorf("who gave up: %v", err)
			}
		})
		<-began
		stays.Go(func() {
			if _, err := m.Exec(t.Context(), "UPDATE"); err != nil {
				t.Errorf("who stayed: %v", err)
			}
		})
		cancel()
		gone.Wait()
		stays.Wait()
	})
	t.Run("a relative that cannot be asked is believed", func(t *testing.T) {
		m := &inspectedConn{Conn: idle{}, inspect: func(context.Context, bool) error { return state("42883") }}
		if _, err := m.Exec(t.Context(), "UPDATE"); err != nil {
			t.Error(err)
		}
	})
	t.Run("R-323 what is missing later is looked for, and named", func(t *testing.T) {
		m := &inspectedConn{Conn: missing{}, inspect: func(_ context.Context, all bool) error {
			if !all {
				return nil
			}
			return asError([]Misfit{{Table: "revocations", Problem: "there is no such table"}})
		}}
		_, err := m.Exec(t.Context(), "UPDATE")
		if err = fail(t.Context(), "revoke", err); !strings.Contains(err.Error(), "sql: revoke: ") || !strings.Contains(err.Error(), "revocations: there is no such table") {
			t.Error(err)
		}
	})
}

// missing lacks every table.
type missing struct{ Conn }

func (missing) Exec(context.Context, string, ...any) (int64, error) { return 0, state("42P01") }

// state is an error of PostgreSQL.
type state string

func (s state) Error() string    { return "hunter2" }
func (s state) SQLState() string { return string(s) }

func TestLayoutAsText(t *testing.T) {
	for want, l := range map[string]Layout{
		"sqlstore.Layout{}":                         {},
		"sqlstore.AuthJS()":                         AuthJS(),
		"sqlstore.Layout{\n\tPlainTokens: true,\n}": {PlainTokens: true},
		"sqlstore.Layout{\n\tNames: map[string]string{\n\t\t\"users\": \"User\", \"users.extra\": \"\",\n\t},\n}": {Names: map[string]string{"users": "User", "users.extra": ""}},
	} {
		if got := l.GoString(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
