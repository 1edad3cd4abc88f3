package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
	"github.com/latchkeyhq/latchkey/storage"
)

// Sweep implements [storage.SweepAdapter]. It removes at most some thousands of
// rows at a time, each time in a transaction of its own, so that other
// transactions do not wait for long. A batch that ctx cuts off has neither
// removed nor counted a row. On SQLite a batch has some hundred rows, and Sweep
// rests after it for as long as it took, since there is one writer at a time. If
// the deadline of ctx leaves no time for another batch, Sweep returns a
// [storage.ErrUnfinished]. If expiries are kept in another form than the layout
// says, it removes nothing and returns the same [*MisfitError] as any other call.
func (s *Store) Sweep(ctx context.Context, before time.Time) (int, error) {
	total, err := s.db.sweep(ctx, before, newBroom(ctx, s.db.layout.dialect))
	return total, fail(ctx, "sweep", err)
}

// sweep removes expired rows table by table, in batches that b decides on. It returns how
// many rows it removed, also beside an error. It skips tables that do not exist.
func (db *database) sweep(ctx context.Context, before time.Time, b *broom) (total int, err error) {
	for _, statement := range db.q.sweep {
		for n := int64(1); n > 0; total += int(n) { // of a partitioned table a batch may be any number
			n, err = b.batch(ctx, func(rows int) (int64, error) { return db.sweepOnce(ctx, statement, before, rows) })
			if errors.Is(err, errors.ErrUnsupported) { // tables of a later version have nothing to be removed
				break
			}
			if err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// maxCommit is how long a commit may take after the end of the caller's context.
const maxCommit = 5 * time.Second

// sweepOnce removes at most rows expired rows of one table in one transaction, and
// returns how many. If ctx ends before the rows are removed, the transaction is rolled
// back. Once they are removed, the end of ctx does not interrupt the commit, since
// nothing tells whether an interrupted commit took effect. The commit then has maxCommit.
// Beside an error sweepOnce returns 0.
func (db *database) sweepOnce(ctx context.Context, s sweep, before time.Time, rows int) (n int64, err error) {
	inner, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stop := context.AfterFunc(ctx, end)
	defer stop()
	err = db.tx(inner, func(tx *database) error {
		n, err = tx.conn.Exec(inner, s.sql, s.arg(before.Add(-s.late)), rows)
		if err == nil && !stop() {
			err = ctx.Err()
		}
		if err == nil {
			time.AfterFunc(maxCommit, end)
		}
		return err
	})
	if err != nil {
		n = 0 // it is rolled back
	}
	return n, err
}

// broom decides how many rows a batch has, when it begins, and whether it does.
type broom struct {
	rows, most int
	longest    time.Duration // of the batches so far
	deadline   time.Time     // zero: there is none
	now        func() time.Time
	rest       func(context.Context, time.Duration) // after a batch; nil: there is none
}

const (
	fewestRows = 100
	firstRows  = 500
	mostRows   = 10_000
	mostSQLite = 500

	quickBatch = 50 * time.Millisecond // the next one is larger
	slowBatch  = 4 * quickBatch        // the next one is smaller
)

// newBroom returns a broom that keeps the deadline of ctx. On SQLite it makes
// smaller batches and rests after each.
func newBroom(ctx context.Context, d Dialect) *broom {
	b := &broom{rows: firstRows, most: mostRows, now: time.Now}
	b.deadline, _ = ctx.Deadline()
	if d == SQLite {
		b.most, b.rest = mostSQLite, rest
	}
	return b
}

// batch calls remove with how many rows it may remove, and returns what remove returned.
// It adapts that number to how long remove took, and on SQLite rests for as long. It does
// not call remove if ctx has ended, and returns the error of ctx. It does not call remove
// and returns [storage.ErrUnfinished] if a batch that takes twice as long as the longest
// so far would not end before the deadline.
func (b *broom) batch(ctx context.Context, remove func(rows int) (int64, error)) (int64, error) {
	begun := b.now()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !b.deadline.IsZero() && b.longest > 0 && begun.Add(2*b.longest).After(b.deadline) {
		return 0, storage.ErrUnfinished
	}
	n, err := remove(b.rows)
	took := b.now().Sub(begun)
	b.longest = max(b.longest, took)
	switch {
	case took < quickBatch:
		b.rows = min(2*b.rows, b.most)
	case took > slowBatch:
		b.rows = max(b.rows/2, fewestRows)
	}
	if b.rest != nil && n > 0 {
		b.rest(ctx, took)
	}
	return n, err
}

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// sweep is the statement that removes rows that expired before an instant, which is its
// first argument. The second is how many it removes at most.
type sweep struct {
	sql string
	form
	late time.Duration // how long after its expiry a row is kept
}

// sweep returns the statement that removes expired rows of a table. expiry is the column
// with the expiry, such as "sessions.expires". Rows with an expiry in another form than
// the layout's stay. In a partitioned table of PostgreSQL different rows have the same
// ctid, so the statement compares the expiry twice.
func (l grammar) sweep(table, expiry string) sweep {
	kept, late := l.formOf(table), time.Duration(0)
	if table == "leases" {
		late = abandonedFor
	}
	expired := `WHERE {` + expiry + `} < ?`
	if p := kept.pattern(); p != "" { // what cannot be read stays
		expired += ` AND {` + expiry + `} LIKE '` + p + `'`
	}
	switch l.dialect {
	case Postgres:
		batch := `ARRAY(SELECT ctid FROM {` + table + `} ` + expired + ` LIMIT ?)`
		statement := l.sql(`DELETE FROM {` + table + `} ` + expired + ` AND ctid = ANY(` + batch + `)`)
		return sweep{strings.NewReplacer("$2", "$1", "$3", "$2").Replace(statement), kept, late}
	case MySQL:
		return sweep{l.sql(`DELETE FROM {` + table + `} ` + expired + ` LIMIT ?`), kept, late}
	}
	var key []string
	for _, c := range model.Of(table).Key {
		key = append(key, `{`+table+`.`+c+`}`)
	}
	columns := strings.Join(key, ", ")
	return sweep{l.sql(fmt.Sprintf(`DELETE FROM {%s} WHERE (%s) IN (SELECT %s FROM {%s} %s AND typeof({%s}) = '%s' LIMIT ?)`,
		table, columns, columns, table, expired, expiry, kept.storage())), kept, late}
}
