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

// store is a database with the newest schema.
type store struct {
	storage.Adapter
	ping  func(context.Context) error
	close func() error
}

// openStore opens the database of a URL and migrates it. An error names the variable
// and never the URL, which may hold a password.
func openStore(ctx context.Context, databaseURL string) (*store, error) {
	scheme, path, _ := strings.Cut(databaseURL, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(ctx, path)
	case "postgres", "postgresql":
		return openPostgres(ctx, databaseURL)
	case "mysql", "mariadb":
		return openMySQL(ctx, databaseURL)
	}
	return nil, fmt.Errorf("DATABASE_URL begins with %q: want postgres://, mysql:// or sqlite:path", scheme)
}

func openSQLite(ctx context.Context, path string) (*store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)"}, "_txlock": {"immediate"}}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: pragmas.Encode()}
	return openSQL(ctx, "sqlite", dsn.String(), sqladapter.SQLite)
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
	return openSQL(ctx, "mysql", c.FormatDSN(), sqladapter.MySQL)
}

func openSQL(ctx context.Context, driver, dsn string, d sqlstore.Dialect) (*store, error) {
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
	return &store{a, db.PingContext, db.Close}, nil
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
	return &store{a, pool.Ping, func() error { pool.Close(); return nil }}, nil
}
