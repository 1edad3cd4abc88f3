package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// connectTimeout is how long a database may take to answer at all.
const connectTimeout = 10 * time.Second

const aboutDatabaseURL = `The database is $DATABASE_URL, or --database. These forms are understood:

  postgres://user:password@host:5432/name?sslmode=require
  host=/run/postgresql dbname=name user=user
  mysql://user:password@host:3306/name       (MariaDB too; ?socket=/path for a socket)
  user:password@tcp(host:3306)/name?tls=true
  sqlite:auth.db, file:auth.db, auth.db

Prefer the variable: arguments are visible to everybody on the machine.`

// database is what a URL says of a database. It is not open yet.
type database struct {
	dialect sqlstore.Dialect
	where   string // for people; neither user nor password
	open    func(create bool) (*sql.DB, error)
}

// errDatabaseURL quotes nothing: what cannot be read may hold a password
// anywhere.
var errDatabaseURL = errors.New("the URL of the database cannot be read: want postgres://…, mysql://… or sqlite:FILE (see --help)")

// errOtherKind is for databases that a site may well use, but not by SQL.
var errOtherKind = errors.New("the database is of a kind that this command does not know: it knows postgres://…, mysql://… and sqlite:FILE, and migrate and doctor also mongodb://…, dynamodb://… and nats://…")

// errRedis tells an operator who has Redis in the variable of the other databases.
var errRedis = errors.New("this is a URL of Redis, which goes into REDIS_URL and needs no migration")

// parseDatabase returns the database of a URL, which it recognizes by its form. It opens
// nothing. It returns errDatabaseURL, errOtherKind, errRedis, or an error that says what
// else is wrong: SQLite in memory, or a parameter of Prisma. No error quotes the URL.
func parseDatabase(rawURL string) (database, error) {
	scheme, rest, _ := strings.Cut(rawURL, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case scheme == "postgres" || scheme == "postgresql":
		return postgresDatabase("postgres:" + rest)
	case scheme == "mysql" || scheme == "mariadb":
		return mysqlURL(rawURL)
	case scheme == "sqlite" || scheme == "sqlite3" || scheme == "file":
		return sqliteDatabase(strings.TrimPrefix(rest, "//"))
	case scheme == "redis" || scheme == "rediss":
		return database{}, errRedis
	case strings.Contains(rawURL, "://"):
		return database{}, errOtherKind
	case strings.Contains(rawURL, ")/"):
		return mysqlDatabase(rawURL)
	case isKeywords(rawURL):
		return postgresDatabase(rawURL)
	}
	switch filepath.Ext(rawURL) {
	case ".db", ".sqlite", ".sqlite3":
		return sqliteDatabase(rawURL)
	}
	return database{}, errDatabaseURL
}

// isKeywords reports whether a text has keywords of PostgreSQL such as host=, and is no
// URL that has lost its scheme.
func isKeywords(text string) bool {
	first := strings.IndexAny(text, "=:@/")
	return first >= 0 && text[first] == '=' && (strings.Contains(text, "dbname=") || strings.Contains(text, "host="))
}

// postgresDatabase returns the database of a URL or of keywords. It returns
// errDatabaseURL, or the error of refusePrisma.
func postgresDatabase(rawURL string) (database, error) {
	c, err := pgx.ParseConfig(rawURL)
	if err != nil {
		return database{}, errDatabaseURL
	}
	if err := refusePrisma(c.RuntimeParams); err != nil {
		return database{}, err
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(rawURL, "default_query_exec_mode") {
		c.DefaultQueryExecMode = pgx.QueryExecModeExec // also right behind a pooler that knows no prepared statements
	}
	at := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if strings.HasPrefix(c.Host, "/") {
		at = c.Host
	}
	return database{
		sqladapter.Postgres, fmt.Sprintf("PostgreSQL database %q at %s", cmp.Or(c.Database, c.User), at),
		func(bool) (*sql.DB, error) { return stdlib.OpenDB(*c), nil },
	}, nil
}

// onlyPrisma lists parameters of a URL that Prisma reads and PostgreSQL refuses. The
// drivers of Go send each of them to the server.
var onlyPrisma = []string{
	"connection_limit", "pool_timeout", "socket_timeout", "pgbouncer", "statement_cache_size", "single_use_connections", "sslaccept", "sslidentity",
}

// refusePrisma returns an error if one of the parameters is known to Prisma alone, and
// nil otherwise. The error names the cure, and quotes no value.
func refusePrisma(params map[string]string) error {
	if _, is := params["schema"]; is {
		return errors.New("the parameter schema in the URL of the database is Prisma's: write search_path=NAME in place of schema=NAME, for the site, too")
	}
	for _, name := range onlyPrisma {
		if _, is := params[name]; is {
			return fmt.Errorf("the parameter %s in the URL of the database is Prisma's: remove it, for the site, too", name)
		}
	}
	return nil
}

// mysqlURL returns the database of a URL such as mysql://user:password@host/name, or
// errDatabaseURL. Other tools use such URLs; the driver knows DSNs alone.
func mysqlURL(rawURL string) (database, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return database{}, errDatabaseURL
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
	c.Passwd, _ = u.User.Password()
	query := u.Query()
	if socket := query.Get("socket"); socket != "" {
		c.Net, c.Addr = "unix", socket
		query.Del("socket")
	} else if u.Port() == "" {
		c.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	dsn := c.FormatDSN()
	if len(query) > 0 {
		mark := "?"
		if strings.Contains(dsn[strings.LastIndexByte(dsn, '/'):], "?") {
			mark = "&"
		}
		dsn += mark + query.Encode()
	}
	return mysqlDatabase(dsn)
}

// mysqlDatabase returns the database of a DSN of the driver. It returns errDatabaseURL if
// the DSN is malformed or names no database.
func mysqlDatabase(dsn string) (database, error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil || c.DBName == "" {
		return database{}, errDatabaseURL
	}
	c.Logger = &mysql.NopLogger{} // the driver would write to standard error on its own
	if c.Timeout == 0 {
		c.Timeout = connectTimeout
	}
	open := func(bool) (*sql.DB, error) {
		connector, err := mysql.NewConnector(c)
		if err != nil {
			return nil, errDatabaseURL
		}
		return sql.OpenDB(connector), nil
	}
	return database{sqladapter.MySQL, fmt.Sprintf("MySQL database %q at %s", c.DBName, c.Addr), open}, nil
}

// mayHoldPassword reports whether the name of a file looks like a URL with a password. A
// file of that name would show the password. A name that begins with a drive of
// Windows is judged without it.
func mayHoldPassword(file string) bool {
	if len(file) > 2 && file[1] == ':' && (file[2] == '\\' || file[2] == '/') {
		file = file[2:]
	}
	user, _, isAt := strings.Cut(file, "@")
	return isAt && strings.Contains(user, ":")
}

// sqliteDatabase returns the database in the file called name, percent-encoded or not, with
// parameters behind a question mark. It returns errDatabaseURL for an empty name, one that
// may hold a password, and malformed parameters. A database in memory is another error.
func sqliteDatabase(name string) (database, error) {
	file, query, _ := strings.Cut(name, "?")
	if unescaped, err := url.PathUnescape(file); err == nil {
		file = unescaped
	}
	params, err := url.ParseQuery(query)
	switch {
	case err != nil || file == "" || mayHoldPassword(file):
		return database{}, errDatabaseURL
	case file == ":memory:" || params.Get("mode") == "memory":
		return database{}, errors.New("a database in memory is empty whenever it is opened: name a file")
	}
	open := func(create bool) (*sql.DB, error) {
		params.Set("mode", "rw")
		if create {
			params.Set("mode", "rwc")
		}
		params.Add("_pragma", "busy_timeout(5000)")
		return sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?"+params.Encode())
	}
	return database{sqladapter.SQLite, "SQLite file " + file, open}, nil
}

// connection is an open database. The caller that opened it closes it.
type connection struct {
	*sql.DB
	database
}

// connect opens the database of the flag or, if that is empty, of the environment, and
// waits until it answers, at most connectTimeout. create lets SQLite make a file that is
// not there. A URL that is missing or malformed is a wrongUsage. Other errors are those
// of explain. The caller closes the connection.
func (p *program) connect(ctx context.Context, flag string, create bool) (*connection, error) {
	rawURL := cmp.Or(flag, p.env.get("DATABASE_URL"))
	if rawURL == "" {
		return nil, usage("there is no database: set DATABASE_URL, or use --database")
	}
	d, err := parseDatabase(rawURL)
	if err != nil {
		return nil, usage("%w", err)
	}
	db, err := d.open(create)
	if err != nil {
		return nil, d.explain(err)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, d.explain(err)
	}
	return &connection{db, d}, nil
}
