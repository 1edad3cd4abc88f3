package sqlstore

import (
	"fmt"
	"strconv"
	"strings"
)

// Dialect is the language of a database.
type Dialect string

// The dialects.
const (
	Postgres Dialect = "postgres" // PostgreSQL 13 or later
	MySQL    Dialect = "mysql"    // MariaDB 10.6 or later, MySQL 8 or later
	SQLite   Dialect = "sqlite"   // SQLite 3.35 or later
)

// check returns an error unless d is one of the three dialects.
func (d Dialect) check() error {
	switch d {
	case Postgres, MySQL, SQLite:
		return nil
	}
	return fmt.Errorf("sql: unknown dialect %q", string(d))
}

// returning reports whether a statement that changes rows can return them. MariaDB
// can for some statements, MySQL for none.
func (d Dialect) returning() bool { return d != MySQL }

// quote returns a name, quoted so that it is safe in a statement. A name with a dot is a
// schema and a table: each part is quoted.
func (d Dialect) quote(name string) string {
	mark := `"`
	if d == MySQL {
		mark = "`"
	}
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = mark + strings.ReplaceAll(part, mark, mark+mark) + mark
	}
	return strings.Join(parts, ".")
}

// number replaces each ? of a statement by a numbered placeholder ($1, $2 …) on
// PostgreSQL, also within quotes. Elsewhere it returns the statement as it is.
func (d Dialect) number(statement string) string {
	if d != Postgres {
		return statement
	}
	parts := strings.Split(statement, "?")
	var b strings.Builder
	b.WriteString(parts[0])
	for i, part := range parts[1:] {
		b.WriteString("$" + strconv.Itoa(i+1) + part)
	}
	return b.String()
}
