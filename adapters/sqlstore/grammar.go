package sqlstore

import (
	"regexp"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// grammar writes statements for one database and one layout.
type grammar struct {
	form
	names   model.Names
	touched map[string][]string // of each table, the columns that are set to the present when a row is written
	ownIDs  bool                // the store makes the ids, not the database
	uuids   bool                // and they are UUIDs
	exact   bool                // texts are compared exactly, whatever the collation
}

// name returns what the database calls a table ("users") or a column ("users.email"), or
// "" if it has none. For a column it returns the column alone. The name is not quoted.
func (l grammar) name(logical string) string { return l.names.Of(logical) }

// has reports whether the database has a table or column.
func (l grammar) has(logical string) bool { return l.names.Has(logical) }

var placeholder = regexp.MustCompile(`\{[^}]+\}`)

// sql returns a statement with the names that the database uses, quoted, and with its
// placeholders. In statement, {users} stands for a table, {users.email} for a column, and
// {users.email!} for the expression that reads the column. {users.*} stands for the
// expressions that read all columns of the table that exist, and {u.users.*} for those
// with the alias u. Each ? stands for an argument. If the grammar is exact, comparisons
// after WHERE are made byte by byte, and some take their argument twice (see
// repeatedArgs).
func (l grammar) sql(statement string) string {
	if l.exact {
		statement = comparedExactly(statement)
	}
	return l.dialect.number(placeholder.ReplaceAllStringFunc(statement, func(p string) string {
		p = strings.Trim(p, "{}")
		if column, read := strings.CutSuffix(p, "!"); read {
			return l.readColumn(model.KindOf(column), l.dialect.quote(l.name(column)))
		}
		table, all := strings.CutSuffix(p, ".*")
		if !all {
			return l.dialect.quote(l.name(p))
		}
		alias, of, aliased := strings.Cut(table, ".")
		if !aliased {
			return l.read(table, "")
		}
		return l.read(of, alias+".")
	}))
}

// read returns the list of expressions that select the columns of a table that exist, in
// the order of package model. prefix is an alias with a dot, or "". Where a column may be
// null, the expression gives "", 0 or false instead, but a null instant stays null. On
// PostgreSQL an id is read as text.
func (l grammar) read(table, prefix string) string {
	l.form = l.formOf(table)
	var list []string
	for _, c := range model.Of(table).Columns {
		if name := l.name(table + "." + c.Name); name != "" {
			read := l.readColumn(c.Kind, prefix+l.dialect.quote(name))
			if c.Kind == model.ID && c.Presence != model.Always && len(l.names) > 0 { // which others may leave null
				read = "COALESCE(" + read + ", '')"
			}
			list = append(list, read)
		}
	}
	return strings.Join(list, ", ")
}

// present returns for each column of a table, in the order of package model, whether it
// exists.
func (l grammar) present(table string) []bool {
	var present []bool
	for _, c := range model.Of(table).Columns {
		present = append(present, l.has(table+"."+c.Name))
	}
	return present
}

// readColumn returns the expression that reads a column of a kind. quoted is the name of
// the column as a statement has it.
func (l grammar) readColumn(k model.Kind, quoted string) string {
	switch {
	case k == model.OptText:
		return "COALESCE(" + quoted + ", '')"
	case k == model.OptNumber:
		return "COALESCE(" + quoted + ", 0)"
	case k == model.OptFlag:
		return "COALESCE(" + quoted + ", FALSE)"
	case k == model.ID && l.dialect == Postgres:
		return quoted + "::text"
	case k == model.Moment:
		return l.form.read(quoted)
	}
	return quoted
}

// insert is the statement that adds a row. It takes some of the row's values.
type insert struct {
	table, sql string
	takes      []bool
}

// insert returns the statement that adds a row to a table. If a unique key refuses the
// row, the statement adds nothing and is no error; on MySQL it is an error.
func (l grammar) insert(table string) insert {
	in := insert{table: table}
	var names, values []string
	for _, c := range model.Of(table).Columns {
		name := l.name(table + "." + c.Name)
		takes := name != "" && (c.Name != "id" || c.Kind != model.ID || l.ownIDs)
		in.takes = append(in.takes, takes)
		if takes {
			names, values = append(names, l.dialect.quote(name)), append(values, "?")
		}
	}
	for _, name := range l.touched[table] {
		names, values = append(names, l.dialect.quote(name)), append(values, "?")
	}
	statement := "INSERT INTO {" + table + "} (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
	if l.dialect != MySQL { // which has only IGNORE, and that ignores other faults, too
		statement += " ON CONFLICT DO NOTHING"
	}
	in.sql = l.sql(statement)
	return in
}

// args returns the arguments of an insert: the values of row that it takes, and the
// present for each touched column. row has one value for each column of the table.
func (l grammar) args(in insert, row []any) []any {
	args := make([]any, 0, len(row))
	for i, v := range row {
		if in.takes[i] {
			args = append(args, v)
		}
	}
	return append(args, l.touches(in.table)...)
}

// update returns the beginning of an UPDATE of a table: SET, and the touched columns with a
// comma after each. The caller adds the rest and passes the whole to sql. The first arguments
// of the statement are those that touches returns.
func (l grammar) update(table string) string {
	var b strings.Builder
	b.WriteString("UPDATE {" + table + "} SET ")
	for _, name := range l.touched[table] {
		b.WriteString(l.dialect.quote(name) + " = ?, ")
	}
	return b.String()
}

// formOf returns the form in which a table keeps instants. It is the form of the layout
// for tables that adapters of Auth.js have too, and the usual one for all others.
func (l grammar) formOf(table string) form {
	if !model.Of(table).Shared {
		return form{dialect: l.dialect}
	}
	return l.form
}

// readID returns the expression that reads a column with an id. On PostgreSQL the
// expression is of the type text.
func (l grammar) readID(logical string) string {
	return l.readColumn(model.ID, l.dialect.quote(l.name(logical)))
}
