package sqlstore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// typing judges whether the types of columns fit a layout.
type typing struct {
	layout grammar
	idKind string // the type of users.id; "text" stands for all types of text
}

// unfit returns what is wrong with the type of a column, or "" if it fits. table is the name
// in the model, c the column in the model, and d the column as the database describes it. The
// caller has to begin with the table users: see unfitID.
func (f *typing) unfit(table string, c model.Column, d field) string {
	if c.Kind == model.ID {
		return f.unfitID(table, c, d)
	}
	problem := ""
	switch c.Kind {
	case model.Moment:
		problem = f.unfitMoment(d)
	case model.Number, model.OptNumber:
		if !f.isNumber(d) {
			problem = "numbers are kept"
		}
	case model.Flag, model.OptFlag:
		if !f.isFlag(d) {
			problem = "truth values are kept"
		}
	default:
		if !f.isText(d) {
			problem = "texts are kept"
		}
	}
	if problem != "" {
		return fmt.Sprintf("it is %s, and %s", d.typeName(), problem)
	}
	return f.unfitText(c, d)
}

// typeName returns the type of the column for a message that begins "it is".
func (d field) typeName() string {
	if d.kind == "" {
		return "of no type"
	}
	return d.kind
}

// unfitMoment returns what is wrong with the type of a column for times, or "" if it
// fits. Types without a zone fit: times are written and read in UTC.
func (f *typing) unfitMoment(d field) string {
	want, fits := f.momentType()
	if fits(d) {
		return ""
	}
	return "times are kept as " + want
}

// momentType returns the type that a column for times should have, for a message, and a
// function that reports whether a column has a type that fits.
func (f *typing) momentType() (want string, fits func(field) bool) {
	switch {
	case f.layout.native():
		return "timestamptz", func(d field) bool { return strings.HasPrefix(d.kind, "timestamp") }
	case f.layout.isText() && f.layout.dialect == SQLite: // where digits in other columns become numbers
		return "text", func(d field) bool {
			a := model.Affinity(d.kind)
			return a == "text" || a == "" || a == "numeric" && f.layout.times != TimesMillisText
		}
	case f.layout.isText():
		return "text", f.isText
	case f.layout.times == TimesUTC:
		return "datetime", func(d field) bool { return d.kind == "datetime" || d.kind == "timestamp" }
	case f.layout.dialect == SQLite:
		return "integer, " + f.layout.inWords(), func(d field) bool { a := model.Affinity(d.kind); return a == "integer" || a == "numeric" || a == "" }
	case f.layout.times == TimesSeconds:
		return "bigint, " + f.layout.inWords(), func(d field) bool { return model.IsInteger(d.kind) || d.kind == "int" }
	}
	return "bigint, " + f.layout.inWords(), func(d field) bool { return d.kind == "bigint" }
}

// unfitID returns what is wrong with the type of a column for ids, or "" if it fits. The
// store or the database has to be able to make ids of the type, and a column that refers
// to a user has to have the type of users.id. unfitID notes the type of users.id in f, so
// it must see the table users first.
func (f *typing) unfitID(table string, c model.Column, d field) string {
	isText, refers := f.isText(d), c.Name != "id"
	if table == "users" {
		f.idKind = d.kind
		if isText {
			f.idKind = "text"
		}
	}
	switch {
	case refers && isText && f.idKind == "text":
		return f.unfitText(c, d)
	case refers && (d.kind == f.idKind || model.IsInteger(d.kind) && model.IsInteger(f.idKind)):
		return ""
	case refers:
		return fmt.Sprintf("it is %s, and the ids of users are %s", d.typeName(), f.idKind)
	case !f.layout.ownIDs:
		return f.unfitDatabaseID(table, d)
	case isText:
		return f.unfitText(c, d)
	case f.layout.uuids && d.kind == "uuid":
		return ""
	case d.kind == "uuid":
		return "it is uuid, and ids are texts: with Layout.DatabaseIDs the database makes them, with Layout.UUIDs Latchkey makes such"
	}
	return fmt.Sprintf("it is %s, and ids are texts: with Layout.DatabaseIDs the database makes them", d.typeName())
}

// unfitDatabaseID returns what is wrong with a column for ids that the database has to
// make, or "" if nothing is.
func (f *typing) unfitDatabaseID(table string, d field) string {
	switch {
	case f.layout.dialect != Postgres && table == "users" && !model.IsInteger(d.kind):
		return fmt.Sprintf("it is %s, and with Layout.DatabaseIDs ids are numbers", d.typeName())
	case table == "users" && d.reused:
		return "SQLite would give the id of a deleted user to the next one: make the table anew, where it is integer PRIMARY KEY AUTOINCREMENT"
	case d.filled:
		return ""
	case f.layout.dialect != Postgres:
		return "Layout.DatabaseIDs leaves it to the database, which makes none: let it be integer PRIMARY KEY AUTOINCREMENT, on MySQL bigint PRIMARY KEY AUTO_INCREMENT"
	}
	return "Layout.DatabaseIDs leaves it to the database, which has no default for it: ALTER TABLE " + f.layout.dialect.quote(f.layout.name(table)) +
		" ALTER COLUMN " + f.layout.dialect.quote(d.name) + " SET DEFAULT gen_random_uuid()"
}

// isText reports whether columns of the type of d hold text.
func (f *typing) isText(d field) bool {
	switch f.layout.dialect {
	case Postgres:
		return d.family == "S" || d.family == "E"
	case MySQL:
		return slices.Contains([]string{"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "enum"}, d.kind)
	}
	return model.Affinity(d.kind) == "text" || model.Affinity(d.kind) == ""
}

// isNumber reports whether columns of the type of d hold the whole numbers that a
// store writes.
func (f *typing) isNumber(d field) bool {
	switch f.layout.dialect {
	case Postgres:
		return model.IsInteger(d.kind) || d.kind == "numeric"
	case MySQL:
		return slices.Contains([]string{"int", "mediumint", "bigint", "decimal"}, d.kind)
	}
	return model.Affinity(d.kind) != "text"
}

// isFlag reports whether columns of the type of d hold truth values.
func (f *typing) isFlag(d field) bool {
	switch f.layout.dialect {
	case Postgres:
		return d.kind == "boolean"
	case MySQL:
		return slices.Contains([]string{"tinyint", "smallint", "int", "bigint"}, d.kind)
	}
	return model.Affinity(d.kind) != "text"
}

// compared are the columns that rows are found by. They have to be compared
// exactly: a similar name must not find the account of another user.
var compared = []string{
	"id", "userId", "email", "provider", "providerAccountId", "sessionToken", "identifier", "token", "credentialID", "key",
	"user_id", "public_id",
}

// isCompared reports whether rows are found by columns of this name in the model.
func isCompared(column string) bool { return slices.Contains(compared, column) }

// unfitText returns why MySQL would take one text in the column for another, or cut texts
// off without an error. It returns "" if neither happens, and on the other databases.
func (f *typing) unfitText(c model.Column, d field) string {
	switch {
	case f.layout.dialect != MySQL:
		return ""
	case !f.layout.exact && isCompared(c.Name) && d.family != "" && d.family != "binary" && !strings.HasSuffix(d.family, "_bin"):
		return fmt.Sprintf("its collation %s takes different texts for the same: use a binary one, such as utf8mb4_bin", d.family)
	case d.cut > 0 && (d.cut < int(c.Width) || c.Width == 0 && d.cut < 65535):
		return fmt.Sprintf("this connection would cut texts off at %d: let sql_mode have STRICT_TRANS_TABLES", d.cut)
	}
	return ""
}
