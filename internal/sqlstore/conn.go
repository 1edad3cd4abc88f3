package sqlstore

import "context"

// Conn is a database, or one transaction in it. Statements are few and always
// the same, so that they are worth preparing. Its errors are the driver's own.
type Conn interface {
	// Exec says how many rows a statement changed.
	Exec(ctx context.Context, statement string, args ...any) (int64, error)
	// One reads the one row that a statement returns into dest; without a row it
	// is [latchkey.ErrNotFound].
	One(ctx context.Context, statement string, args []any, dest ...any) error
	// Each calls row for each row that a statement returns.
	Each(ctx context.Context, statement string, args []any, row func(scan func(dest ...any) error) error) error
	// Tx calls f with one transaction, or with a savepoint of the one there is.
	// An error of f, or a panic, rolls it back and is passed on.
	Tx(ctx context.Context, f func(Conn) error) error
}
