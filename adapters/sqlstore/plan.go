package sqlstore

import (
	"context"
	"strings"
)

// Version is the version of the newest schema. It is 0 for an unknown dialect.
func Version(d Dialect) int {
	steps, _ := migrations(d)
	return len(steps)
}

// AdoptionSchema returns the statements that [Migrate] runs on the schema of
// Auth.js. It is empty but for PostgreSQL, whose adapter alone is adopted.
func AdoptionSchema(d Dialect) string {
	if d != Postgres {
		return ""
	}
	statements, err := statementsIn(adoptFile)
	if err != nil {
		return ""
	}
	return strings.Join(statements, ";\n\n") + ";\n"
}

// Check says what [Migrate] would refuse, without changing anything: nil, a
// [*ViolationError], a [*MisfitError] or [ErrForeignSchema].
func Check(ctx context.Context, c Conn, d Dialect) error {
	found, err := Detect(ctx, c, d)
	switch {
	case err != nil:
		return err
	case found.refusal() != nil:
		return found.refusal()
	case found.Schema != SchemaAuthJS:
		return nil
	}
	columns, err := columnTypes(ctx, c, d)
	if err != nil {
		return fail(ctx, "check", err)
	}
	broken, err := violations(ctx, c, columns)
	switch {
	case err != nil:
		return fail(ctx, "check", err)
	case broken != nil:
		return broken
	}
	return nil
}
