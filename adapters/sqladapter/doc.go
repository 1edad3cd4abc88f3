// Package sqladapter keeps users, accounts and sessions in a database that
// database/sql reaches: PostgreSQL, MariaDB and MySQL, or SQLite. It brings no
// driver.
//
//	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
//	…
//	err = sqladapter.Migrate(ctx, db, sqladapter.Postgres, sqladapter.Options{})
//	…
//	store, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{})
//	…
//	auth, err := latchkey.New(latchkey.Config{Adapter: store, Providers: …})
//
// A database that the PostgreSQL adapter of Auth.js uses can be shared with it,
// with the layout [sqlstore.AuthJS], or taken over, with [Migrate]. [Detect]
// reports what a database has. Layouts, schemas and what an [Adapter] does are
// package sqlstore's.
//
// # SQLite
//
// SQLite has one writer at a time. Writers of one Adapter wait for one another
// in line; writers of other processes are waited for up to five seconds. Let
// readers and writers pass each other with the write-ahead log, and let every
// connection wait too; with modernc.org/sqlite:
//
//	sql.Open("sqlite", "file:auth.db?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_pragma=synchronous(NORMAL)&_txlock=immediate")
//
// A database in memory exists once for each connection, so it needs
// db.SetMaxOpenConns(1).
//
// # MySQL and MariaDB
//
// Instants are stored as numbers, so the parameters parseTime, loc and
// time_zone of a connection do not matter. Transactions are READ COMMITTED.
//
// # Deadlines
//
// A call whose context ends returns at once. The server may still carry out the
// statement, as it may when a connection breaks. Use a transaction for changes that
// belong together.
//
// # Errors
//
// Errors name the operation and the database's code, never values, statements
// or connection settings. [errors.As] finds the driver's error, which may have them;
// do not log it.
package sqladapter
