package sqladapter_test

import (
	"context"
	"database/sql"
	"log"
	"os"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// A site with a database of its own. The driver is imported for its side
// effect, such as github.com/jackc/pgx/v5/stdlib.
func Example() {
	ctx := context.Background()
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	if err := sqladapter.Migrate(ctx, db, sqladapter.Postgres, sqladapter.Options{}); err != nil {
		log.Fatal(err)
	}
	store, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_ = store // latchkey.Config{Adapter: store, …}
}

// A site that shares its database with an Auth.js that is still running.
func ExampleNew_sharedWithAuthJS() {
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{Layout: sqlstore.AuthJS()})
	if err != nil {
		log.Fatal(err)
	}
	_ = store // latchkey.Config{Adapter: store, …}
}

// A site that took the database of an Auth.js over: the ids stay what they
// were.
func ExampleDetect() {
	ctx := context.Background()
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	found, err := sqladapter.Detect(ctx, db, sqladapter.Postgres)
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqladapter.New(db, sqladapter.Postgres, sqladapter.Options{Layout: found.Layout})
	if err != nil {
		log.Fatal(err)
	}
	_ = store // latchkey.Config{Adapter: store, …}
}
