package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
)

func auditCommand(p *program) *cobra.Command {
	return group(&cobra.Command{
		Use: "audit", Short: "Read, export and prune the audit log",
		Example: "  latchkey audit list --user ada@example.com --type sign_in --since 30d\n  latchkey audit export --format csv > audit.csv",
	}, auditListCommand(p), auditTailCommand(p), auditExportCommand(p), auditPruneCommand(p), auditEraseCommand(p))
}

// aboutAudit tells what the commands that read have in common.
const aboutAudit = `The log is what a site with Operations.Audit.Store keeps in its database. Reading it adds an event
audit.read by --by, and fails if the database does not take that event.

--user is the id or the e-mail address of the user that an event is about. Give the id of a user
who has been deleted. --type is the type of an event, such as sign_in, or with a point at its end
all types that begin so, such as account. --since and --until are dates such as 2026-10-01, times
such as 2026-10-01T09:00:00Z, or 30d before now. --until itself is left out.

Control characters are written as escapes. In CSV a cell that a spreadsheet would take for a
formula begins with an apostrophe.

` + aboutDatabaseURL

// auditFlags are the flags of the commands for the audit log.
type auditFlags struct {
	database, tenant, by, format                   string
	user, kind, outcome, client, since, until, ref string
	changes                                        bool
	limit                                          int
	after                                          string
}

// bind gives c the flags that all commands for the audit log have, lets it take no
// arguments, and returns c.
func (f *auditFlags) bind(c *cobra.Command) *cobra.Command {
	c.Args, c.ValidArgsFunction = cobra.NoArgs, cobra.NoFileCompletions
	c.Flags().StringVar(&f.database, "database", "", "`URL` of the database (default: $DATABASE_URL)")
	c.Flags().StringVar(&f.by, "by", "", "`id` of the administrator who does this, for the record (default: your name on this machine)")
	return c
}

// bindFilters gives c the flags that choose events and what bind gives it, completes
// c.Long, and returns c. form is the default of --format, and forms lists all forms for
// the help.
func (f *auditFlags) bindFilters(c *cobra.Command, form, forms string) *cobra.Command {
	c.Long = c.Short + ". " + c.Long + "\n\n" + aboutAudit
	c.Flags().StringVar(&f.tenant, "tenant", "", "`name` of the tenant, on a site that has several")
	c.Flags().StringVar(&f.user, "user", "", "only events about the user with this `id` or e-mail address")
	c.Flags().StringVar(&f.kind, "type", "", "only events of this `type`")
	c.Flags().StringVar(&f.outcome, "outcome", "", "only `success` or failure")
	c.Flags().StringVar(&f.client, "client", "", "only events from this IP `address`, as the log has it")
	c.Flags().StringVar(&f.since, "since", "", "only events at this `time` or later")
	c.Flags().StringVar(&f.until, "until", "", "only events before this `time`")
	c.Flags().StringVar(&f.ref, "reference", "", "only the failure with this reference `code`")
	c.Flags().BoolVar(&f.changes, "changes", false, "only events that changed a user, an account or a way to sign in")
	c.Flags().StringVar(&f.format, "format", form, "`form` of the output: "+forms)
	return f.bind(c)
}

// auditLog is an open database with the audit log of a site.
type auditLog struct {
	*people
	auth *latchkey.Auth
	told io.Writer // takes what is said beside the events
}

// openAudit opens the database with the audit log of a site, and returns a context with
// the actor and the tenant of the command. Calls of the log with that context record who
// reads or changes it. The caller closes the result.
func openAudit(ctx context.Context, p *program, f *auditFlags) (*auditLog, context.Context, error) {
	db, store, _, err := p.openUsable(ctx, f.database)
	if err != nil {
		return nil, ctx, err
	}
	config := validConfig()
	if env := (latchkey.Config{}).WithEnv(p.env.get); len(env.Secrets) > 0 {
		config.Secrets = env.Secrets
	}
	config.Adapter, config.Runtime.Logger, config.Runtime.Time = store, slog.New(slog.DiscardHandler), p.now
	config.Operations.Audit = latchkey.Audit{Store: true, Required: true, Keep: -1}
	auth, err := siteOf(&config, f.tenant)
	if err != nil {
		_ = db.Close()
		return nil, ctx, fmt.Errorf("%s: %w", db.where, withoutPrefix(err))
	}
	if f.tenant != "" {
		ctx = latchkey.ContextWithTenant(ctx, f.tenant)
	}
	return &auditLog{&people{connection: db, store: store, Users: auth.Users(), now: p.now()}, auth, p.stderr}, event.WithActor(ctx, operator(f.by)), nil
}

// operator returns the actor of the command: the administrator with the id by, or if that
// is empty the user of the machine.
func operator(by string) event.Actor {
	if by != "" {
		return event.Actor{Kind: event.ActorAdmin, ID: by}
	}
	a := event.Actor{Kind: event.ActorSystem}
	if u, err := user.Current(); err == nil {
		a.ID = u.Username
	}
	return a
}

// query returns what the flags ask for. It looks up a user whose e-mail address --user
// gives. Its errors are worded for the user of the command.
func (f *auditFlags) query(ctx context.Context, db *auditLog) (q latchkey.AuditQuery, err error) {
	q = latchkey.AuditQuery{
		UserID: f.user, Type: event.Type(f.kind), Outcome: event.Outcome(f.outcome), Client: f.client, Reference: f.ref, Limit: f.limit, After: f.after,
	}
	if q.From, err = instant("--since", f.since, db.now); err != nil {
		return q, err
	}
	if q.Before, err = instant("--until", f.until, db.now); err != nil {
		return q, err
	}
	if strings.Contains(f.user, "@") {
		u, err := findUser(ctx, db.store, f.user)
		if errors.Is(err, errNoUser) {
			return q, fmt.Errorf("%s: %w. Of a user who has been deleted, give the id", db.where, err)
		}
		if err != nil {
			return q, db.failed(err)
		}
		q.UserID = u.ID
	}
	return q, nil
}

// instant returns the time that a flag names: a date (UTC), a time as in RFC 3339, or a
// span such as 30d before now. It returns zero for an empty text, and a wrongUsage for
// any other.
func instant(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	var s span
	if s.Set(text) != nil {
		return time.Time{}, usage("%s: want a date such as 2026-10-01, a time such as 2026-10-01T09:00:00Z, or 30d", flag)
	}
	return now.Add(-time.Duration(s)), nil
}

// auditFlagOf names the flag of a field of latchkey.AuditQuery.
var auditFlagOf = strings.NewReplacer(
	"AuditQuery.UserID", "--user", "AuditQuery.Type", "--type", "AuditQuery.Outcome", "--outcome", "AuditQuery.Client", "--client",
	"AuditQuery.Reference", "--reference", "AuditQuery.Before: it is not after From", "--until: it is not after --since",
	"AuditQuery.Limit", "--limit", "AuditQuery.After: it is not the Next of a page of this query", "--after: it is not what a list with the same flags has printed",
)

// said returns the error of a call of the audit log as the user of the command reads it:
// a wrongUsage that names the flag, or an error that names the database. It returns nil
// and a wrongUsage as they are.
func (db *auditLog) said(err error) error {
	_, isUsage := errors.AsType[wrongUsage](err)
	switch {
	case err == nil || isUsage:
		return err
	case errors.Is(err, latchkey.ErrInvalidConfig):
		_, text, _ := strings.Cut(withoutPrefix(err).Error(), "AuditQuery.")
		return usage("%s", auditFlagOf.Replace("AuditQuery."+text))
	case errors.Is(err, latchkey.ErrAudit):
		return fmt.Errorf("%s: the log does not take the event that it was read or changed: let this database user insert into audit_events", db.where)
	}
	return db.people.said(err)
}

// isChange reports whether an event changed a user, an account or a way to sign in.
func isChange(e *event.Event) bool {
	group, what, _ := strings.Cut(string(e.Type), ".")
	switch group {
	case "user":
		return what != "viewed" && what != "searched" && what != "exported"
	case "factor":
		return what != "used" && what != "failed"
	case "recovery", "account", "password", "email", "browser", "passkey", "invitation", "impersonation":
		return true
	}
	return e.Type == event.TokenDisconnected || e.Type == event.SessionsEnded || e.Type == event.AuditErased
}

// isAboutLog reports whether an event is about the log itself, such as that it was read.
func isAboutLog(e *event.Event) bool { return strings.HasPrefix(string(e.Type), "audit.") }
