package sqlstore

import (
	"fmt"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/foreign"
)

// SharedWith returns the layout to share a database with another adapter of Auth.js, with
// tables as the documentation of that adapter has them. name is that of the adapter:
// "pg", "neon", "prisma", "drizzle", "kysely", "typeorm", "sequelize", "mikro-orm",
// "supabase", "hasura" or "d1". SharedWith returns an error for any other name, for an
// adapter that does not exist for the database, and for an unknown dialect. It asks no
// database: [Detect] finds the layout of tables that differ from the documentation.
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
	l, err := foreign.SharedLayout(foreign.Engine(d), name)
	if err != nil {
		return Layout{}, fmt.Errorf("sql: %w", err)
	}
	return foreignLayout(l), nil
}

// foreignLayout returns a layout of package foreign as a Layout, with PlainTokens. The
// Layout shares Names and Touched with l.
func foreignLayout(l foreign.Layout) Layout {
	return Layout{
		Names: l.Names, PlainTokens: true, DatabaseIDs: l.DatabaseIDs, UUIDs: l.UUIDs,
		Times: Times(l.Times), Touched: l.Touched, Unindexed: l.Unindexed,
	}
}
