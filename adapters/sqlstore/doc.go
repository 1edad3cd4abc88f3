// Package sqlstore is what the SQL adapters of Latchkey share: the schema and
// its migrations, every statement in three dialects, and the meaning of what a
// database answers. It opens no connection and brings no driver.
//
// Most programs use an adapter that is made of it, sqladapter for database/sql
// or pgxadapter for pgx, and need of this package a [Layout] at most: [AuthJS],
// or names of their own. Those who run migrations by other means take the
// statements from [Schema].
//
// # An adapter for another driver
//
// Implement [Conn], four methods, and embed the [Store] that [New] returns:
//
//	type Adapter struct{ *sqlstore.Store }
//
//	func New(db *driver.DB) (*Adapter, error) {
//		store, err := sqlstore.New(conn{db}, sqlstore.Postgres, sqlstore.Layout{})
//		if err != nil {
//			return nil, err
//		}
//		return &Adapter{store}, nil
//	}
//
// [Migrate], [Check] and [Detect] take the same Conn. Then let the adapter
// suite of package latchkeytest prove the result. pgxadapter is the shortest
// example.
//
// # Errors
//
// What the contract of [latchkey.Adapter] has a word for is
// [latchkey.ErrNotFound] or [latchkey.ErrConflict], and [errors.ErrUnsupported]
// where the layout has no table. All others name the operation and the
// database's code, never values, statements or connection settings. The
// driver's error, which may have them, is what [errors.As] finds; do not log
// it.
package sqlstore
