package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

// checkDatabase checks that the database of rawURL, or else of DATABASE_URL, answers and
// has its tables, and under which keys the secrets and tokens in it are sealed. Without a
// database it reports that none is set. tokenKeys are names of variables with the keys.
func (d *doctor) checkDatabase(ctx context.Context, rawURL string, tokenKeys []string) {
	if rawURL == "" && d.env.get("DATABASE_URL") == "" {
		d.ok("database", "DATABASE_URL is not set; sessions live in the cookie")
		return
	}
	switch other, err := d.program.openService(ctx, rawURL); {
	case err != nil:
		d.fail("database", "%v", err)
		return
	case other != nil:
		defer other.close()
		d.checkService(ctx, other, tokenKeys)
		return
	}
	db, err := d.program.connect(ctx, rawURL, false)
	switch {
	case errors.Is(err, errRedis):
		d.checkRedis(ctx, "DATABASE_URL", cmp.Or(rawURL, d.env.get("DATABASE_URL")), tokenKeys)
	case errors.Is(err, errOtherKind):
		d.warn("database", "not checked: %v", err)
	case err != nil:
		d.fail("database", "%v", err)
	default:
		defer func() { _ = db.Close() }()
		d.checkTables(ctx, db, tokenKeys)
	}
}

// checkTables reports whether the tables of db can be used, and how their secrets are sealed.
func (d *doctor) checkTables(ctx context.Context, db *connection, tokenKeys []string) {
	found, err := db.examine(ctx)
	if err != nil {
		d.fail("database", "%v", err)
		return
	}
	newest := sqlstore.Version(db.dialect)
	switch {
	case found.Schema == sqlstore.SchemaAuthJS || found.Schema == sqlstore.SchemaForeign:
		if err := db.usable(found); err != nil {
			d.fail("database", "%v", err)
			return
		}
		d.ok("database", "%s: the tables of %s, to be used with a layout that `latchkey migrate` prints", db.where, maker(found))
	case found.Version > newest:
		d.warn("database", "%s: it is at version %d, and this tool knows %d. Use a newer one", db.where, found.Version, newest)
	case found.Schema == sqlstore.SchemaAbsent || found.Version < newest:
		d.fail("database", "%s: %s, and needs version %d. Run `latchkey migrate`", db.where, stateOf(found), newest)
	case !found.Usable():
		d.fail("database", "%v", db.usable(found))
	default:
		d.ok("database", "%s: it answers, at version %d", db.where, found.Version)
		d.checkFactors(ctx, db, found)
		d.checkSQLTokens(ctx, db, found, tokenKeys)
	}
}

// checkService reports whether s can be used and, if it can, how its tokens are sealed.
func (d *doctor) checkService(ctx context.Context, s *service, tokenKeys []string) {
	if s.checkFor(ctx, d.report) {
		d.checkServiceTokens(ctx, s, tokenKeys)
	}
}
