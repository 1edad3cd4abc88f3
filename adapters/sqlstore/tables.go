package sqlstore

import (
	"regexp"
	"strings"
)

// kind is what a column holds, and so how it is read.
type kind int

const (
	text      kind = iota
	id             // text here, perhaps a number or a UUID in the database
	optText        // null where empty
	number         // never null
	optNumber      // null where zero
	flag           // a truth value
	moment         // null where zero
)

type column struct {
	name     string
	kind     kind
	optional bool // a layout may be without
}

// tables has the columns in the order in which rows are written and read.
var tables = map[string][]column{
	"users": {
		{"id", id, false},
		{"name", optText, false},
		{"email", optText, false},
		{"emailVerified", moment, false},
		{"image", optText, false},
		{"extra", optText, true},
	},
	"accounts": {
		{"id", id, true},
		{"userId", id, false},
		{"type", text, false},
		{"provider", text, false},
		{"providerAccountId", text, false},
		{"refresh_token", optText, true},
		{"access_token", optText, true},
		{"expires_at", optNumber, true},
		{"id_token", optText, true},
		{"scope", optText, true},
		{"session_state", optText, true},
		{"token_type", optText, true},
		{"authorization_details", optText, true},
		{"token_extra", optText, true},
		{"extra", optText, true},
	},
	"sessions": {
		{"id", id, true},
		{"userId", id, false},
		{"sessionToken", text, false},
		{"expires", moment, false},
		{"created", moment, true},
		{"user_agent", optText, true},
	},
	"verification_token": {
		{"identifier", text, false},
		{"token", text, false},
		{"expires", moment, false},
	},
	"authenticators": {
		{"credentialID", text, false},
		{"userId", id, false},
		{"providerAccountId", text, false},
		{"credentialPublicKey", text, false},
		{"counter", number, false},
		{"credentialDeviceType", text, false},
		{"credentialBackedUp", flag, false},
		{"transports", optText, true},
	},
	"revocations": {
		{"key", text, false},
		{"at", moment, false},
		{"expires", moment, false},
	},
}

// nameable has the keys of [Layout].Names, and whether the name may be empty.
var nameable = func() map[string]bool {
	m := map[string]bool{}
	for table, columns := range tables {
		m[table] = table == "authenticators" || table == "revocations"
		for _, c := range columns {
			m[table+"."+c.name] = c.optional
		}
	}
	return m
}()

// grammar writes statements for one database.
type grammar struct {
	dialect Dialect
	names   map[string]string
	ownIDs  bool // ids are made here, not by the database
}

// name is what a table or column is called in the database; empty: there is none.
func (l grammar) name(logical string) string {
	if to, renamed := l.names[logical]; renamed {
		return to
	}
	_, column, isColumn := strings.Cut(logical, ".")
	if isColumn {
		return column
	}
	return logical
}

func (l grammar) has(logical string) bool { return l.name(logical) != "" }

var placeholder = regexp.MustCompile(`\{[^}]+\}`)

// sql completes a statement: {users} is a table, {users.email} a column,
// {users.*} what to read of a row, {u.users.*} the same of an alias, and each ?
// an argument.
func (l grammar) sql(statement string) string {
	return l.dialect.number(placeholder.ReplaceAllStringFunc(statement, func(p string) string {
		p = strings.Trim(p, "{}")
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

// read lists the columns of a row in such a way that text and numbers are never
// null, and ids are text.
func (l grammar) read(table, prefix string) string {
	var list []string
	for _, c := range tables[table] {
		name := l.name(table + "." + c.name)
		list = append(list, l.readColumn(c.kind, name, prefix+l.dialect.quote(name)))
	}
	return strings.Join(list, ", ")
}

func (l grammar) readColumn(k kind, name, quoted string) string {
	absent := name == ""
	switch {
	case k == moment && absent && l.dialect == Postgres:
		return "NULL::timestamptz"
	case k == moment && absent:
		return "NULL"
	case k == optNumber && absent:
		return "0"
	case absent:
		return "''"
	case k == optText:
		return "COALESCE(" + quoted + ", '')"
	case k == optNumber:
		return "COALESCE(" + quoted + ", 0)"
	case k == id && l.dialect == Postgres:
		return quoted + "::text"
	}
	return quoted
}

// insert is the statement that adds a row, and which of the row's values it takes.
type insert struct {
	sql    string
	takes  []bool
	widths []int // the most bytes a value may have; 0: any
}

func (l grammar) insert(table string) insert {
	in := insert{}
	var names, values []string
	for _, c := range tables[table] {
		name := l.name(table + "." + c.name)
		takes := name != "" && (c.name != "id" || l.ownIDs)
		in.takes, in.widths = append(in.takes, takes), append(in.widths, l.width(c))
		if takes {
			names, values = append(names, l.dialect.quote(name)), append(values, "?")
		}
	}
	statement := "INSERT INTO {" + table + "} (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
	if l.dialect != MySQL { // which has only IGNORE, and that ignores other faults too
		statement += " ON CONFLICT DO NOTHING"
	}
	in.sql = l.sql(statement)
	return in
}

// width is how many bytes a column can hold where its type says so.
func (l grammar) width(c column) int {
	switch {
	case l.dialect != MySQL:
		return 0
	case c.name == "email" || c.name == "identifier" || c.name == "token" || c.name == "sessionToken",
		c.name == "providerAccountId" || c.name == "credentialID":
		return 1400
	case c.kind == id || c.kind == text && c.name != "credentialPublicKey":
		return 255
	}
	return 0
}

// args leaves out what the statement does not take.
func (in insert) args(row []any) []any {
	args := make([]any, 0, len(row))
	for i, v := range row {
		if in.takes[i] {
			args = append(args, v)
		}
	}
	return args
}

// readID is what reads an id as text.
func (l grammar) readID(logical string) string {
	return l.readColumn(id, l.name(logical), l.dialect.quote(l.name(logical)))
}
