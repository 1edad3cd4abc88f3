package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/audit"
)

func auditListCommand(p *program) *cobra.Command {
	var f auditFlags
	c := f.bindFilters(&cobra.Command{
		Use: "list", Short: "List events, the newest first",
		Long: "If there are more than --limit, the\ncommand prints how to go on. That takes AUTH_SECRET.",
		Example: `  latchkey audit list --user ada@example.com --type sign_in --since 2026-10-01 --until 2026-11-01
  latchkey audit list --user 42 --changes
  latchkey audit list --type audit.
  latchkey audit list --client 203.0.113.7 --outcome failure`,
		RunE: does(func(c *cobra.Command, _ []string) error { return listAudit(c.Context(), p, &f) }),
	}, formText, "text, json (an object on each line) or csv")
	c.Flags().IntVar(&f.limit, "limit", 100, "at most so many events, up to 1000; 0: all")
	c.Flags().StringVar(&f.after, "after", "", "go on after a list; `text` is what that has printed")
	return c
}

// listAudit prints the newest events, or with --changes the newest changes: --limit of them,
// or all if that is 0. To standard error it writes how to go on, or why there are none.
func listAudit(ctx context.Context, p *program, f *auditFlags) error {
	out, err := newEventPrinter(p.stdout, f.format, formText, formJSON, formCSV)
	switch {
	case err != nil:
		return err
	case f.after != "" && len(p.env.secrets()) == 0:
		return usage("--after: it was sealed with the site's secret: set AUTH_SECRET, or use --env-file")
	case f.after != "" && (f.limit == 0 || f.changes):
		return usage("--after: it goes with a --limit, and without --changes")
	case f.limit < 0 || f.limit > 1000:
		return usage("--limit: want 0 for all, or at most 1000")
	}
	db, ctx, err := openAudit(ctx, p, f)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if f.limit == 0 || f.changes {
		return f.printAll(ctx, db, out)
	}
	q, err := f.query(ctx, db)
	if err != nil {
		return err
	}
	page, err := db.auth.Audit().List(ctx, q)
	if err != nil {
		return db.said(err)
	}
	for i := range page.Events {
		out.print(&page.Events[i])
	}
	if err := out.end(); err != nil || page.Next == "" {
		return errors.Join(err, db.sayIfEmpty(ctx, out, f.tenant))
	}
	if len(p.env.secrets()) == 0 {
		fmt.Fprintln(p.stderr, "There are more events: use --limit 0, or set AUTH_SECRET to go on page by page.")
		return nil
	}
	fmt.Fprintf(p.stderr, "There are more events. Go on with the same flags and --after %s\n", page.Next)
	return nil
}

// printAll prints the events that the flags ask for, at most f.limit unless that is 0,
// and calls out.end. It sets f.limit to 0. If there is no event, or may be more, it says
// so on standard error.
func (f *auditFlags) printAll(ctx context.Context, db *auditLog, out *eventPrinter) error {
	most := f.limit
	f.limit = 0
	q, err := f.query(ctx, db)
	if err != nil {
		return err
	}
	q.Limit = 1000 // of a page
	n := 0
	for e, err := range db.auth.Audit().All(ctx, q) {
		if err != nil {
			return errors.Join(db.said(err), out.end())
		}
		if f.changes && !isChange(&e) {
			continue
		}
		out.print(&e)
		if out.err != nil {
			break
		}
		if n++; n == most {
			fmt.Fprintf(db.told, "These are the newest %s: there may be more, which --limit 0 shows.\n", counted(int64(n), "event"))
			break
		}
	}
	return errors.Join(out.end(), db.sayIfEmpty(ctx, out, f.tenant))
}

// sayIfEmpty writes to db.told that no event of the site is stored, or, if out has printed
// nothing at all, that none matches. Events about the log itself are not of the site. It
// does nothing if out has failed or has printed one of the site. An error is the database's.
func (db *auditLog) sayIfEmpty(ctx context.Context, out *eventPrinter, tenant string) error {
	if out.err != nil || out.ofSite > 0 {
		return nil
	}
	reader := &audit.Reader{List: db.store.Audit().List, Tenant: tenant}
	for e, err := range reader.All(ctx, audit.Query{Limit: 1000}) {
		if err != nil {
			return db.said(err)
		}
		if isAboutLog(&e) {
			continue
		}
		if out.printed == 0 {
			fmt.Fprintln(db.told, "No event matches.")
		}
		return nil
	}
	fmt.Fprintf(db.told, "%s: the audit log has no events of the site. A site stores them with Operations.Audit.Store.\n", db.where)
	return nil
}

func auditExportCommand(p *program) *cobra.Command {
	var f auditFlags
	return f.bindFilters(&cobra.Command{
		Use: "export", Short: "Write all events, the newest first",
		Long:    "The exit code is 0 only if the output is\nwhole.",
		Example: "  latchkey audit export --since 2026-01-01 > audit.jsonl\n  latchkey audit export --format csv --by 42 > audit.csv",
		RunE: does(func(c *cobra.Command, _ []string) error {
			out, err := newEventPrinter(p.stdout, f.format, formJSON, formCSV)
			if err != nil {
				return err
			}
			db, ctx, err := openAudit(c.Context(), p, &f)
			if err != nil {
				return err
			}
			defer func() { _ = db.Close() }()
			return f.printAll(ctx, db, out)
		}),
	}, formJSON, "json (an object on each line) or csv")
}

func auditTailCommand(p *program) *cobra.Command {
	var f auditFlags
	var follow bool
	every := span(2 * time.Second)
	c := f.bindFilters(&cobra.Command{
		Use: "tail", Short: "Show the latest events, the newest last",
		Long:    "With --follow it goes on until it is\ninterrupted.",
		Example: "  latchkey audit tail --outcome failure --follow",
		RunE: does(func(c *cobra.Command, _ []string) error {
			return tailAudit(c.Context(), p, &f, follow, time.Duration(every))
		}),
	}, formText, "text, json (an object on each line) or csv")
	c.Flags().IntVar(&f.limit, "limit", 10, "the latest so many events, up to 1000")
	c.Flags().BoolVar(&follow, "follow", false, "show also what comes")
	c.Flags().Var(&every, "every", "how often --follow looks")
	return c
}

// late is how long after its time an event may be stored: a transaction takes a while.
const late = 30 * time.Second

// tailAudit prints the latest events, the newest last. With follow it looks for more at
// each interval every, until ctx ends.
func tailAudit(ctx context.Context, p *program, f *auditFlags, follow bool, every time.Duration) error {
	out, err := newEventPrinter(p.stdout, f.format, formText, formJSON, formCSV)
	switch {
	case err != nil:
		return err
	case f.limit < 1 || f.limit > 1000:
		return usage("--limit: want 1 to 1000")
	case every <= 0:
		return usage("--every: want a time such as 2s")
	case follow && f.until != "":
		return usage("--follow: it has no end, leave --until out")
	}
	db, ctx, err := openAudit(ctx, p, f)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	q, err := f.query(ctx, db)
	if err != nil {
		return err
	}
	page, err := db.auth.Audit().List(ctx, q)
	if err != nil {
		return db.said(err)
	}
	shown := &follower{out: out, changes: f.changes, seen: map[string]time.Time{}, since: db.now}
	if len(page.Events) > 0 {
		shown.since = page.Events[0].Time
	}
	err = shown.show(page.Events)
	if err == nil {
		err = db.sayIfEmpty(ctx, out, f.tenant)
	}
	if err != nil || !follow {
		return err
	}
	asked := audit.Query{UserID: q.UserID, Type: q.Type, Outcome: q.Outcome, Client: q.Client, Reference: q.Reference, Limit: 1000}
	reader := &audit.Reader{List: db.store.Audit().List, Tenant: f.tenant}
	return watch(ctx, every, func() error {
		asked.From = shown.since.Add(-late)
		var news []event.Event
		for e, err := range reader.All(ctx, asked) {
			if err != nil {
				return db.said(err)
			}
			news = append(news, e)
		}
		return shown.show(news)
	})
}

// follower prints each event once, the newest last. It knows an event again by its id.
type follower struct {
	out     *eventPrinter
	changes bool // events that changed nothing are left out
	seen    map[string]time.Time
	since   time.Time // of the newest event
}

// show prints those events that were not shown yet. events has the newest first, and show
// prints the newest last. It returns the first error of the output.
func (s *follower) show(events []event.Event) error {
	for _, e := range slices.Backward(events) {
		if _, known := s.seen[e.ID]; !known && (!s.changes || isChange(&e)) {
			s.out.print(&e)
		}
		s.seen[e.ID] = e.Time
		if e.Time.After(s.since) {
			s.since = e.Time
		}
	}
	maps.DeleteFunc(s.seen, func(_ string, at time.Time) bool { return at.Before(s.since.Add(-2 * late)) })
	return s.out.flush()
}

// watch calls look at each interval, for the first time after one, until look fails or
// ctx ends. The end of ctx is no error.
func watch(ctx context.Context, every time.Duration, look func() error) error {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil // an interrupt is how it ends
		case <-ticks.C:
			if err := look(); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}
