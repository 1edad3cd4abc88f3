package sqladapter

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// a read that meets a lock is repeated only before its first row, so that no row
// comes twice.
func TestRowsComeOnce(t *testing.T) {
	for _, c := range []struct {
		name        string
		lockedAfter int // rows of the first read
		rows, reads int
		fails       bool
	}{
		{"before the first row", 0, 3, 2, false},
		{"after the first row", 1, 1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &lockedDriver{lockedAfter: c.lockedAfter}
			db := sql.OpenDB(d)
			t.Cleanup(func() { _ = db.Close() })
			rows := 0
			err := newPool(db, SQLite, false).Each(t.Context(), "SELECT", nil, func(scan func(...any) error) error {
				rows++
				return scan(new(int))
			})
			if sqlstore.Busy(err) != c.fails || !c.fails && err != nil {
				t.Errorf("error %v", err)
			}
			if rows != c.rows || d.reads != c.reads {
				t.Errorf("%d rows in %d reads, want %d in %d", rows, d.reads, c.rows, c.reads)
			}
		})
	}
}

// lockedDriver is a database of three rows, of which the first read meets a lock.
type lockedDriver struct{ lockedAfter, reads int }

func (d *lockedDriver) Connect(context.Context) (driver.Conn, error) { return &lockedConn{d: d}, nil }
func (d *lockedDriver) Driver() driver.Driver                        { return nil }

type lockedConn struct {
	driver.Conn
	d *lockedDriver
}

func (c *lockedConn) Close() error { return nil }

func (c *lockedConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	c.d.reads++
	if c.d.reads == 1 {
		return &lockedRows{end: errLocked{}, left: c.d.lockedAfter}, nil
	}
	return &lockedRows{end: io.EOF, left: 3}, nil
}

type lockedRows struct {
	end  error
	left int
}

func (r *lockedRows) Columns() []string { return []string{"n"} }
func (r *lockedRows) Close() error      { return nil }

func (r *lockedRows) Next(to []driver.Value) error {
	if r.left == 0 {
		return r.end
	}
	to[0], r.left = int64(r.left), r.left-1
	return nil
}

// errLocked is SQLITE_BUSY.
type errLocked struct{}

func (errLocked) Error() string { return "database is locked" }
func (errLocked) Code() int     { return 5 }

// an adapter from Bind can be bound again.
func TestBindTwice(t *testing.T) {
	db := sql.OpenDB(&lockedDriver{})
	t.Cleanup(func() { _ = db.Close() })
	a, err := New(db, SQLite, Options{})
	if err != nil {
		t.Fatal(err)
	}
	bound := a.Bind(&sql.Tx{}).Bind(&sql.Tx{})
	if bound == nil || bound.Close() != nil {
		t.Errorf("bound twice: %v", bound)
	}
}
