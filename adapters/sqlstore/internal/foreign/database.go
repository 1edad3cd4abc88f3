package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// Database maps each table of a database to its columns, and those to their
// types in lower case.
type Database map[string]map[string]string

// ByTable makes a Database of a map of "table.column" to its type. A table may
// have its schema in front. It panics on a name without a dot.
func ByTable(columns map[string]string) Database {
	db := Database{}
	for name, kind := range columns {
		dot := strings.LastIndexByte(name, '.')
		table, column := name[:dot], name[dot+1:]
		if db[table] == nil {
			db[table] = map[string]string{}
		}
		db[table][column] = kind
	}
	return db
}

// find returns the column of a table that is called name, in whatever case and with or without
// underscores. A column with exactly that name wins, and otherwise the first by name.
func (db Database) find(table, name string) (column string, found bool) {
	if _, exact := db[table][name]; exact {
		return name, true
	}
	for _, column := range slices.Sorted(maps.Keys(db[table])) {
		if plainName(column) == plainName(name) {
			return column, true
		}
	}
	return "", false
}

// kind returns the type of a column of the model, such as "users.id". n says what the database
// calls the column and its table. kind returns "" if there is no such column.
func (db Database) kind(n model.Names, logical string) string {
	table, _, _ := strings.Cut(logical, ".")
	return db[n.Of(table)][n.Of(logical)]
}

// hasAll reports whether the database has the table, under its name in the model, with
// every column that is always there.
func (db Database) hasAll(table model.Table) bool {
	return !slices.ContainsFunc(table.Columns, func(c model.Column) bool {
		return c.Presence == model.Always && db[table.Name][c.Name] == ""
	})
}

// HasUsers reports whether some table looks as if users were kept in it, by
// whatever program.
func (db Database) HasUsers() bool {
	if db["users"]["id"] != "" {
		return true
	}
	for table := range db {
		_, email := db.find(table, "email")
		_, verified := db.find(table, "emailVerified")
		name := plainName(table[strings.LastIndexByte(table, '.')+1:])
		if email && (verified || name == "user" || name == "users") {
			return true
		}
	}
	return false
}

// LeaveIDs notes in l which ids are not text, so that the database has to make them. If
// the ids of users are not text, it sets l.DatabaseIDs to true and does no more. If they
// are text, it sets l.DatabaseIDs to false. It then looks at the id columns of accounts,
// sessions and verification tokens, and notes in l.Names that one that is not text is not
// used.
func (db Database) LeaveIDs(e Engine, l *Layout) {
	isText := func(logical string) bool {
		kind := db.kind(l.Names, logical)
		if e != Postgres {
			return !model.IsInteger(kind)
		}
		return kind == "" || kind == "text" || strings.HasPrefix(kind, "char")
	}
	l.DatabaseIDs = !isText("users.id")
	for _, id := range []string{"accounts.id", "sessions.id", "verification_token.id"} {
		if !l.DatabaseIDs && !isText(id) {
			l.leaveOut(id)
		}
	}
}
