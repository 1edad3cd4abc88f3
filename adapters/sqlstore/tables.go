package sqlstore

import (
	"regexp"
	"slices"
	"strings"
	"time"
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
	optFlag        // null where false
	moment         // null where zero
)

// width is how many bytes of text a column holds on MySQL; elsewhere, and
// where it is 0, any number.
type width int

const (
	short width = 255  // a key, a word
	long  width = 1400 // an e-mail address, a subject, a token
)

// presence says which layouts have a column.
type presence int

const (
	always      presence = iota
	optional             // a layout may be without
	added                // likewise, and Auth.js has none
	foreignOnly          // only tables of others have it
)

type column struct {
	name string
	kind
	width
	presence
}

// tables has the columns in the order in which rows are written and read.
var tables = map[string][]column{
	"users": {
		{"id", id, short, always},
		{"name", optText, 0, always},
		{"email", optText, long, always},
		{"emailVerified", moment, 0, always},
		{"image", optText, 0, always},
		{"extra", optText, 0, added},
	},
	"accounts": {
		{"id", id, short, optional},
		{"userId", id, short, always},
		{"type", text, short, always},
		{"provider", text, short, always},
		{"providerAccountId", text, long, always},
		{"refresh_token", optText, 0, optional},
		{"access_token", optText, 0, optional},
		{"expires_at", optNumber, 0, optional},
		{"id_token", optText, 0, optional},
		{"scope", optText, 0, optional},
		{"session_state", optText, 0, optional},
		{"token_type", optText, 0, optional},
		{"authorization_details", optText, 0, added},
		{"token_extra", optText, 0, added},
		{"extra", optText, 0, added},
		{"email", optText, long, added},
		{"email_vouched", optFlag, 0, added},
	},
	"sessions": {
		{"id", id, short, optional},
		{"userId", id, short, always},
		{"sessionToken", text, long, always},
		{"expires", moment, 0, always},
		{"created", moment, 0, added},
		{"user_agent", optText, 0, added},
		{"tenant", optText, short, added},
		{"provider", optText, short, added},
		{"provider_sid", optText, short, added},
		{"provider_sub", optText, short, added},
		{"provider_issued", moment, 0, added},
		{"sealed", optText, 0, added},
		{"proved", moment, 0, added},
		{"amr", optText, short, added}, // words with a space between them
		{"acr", optText, short, added},
	},
	"verification_token": {
		{"id", id, short, foreignOnly},
		{"identifier", text, long, always},
		{"token", text, long, always},
		{"expires", moment, 0, always},
		{"purpose", optText, short, added}, // never compared: it is part of the hash
	},
	"authenticators": {
		{"credentialID", text, long, always},
		{"userId", id, short, always},
		{"providerAccountId", text, long, always},
		{"credentialPublicKey", text, 0, always},
		{"counter", number, 0, always},
		{"credentialDeviceType", text, short, always},
		{"credentialBackedUp", flag, 0, always},
		{"transports", optText, 0, optional},
		{"name", optText, 0, added},
		{"aaguid", optText, short, added},
		{"created", moment, 0, added},
		{"used", moment, 0, added},
		{"user_handle", optText, short, added},
	},
	"revocations": {
		{"key", text, short, always},
		{"at", moment, 0, always},
		{"expires", moment, 0, always},
	},
	"limits": {
		{"key", text, short, always},
		{"full_at", moment, 0, always}, // when it is empty again, and ever later the fuller it is
	},
	"used_values": {
		{"key", text, short, always},
		{"expires", moment, 0, always},
	},
}

// dispensable are the tables that a layout may be without.
var dispensable = []string{"authenticators", "revocations", "limits", "used_values"}

// nameable has the keys of [Layout].Names, and whether the name may be empty.
var nameable = func() map[string]bool {
	m := map[string]bool{}
	for table, columns := range tables {
		m[table] = slices.Contains(dispensable, table)
		for _, c := range columns {
			m[table+"."+c.name] = c.presence != always
		}
	}
	return m
}()

// theirs are the columns that a layout has only if it names them.
var theirs = map[string]bool{"verification_token.id": true}

// kindOf is what a column holds.
func kindOf(logical string) kind {
	table, name, _ := strings.Cut(logical, ".")
	for _, c := range tables[table] {
		if c.name == name {
			return c.kind
		}
	}
	return text
}

// grammar writes statements for one database.
type grammar struct {
	form
	names   map[string]string
	touched map[string][]string // of each table, what is set to the present when a row is written
	ownIDs  bool                // ids are made here, not by the database
	uuids   bool                // and are UUIDs
	exact   bool                // texts are compared exactly, whatever the collation
}

// name is what a table or column is called in the database; empty: there is
// none.
func (l grammar) name(logical string) string {
	if to, renamed := l.names[logical]; renamed {
		return to
	}
	if theirs[logical] {
		return ""
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
// {users.*} what to read of a row, {u.users.*} the same of an alias, {users.email!}
// what to read of a column, and each ? an argument.
func (l grammar) sql(statement string) string {
	if l.exact {
		statement = comparedExactly(statement)
	}
	return l.dialect.number(placeholder.ReplaceAllStringFunc(statement, func(p string) string {
		p = strings.Trim(p, "{}")
		if column, read := strings.CutSuffix(p, "!"); read {
			return l.readColumn(kindOf(column), l.dialect.quote(l.name(column)))
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

// read lists the columns of a row that there are, in such a way that text and
// numbers are never null, and ids are text. Into is where they are read to.
func (l grammar) read(table, prefix string) string {
	var list []string
	for _, c := range tables[table] {
		if name := l.name(table + "." + c.name); name != "" {
			read := l.readColumn(c.kind, prefix+l.dialect.quote(name))
			if c.kind == id && c.presence != always && len(l.names) > 0 { // which others may leave null
				read = "COALESCE(" + read + ", '')"
			}
			list = append(list, read)
		}
	}
	return strings.Join(list, ", ")
}

// present says of each column of a table whether there is one.
func (l grammar) present(table string) []bool {
	var present []bool
	for _, c := range tables[table] {
		present = append(present, l.has(table+"."+c.name))
	}
	return present
}

func (l grammar) readColumn(k kind, quoted string) string {
	switch {
	case k == optText:
		return "COALESCE(" + quoted + ", '')"
	case k == optNumber:
		return "COALESCE(" + quoted + ", 0)"
	case k == optFlag:
		return "COALESCE(" + quoted + ", FALSE)"
	case k == id && l.dialect == Postgres:
		return quoted + "::text"
	case k == moment:
		return l.form.read(quoted)
	}
	return quoted
}

// insert is the statement that adds a row, and which of the row's values it
// takes.
type insert struct {
	table, sql string
	takes      []bool
}

func (l grammar) insert(table string) insert {
	in := insert{table: table}
	var names, values []string
	for _, c := range tables[table] {
		name := l.name(table + "." + c.name)
		takes := name != "" && (c.name != "id" || l.ownIDs)
		in.takes = append(in.takes, takes)
		if takes {
			names, values = append(names, l.dialect.quote(name)), append(values, "?")
		}
	}
	for _, name := range l.touched[table] {
		names, values = append(names, l.dialect.quote(name)), append(values, "?")
	}
	statement := "INSERT INTO {" + table + "} (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
	if l.dialect != MySQL { // which has only IGNORE, and that ignores other faults too
		statement += " ON CONFLICT DO NOTHING"
	}
	in.sql = l.sql(statement)
	return in
}

// args leaves out what the statement does not take.
func (l grammar) args(in insert, row []any) []any {
	args := make([]any, 0, len(row))
	for i, v := range row {
		if in.takes[i] {
			args = append(args, v)
		}
	}
	return append(args, l.touches(in.table)...)
}

// update begins a statement that changes rows of a table. Its arguments begin
// with what touches has.
func (l grammar) update(table string) string {
	var b strings.Builder
	b.WriteString("UPDATE {" + table + "} SET ")
	for _, name := range l.touched[table] {
		b.WriteString(l.dialect.quote(name) + " = ?, ")
	}
	return b.String()
}

// formOf is how a table keeps instants. Those that nobody but Latchkey has keep
// them as usual, whatever is beside them.
func (l grammar) formOf(table string) form {
	if signature[table] == nil {
		return form{dialect: l.dialect}
	}
	return l.form
}

// touches are the arguments for what is set to the present.
func (l grammar) touches(table string) (now []any) {
	for range l.touched[table] {
		now = append(now, l.arg(time.Now()))
	}
	return now
}

// readID is what reads an id as text.
func (l grammar) readID(logical string) string {
	return l.readColumn(id, l.dialect.quote(l.name(logical)))
}
