package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

const aboutSweep = `Remove what has expired: sessions, verification tokens, revocations, used sign-ins and
limits. They let nobody in, but they take up room. Run it once a day, from cron or a timer.
auth.Sweep, in the program, does more: it prunes activities and the audit log, too.

` + aboutDatabaseURL

func (p *program) sweepCommand() *cobra.Command {
	var database string
	var older span
	c := &cobra.Command{
		Use: "sweep", Short: "Remove expired rows", Long: aboutSweep, Args: cobra.NoArgs,
		Example: "  latchkey sweep\n  latchkey sweep --older 30d   keep what expired within the last 30 days",
		RunE:    does(func(c *cobra.Command, _ []string) error { return p.sweep(c.Context(), database, time.Duration(older)) }),
	}
	c.Flags().StringVar(&database, "database", "", "`URL` of the database (default: $DATABASE_URL)")
	c.Flags().Var(&older, "older", "only what expired longer ago than this, such as 30d or 12h")
	return c
}

// sweep removes the rows that expired longer ago than older, and prints how many they
// were.
func (p *program) sweep(ctx context.Context, rawURL string, older time.Duration) error {
	db, err := p.connect(ctx, rawURL, false)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	found, err := db.examine(ctx)
	if err != nil {
		return err
	}
	if found.Schema == sqlstore.SchemaAbsent {
		return fmt.Errorf("%s: it has none of the tables: `latchkey migrate` makes them", db.where)
	}
	if err := db.usable(found); err != nil {
		return err
	}
	store, err := sqladapter.New(db.DB, db.dialect, sqladapter.Options{Layout: found.Layout, Unprepared: true})
	if err != nil {
		return err
	}
	n, err := store.Sweep(ctx, p.now().Add(-older))
	if err != nil {
		return db.failed(err)
	}
	fmt.Fprintf(p.stdout, "%s: removed %s.\n", db.where, counted(int64(n), "expired row"))
	return nil
}
