package sqlstore

import (
	"cmp"
	"context"
	"strings"
)

// Version returns the version of the newest schema, or 0 for an unknown dialect.
func Version(d Dialect) int {
	steps, _ := migrations(d)
	return len(steps)
}

// AdoptionSchema returns the statements that [Migrate] runs on PostgreSQL to turn the
// tables of Auth.js' adapter into ours. They do not check rows first, as Migrate does.
// AdoptionSchema returns "" for every other dialect: Migrate adopts the tables of no other
// adapter.
func AdoptionSchema(d Dialect) string {
	if d != Postgres {
		return ""
	}
	statements, err := statementsIn(adoptFile)
	steps, failed := migrations(d)
	if err != nil || failed != nil {
		return ""
	}
	for _, step := range steps[adoptedVersion:] {
		for _, statement := range step.statements {
			if strings.Contains(statement, userIDs) {
				statement = "DO $$ BEGIN EXECUTE format('" + strings.ReplaceAll(statement, userIDs, "%1$s") + "', " + idFormat + "); END $$"
			}
			statements = append(statements, statement)
		}
	}
	return strings.Join(statements, ";\n\n") + ";\n"
}

// Check reports what [Migrate] would refuse, and changes nothing. It returns nil if
// Migrate would begin, as in an empty database. Otherwise it returns a [*ViolationError],
// a [*MisfitError] or an error that is [ErrForeignSchema]. Other errors say that the
// database could not be asked, or that an argument makes no sense. Check compares the
// tables that exist with the layout, unless that is the zero Layout. It does not predict
// how tables fit that are still to be made.
func Check(ctx context.Context, c Conn, d Dialect, l Layout) error {
	if err := cmp.Or(d.check(), l.check()); err != nil {
		return err
	}
	if l.describesOthers() {
		return failMigration(ctx, "check", l.compare(ctx, c, d))
	}
	found, err := Detect(ctx, c, d)
	switch {
	case err != nil:
		return err
	case found.refusal() != nil:
		return found.refusal()
	case found.Schema == SchemaAbsent:
		return nil
	}
	return failMigration(ctx, "check", checkTables(ctx, c, d, l, found.Schema))
}

// checkTables returns the reason why tables of ours, or of Auth.js, cannot be brought to
// the newest schema or would not fit the layout then: a *MisfitError or a
// *ViolationError. It returns nil if there is none, and errors of the driver as they are.
func checkTables(ctx context.Context, c Conn, d Dialect, l Layout, whose SchemaKind) error {
	if !l.is(Layout{}) {
		misfits, err := l.grammar(d).misfits(ctx, c, whose == SchemaAuthJS, true)
		if err = cmp.Or(err, asError(withoutMissing(misfits))); err != nil {
			return err
		}
	}
	if whose != SchemaAuthJS {
		return nil
	}
	columns, err := columnTypes(ctx, c, d)
	if err != nil {
		return err
	}
	broken, err := violations(ctx, c, columns)
	if err == nil && broken != nil {
		return broken
	}
	return err
}
