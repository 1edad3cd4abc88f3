package sqlstore

import "context"

// Conn is a database, or one transaction in it. Adapters implement it. It gets no
// further methods. A Conn that is a database has to be safe for concurrent use.
//
// Statements are few and always the same, so that they are worth preparing.
// Arguments are nil, bool, int, int64, string and, on PostgreSQL, [time.Time].
// Destinations are pointers to bool, int, int64 and string, and implementations
// of [database/sql.Scanner].
//
// Its errors are the driver's own, wrapped or not. What they mean is decided by
// a method SQLState() string (PostgreSQL), by a method Code() int (SQLite), or
// by a text that begins with "Error 1062", say (MySQL).
type Conn interface {
	// Exec returns how many rows a statement added, changed or removed.
	Exec(ctx context.Context, statement string, args ...any) (int64, error)
	// One reads the one row that a statement returns into dest. It returns
	// [storage.ErrNotFound] if there is no row.
	One(ctx context.Context, statement string, args []any, dest ...any) error
	// Each calls row for each row that a statement returns. An error of row
	// ends it and is passed on.
	Each(ctx context.Context, statement string, args []any, row func(scan func(dest ...any) error) error) error
	// Tx calls f with one transaction (READ COMMITTED, or what SQLite has
	// instead, beginning as a writer), or with a savepoint of the one there is.
	// An error of f, a panic, or the end of ctx rolls it back and is passed on.
	Tx(ctx context.Context, f func(Conn) error) error
}
