package sqlstore

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/latchkeyhq/latchkey/storage"
)

//go:embed schema
var schemas embed.FS

// migration is one step of a schema. Its number is its place in the list, from 1.
type migration struct {
	file       string
	statements []string // each does nothing when it is repeated: MySQL cannot undo half a step; see hasColumn
}

// migrations returns the steps of a dialect, oldest first. It returns an error for an
// unknown dialect.
func migrations(d Dialect) ([]migration, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	files, err := fs.Glob(schemas, "schema/"+string(d)+"/0*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, file := range files {
		statements, err := statementsIn(file)
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{file, statements})
	}
	return steps, nil
}

// statementsIn returns the statements of a file of schemas, without the semicolons. In
// the file, each ends with a semicolon and an empty line.
func statementsIn(file string) ([]string, error) {
	raw, err := schemas.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(strings.TrimSpace(string(raw)), ";"), ";\n\n"), nil
}

// Schema returns the statements by which [Migrate] makes its tables in an empty database, for
// programs that run migrations by other means. The table in which Migrate keeps the version is
// not among them. Schema returns "" for an unknown dialect.
func Schema(d Dialect) string {
	var b strings.Builder
	steps, _ := migrations(d)
	for _, step := range steps {
		b.WriteString(strings.Join(step.statements, ";\n\n") + ";\n")
	}
	return strings.ReplaceAll(b.String(), userIDs, usualIDs[d])
}

// Migrate brings a database to the newest schema: from nothing, from an earlier
// version, or from the schema of Auth.js on PostgreSQL. Adopted rows stay; their
// plain session tokens still work and are hashed when they are used.
//
// Several instances may call Migrate at the same time: one migrates, the others
// wait and find the work done. PostgreSQL and SQLite migrate in one transaction.
// MySQL has no transactions for schema changes; there the next call finishes an
// interrupted migration.
//
// The layout is the one that [New] gets. Migrate returns a [*MisfitError] if the migrated
// tables do not fit the layout. It does not compare the zero Layout. A layout that
// renames tables or columns, or has Times, Touched or Unindexed, is for tables that
// Migrate does not make. Migrate only compares these, and changes nothing.
//
// Migrate returns a [*ViolationError] with the number of rows of Auth.js that
// break the new unique and foreign keys, and changes nothing. It returns
// [ErrForeignSchema] if another program keeps users in the database, other
// adapters of Auth.js included. It works with the usual names in the current
// schema of a connection.
func Migrate(ctx context.Context, conn Conn, d Dialect, l Layout) error {
	if err := cmp.Or(d.check(), l.check()); err != nil {
		return err
	}
	if l.describesOthers() {
		return failMigration(ctx, "migrate", l.compare(ctx, conn, d))
	}
	return failMigration(ctx, "migrate", conn.Tx(ctx, func(tx Conn) error {
		unlock, err := lock(ctx, tx, d)
		if err != nil {
			return err
		}
		return errors.Join(migrate(ctx, tx, d, l), unlock())
	}))
}

// failMigration turns an error into one that a caller of the package may see, as fail
// does. It returns err as it is if err is or wraps a *ViolationError, a *MisfitError or
// an ErrForeignSchema.
func failMigration(ctx context.Context, operation string, err error) error {
	_, broken := errors.AsType[*ViolationError](err)
	if _, misfit := errors.AsType[*MisfitError](err); misfit || broken || errors.Is(err, ErrForeignSchema) {
		return err
	}
	return fail(ctx, operation, err)
}

// lock waits until no other migration runs, and keeps others out until the transaction
// ends, or on MySQL until the caller calls unlock. On MySQL it waits for at most a
// minute, and then returns a *failure. SQLite needs no lock: its transactions begin as
// writers. unlock is never nil, and ignores the end of ctx.
func lock(ctx context.Context, tx Conn, d Dialect) (unlock func() error, err error) {
	var got int
	var none string
	unlock = func() error { return nil }
	switch d {
	case Postgres:
		err = tx.One(ctx, "SELECT pg_advisory_xact_lock(7809652311)::text", nil, &none)
	case MySQL:
		// A named lock, since statements that change a schema end the
		// transaction.
		const name = "CONCAT('latchkey ', COALESCE(DATABASE(), ''))"
		if err = tx.One(ctx, "SELECT GET_LOCK("+name+", 60)", nil, &got); err == nil && got != 1 {
			err = &failure{operation: "migrate", code: "another migration is running"}
		}
		unlock = func() error {
			return tx.One(context.WithoutCancel(ctx), "SELECT RELEASE_LOCK("+name+")", nil, &got)
		}
	}
	return unlock, err
}

// migrate adopts the tables of Auth.js if they are there, runs the steps that are
// missing, compares the result with l unless that is the zero Layout, and records the
// version. If the tables are another program's, it changes nothing and returns an
// ErrForeignSchema. The caller holds the lock.
func migrate(ctx context.Context, tx Conn, d Dialect, l Layout) error {
	found, err := Detect(ctx, tx, d)
	if err != nil {
		return err
	}
	steps, err := migrations(d)
	if err != nil {
		return err
	}
	if err := found.refusal(); err != nil {
		return err
	}
	if found.Schema == SchemaAuthJS {
		if err := adopt(ctx, tx); err != nil {
			return err
		}
	}
	for i, step := range steps {
		if i < found.Version || found.Schema == SchemaAuthJS && i < adoptedVersion {
			continue
		}
		if err := run(ctx, tx, d, step.statements); err != nil {
			return fmt.Errorf("%s: %w", step.file, err)
		}
	}
	if err := verify(ctx, tx, d, l); err != nil {
		return err
	}
	return record(ctx, tx, d, found.Version, Version(d))
}

// refusal returns the reason why a migration of the tables in f would not begin: an
// ErrForeignSchema, or a [*MisfitError] with what a migration cannot make. It returns nil
// if there is none.
func (f Found) refusal() error {
	if f.Schema == SchemaForeign {
		return f.foreign()
	}
	return asError(withoutMissing(f.Misfits))
}

// verify returns a [*MisfitError] if the tables that a migration leaves cannot be used as
// they are or with the layout. The zero Layout is not compared. verify returns an
// ErrForeignSchema if the tables are not recognised as ours.
func verify(ctx context.Context, tx Conn, d Dialect, l Layout) error {
	found, err := detect(ctx, tx, d)
	switch {
	case err != nil:
		return err
	case found.Schema != SchemaOwn:
		return found.foreign()
	case len(found.Misfits) > 0 || l.is(Layout{}):
		return asError(found.Misfits)
	}
	misfits, err := l.grammar(d).misfits(ctx, tx, false, true)
	return cmp.Or(err, asError(misfits))
}

// run runs the statements of a step, with the type of users.id in place of userIDs. It
// skips statements that add a column that exists, since an earlier migration may have
// begun the step. It stops at the first error.
func run(ctx context.Context, c Conn, d Dialect, statements []string) error {
	for _, statement := range statements {
		statement, err := withUserIDs(ctx, c, d, statement)
		if err != nil {
			return err
		}
		has, err := hasColumn(ctx, c, d, statement)
		if err == nil && !has {
			_, err = c.Exec(ctx, statement)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// userIDs stands for the type of users.id in a statement: in tables that were adopted, or
// made by hand, it need not be ours.
const userIDs = "{users.id}"

var (
	// usualIDs has the type of users.id in our tables.
	usualIDs = map[Dialect]string{Postgres: "text", MySQL: "varbinary(255)", SQLite: "text"}
	// idType reads the type of users.id.
	idType = map[Dialect]string{
		Postgres: `SELECT ` + idFormat,
		MySQL: `SELECT CONCAT(column_type, COALESCE(CONCAT(' CHARACTER SET ', character_set_name, ' COLLATE ', collation_name), ''))
			FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'users' AND column_name = 'id'`,
		SQLite: `SELECT type FROM pragma_table_info('users') WHERE name = 'id'`,
	}
)

// idFormat is the type of users.id as an expression of PostgreSQL.
const idFormat = `(SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'users'::regclass AND attname = 'id')`

// withUserIDs returns a statement with the type of users.id, as the database says it, in
// place of userIDs. It returns a statement without userIDs as it is.
func withUserIDs(ctx context.Context, c Conn, d Dialect, statement string) (string, error) {
	if !strings.Contains(statement, userIDs) {
		return statement, nil
	}
	var kind string
	if err := c.One(ctx, idType[d], nil, &kind); err != nil {
		return "", err
	}
	return strings.ReplaceAll(statement, userIDs, kind), nil
}

// hasColumn reports whether a statement begins with ALTER TABLE and ADD COLUMN and would
// add a column that exists. Only PostgreSQL has IF NOT EXISTS for columns.
func hasColumn(ctx context.Context, c Conn, d Dialect, statement string) (bool, error) {
	var table, column string
	if n, _ := fmt.Sscanf(statement, "ALTER TABLE %s ADD COLUMN %s", &table, &column); n < 2 {
		return false, nil
	}
	columns, err := columnTypes(ctx, c, d)
	return columns[table+"."+column] != "", err
}

// record stores that the steps after from, up to and with version, are done. It makes the
// table of versions if that is missing.
func record(ctx context.Context, tx Conn, d Dialect, from, version int) error {
	if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS latchkey_migrations (version bigint PRIMARY KEY)"); err != nil {
		return err
	}
	for v := from + 1; v <= version; v++ {
		if _, err := tx.Exec(ctx, d.number("INSERT INTO latchkey_migrations (version) VALUES (?)"), v); err != nil {
			return err
		}
	}
	return nil
}

// version returns the highest version that record has stored, or 0 if there is none. The
// table of versions must exist.
func version(ctx context.Context, c Conn) (v int, err error) {
	err = c.One(ctx, "SELECT COALESCE(MAX(version), 0) FROM latchkey_migrations", nil, &v)
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return v, err
}
