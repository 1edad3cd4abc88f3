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
		if !f.isText(d) {
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
	switch f.dialect {
	case Postgres:
		if !strings.HasPrefix(d.kind, "timestamp") {
			return "times are kept as timestamptz"
		}
	case MySQL:
		if d.kind != "bigint" {
			return "times are kept as bigint, milliseconds since 1970"
		}
	case SQLite:
		if a := affinity(d.kind); a != "integer" && a != "numeric" && a != "" {
			return "times are kept as integer, milliseconds since 1970"
		}
	}
	return ""
}

// unfitID compares ids with who makes them, and those of users with each other.
func (f *fitting) unfitID(table string, c column, d field) string {
	isText := f.isText(d)
	if table == "users" {
		f.idKind = d.kind
		if isText {
			f.idKind = "text"
		}
	}
	switch {
	case c.name == "userId" && isText && f.idKind == "text":
		return f.unfitText(c, d)
	case c.name == "userId" && f.dialect == Postgres && (d.kind == f.idKind || isInteger(d) && strings.HasSuffix(f.idKind, "int") || isInteger(d) && f.idKind == "integer"):
		return ""
	case c.name == "userId":
		return fmt.Sprintf("it is %s, and the ids of users are %s", d.typeName(), f.idKind)
	case f.ownIDs && isText:
		return f.unfitText(c, d)
	case f.ownIDs && f.dialect == Postgres:
		return fmt.Sprintf("it is %s, and ids are texts: with Layout.DatabaseIDs the database makes them", d.typeName())
	case f.ownIDs:
		return fmt.Sprintf("it is %s, and ids are texts", d.typeName())
	case !d.filled:
		return "Layout.DatabaseIDs leaves it to the database, which has no default for it: ALTER TABLE " + f.dialect.quote(f.name(table)) +
			" ALTER COLUMN " + f.dialect.quote(d.name) + " SET DEFAULT gen_random_uuid()"
	}
	return ""
}

func isInteger(d field) bool {
	return slices.Contains([]string{"smallint", "integer", "bigint"}, d.kind)
}

func (f *fitting) isText(d field) bool {
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

// unfitText is about MySQL: collations that take one text for another, and texts
// that are cut off without a word.
func (f *fitting) unfitText(c column, d field) string {
	switch {
	case f.dialect != MySQL:
		return ""
	case slices.Contains(compared, c.name) && d.family != "" && d.family != "binary" && !strings.HasSuffix(d.family, "_bin"):
		return fmt.Sprintf("its collation %s takes different texts for the same: use a binary one, such as utf8mb4_bin", d.family)
	case d.cut > 0 && (d.cut < int(c.width) || c.width == 0 && d.cut < 65535):
		return fmt.Sprintf("this connection would cut texts off at %d: let sql_mode have STRICT_TRANS_TABLES", d.cut)
	}
	return ""
}
