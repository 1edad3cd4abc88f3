package model

import "strings"

// Names maps "users" or "users.emailVerified" to what a database calls the table
// or column. An empty name means that there is none. What is missing in the map
// is called as in the schema of Migrate.
type Names map[string]string

// Of returns what the database calls a table or a column, or "" if it has none.
// For a column it returns the name of the column alone. A column with the
// presence ForeignOnly exists only if it is named.
func (n Names) Of(logical string) string {
	if name, renamed := n[logical]; renamed {
		return name
	}
	table, column, isColumn := strings.Cut(logical, ".")
	switch {
	case !isColumn:
		return table
	case table == "verification_token" && column == "id": // the only one that is ForeignOnly
		return ""
	}
	return column
}

// Has reports whether the database has a table or column. For a column it does not look at
// the table, which may be missing.
func (n Names) Has(logical string) bool { return n.Of(logical) != "" }

// Same reports whether two maps give the same names to all tables and columns. It ignores
// columns of a table that neither database has, and entries for what the model does not have.
func (n Names) Same(other Names) bool {
	for logical := range nameable {
		table, _, _ := strings.Cut(logical, ".")
		if n.Of(logical) != other.Of(logical) && (n.Has(table) || other.Has(table)) {
			return false
		}
	}
	return true
}

// AuthJS returns the names of the tables of Auth.js: they lack the tables and columns
// that Latchkey added. Each call returns another map, which the caller may change.
func AuthJS() Names {
	names := Names{}
	for _, table := range Tables {
		if !table.Shared {
			names[table.Name] = ""
		}
		for _, c := range table.Columns {
			if c.Presence == Added {
				names[table.Name+"."+c.Name] = ""
			}
		}
	}
	return names
}

// nameable has each table and column, and whether a layout may be without it.
var nameable = func() map[string]bool {
	m := map[string]bool{}
	for _, table := range Tables {
		m[table.Name] = table.Dispensable
		for _, c := range table.Columns {
			m[table.Name+"."+c.Name] = c.Presence != Always
		}
	}
	return m
}()

// Nameable reports whether the model has a table ("users") or column ("users.email") of
// this name, and whether a layout may be without it.
func Nameable(logical string) (dispensable, known bool) {
	dispensable, known = nameable[logical]
	return dispensable, known
}

// KindOf returns what a column ("users.email") holds. It returns Text for one that does
// not exist.
func KindOf(logical string) Kind {
	table, name, _ := strings.Cut(logical, ".")
	for _, c := range Of(table).Columns {
		if c.Name == name {
			return c.Kind
		}
	}
	return Text
}
