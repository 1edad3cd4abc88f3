package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// swept is a Conn with many expired sessions and nothing else. A batch takes time, and
// one that outlives the deadline is cut off and rolled back.
type swept struct {
	Conn
	left     int64
	now      time.Time
	deadline time.Time
	each     func(rows int) time.Duration // how long a batch takes
	begun    []int                        // the rows of each batch
	rests    []time.Duration
	cancel   context.CancelFunc // called during the second batch
}

// Tx runs one batch.
func (s *swept) Tx(_ context.Context, f func(Conn) error) error {
	before := s.left
	err := f(s)
	if err == nil && !s.deadline.IsZero() && s.now.After(s.deadline) {
		err = context.DeadlineExceeded
	}
	if err != nil {
		s.left = before
	}
	return err
}

// Exec removes what a statement may.
func (s *swept) Exec(_ context.Context, statement string, args ...any) (int64, error) {
	if !strings.Contains(statement, "sessions") {
		return 0, nil
	}
	rows := args[1].(int)
	s.begun = append(s.begun, rows)
	if s.each != nil {
		s.now = s.now.Add(s.each(rows))
	}
	n := min(s.left, int64(rows))
	if s.left -= n; s.cancel != nil && len(s.begun) == 2 {
		s.cancel()
	}
	return n, nil
}

// storeOn returns a store whose tables are not inspected: there are none.
func storeOn(t *testing.T, conn Conn, d Dialect) *Store {
	t.Helper()
	s, err := New(conn, d, Layout{})
	if err != nil {
		t.Fatal(err)
	}
	s.db.conn = conn
	return s
}

// sweep sweeps by the clock of the Conn.
func (s *swept) sweep(t *testing.T, ctx context.Context, d Dialect) (int, error) {
	t.Helper()
	store := storeOn(t, s, d)
	b := newBroom(ctx, d)
	b.now, b.deadline = func() time.Time { return s.now }, s.deadline
	if b.rest != nil {
		b.rest = func(_ context.Context, d time.Duration) { s.rests, s.now = append(s.rests, d), s.now.Add(d) }
	}
	return store.db.sweep(ctx, s.now, b)
}

func TestSweepInBatches(t *testing.T) {
	for _, d := range []Dialect{Postgres, SQLite} {
		t.Run(string(d)+": R-361 until nothing is left, and all are counted", func(t *testing.T) {
			c := &swept{left: 25_001}
			if n, err := c.sweep(t, t.Context(), d); err != nil || n != 25_001 || c.left != 0 {
				t.Errorf("removed %d, %d left, error %v", n, c.left, err)
			}
		})
		t.Run(string(d)+": R-361 what was done before the end stays done", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			c := &swept{left: 25_000, cancel: cancel}
			if n, err := c.sweep(t, ctx, d); !errors.Is(err, context.Canceled) || n != firstRows || c.left != 25_000-firstRows {
				t.Errorf("removed %d, %d left, error %v", n, c.left, err)
			}
		})
	}
	t.Run("R-542 on SQLite a batch is small, and others write for as long as it took", func(t *testing.T) {
		c := &swept{left: 100_000, each: func(rows int) time.Duration { return time.Duration(rows) * 20 * time.Microsecond }}
		if _, err := c.sweep(t, t.Context(), SQLite); err != nil {
			t.Fatal(err)
		}
		for i, rows := range c.begun {
			if took := c.each(rows); rows > mostSQLite || i < len(c.rests) && c.rests[i] < took {
				t.Fatalf("batch %d had %d rows in %v, and rested for %v", i, rows, took, c.rests[i])
			}
		}
		if len(c.rests) < len(c.begun)-1 {
			t.Errorf("%d rests after %d batches", len(c.rests), len(c.begun))
		}
	})
}

// TestSweepCountsWhatItRemoved: R-543, for databases of random speed and random
// deadlines. Batches of one size, begun as long as there is any time left, fail it at
// once: the last is cut off at the deadline, and its rows are gone uncounted or the
// database is left with its work.
func TestSweepCountsWhatItRemoved(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		start := time.Now()
		each := time.Duration(1+random.IntN(200)) * time.Microsecond
		rows := int64(random.IntN(200_000))
		c := &swept{left: rows, now: start, each: func(rows int) time.Duration { return time.Duration(rows) * each }}
		c.deadline = start.Add(time.Second + time.Duration(random.IntN(10_000))*time.Millisecond)
		n, err := c.sweep(t, t.Context(), []Dialect{Postgres, MySQL, SQLite}[random.IntN(3)])
		what := fmt.Sprintf("%d rows, %v each, in %v: removed %d, %d left, error %v", rows, each, c.deadline.Sub(start), n, c.left, err)
		if int64(n)+c.left != rows {
			t.Errorf("R-543 %s", what)
		}
		if c.left > 0 && !errors.Is(err, storage.ErrUnfinished) || c.left == 0 && err != nil && !errors.Is(err, storage.ErrUnfinished) {
			t.Errorf("R-543 %s", what)
		}
	}
}
