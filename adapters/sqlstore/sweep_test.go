package sqlstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// swept is a Conn with many expired sessions and nothing else.
type swept struct {
	Conn
	left   int64
	cancel context.CancelFunc
}

// Exec removes what a statement may, and lets the deadline pass.
func (s *swept) Exec(ctx context.Context, statement string, _ ...any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !strings.Contains(statement, `"sessions"`) || !strings.Contains(statement, "LIMIT 10000") {
		return 0, nil
	}
	n := min(s.left, sweepBatch)
	if s.left -= n; s.cancel != nil {
		s.cancel()
	}
	return n, nil
}

func sweptStore(t *testing.T, conn Conn) *Store {
	t.Helper()
	s, err := New(conn, SQLite, Layout{})
	if err != nil {
		t.Fatal(err)
	}
	s.db.conn = conn // there are no tables to inspect
	return s
}

func TestSweepInBatches(t *testing.T) {
	t.Run("R-361 until nothing is left, and all are counted", func(t *testing.T) {
		c := &swept{left: 2*sweepBatch + 1}
		if n, err := sweptStore(t, c).Sweep(t.Context(), time.Now()); err != nil || n != 2*sweepBatch+1 || c.left != 0 {
			t.Errorf("removed %d, %d left, error %v", n, c.left, err)
		}
	})
	t.Run("R-361 what was done before the deadline stays done", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &swept{left: 2 * sweepBatch, cancel: cancel}
		if n, err := sweptStore(t, c).Sweep(ctx, time.Now()); !errors.Is(err, context.Canceled) || n != sweepBatch {
			t.Errorf("removed %d, error %v", n, err)
		}
	})
}
