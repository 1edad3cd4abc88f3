package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

const (
	foreignSchema = "it has users of somebody else: give Latchkey a database or a schema of its own " +
		"(PostgreSQL: ?search_path=auth), or name tables and columns in sqlstore.Layout and create them yourself (--print)"
	misfitting = "the tables of %s cannot be used as they are, and a second set beside them would have none of their users:"
	// lostTables is what a migration would take for done.
	lostTables = "it notes a version, but has no users table: restore the tables from a backup, or drop the table latchkey_migrations to begin anew"
)

// examine returns what the database has. It returns an error for tables that no command
// can work with: those of another program, and a version without tables. A database
// without tables is no error.
func (c *connection) examine(ctx context.Context) (sqlstore.Found, error) {
	found, err := sqladapter.Detect(ctx, c.DB, c.dialect)
	switch {
	case err != nil:
		return found, c.failed(err)
	case found.Schema == sqlstore.SchemaForeign && found.Usable():
		return found, nil
	case found.Schema == sqlstore.SchemaForeign && len(found.Misfits) > 0:
		return found, fmt.Errorf("%s: %s", c.where, fmt.Sprintf(misfitting, maker(found))+misfitLines(found))
	case found.Schema == sqlstore.SchemaForeign:
		return found, fmt.Errorf("%s: %s", c.where, foreignSchema)
	case found.Schema == sqlstore.SchemaAbsent && found.Version > 0:
		return found, fmt.Errorf("%s: %s", c.where, lostTables)
	}
	return found, nil
}

// usable returns nil if found has no misfits, and otherwise an error that lists what is
// wrong with the tables.
func (c *connection) usable(found sqlstore.Found) error {
	if len(found.Misfits) == 0 {
		return nil
	}
	noted := ""
	if found.Version > 0 {
		noted = fmt.Sprintf(", although version %d is noted", found.Version)
	}
	return fmt.Errorf("%s: the tables cannot be used as they are%s:%s", c.where, noted, misfitLines(found))
}

// misfitLines returns the misfits of tables, each on a line of its own that begins with a
// newline.
func misfitLines(found sqlstore.Found) string {
	var b strings.Builder
	for _, m := range found.Misfits {
		b.WriteString("\n  " + m.String())
	}
	return b.String()
}

// maker returns a label for foreign tables that were found: "Auth.js", with the adapter
// in parentheses if it is another one than pg.
func maker(found sqlstore.Found) string {
	switch found.Adapter {
	case "", "pg":
		return "Auth.js"
	}
	return "Auth.js (" + found.Adapter + ")"
}

// stateOf returns what a database is, as a clause for a message.
func stateOf(f sqlstore.Found) string {
	switch {
	case f.Schema == sqlstore.SchemaAbsent:
		return "it has none of the tables"
	case f.Schema == sqlstore.SchemaAuthJS:
		return "it has the tables of Auth.js"
	case f.Version == 0:
		return "it has tables without a version"
	}
	return fmt.Sprintf("it is at version %d", f.Version)
}

// formerState does what stateOf does, for a database that has been migrated since.
func formerState(f sqlstore.Found) string {
	return strings.NewReplacer("it has", "it had", "it is", "it was").Replace(stateOf(f))
}
