package sqlstore

import (
	"context"
	"errors"
)

// SchemaKind is whose tables a database has.
type SchemaKind string

// The kinds of schema.
const (
	SchemaAbsent  SchemaKind = "absent"  // no users table
	SchemaOwn     SchemaKind = "own"     // what Migrate makes
	SchemaAuthJS  SchemaKind = "Auth.js" // what the PostgreSQL adapter of Auth.js asks for
	SchemaForeign SchemaKind = "foreign" // a users table of somebody else
)

// ErrForeignSchema reports a users table that is neither ours nor Auth.js'.
var ErrForeignSchema = errors.New("sql: the database has a users table that is neither Latchkey's nor Auth.js'")

// Found is what a database has.
type Found struct {
	Schema  SchemaKind
	Version int    // of our schema; 0: not ours
	Layout  Layout // what fits it
}

// Detect looks at the columns of the tables with the usual names in the
// database's current schema.
func Detect(ctx context.Context, c Conn, d Dialect) (Found, error) {
	if err := d.check(); err != nil {
		return Found{}, err
	}
	f, err := detect(ctx, c, d)
	return f, fail(ctx, "detect", err)
}

func detect(ctx context.Context, c Conn, d Dialect) (f Found, err error) {
	columns, err := columnTypes(ctx, c, d)
	if err != nil {
		return f, err
	}
	if columns["latchkey_migrations.version"] != "" {
		if f.Version, err = version(ctx, c); err != nil {
			return f, err
		}
	}
	switch {
	case columns["users.id"] == "":
		f.Schema = SchemaAbsent
	case f.Version > 0 || columns["users.emailVerified"] != "" && columns["users.extra"] != "": // the latter: made by hand, or MySQL was interrupted
		f.Schema = SchemaOwn
		f.Layout.DatabaseIDs = d == Postgres && columns["users.id"] != "text"
	case columns["users.emailVerified"] != "" && columns["accounts.providerAccountId"] != "" && columns["sessions.sessionToken"] != "":
		f.Schema, f.Layout = SchemaAuthJS, AuthJS()
		if columns["authenticators.credentialID"] == "" {
			f.Layout.Names["authenticators"] = ""
		}
		if d != Postgres { // no database chooses ids for us there
			f.Schema, f.Layout = SchemaForeign, Layout{}
		}
	default:
		f.Schema = SchemaForeign
	}
	return f, nil
}

// columnTypes has the type of each "table.column".
func columnTypes(ctx context.Context, c Conn, d Dialect) (map[string]string, error) {
	statement := map[Dialect]string{
		Postgres: `SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns WHERE table_schema = current_schema()`,
		MySQL:    `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = DATABASE()`,
		SQLite:   `SELECT t.name, c.name, c.type FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`,
	}[d]
	columns := map[string]string{}
	err := c.Each(ctx, statement, nil, func(scan func(...any) error) error {
		var table, column, kind string
		err := scan(&table, &column, &kind)
		columns[table+"."+column] = kind
		return err
	})
	return columns, err
}
