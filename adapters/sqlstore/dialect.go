package sqlstore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Dialect is the language of a database.
type Dialect string

// The dialects.
const (
	Postgres Dialect = "postgres" // PostgreSQL 13 or later
	MySQL    Dialect = "mysql"    // MariaDB 10.6 or later, MySQL 8 or later
	SQLite   Dialect = "sqlite"   // SQLite 3.35 or later
)

func (d Dialect) check() error {
	switch d {
	case Postgres, MySQL, SQLite:
		return nil
	}
	return fmt.Errorf("sql: unknown dialect %q", string(d))
}

// returning says whether a statement that changes rows can return them. MariaDB
// can for some statements, MySQL for none.
func (d Dialect) returning() bool { return d != MySQL }

// quote makes a name, with or without a schema in front, safe in a statement.
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

// number turns each ? into what the database expects in its place.
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

// time is how the database is given an instant, to the millisecond. Where
// timestamps depend on the connection's settings they are numbers instead:
// milliseconds since 1970.
func (d Dialect) time(t time.Time) any {
	switch {
	case t.IsZero():
		return nil
	case d == Postgres:
		return t.Truncate(time.Millisecond).UTC()
	}
	return t.UnixMilli()
}

// ErrUnreadableTime reports a row with a time that is kept in another form than
// the layout says. The row is nobody's session and opens no link.
var ErrUnreadableTime = errors.New("a time is kept in a form that the layout does not have")

// instant reads what time wrote, and null.
type instant struct{ time.Time }

// Scan implements sql.Scanner.
func (i *instant) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		i.Time = time.Time{}
	case time.Time:
		i.Time = v.Truncate(time.Millisecond).UTC()
	case int64:
		i.Time = time.UnixMilli(v).UTC()
	case []byte: // MySQL without prepared statements
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil {
			return ErrUnreadableTime
		}
		i.Time = time.UnixMilli(n).UTC()
	default:
		return ErrUnreadableTime
	}
	return nil
}
