// Package sqlstore has what the SQL adapters of Latchkey share: the schema and its
// migrations, every statement in three dialects, and the meaning of a database's
// errors. It opens no connection and brings no driver.
//
// Most programs use an adapter that is built on it, sqladapter for database/sql or
// pgxadapter for pgx. Of this package they need a [Layout] at most: [AuthJS], or
// names of their own. Programs that run migrations by other means take the
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
// [Migrate], [Check] and [Detect] take the same Conn. Test the result with
// storagetest.TestAdapter and storagetest.TestStores. pgxadapter is the shortest
// example.
//
// # Errors
//
// A store returns [storage.ErrNotFound] and [storage.ErrConflict] as
// [storage.Adapter] says, and an [errors.ErrUnsupported] if the layout has no
// table. All other errors name the operation and the database's code, never values,
// statements or connection settings. [errors.As] finds the driver's error, which
// may have them; do not log it.
package sqlstore
