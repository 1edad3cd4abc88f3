package sqlstore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// signature is what tells a table of Auth.js from others, however its names are
// written: every adapter of Auth.js has these columns.
var signature = map[string][]string{
	"users":              {"id", "email", "emailverified"},
	"accounts":           {"userid", "type", "provider", "provideraccountid"},
	"sessions":           {"userid", "sessiontoken", "expires"},
	"verification_token": {"identifier", "token", "expires"},
	"authenticators":     {"userid", "credentialid", "credentialpublickey", "counter"},
}

// supabaseSchema is where Supabase keeps the tables of Auth.js.
const supabaseSchema = "next_auth."

// plainName is a name without case and underscores.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// existing are the tables of a database: the names and types of their columns.
type existing map[string]map[string]string

// byTable sorts what columnTypes found.
func byTable(columns map[string]string) existing {
	all := existing{}
	for name, kind := range columns {
		dot := strings.LastIndexByte(name, '.')
		table, column := name[:dot], name[dot+1:]
		if all[table] == nil {
			all[table] = map[string]string{}
		}
		all[table][column] = kind
	}
	return all
}

// find is the column of a table that has a name, however it is written.
func (e existing) find(table, name string) (column string, found bool) {
	if _, exact := e[table][name]; exact {
		return name, true
	}
	for _, column := range slices.Sorted(maps.Keys(e[table])) {
		if plainName(column) == plainName(name) {
			return column, true
		}
	}
	return "", false
}

// like is the table that has the columns of one of Auth.js', in the schema of
// the table that is beside it; the usual name comes first. Empty: there is none.
func (e existing) like(table, beside string) string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
		if beside != "" && strings.HasPrefix(name, supabaseSchema) != strings.HasPrefix(beside, supabaseSchema) {
			continue
		}
		lacks := func(column string) bool { _, has := e.find(name, column); return !has }
		if !slices.ContainsFunc(signature[table], lacks) {
			found = append(found, name)
		}
	}
	if slices.Contains(found, table) {
		return table
	}
	return append(found, "")[0]
}

// hasAll says whether there is a table with every column that it must have.
func (e existing) hasAll(table string) bool {
	return !slices.ContainsFunc(tables[table], func(c column) bool {
		return c.presence == always && e[table][c.name] == ""
	})
}

// looksLikeUsers says whether people are kept here, by whomever.
func (e existing) looksLikeUsers() bool {
	for table := range e {
		_, email := e.find(table, "email")
		_, verified := e.find(table, "emailVerified")
		bare := plainName(table[strings.LastIndexByte(table, '.')+1:])
		if email && (verified || bare == "user" || bare == "users") {
			return true
		}
	}
	return false
}

// recognise finds the tables of an adapter of Auth.js, whatever they are called,
// and names them. They are Auth.js' if there are users, accounts and sessions.
func (e existing) recognise(d Dialect) (l Layout, found bool) {
	l = Layout{Names: map[string]string{}, PlainTokens: true}
	beside := ""
	for _, table := range tableOrder {
		name := table
		if signature[table] != nil {
			name = e.like(table, beside)
		} else if !e.hasAll(table) { // others have tables of such names too
			name = ""
		}
		switch {
		case name == "" && slices.Contains(tableOrder[:3], table):
			return Layout{}, false
		case name == "" && nameable[table]:
			l.Names[table] = ""
		case name != "":
			e.nameTable(l.Names, table, name)
			beside = name
		}
	}
	e.leaveIDs(d, &l)
	e.touched(&l)
	return l, true
}

// touched notes the columns that hold when a row was last written.
func (e existing) touched(l *Layout) {
	for _, table := range tableOrder[:5] {
		if name := (grammar{names: l.Names}).name(table); name != "" {
			if column, has := e.find(name, "updatedAt"); has {
				l.Touched = append(l.Touched, table+"."+column)
			}
		}
	}
}

// leaveIDs leaves to the database the ids that are no texts.
func (e existing) leaveIDs(d Dialect, l *Layout) {
	other := func(logical string) bool {
		kind := e.kind(*l, logical)
		if d != Postgres {
			return isInteger(field{kind: kind})
		}
		return kind != "" && kind != "text" && !strings.HasPrefix(kind, "char")
	}
	l.DatabaseIDs = other("users.id")
	for _, id := range []string{"accounts.id", "sessions.id", "verification_token.id"} {
		if !l.DatabaseIDs && other(id) {
			if l.Names == nil {
				l.Names = map[string]string{}
			}
			l.Names[id] = ""
		}
	}
}

// nameTable notes what is called otherwise, and what is not there.
func (e existing) nameTable(names map[string]string, table, name string) {
	if name != table {
		names[table] = name
	}
	for _, c := range tables[table] {
		column, has := e.find(name, c.name)
		switch {
		case has && (column != c.name || c.presence == foreignOnly):
			names[table+"."+c.name] = column
		case !has && c.presence != always && c.presence != foreignOnly:
			names[table+"."+c.name] = ""
		}
	}
}

// kind is the type of a column of a layout.
func (e existing) kind(l Layout, logical string) string {
	g := grammar{names: l.Names}
	table, _, _ := strings.Cut(logical, ".")
	return e[g.name(table)][g.name(logical)]
}

// adapter guesses which adapter of Auth.js made the tables of a layout; nothing:
// none that is known by its marks.
func (e existing) adapter(d Dialect, l Layout) peer {
	numbered := isInteger(field{kind: e.kind(l, "users.id")}) // as in none of them
	for _, p := range peers {
		if _, exists := p.times[d]; exists && !numbered && p.madeTables(l) && e.marks(d, l, p.name) {
			return p
		}
	}
	if _, renamed := l.Names["users"]; d != Postgres || renamed || l.Names["verification_token"] != "" {
		return peer{}
	}
	if e.kind(l, "accounts.expires_at") == "integer" {
		return peer{name: "neon", title: "Neon"}
	}
	return peer{name: "pg", title: "pg"}
}

// marks tells adapters apart that call their tables the same.
func (e existing) marks(d Dialect, l Layout, name string) bool {
	_, numbered := e.find(grammar{names: l.Names}.name("verification_token"), "id")
	switch name {
	case "prisma":
		return e["_prisma_migrations"] != nil || !strings.Contains(e.kind(l, "accounts.expires_at"), "bigint")
	case "typeorm":
		return numbered && strings.Contains(e.kind(l, "users.emailVerified"), "char")
	case "hasura":
		return e["provider_type"] != nil
	case "d1":
		return d == SQLite && !numbered
	}
	return true
}

// makeUUIDs has ids of that kind made where others expect them.
func (e existing) makeUUIDs(l *Layout, of peer) {
	if of.name == "pg" || of.name == "neon" || e.kind(*l, "users.id") != "uuid" && !of.uuids {
		return
	}
	l.UUIDs, l.DatabaseIDs = true, false
}

// times finds the form of the times: by the type of a column, by a value in it,
// or else as the adapter keeps them.
func (e existing) times(ctx context.Context, c Conn, d Dialect, l Layout, of peer) (Times, error) {
	kind := e.kind(l, "sessions.expires")
	switch {
	case of.name == "pg" || of.name == "neon", d == Postgres && strings.HasPrefix(kind, "timestamp"):
		return TimesUsual, nil
	case d == MySQL && (kind == "datetime" || kind == "timestamp"):
		return TimesUTC, nil
	}
	g := l.grammar(d)
	for _, column := range []string{"sessions.expires", "verification_token.expires", "users.emailVerified"} {
		table, _, _ := strings.Cut(column, ".")
		if e.kind(l, column) == "" {
			continue
		}
		value, err := g.oneValue(ctx, c, table, column)
		if err != nil {
			return TimesUsual, err
		}
		if times, is := timesOf(d, value, affinity(kind) == "text" || of.name == "typeorm"); is {
			return times, nil
		}
	}
	return of.times[d], nil
}

// oneValue is what some row has in a column, as text; empty: none has.
func (l grammar) oneValue(ctx context.Context, c Conn, table, column string) (value string, err error) {
	as := "TEXT"
	if l.dialect == MySQL {
		as = "CHAR"
	}
	statement := l.sql(`SELECT CAST({` + column + `} AS ` + as + `) FROM {` + table + `} WHERE {` + column + `} IS NOT NULL LIMIT 1`)
	err = c.One(ctx, statement, nil, &value)
	if errors.Is(err, latchkey.ErrNotFound) {
		err = nil
	}
	return value, err
}

// timesOf is the form of a value. Digits are texts where the column has texts.
func timesOf(d Dialect, value string, inText bool) (Times, bool) {
	for _, times := range []Times{TimesISO, TimesUTC} {
		if f := (form{times, d}); f.isText() {
			if _, err := f.parse(value); err == nil {
				return times, true
			}
		}
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return TimesUsual, false
	case inText:
		return TimesMillisText, true
	case n >= 1e9 && n < 1e11:
		return TimesSeconds, true
	case d == Postgres:
		return TimesMillis, true
	}
	return TimesUsual, true
}
