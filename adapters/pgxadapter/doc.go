// Package pgxadapter keeps users, accounts and sessions in PostgreSQL, through
// a pool of pgx connections.
//
//	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
//	…
//	err = pgxadapter.Migrate(ctx, pool, pgxadapter.Options{})
//	…
//	store, err := pgxadapter.New(pool, pgxadapter.Options{})
//	…
//	auth, err := latchkey.New(latchkey.Config{Adapter: store, Providers: …})
//
// A database that the PostgreSQL adapter of Auth.js uses can be shared with it,
// with the layout [sqlstore.AuthJS], or taken over, with [Migrate]. [Detect]
// reports what a database has. Layouts, schemas and what an [Adapter] does are
// package sqlstore's, so this adapter and sqladapter can be exchanged.
//
// In the tables that [Migrate] makes, the id of a user is text. A table of the
// application refers to it with
//
//	user_id text REFERENCES users (id) ON DELETE CASCADE
//
// Statements are prepared by pgx, once for each connection. Behind PgBouncer
// before 1.21 in transaction mode set DefaultQueryExecMode of the pool's
// configuration to pgx.QueryExecModeCacheDescribe.
//
// Errors name the operation and the SQLSTATE, never values, statements or
// connection settings. [errors.As] finds the driver's error, which may have them; do
// not log it.
package pgxadapter
