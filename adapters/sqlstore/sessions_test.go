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

// TestInTxReturnsTheErrorOfItsLastRun is R-694.
func TestInTxReturnsTheErrorOfItsLastRun(t *testing.T) {
	deadlock, own := errors.New("Error 1213 (40001): Deadlock found"), errors.New("the application's own")
	for f, want := range map[error]error{deadlock: errBegin, own: own} {
		s := storeOn(t, retryConn{goingDown{begun: new(bool)}}, MySQL)
		err := s.InTx(t.Context(), func(storage.Adapter) error { return f })
		if !errors.Is(err, want) || errors.Is(err, deadlock) {
			t.Errorf("f returned %v: got error %v, want %v", f, err, want)
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
