package main

import (
	"context"
	"fmt"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

const (
	foreignSchema = "it has a users table of somebody else: give Latchkey a database or a schema of its own " +
		"(PostgreSQL: ?search_path=auth), or name tables and columns in sqlstore.Layout and create them yourself (--print)"
	// lostTables is what a migration would take for done.
	lostTables = "it notes a version, but has no users table: restore the tables from a backup, or drop the table latchkey_migrations to begin anew"
)

// examine finds out what the database has. Tables that no command can work with
// are an error.
func (c *connection) examine(ctx context.Context) (sqlstore.Found, error) {
	found, err := sqladapter.Detect(ctx, c.DB, c.dialect)
	switch {
	case err != nil:
		return found, c.failed(err)
	case found.Schema == sqlstore.SchemaForeign:
		return found, fmt.Errorf("%s: %s", c.where, foreignSchema)
	case found.Schema == sqlstore.SchemaAbsent && found.Version > 0:
		return found, fmt.Errorf("%s: %s", c.where, lostTables)
	}
	return found, nil
}

// stateOf is a schema in words.
func stateOf(f sqlstore.Found) string {
	switch {
	case f.Schema == sqlstore.SchemaAbsent:
		return "it had none of the tables"
	case f.Schema == sqlstore.SchemaAuthJS:
		return "it had the tables of Auth.js"
	case f.Version == 0:
		return "it had tables without a version"
	}
	return fmt.Sprintf("it was at version %d", f.Version)
}
