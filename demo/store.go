package main

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
)

// store is an SQLite database with the newest schema.
type store struct {
	*sqladapter.Adapter
	close func() error
}

// openStore opens the SQLite file in the data folder, and creates and migrates it
// if needed.
func openStore(ctx context.Context, data string) (*store, error) {
	path, err := filepath.Abs(filepath.Join(data, "demo.db"))
	if err != nil {
		return nil, err
	}
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)"}}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: pragmas.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	a, err := migrated(ctx, db)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &store{a, db.Close}, nil
}

// migrated brings db to the newest schema and returns an adapter on it.
func migrated(ctx context.Context, db *sql.DB) (*sqladapter.Adapter, error) {
	if err := sqladapter.Migrate(ctx, db, sqladapter.SQLite, sqladapter.Options{}); err != nil {
		return nil, err
	}
	return sqladapter.New(db, sqladapter.SQLite, sqladapter.Options{})
}
