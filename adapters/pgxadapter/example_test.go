package pgxadapter_test

import (
	"context"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
)

func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if err := pgxadapter.Migrate(ctx, pool, pgxadapter.Options{}); err != nil {
		log.Fatal(err)
	}
	store, err := pgxadapter.New(pool, pgxadapter.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_ = store // latchkey.Config{Adapter: store, …}
}
