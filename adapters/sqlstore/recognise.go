package sqlstore

import (
	"maps"
	"slices"
	"strings"
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

// like is the table that has the columns of one of Auth.js'; the usual name
// comes first. Empty: there is none.
func (e existing) like(table string) string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
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
	for _, table := range tableOrder {
		name := table
		if signature[table] != nil {
			name = e.like(table)
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
		}
	}
	e.leaveIDs(d, &l)
	return l, true
}

// leaveIDs leaves to PostgreSQL the ids that are no texts.
func (e existing) leaveIDs(d Dialect, l *Layout) {
	other := func(logical string) bool {
		kind := e.kind(*l, logical)
		return kind != "" && kind != "text" && !strings.HasPrefix(kind, "char")
	}
	if d != Postgres {
		return
	}
	l.DatabaseIDs = other("users.id")
	for _, id := range []string{"accounts.id", "sessions.id"} {
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
		case has && column != c.name:
			names[table+"."+c.name] = column
		case !has && c.presence != always:
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

// adapter guesses which adapter of Auth.js made the tables of a layout; empty:
// none that is known by its marks.
func (e existing) adapter(d Dialect, l Layout) string {
	users, verified := l.Names["users"], e.kind(l, "users.emailVerified")
	_, snake := l.Names["users.emailVerified"]
	_, numbered := e.find(grammar{names: l.Names}.name("verification_token"), "id")
	switch {
	case strings.HasPrefix(users, "next_auth."):
		return "Supabase"
	case e["_prisma_migrations"] != nil:
		return "Prisma"
	case users == "User" && strings.Contains(e.kind(l, "accounts.expires_at"), "bigint"):
		return "Kysely"
	case users == "User":
		return "Prisma"
	case users == "user" && snake:
		return "MikroORM"
	case users == "user":
		return "Drizzle"
	case users != "":
		return ""
	case snake:
		return "Sequelize"
	case numbered && strings.Contains(verified, "char"):
		return "TypeORM"
	case e["provider_type"] != nil:
		return "Hasura"
	case d == SQLite:
		return "D1"
	case d == Postgres && l.Names["verification_token"] == "":
		return "pg"
	}
	return ""
}
