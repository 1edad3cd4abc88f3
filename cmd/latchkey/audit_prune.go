package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/audit"
)

const aboutPrune = `Remove the events that are older than --keep, in small steps, oldest first. With --keep-personal
erase client, user agent and ids of users earlier, from events that stay. Auth.Sweep does the same
by Audit.Keep and Audit.KeepPersonal; use the command where the site itself may not remove events.
` + "`latchkey sweep`" + ` leaves the log alone.

The events of all tenants are pruned. An event audit.pruned says how many they were.

` + aboutDatabaseURL

func auditPruneCommand(p *program) *cobra.Command {
	var f auditFlags
	var keep, personal span
	c := f.bind(&cobra.Command{
		Use: "prune", Short: "Remove old events", Long: aboutPrune,
		Example: "  latchkey audit prune --keep 400d\n  latchkey audit prune --keep 400d --keep-personal 90d --by 42",
		RunE: does(func(c *cobra.Command, _ []string) error {
			return pruneAudit(c.Context(), p, &f, time.Duration(keep), time.Duration(personal))
		}),
	})
	c.Flags().Var(&keep, "keep", "how long events are kept, such as 400d")
	c.Flags().Var(&personal, "keep-personal", "how long what is personal of them is kept (default: as --keep)")
	return c
}

// pruneAudit removes the events older than keep, and erases what is personal in those
// older than personal; a personal of 0 erases nothing. It adds an event about this to the
// log if it has changed anything, also if it fails later. A keep of 0, and a personal
// that is not shorter than keep, are a wrongUsage.
func pruneAudit(ctx context.Context, p *program, f *auditFlags, keep, personal time.Duration) error {
	switch {
	case keep == 0:
		return usage("--keep: say how long events are kept, such as 400d")
	case personal >= keep:
		return usage("--keep-personal: it is not shorter than --keep")
	}
	db, ctx, err := openAudit(ctx, p, f)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	before, personalBefore := audit.Retention(keep, personal, db.now)
	total, err := pruneAll(ctx, db.store, before, personalBefore)
	if total > 0 {
		err = firstOf(err, recordPruned(context.WithoutCancel(ctx), db, total))
	}
	if err != nil {
		return fmt.Errorf("%w. Removed or erased so far: %s. Repeat the command", db.failed(err), counted(int64(total), "event"))
	}
	fmt.Fprintf(p.stdout, "%s: removed or erased %s.\n", db.where, counted(int64(total), "event"))
	return nil
}

// pruneAll removes the events that are older than the time before, and erases what is
// personal in those older than the time personal, audit.PruneAtOnce of them at a time
// until none is left. It returns how many it has removed or erased, also with an error.
func pruneAll(ctx context.Context, store *sqladapter.Adapter, before, personal time.Time) (total int, err error) {
	for n := 1; n > 0 && err == nil; total += n {
		if n, err = store.Audit().Prune(ctx, before, personal, audit.PruneAtOnce); err == nil {
			err = ctx.Err()
		}
	}
	return total, err
}

// recordPruned adds to the log the event that n events were pruned.
func recordPruned(ctx context.Context, db *auditLog, n int) error {
	var ids audit.IDs
	table := &audit.Table{
		Append: db.store.Audit().Append, Now: func() time.Time { return db.now },
		NewID: func() string { return ids.Next(db.now) },
	}
	return table.Keep(ctx, []*event.Event{{Type: event.AuditPruned, Outcome: event.Succeeded, Time: db.now.UTC(), By: event.ActorIn(ctx), Count: n}})
}

const aboutAuditErase = `Erase client, user agent and the id of the user from all events about a user. The events stay.
` + "`latchkey user erase`" + ` does so too, and deletes the user.

USER is the id, or the e-mail address of a user who is still there. An event audit.erased says how
many events they were.

` + aboutDatabaseURL

func auditEraseCommand(p *program) *cobra.Command {
	var f auditFlags
	c := f.bind(&cobra.Command{
		Use: "erase USER", Short: "Erase what is personal of the events about a user", Long: aboutAuditErase,
		Example: "  latchkey audit erase 42 --by 7",
	})
	c.Flags().StringVar(&f.tenant, "tenant", "", "`name` of the tenant, on a site that has several")
	c.Args = cobra.ExactArgs(1)
	c.RunE = does(func(c *cobra.Command, args []string) error {
		db, ctx, err := openAudit(c.Context(), p, &f)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		id := args[0]
		if strings.Contains(id, "@") {
			u, err := db.user(ctx, id)
			if err != nil {
				return err
			}
			id = u.ID
		}
		n, err := db.auth.Audit().Erase(ctx, id)
		if err != nil {
			return db.said(err)
		}
		fmt.Fprintf(p.stdout, "%s: erased what was personal of %s.\n", db.where, counted(int64(n), "event"))
		return nil
	})
	return c
}
