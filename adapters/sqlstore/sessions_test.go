package sqlstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

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
