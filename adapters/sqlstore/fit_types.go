package sqlstore

import (
	"fmt"
	"slices"
	"strings"
)

// unfit says what is wrong with the type of a column; empty: it fits.
func (f *fitting) unfit(table string, c column, d field) string {
	if c.kind == id || c.name == "userId" {
		return f.unfitID(table, c, d)
	}
	problem := ""
	switch c.kind {
	case moment:
		problem = f.unfitMoment(d)
	case number, optNumber:
		if !f.isNumber(d) {
			problem = "numbers are kept"
		}
	case flag, optFlag:
		if !f.isFlag(d) {
			problem = "truth values are kept"
		}
	default:
		if !f.isTextType(d) {
			problem = "texts are kept"
		}
	}
	if problem != "" {
		return fmt.Sprintf("it is %s, and %s", d.typeName(), problem)
	}
	return f.unfitText(c, d)
}

func (d field) typeName() string {
	if d.kind == "" {
		return "of no type"
	}
	return d.kind
}

// unfitMoment takes times without a zone too: they are written and read in UTC.
func (f *fitting) unfitMoment(d field) string {
	want, fits := f.momentType()
	if fits(d) {
		return ""
	}
	return "times are kept as " + want
}

// momentType is the type of a column for times, and what takes them as well.
func (f *fitting) momentType() (want string, fits func(field) bool) {
	switch {
	case f.native():
		return "timestamptz", func(d field) bool { return strings.HasPrefix(d.kind, "timestamp") }
	case f.isText() && f.dialect == SQLite: // where digits in other columns become numbers
		return "text", func(d field) bool {
			a := affinity(d.kind)
			return a == "text" || a == "" || a == "numeric" && f.times != TimesMillisText
		}
	case f.isText():
		return "text", f.isTextType
	case f.times == TimesUTC:
		return "datetime", func(d field) bool { return d.kind == "datetime" || d.kind == "timestamp" }
	case f.dialect == SQLite:
		return "integer, " + f.inWords(), func(d field) bool { a := affinity(d.kind); return a == "integer" || a == "numeric" || a == "" }
	case f.times == TimesSeconds:
		return "bigint, " + f.inWords(), func(d field) bool { return isInteger(d) || d.kind == "int" }
	}
	return "bigint, " + f.inWords(), func(d field) bool { return d.kind == "bigint" }
}

// unfitID compares ids with who makes them, and those of users with each other.
func (f *fitting) unfitID(table string, c column, d field) string {
	isText := f.isTextType(d)
	if table == "users" {
		f.idKind = d.kind
		if isText {
			f.idKind = "text"
		}
	}
	switch {
	case c.name == "userId" && isText && f.idKind == "text":
		return f.unfitText(c, d)
	case c.name == "userId" && (d.kind == f.idKind || isInteger(d) && isInteger(field{kind: f.idKind})):
		return ""
	case c.name == "userId":
		return fmt.Sprintf("it is %s, and the ids of users are %s", d.typeName(), f.idKind)
	case !f.ownIDs:
		return f.unfitDatabaseID(table, d)
	case isText:
		return f.unfitText(c, d)
	case f.uuids && d.kind == "uuid":
		return ""
	case d.kind == "uuid":
		return "it is uuid, and ids are texts: with Layout.DatabaseIDs the database makes them, with Layout.UUIDs Latchkey makes such"
	}
	return fmt.Sprintf("it is %s, and ids are texts: with Layout.DatabaseIDs the database makes them", d.typeName())
}

// unfitDatabaseID is about ids that the database has to make.
func (f *fitting) unfitDatabaseID(table string, d field) string {
	switch {
	case f.dialect != Postgres && table == "users" && !isInteger(d):
		return fmt.Sprintf("it is %s, and with Layout.DatabaseIDs ids are numbers", d.typeName())
	case table == "users" && d.reused:
		return "SQLite would give the id of a deleted user to the next one: make the table anew, where it is integer PRIMARY KEY AUTOINCREMENT"
	case d.filled:
		return ""
	case f.dialect != Postgres:
		return "Layout.DatabaseIDs leaves it to the database, which makes none: let it be integer PRIMARY KEY AUTOINCREMENT, on MySQL bigint PRIMARY KEY AUTO_INCREMENT"
	}
	return "Layout.DatabaseIDs leaves it to the database, which has no default for it: ALTER TABLE " + f.dialect.quote(f.name(table)) +
		" ALTER COLUMN " + f.dialect.quote(d.name) + " SET DEFAULT gen_random_uuid()"
}

func isInteger(d field) bool {
	return slices.Contains([]string{"smallint", "integer", "bigint", "mediumint", "int"}, d.kind)
}

func (f *fitting) isTextType(d field) bool {
	switch f.dialect {
	case Postgres:
		return d.family == "S" || d.family == "E"
	case MySQL:
		return slices.Contains([]string{"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "enum"}, d.kind)
	}
	return affinity(d.kind) == "text" || affinity(d.kind) == ""
}

func (f *fitting) isNumber(d field) bool {
	switch f.dialect {
	case Postgres:
		return isInteger(d) || d.kind == "numeric"
	case MySQL:
		return slices.Contains([]string{"int", "mediumint", "bigint", "decimal"}, d.kind)
	}
	return affinity(d.kind) != "text"
}

func (f *fitting) isFlag(d field) bool {
	switch f.dialect {
	case Postgres:
		return d.kind == "boolean"
	case MySQL:
		return slices.Contains([]string{"tinyint", "smallint", "int", "bigint"}, d.kind)
	}
	return affinity(d.kind) != "text"
}

// affinity is what SQLite makes of the name of a type: text, integer, real,
// numeric, or nothing, which keeps values as they come
// (sqlite.org/datatype3.html 3.1).
func affinity(kind string) string {
	for _, rule := range []struct{ part, is string }{
		{"int", "integer"}, {"char", "text"}, {"clob", "text"}, {"text", "text"}, {"blob", ""}, {"real", "real"}, {"floa", "real"}, {"doub", "real"},
	} {
		if strings.Contains(kind, rule.part) {
			return rule.is
		}
	}
	if kind == "" {
		return ""
	}
	return "numeric"
}

// compared are the columns that somebody is found by. What they hold has to be
// taken exactly: another's account must not be found by a name like theirs.
var compared = []string{
	"id", "userId", "email", "provider", "providerAccountId", "sessionToken", "identifier", "token", "credentialID", "key",
}

func isCompared(column string) bool { return slices.Contains(compared, column) }

// unfitText is about MySQL: collations that take one text for another, and texts
// that are cut off without a word.
func (f *fitting) unfitText(c column, d field) string {
	switch {
	case f.dialect != MySQL:
		return ""
	case !f.exact && isCompared(c.name) && d.family != "" && d.family != "binary" && !strings.HasSuffix(d.family, "_bin"):
		return fmt.Sprintf("its collation %s takes different texts for the same: use a binary one, such as utf8mb4_bin", d.family)
	case d.cut > 0 && (d.cut < int(c.width) || c.width == 0 && d.cut < 65535):
		return fmt.Sprintf("this connection would cut texts off at %d: let sql_mode have STRICT_TRANS_TABLES", d.cut)
	}
	return ""
}
