package foreign

import (
	"fmt"
	"maps"
	"slices"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// adapter is an adapter of Auth.js with tables of its own, as its documentation
// lays them out.
type adapter struct {
	name, title string           // of its package, and as people call it
	tables      [5]string        // the names of the shared tables of package model; "" means none
	snake       bool             // columns are written with underscores
	without     []string         // columns that it lacks, besides those that every adapter of Auth.js lacks
	names       model.Names      // columns that it has besides
	times       map[Engine]Times // of each engine that it exists for
	touched     []string
	nullIDs     Engine // where it leaves the ids of accounts and sessions null
	uuids       bool
	unindexed   bool
}

// accountAndSessionIDs are the ids that some adapters do without.
var accountAndSessionIDs = []string{"accounts.id", "sessions.id"}

// adapters are those that [SharedLayout] knows, except pg and neon.
var adapters = []adapter{
	{
		name: "prisma", title: "Prisma", tables: [5]string{"User", "Account", "Session", "VerificationToken", "Authenticator"},
		without: accountAndSessionIDs, touched: []string{"users.updatedAt", "accounts.updatedAt", "sessions.updatedAt"},
		times: map[Engine]Times{Postgres: Usual, MySQL: UTC, SQLite: ISO},
	},
	{
		name: "drizzle", title: "Drizzle", tables: [5]string{"user", "account", "session", "verificationToken", "authenticator"},
		without: accountAndSessionIDs, times: map[Engine]Times{Postgres: Usual, MySQL: UTC, SQLite: Usual},
	},
	{
		name: "kysely", title: "Kysely", tables: [5]string{"User", "Account", "Session", "VerificationToken"},
		times: map[Engine]Times{Postgres: Usual, MySQL: UTC, SQLite: ISO}, uuids: true, unindexed: true, nullIDs: SQLite,
	},
	{
		name: "typeorm", title: "TypeORM", tables: [5]string{"users", "accounts", "sessions", "verification_tokens"},
		names: model.Names{"verification_token.id": "id"}, uuids: true, unindexed: true,
		times: map[Engine]Times{Postgres: MillisText, MySQL: MillisText, SQLite: MillisText},
	},
	{
		name: "sequelize", title: "Sequelize", tables: [5]string{"users", "accounts", "sessions", "verification_tokens"}, snake: true,
		times: map[Engine]Times{Postgres: Usual, MySQL: UTC, SQLite: UTC}, uuids: true, unindexed: true,
	},
	{
		name: "mikro-orm", title: "MikroORM", tables: [5]string{"user", "account", "session", "verification_token"}, snake: true,
		times: map[Engine]Times{Postgres: Usual, MySQL: UTC, SQLite: Usual}, uuids: true,
	},
	{
		name: "supabase", title: "Supabase", times: map[Engine]Times{Postgres: Usual}, uuids: true,
		tables: [5]string{"next_auth.users", "next_auth.accounts", "next_auth.sessions", "next_auth.verification_tokens"},
	},
	{
		name: "hasura", title: "Hasura", tables: [5]string{"users", "accounts", "sessions", "verification_tokens"},
		times: map[Engine]Times{Postgres: Usual}, uuids: true, unindexed: true,
	},
	{
		name: "d1", title: "D1", tables: [5]string{"users", "accounts", "sessions", "verification_tokens"},
		times: map[Engine]Times{SQLite: ISO}, uuids: true, unindexed: true,
	},
}

// SharedLayout returns the layout of the tables that the documentation of an adapter of
// Auth.js asks for. name is that of the adapter's package, such as "prisma". SharedLayout
// returns an error for an adapter that it does not know, or that does not exist for the
// engine. It does not know pg and neon: their tables have the usual names. The caller may
// change the Layout.
func SharedLayout(e Engine, name string) (Layout, error) {
	i := slices.IndexFunc(adapters, func(a adapter) bool { return a.name == name })
	if i < 0 {
		return Layout{}, fmt.Errorf("there is no adapter %q of Auth.js for %s", name, e)
	}
	if _, exists := adapters[i].times[e]; !exists {
		return Layout{}, fmt.Errorf("the adapter %q of Auth.js does not exist for %s", name, e)
	}
	return adapters[i].layout(e), nil
}

// layout returns the layout of the adapter's tables as they are documented for an
// engine.
func (a adapter) layout(e Engine) Layout {
	l := Layout{Names: model.AuthJS(), UUIDs: a.uuids, Unindexed: a.unindexed, Times: a.times[e], Touched: slices.Clone(a.touched)}
	for i, table := range model.Shared() {
		if a.tables[i] != table.Name {
			l.Names[table.Name] = a.tables[i]
		}
		for _, c := range table.Columns {
			if snake := snakeName(c.Name); a.snake && c.Presence != model.Added && snake != c.Name {
				l.Names[table.Name+"."+c.Name] = snake
			}
		}
	}
	l.leaveOut(a.without...)
	if a.nullIDs == e {
		l.leaveOut(accountAndSessionIDs...)
	}
	maps.Copy(l.Names, a.names)
	return l
}

// named reports whether n has the names that the adapter gives its tables, except that of
// passkeys, and writes columns with underscores if and only if the adapter does.
func (a adapter) named(n model.Names) bool {
	for i, table := range model.Shared()[:4] {
		if n.Of(table.Name) != a.tables[i] {
			return false
		}
	}
	return (n.Of("sessions.sessionToken") == "session_token") == a.snake
}
