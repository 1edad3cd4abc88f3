package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// peer is an adapter of Auth.js with tables of its own, as its documentation
// lays them out.
type peer struct {
	name, title string            // of its package, and as people call it
	tables      [5]string         // users, accounts, sessions, links and passkeys; empty: none
	snake       bool              // columns are written with underscores
	without     []string          // what is not there, beside what no adapter of Auth.js has
	names       map[string]string // what is there beside it
	times       map[Dialect]Times // of each engine that it exists for
	touched     []string
	nullIDs     Dialect // where it leaves the ids of accounts and sessions null
	uuids       bool
	unindexed   bool
}

// only has times as they are usual.
func only(dialects ...Dialect) map[Dialect]Times {
	times := map[Dialect]Times{}
	for _, d := range dialects {
		times[d] = TimesUsual
	}
	return times
}

var noIDs = []string{"accounts.id", "sessions.id"}

// peers are those that [SharedWith] knows, but for pg and neon.
var peers = []peer{
	{
		name: "prisma", title: "Prisma", tables: [5]string{"User", "Account", "Session", "VerificationToken", "Authenticator"},
		without: noIDs, touched: []string{"users.updatedAt", "accounts.updatedAt", "sessions.updatedAt"},
		times: map[Dialect]Times{Postgres: TimesUsual, MySQL: TimesUTC, SQLite: TimesISO},
	},
	{
		name: "drizzle", title: "Drizzle", tables: [5]string{"user", "account", "session", "verificationToken", "authenticator"},
		without: noIDs, times: map[Dialect]Times{Postgres: TimesUsual, MySQL: TimesUTC, SQLite: TimesUsual},
	},
	{
		name: "kysely", title: "Kysely", tables: [5]string{"User", "Account", "Session", "VerificationToken"},
		times: map[Dialect]Times{Postgres: TimesUsual, MySQL: TimesUTC, SQLite: TimesISO}, uuids: true, unindexed: true, nullIDs: SQLite,
	},
	{
		name: "typeorm", title: "TypeORM", tables: [5]string{"users", "accounts", "sessions", "verification_tokens"},
		names: map[string]string{"verification_token.id": "id"}, uuids: true, unindexed: true,
		times: map[Dialect]Times{Postgres: TimesMillisText, MySQL: TimesMillisText, SQLite: TimesMillisText},
	},
	{
		name: "sequelize", title: "Sequelize", tables: [5]string{"users", "accounts", "sessions", "verification_tokens"}, snake: true,
		times: map[Dialect]Times{Postgres: TimesUsual, MySQL: TimesUTC, SQLite: TimesUTC}, uuids: true, unindexed: true,
	},
	{
		name: "mikro-orm", title: "MikroORM", tables: [5]string{"user", "account", "session", "verification_token"}, snake: true,
		times: map[Dialect]Times{Postgres: TimesUsual, MySQL: TimesUTC, SQLite: TimesUsual}, uuids: true,
	},
	{
		name: "supabase", title: "Supabase", times: only(Postgres), uuids: true,
		tables: [5]string{"next_auth.users", "next_auth.accounts", "next_auth.sessions", "next_auth.verification_tokens"},
	},
	{
		name: "hasura", title: "Hasura", tables: [5]string{"users", "accounts", "sessions", "verification_tokens"},
		times: only(Postgres), uuids: true, unindexed: true,
	},
	{
		name: "d1", title: "D1", tables: [5]string{"users", "accounts", "sessions", "verification_tokens"},
		times: map[Dialect]Times{SQLite: TimesISO}, uuids: true, unindexed: true,
	},
}

// SharedWith is the layout to share a database with another adapter of Auth.js,
// whose tables are as its documentation has them. The peer is "pg", "neon",
// "prisma", "drizzle", "kysely", "typeorm", "sequelize", "mikro-orm", "supabase",
// "hasura" or "d1"; another one, or one that does not exist for the database, is
// an error. Of tables that were changed since, [Detect] finds the layout.
//
// What Auth.js has no column for is not kept, as with [AuthJS].
func SharedWith(d Dialect, name string) (Layout, error) {
	if err := d.check(); err != nil {
		return Layout{}, err
	}
	if (name == "pg" || name == "neon") && d == Postgres {
		l := AuthJS()
		if name == "neon" { // whose page has no table for passkeys
			l.Names["authenticators"] = ""
		}
		return l, nil
	}
	i := slices.IndexFunc(peers, func(p peer) bool { return p.name == name })
	if i < 0 {
		return Layout{}, fmt.Errorf("sql: there is no adapter %q of Auth.js for %s", name, d)
	}
	times, exists := peers[i].times[d]
	if !exists {
		return Layout{}, fmt.Errorf("sql: the adapter %q of Auth.js does not exist for %s", name, d)
	}
	return peers[i].layout(d, times), nil
}

func (p peer) layout(d Dialect, times Times) Layout {
	names := AuthJS().Names
	for i, table := range tableOrder[:5] {
		if p.tables[i] != table {
			names[table] = p.tables[i]
		}
		for _, c := range tables[table] {
			if snake := snakeName(c.name); p.snake && c.presence != added && snake != c.name {
				names[table+"."+c.name] = snake
			}
		}
	}
	for _, column := range p.without {
		names[column] = ""
	}
	if p.nullIDs == d {
		p.leaveIDs(names)
	}
	maps.Copy(names, p.names)
	return Layout{Names: names, PlainTokens: true, UUIDs: p.uuids, Unindexed: p.unindexed, Times: times, Touched: slices.Clone(p.touched)}
}

// leaveIDs names no ids of accounts and sessions.
func (p peer) leaveIDs(names map[string]string) {
	for _, column := range noIDs {
		names[column] = ""
	}
}

// snakeName writes userId as user_id.
func snakeName(name string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(name, "ID", "Id") {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// madeTables says whether the tables of a layout have the names that the peer
// gives them.
func (p peer) madeTables(l Layout) bool {
	g := grammar{names: l.Names}
	for i, table := range tableOrder[:4] {
		if g.name(table) != p.tables[i] {
			return false
		}
	}
	return (g.name("sessions.sessionToken") == "session_token") == p.snake
}
