package sqlstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// goingDown begins one transaction, and after it none.
type goingDown struct {
	Conn
	begun *bool
}

var errBegin = errors.New("the server shuts down")

func (g goingDown) Tx(_ context.Context, f func(Conn) error) error {
	if *g.begun {
		return errBegin
	}
	*g.begun = true
	return f(g)
}

// refusing begins one transaction, and after it none because of conflicts.
type refusing struct{ goingDown }

var errRefused = errors.New("Error 1205 (HY000): Lock wait timeout exceeded")

func (r refusing) Tx(ctx context.Context, f func(Conn) error) error {
	if *r.begun {
		return errRefused
	}
	return r.goingDown.Tx(ctx, f)
}

// TestInTxReturnsTheErrorOfItsLastRun is where each later run fails with
// a conflict before it begins.
func TestInTxReturnsTheErrorOfItsLastRun(t *testing.T) {
	deadlock, own := errors.New("Error 1213 (40001): Deadlock found"), errors.New("the application's own")
	for _, c := range []struct {
		conn      Conn
		own, want error
	}{
		{goingDown{begun: new(bool)}, deadlock, errBegin},
		{goingDown{begun: new(bool)}, own, own},
		{refusing{goingDown{begun: new(bool)}}, deadlock, errRefused},
		{refusing{goingDown{begun: new(bool)}}, own, own},
	} {
		s := storeOn(t, retryConn{c.conn}, MySQL)
		err := s.InTx(t.Context(), func(storage.Adapter) error { return c.own })
		if !errors.Is(err, c.want) || errors.Is(err, deadlock) {
			t.Errorf("%T, f returned %v: got error %v, want %v", c.conn, c.own, err, c.want)
		}
	}
}

// halfDown finds no hashed token, and breaks when it is asked for a plain one.
type halfDown struct {
	Conn
	fault error
}

func (halfDown) Exec(context.Context, string, ...any) (int64, error) { return 0, nil }

func (h halfDown) One(_ context.Context, statement string, _ []any, _ ...any) error {
	if strings.Contains(statement, " IN (") {
		return h.fault
	}
	return storage.ErrNotFound
}

// TestFaultsAreNotNobody: R-109, where the question for an old plain token fails, so does
// the call: a session that cannot be looked for is not one that has ended.
func TestFaultsAreNotNobody(t *testing.T) {
	fault := errors.New("the connection is lost")
	for want, conn := range map[error]halfDown{fault: {fault: fault}, storage.ErrNotFound: {fault: storage.ErrNotFound}} {
		s := storeOn(t, conn, SQLite)
		s.db.inspector.learned.Store(&bounds{})
		_, _, errBoth := s.GetSessionAndUser(t.Context(), "token")
		_, errGet := s.GetSession(t.Context(), "token")
		_, errEnd := s.DeleteSession(t.Context(), "token")
		errRenew := s.UpdateSession(t.Context(), "token", time.Now())
		for what, err := range map[string]error{"GetSessionAndUser": errBoth, "GetSession": errGet, "DeleteSession": errEnd, "UpdateSession": errRenew} {
			if !errors.Is(err, want) || errors.Is(err, storage.ErrNotFound) != errors.Is(want, storage.ErrNotFound) {
				t.Errorf("%s: got error %v, want %v", what, err, want)
			}
		}
	}
}
