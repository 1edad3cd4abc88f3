package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey"
)

// Locker is a Conn that is a transaction of MySQL. [Layout].Unindexed asks it.
type Locker interface {
	// Lock waits until nobody else holds the lock of that name, and holds it
	// until the transaction has ended. The name has at most 64 characters. It is
	// an [errors.ErrUnsupported] where others end the transaction.
	Lock(ctx context.Context, name string) error
}

// errNoLocker is about a transaction that others will end.
var errNoLocker = errors.New("on MySQL Layout.Unindexed works only in transactions of the adapter's own")

// claimed names what has to be unique, and a value of it. It is the same whatever the
// layout and the statement, so that all who want the value stand in one line.
func claimed(what string, value ...string) string {
	return fmt.Sprintf("%s %q", what, value)
}

// claim runs f while no other caller claims the same, and reports ErrConflict when
// the statement finds it taken. It stands in for a unique index that may be missing.
func (s *Store) claim(ctx context.Context, f func(*Store) error, name, statement string, key ...any) error {
	if !s.unindexed {
		return f(s)
	}
	return s.tx(ctx, func(tx *Store) error {
		if err := tx.lock(ctx, name); err != nil {
			return err
		}
		taken := false
		err := tx.conn.Each(ctx, statement, key, func(func(...any) error) error {
			taken = true
			return nil
		})
		if err == nil && taken {
			err = latchkey.ErrConflict
		}
		if err != nil {
			return err
		}
		return f(tx)
	})
}

// lock keeps other claims of a name out until the transaction ends. SQLite needs
// none: its transactions begin as writers.
func (s *Store) lock(ctx context.Context, name string) error {
	switch s.dialect {
	case Postgres:
		var none string
		return s.conn.One(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text", []any{"latchkey " + name}, &none)
	case MySQL:
		locker, is := bare(s.conn).(Locker)
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
