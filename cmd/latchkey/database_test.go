package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

func TestParseDatabase(t *testing.T) {
	for _, c := range []struct {
		name, url string
		dialect   sqlstore.Dialect
		where     string
	}{
		{"PostgreSQL", "postgres://me:hunter2@db.example/site", sqladapter.Postgres, `PostgreSQL database "site" at db.example:5432`},
		{"PostgreSQL, long name", "PostgreSQL://me:hunter2@[::1]:5433/site?sslmode=disable", sqladapter.Postgres, `PostgreSQL database "site" at [::1]:5433`},
		{"PostgreSQL by keywords", "host=/run/pg dbname=site user=me password=hunter2", sqladapter.Postgres, `PostgreSQL database "site" at /run/pg`},
		{"MySQL", "mysql://me:hunter2@db.example/site", sqladapter.MySQL, `MySQL database "site" at db.example:3306`},
		{"MySQL with a parameter", "mysql://me:hunter2@db.example:3307/site?tls=true", sqladapter.MySQL, `MySQL database "site" at db.example:3307`},
		{"MySQL, IPv6", "mysql://me:hunter2@[::1]/site", sqladapter.MySQL, `MySQL database "site" at [::1]:3306`},
		{"MySQL with a difficult password", "mysql://me:hunter2%40%2F%3A@db.example/site", sqladapter.MySQL, `MySQL database "site" at db.example:3306`},
		{"MariaDB by socket", "mariadb://me:hunter2@localhost/site?socket=/run/s&tls=false", sqladapter.MySQL, `MySQL database "site" at /run/s`},
		{"MySQL as its driver has it", "me:hunter2@tcp(db.example:3306)/site?tls=true", sqladapter.MySQL, `MySQL database "site" at db.example:3306`},
		{"SQLite", "sqlite:auth.db", sqladapter.SQLite, "SQLite file auth.db"},
		{"SQLite, slashes", "sqlite:///var/lib/auth.db", sqladapter.SQLite, "SQLite file /var/lib/auth.db"},
		{"SQLite, file", "file:./auth%20one.db?_pragma=journal_mode(WAL)", sqladapter.SQLite, "SQLite file ./auth one.db"},
		{"SQLite, bare", "data/auth.sqlite3", sqladapter.SQLite, "SQLite file data/auth.sqlite3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := parseDatabase(c.url)
			if err != nil || d.dialect != c.dialect || d.where != c.where {
				t.Errorf("%q, %q, error %v", d.dialect, d.where, err)
			}
		})
	}
}

func TestParseDatabaseRefuses(t *testing.T) {
	for _, rawURL := range []string{
		"", "hunter2", "me:hunter2@db", "postgres://me:hunter2@db:port/", "mysql://me:hunter2@db.example/", "mysql://me:hunter2@db:port/site",
		"sqlite://me:hunter2@db/auth.db", "sqlite:me:hunter2@db.db", "file://me:hunter2@db/auth.db", "me:hunter2@db/auth.db", "me:hunter2@db/site?host=x", "me:hunter2@db.sqlite",
		"mongodb://me:hunter2@db/site", "sqlite::memory:", "sqlite:", "file:x?mode=memory", "sqlite:hunter2?%zz", "me:hunter2@tcp(db)/",
	} {
		if _, err := parseDatabase(rawURL); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %v", rawURL, err)
		}
	}
}

// A parameter that only Prisma knows is refused by name, before a server says less.
func TestParseDatabaseOfPrisma(t *testing.T) {
	for parameter, want := range map[string]string{
		"schema=hunter2": "write search_path=NAME in place of schema=NAME", "sslmode=disable&schema=public": "search_path=NAME",
		"connection_limit=5": "connection_limit in the URL of the database is Prisma's: remove it", "pgbouncer=true": "pgbouncer",
	} {
		_, err := parseDatabase("postgres://me:hunter2@db.example/site?" + parameter)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error %v", parameter, err)
		}
	}
	if _, err := parseDatabase("postgres://me:hunter2@db.example/site?search_path=app&application_name=cli"); err != nil {
		t.Errorf("error %v", err)
	}
}

// FuzzParseDatabase looks for panics and for URLs whose password shows.
func FuzzParseDatabase(f *testing.F) {
	for _, seed := range []string{
		"postgres://me:%s@db.example/site", "host=h password=%s dbname=d", "mysql://me:%s@h/d", "me:%s@tcp(h)/d", "me:%s@unix(/s)/d?a=b", "postgres://%s", "x=%s host=", "sqlite://me:%s@h/d.db", "me:%s@h/d.db", "file:me:%s@h", "me:%s@h/d?host=x", "C:/me:%s@h.db",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rawURL string) {
		if strings.Contains(rawURL, "%s") && strings.Contains(rawURL, ":%s@") {
			rawURL = strings.ReplaceAll(rawURL, ":%s@", ":hunter2@")
		}
		_, err := parseDatabase(rawURL)
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %v", rawURL, err)
		}
	})
}

func TestReasonsQuoteNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"refused", &net.OpError{Op: "dial", Err: errors.New("hunter2")}, nobodyThere},
		{"no such host", fmt.Errorf("hunter2: %w", &net.DNSError{Name: "hunter2"}), nobodyThere},
		{"too slow", fmt.Errorf("hunter2: %w", context.DeadlineExceeded), tooSlow},
		{"interrupted", context.Canceled, "interrupted"},
		{"anything else", errors.New("hunter2"), brokenAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (database{where: "here"}).explain(c.err).Error(); got != "here: "+c.want {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := (database{where: "here"}).failed(errors.New("sql: sweep: a code")).Error(); got != "here: sql: sweep: a code" {
		t.Errorf("got %q", got)
	}
}
