package sqladapter

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
)

// TestStatementsWaitForNoConnection: a caller whose statement another caller has
// prepared meanwhile goes on at once, though the connection of its own one is busy.
// The statement that keeps it busy may wait for a transaction that needs the list.
func TestStatementsWaitForNoConnection(t *testing.T) {
	d := &busyDriver{preparing: make(chan bool), busy: make(chan bool), free: make(chan bool)}
	db := sql.OpenDB(d)
	t.Cleanup(func() { _ = db.Close() })
	t.Cleanup(func() { close(d.free) })
	faster, err := db.PrepareContext(t.Context(), "at once")
	if err != nil {
		t.Fatal(err)
	}
	s := &statements{db: db, made: map[string]*sql.Stmt{}}

	got := make(chan *sql.Stmt)
	go func() {
		made, _ := s.get(t.Context(), "x")
		got <- made
	}()
	<-d.preparing
	s.lock.Lock()
	<-d.preparing
	for db.Stats().Idle != 1 { // prepared, and not in the list
		time.Sleep(time.Millisecond)
	}
	go func() { _, _ = db.ExecContext(context.Background(), "keep busy") }()
	<-d.busy
	s.made["x"] = faster
	s.lock.Unlock()

	select {
	case made := <-got:
		if made != faster {
			t.Error("two statements are used")
		}
	case <-time.After(race.Patience(time.Minute)):
		t.Fatal("it waits for a connection that is busy")
	}
	if s.peek("x") != faster {
		t.Error("the list has another one")
	}
}

// busyDriver is a database that says when it prepares and when it is busy, which it
// is until it is free.
type busyDriver struct{ preparing, busy, free chan bool }

func (d *busyDriver) Connect(context.Context) (driver.Conn, error) { return busyConn{d}, nil }
func (d *busyDriver) Driver() driver.Driver                        { return nil }

type busyConn struct{ d *busyDriver }

func (c busyConn) Close() error              { return nil }
func (c busyConn) Begin() (driver.Tx, error) { return nil, errors.ErrUnsupported }

func (c busyConn) Prepare(statement string) (driver.Stmt, error) {
	if statement != "at once" {
		c.d.preparing <- true
		c.d.preparing <- true
	}
	return busyStmt{}, nil
}

func (c busyConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	c.d.busy <- true
	<-c.d.free
	return driver.RowsAffected(0), nil
}

type busyStmt struct{}

func (busyStmt) Close() error                               { return nil }
func (busyStmt) NumInput() int                              { return -1 }
func (busyStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (busyStmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errors.ErrUnsupported }
