package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// store is a database that is ready for use.
type store struct {
	adapter storage.Adapter
	kind    string // for people
	close   func() error
}

// openStore opens the database of a URL, or an SQLite file in the data folder
// if that is empty, and brings it to the newest schema.
func openStore(ctx context.Context, databaseURL, data string) (*store, error) {
	scheme, _, _ := strings.Cut(databaseURL, ":")
	switch scheme {
	case "":
		return openSQLite(ctx, filepath.Join(data, "demo.db"))
	case "postgres", "postgresql":
		return openPostgres(ctx, databaseURL)
	case "mysql", "mariadb":
		return openMySQL(ctx, databaseURL)
	}
	return nil, fmt.Errorf("DATABASE_URL begins with %q: want postgres:// or mysql://", scheme)
}

func openSQLite(ctx context.Context, path string) (*store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)"}}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: pragmas.Encode()}
	return openSQL(ctx, "sqlite", dsn.String(), sqladapter.SQLite, "SQLite")
}

func openMySQL(ctx context.Context, databaseURL string) (*store, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, errors.New("DATABASE_URL is no URL") // the cause would repeat the password
	}
	c := mysql.NewConfig()
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Net, c.Addr = "tcp", u.Host
	if u.Port() == "" {
		c.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	if socket := u.Query().Get("socket"); socket != "" {
		c.Net, c.Addr = "unix", socket
	}
	c.DBName = strings.TrimPrefix(u.Path, "/")
	c.InterpolateParams = true // saves a round trip for each statement
	return openSQL(ctx, "mysql", c.FormatDSN(), sqladapter.MySQL, "MySQL")
}

func openSQL(ctx context.Context, driver, dsn string, d sqlstore.Dialect, name string) (*store, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	if err := sqladapter.Migrate(ctx, db, d, sqladapter.Options{}); err != nil {
		_ = db.Close()
		return nil, err
	}
	a, err := sqladapter.New(db, d, sqladapter.Options{})
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &store{a, name, db.Close}, nil
}

func openPostgres(ctx context.Context, databaseURL string) (*store, error) {
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	if err := pgxadapter.Migrate(ctx, pool, pgxadapter.Options{}); err != nil {
		pool.Close()
		return nil, err
	}
	a, err := pgxadapter.New(pool, pgxadapter.Options{})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &store{a, "PostgreSQL", func() error { pool.Close(); return nil }}, nil
}
