package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey/storage"
)

// Locker is an optional interface of a [Conn] that is a transaction of MySQL. A [Layout]
// with Unindexed needs it.
type Locker interface {
	// Lock waits until no other transaction holds the lock of that name, and then holds it until
	// the transaction has ended. The name has at most 64 characters. Lock returns an
	// [errors.ErrUnsupported] if the Conn does not end the transaction itself.
	Lock(ctx context.Context, name string) error
}

// errNoLocker reports a transaction that the caller ends, and not the adapter.
var errNoLocker = errors.New("on MySQL Layout.Unindexed works only in transactions of the adapter's own")

// claimed returns the name of a claim, for claim. what says what has to be unique, and
// value is the value. The name depends on neither the layout nor the statement, so that
// all callers that want the value wait for the same lock.
func claimed(what string, value ...string) string {
	return fmt.Sprintf("%s %q", what, value)
}

// claim stands in for a unique index that may be missing. With Layout.Unindexed it calls
// f in a transaction, while no other caller of this package claims the same name. It does
// not call f and returns ErrConflict if the statement with the arguments key finds a row.
// Without Layout.Unindexed it only calls f with db. It returns errors of f as they are,
// and those of lock.
func (db *database) claim(ctx context.Context, f func(*database) error, name, statement string, key ...any) error {
	if !db.unindexed {
		return f(db)
	}
	return db.tx(ctx, func(tx *database) error {
		if err := tx.lock(ctx, name); err != nil {
			return err
		}
		taken := false
		err := tx.conn.Each(ctx, statement, key, func(func(...any) error) error {
			taken = true
			return nil
		})
		if err == nil && taken {
			err = storage.ErrConflict
		}
		if err != nil {
			return err
		}
		return f(tx)
	})
}

// lock waits until no other transaction has claimed the name, and keeps other claims of
// it out until this transaction ends. db is bound to a transaction. On MySQL lock returns
// errNoLocker if the adapter does not end the transaction itself. SQLite needs no lock:
// its transactions begin as writers.
func (db *database) lock(ctx context.Context, name string) error {
	switch db.layout.dialect {
	case Postgres:
		var none string
		return db.conn.One(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text", []any{"latchkey " + name}, &none)
	case MySQL:
		locker, is := bare(db.conn).(Locker)
		if !is {
			return errNoLocker
		}
		sum := sha256.Sum256([]byte(name))
		err := locker.Lock(ctx, "latchkey "+hex.EncodeToString(sum[:20]))
		if errors.Is(err, errors.ErrUnsupported) {
			return errNoLocker
		}
		return err
	}
	return nil
}
