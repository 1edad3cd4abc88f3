package sqladapter

import (
	"context"
	"database/sql"

	"github.com/latchkeyhq/latchkey/internal/sqlstore"
)

// Version is the version of the schema that [Migrate] brings a database to. It
// is 0 for an unknown dialect.
func Version(d Dialect) int { return sqlstore.Version(d) }

// AdoptionSchema returns the statements that [Migrate] runs on the schema of
// Auth.js. It is empty but for [Postgres].
func AdoptionSchema(d Dialect) string { return sqlstore.AdoptionSchema(d) }

// Check tells what [Migrate] would refuse, without changing anything: nil, a
// [*ViolationError], or [ErrForeignSchema]. It reads whole tables.
func Check(ctx context.Context, db *sql.DB, d Dialect) error {
	return sqlstore.Check(ctx, newPool(db, d, false), d)
}
