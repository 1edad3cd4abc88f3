package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// signature has the columns that tell a shared table from others, as plain names:
// every adapter of Auth.js has these columns.
var signature = map[string][]string{
	"users":              {"id", "email", "emailverified"},
	"accounts":           {"userid", "type", "provider", "provideraccountid"},
	"sessions":           {"userid", "sessiontoken", "expires"},
	"verification_token": {"identifier", "token", "expires"},
	"authenticators":     {"userid", "credentialid", "credentialpublickey", "counter"},
}

// needed are the tables without which there is no Auth.js.
var needed = []string{"users", "accounts", "sessions"}

// supabaseSchema is where Supabase keeps the tables of Auth.js.
const supabaseSchema = "next_auth."

// Guess is what Recognise makes of tables.
type Guess struct {
	// Adapter is the adapter of Auth.js that seems to have made the tables, such as
	// "Prisma". It is empty for one that is not known by its marks.
	Adapter string
	// Adoptable says that the tables are those of the PostgreSQL adapters of
	// Auth.js, pg and neon, whose names are the usual.
	Adoptable bool
	Layout    Layout
	// TimeColumns are the columns whose values tell the Times of the layout better
	// than the guess. There are none if types of columns told it.
	TimeColumns []string
	// DigitsAreText says that numbers in these columns are kept as text.
	DigitsAreText bool
}

// Recognise finds the tables of an adapter of Auth.js, under whatever names, and guesses
// how the adapter keeps rows. It returns false unless there are tables for users,
// accounts and sessions.
func (db Database) Recognise(e Engine) (Guess, bool) {
	names, found := db.names()
	if !found {
		return Guess{}, false
	}
	l := Layout{Names: names}
	db.LeaveIDs(e, &l)
	l.Touched = db.touched(names)
	of := db.adapter(e, names)
	g := Guess{Adapter: of.title, Adoptable: slices.Contains(adoptable, of.name)}
	if !g.Adoptable && (of.uuids || db.kind(names, "users.id") == "uuid") {
		l.UUIDs, l.DatabaseIDs = true, false
	}
	if of.nullIDs == e {
		l.leaveOut(accountAndSessionIDs...)
	}
	g.Layout = l
	db.guessTimes(e, of, &g)
	return g, true
}

// names finds the tables of package model and returns what they and their columns are
// called. It has "" for a table or column that the database lacks and that a layout may
// be without. Any other that is missing has no entry, such as verification_token. found
// is false unless there are tables for users, accounts and sessions.
func (db Database) names() (names model.Names, found bool) {
	names = model.Names{}
	beside := ""
	for _, table := range model.Tables {
		name := table.Name
		if table.Shared {
			name = db.like(table.Name, beside)
		} else if !db.hasAll(table) { // others have tables of such names, too
			name = ""
		}
		switch {
		case name == "" && slices.Contains(needed, table.Name):
			return nil, false
		case name == "" && table.Dispensable:
			names[table.Name] = ""
		case name != "":
			db.nameTable(names, table, name)
			beside = name
		}
	}
	return names, true
}

// like returns the name of a table of the database that has the columns by which a shared
// table is known (see signature). table is the name of the shared table in the model. If
// several tables fit, one called exactly table wins, and otherwise the first by name.
// beside is a table of the database: like looks only in the schema of beside, or in all
// if beside is empty. It returns "" if no table fits.
func (db Database) like(table, beside string) string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(db)) {
		if beside != "" && strings.HasPrefix(name, supabaseSchema) != strings.HasPrefix(beside, supabaseSchema) {
			continue
		}
		lacks := func(column string) bool { _, has := db.find(name, column); return !has }
		if !slices.ContainsFunc(signature[table], lacks) {
			found = append(found, name)
		}
	}
	if slices.Contains(found, table) {
		return table
	}
	return append(found, "")[0]
}

// nameTable adds to names what the database calls a table and its columns, where that
// differs from the model, and "" for columns that the table lacks and a layout may be
// without. name is what the database calls the table.
func (db Database) nameTable(names model.Names, table model.Table, name string) {
	if name != table.Name {
		names[table.Name] = name
	}
	for _, c := range table.Columns {
		column, has := db.find(name, c.Name)
		switch {
		case has && (column != c.Name || c.Presence == model.ForeignOnly):
			names[table.Name+"."+c.Name] = column
		case !has && c.Presence != model.Always && c.Presence != model.ForeignOnly:
			names[table.Name+"."+c.Name] = ""
		}
	}
}

// touched returns the columns of shared tables that are called updatedAt or updated_at,
// as Layout.Touched lists them.
func (db Database) touched(n model.Names) (columns []string) {
	for _, table := range model.Shared() {
		if name := n.Of(table.Name); name != "" {
			if column, has := db.find(name, "updatedAt"); has {
				columns = append(columns, table.Name+"."+column)
			}
		}
	}
	return columns
}

// adoptable are the adapters of Auth.js that use PostgreSQL without a mapper.
var adoptable = []string{"pg", "neon"}

// adapter guesses which adapter of Auth.js made the tables with the names n. It returns
// the zero adapter if none is known by such names and types.
func (db Database) adapter(e Engine, n model.Names) adapter {
	numbered := model.IsInteger(db.kind(n, "users.id")) // as in none of them
	for _, a := range adapters {
		if _, exists := a.times[e]; exists && !numbered && a.named(n) && db.hasMarks(e, n, a.name) {
			return a
		}
	}
	if db.isPrismas() && !numbered && len(n) > 0 {
		return adapters[0]
	}
	if _, renamed := n["users"]; e != Postgres || renamed || n["verification_token"] != "" {
		return adapter{}
	}
	if db.kind(n, "accounts.expires_at") == "integer" {
		return adapter{name: "neon", title: "Neon"}
	}
	return adapter{name: "pg", title: "pg"}
}

// isPrismas reports whether Prisma has migrated the database. Its schemas may give tables
// and columns any names, with underscores as Sequelize has them, too.
func (db Database) isPrismas() bool { return db["_prisma_migrations"] != nil }

// hasMarks reports whether tables with the names of an adapter can be its tables.
// It looks at what differs between adapters that give their tables the same names.
// adapter is the name of its package.
func (db Database) hasMarks(e Engine, n model.Names, adapter string) bool {
	_, numbered := db.find(n.Of("verification_token"), "id")
	switch adapter {
	case "prisma":
		return db.isPrismas() || !strings.Contains(db.kind(n, "accounts.expires_at"), "bigint")
	case "sequelize":
		return !db.isPrismas()
	case "typeorm":
		return numbered && strings.Contains(db.kind(n, "users.emailVerified"), "char")
	case "hasura":
		return db["provider_type"] != nil
	case "d1":
		return e == SQLite && !numbered
	}
	return true
}

// guessTimes sets g.Layout.Times. On PostgreSQL and MySQL the type of sessions.expires tells
// the form if it is a type for times. Otherwise guessTimes takes the form that of, the
// adapter, keeps. It then also sets g.TimeColumns to the columns whose values may tell another
// form, and g.DigitsAreText.
func (db Database) guessTimes(e Engine, of adapter, g *Guess) {
	names := g.Layout.Names
	kind := db.kind(names, "sessions.expires")
	switch {
	case g.Adoptable, e == Postgres && strings.HasPrefix(kind, "timestamp"):
		g.Layout.Times = Usual
		return
	case e == MySQL && (kind == "datetime" || kind == "timestamp"):
		g.Layout.Times = UTC
		return
	}
	g.Layout.Times = of.times[e]
	g.DigitsAreText = model.Affinity(kind) == "text" || of.name == "typeorm"
	for _, column := range []string{"sessions.expires", "verification_token.expires", "users.emailVerified"} {
		if db.kind(names, column) != "" {
			g.TimeColumns = append(g.TimeColumns, column)
		}
	}
}
