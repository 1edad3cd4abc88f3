package main

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

func (p *program) checkDatabase(ctx context.Context, r *report, rawURL string) {
	if rawURL == "" && p.env.get("DATABASE_URL") == "" {
		r.ok("database", "DATABASE_URL is not set; sessions live in the cookie")
		return
	}
	switch other, err := p.openService(ctx, rawURL); {
	case err != nil:
		r.fail("database", "%v", err)
		return
	case other != nil:
		defer other.close()
		other.checkFor(ctx, r)
		return
	}
	db, err := p.connect(ctx, rawURL, false)
	if errors.Is(err, errOtherKind) || errors.Is(err, errRedis) {
		r.warn("database", "not checked: %v", err)
		return
	}
	if err != nil {
		r.fail("database", "%v", err)
		return
	}
	defer func() { _ = db.Close() }()
	found, err := db.examine(ctx)
	if err != nil {
		r.fail("database", "%v", err)
		return
	}
	newest := sqlstore.Version(db.dialect)
	switch {
	case found.Schema == sqlstore.SchemaAuthJS || found.Schema == sqlstore.SchemaForeign:
		if err := db.usable(found); err != nil {
			r.fail("database", "%v", err)
			return
		}
		r.ok("database", "%s: the tables of %s, to be used with a layout that `latchkey migrate` prints", db.where, maker(found))
	case found.Version > newest:
		r.warn("database", "%s: it is at version %d, and this tool knows %d. Use a newer one", db.where, found.Version, newest)
	case found.Schema == sqlstore.SchemaAbsent || found.Version < newest:
		r.fail("database", "%s: %s. Run `latchkey migrate`", db.where, stateOf(found))
	case !found.Usable():
		r.fail("database", "%v", db.usable(found))
	default:
		r.ok("database", "%s: it answers, at version %d", db.where, found.Version)
	}
}
