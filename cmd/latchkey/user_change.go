package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/users"
)

// aboutEnds tells what the commands need that end sessions.
const aboutEnds = `USER is the id or the e-mail address. The command needs the site's AUTH_SECRET and AUTH_URL:
without them it names what is missing, and changes nothing. Functions of the site's configuration
are not called, and no mail is sent.

` + aboutDatabaseURL

// changing completes c to a command with one argument, USER, and returns it. The command
// calls do with that user and prints the text that do returns, unless do returns an
// error. The command needs the secret and the URL of the site.
func changing(p *program, c *cobra.Command, f *peopleFlags, do func(ctx context.Context, db *people, u *latchkey.User) (done string, err error)) *cobra.Command {
	c.Args, c.ValidArgsFunction = cobra.ExactArgs(1), cobra.NoFileCompletions
	c.Long = c.Short + ". " + c.Long + "\n\n" + aboutEnds
	c.RunE = does(func(c *cobra.Command, args []string) error {
		db, ctx, err := openPeople(c.Context(), p, f, true)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		u, err := db.user(ctx, args[0])
		if err != nil {
			return err
		}
		done, err := do(ctx, db, &u)
		if err != nil {
			return db.said(err)
		}
		fmt.Fprintf(p.stdout, "%s: %s.\n", db.where, done)
		return nil
	})
	return f.bind(c, true, false)
}

// ending does what changing does, and gives c the flag --sessions. After do, the command also
// revokes JWT sessions in that store. If it cannot, its error says what do has done.
func ending(p *program, c *cobra.Command, f *peopleFlags, do func(ctx context.Context, db *people, u *latchkey.User) (done string, err error)) *cobra.Command {
	c = changing(p, c, f, func(ctx context.Context, db *people, u *latchkey.User) (string, error) {
		done, err := do(ctx, db, u)
		if err != nil {
			return "", err
		}
		if err := db.apart.revoke(ctx, &db.config, f.tenant, u.ID); err != nil {
			return "", fmt.Errorf("%s. But %w", done, err)
		}
		return done + db.apart.also(), nil
	})
	c.Long += "\n\n" + aboutSessions
	f.bindSessions(c)
	return c
}

func userSuspendCommand(p *program) *cobra.Command {
	var f peopleFlags
	c := ending(p, &cobra.Command{
		Use: "suspend USER", Short: "Keep a user out, and end the user's sessions",
		Long:    "It replaces a suspension that there is. The reason\nis part of the user's export, and on no page of the user.",
		Example: "  latchkey user suspend ada@example.com --until 7d --reason \"sends spam\" --by 42\n  latchkey user suspend 42 --until 2027-01-31",
	}, &f, func(ctx context.Context, db *people, u *latchkey.User) (string, error) {
		until, err := untilOf(p, f.until)
		if err != nil {
			return "", err
		}
		shown := "until it is restored"
		if !until.IsZero() {
			shown = "until " + until.Format(time.RFC3339)
		}
		return fmt.Sprintf("suspended user %s %s, and ended the user's sessions", u.ID, shown),
			db.Suspend(ctx, u.ID, users.SuspendOptions{Until: until, Reason: f.reason})
	})
	c.Flags().StringVar(&f.until, "until", "", "`time` when it ends: 2027-01-31, 2027-01-31T09:00:00Z, or 7d from now (default: never)")
	c.Flags().StringVar(&f.reason, "reason", "", "why, in at most 500 characters")
	return c
}

// untilOf returns the end of a suspension that text names: a date (UTC), a time as in RFC
// 3339, or a span from now. It returns zero, for no end, if text is empty, and a
// wrongUsage for any other text.
func untilOf(p *program, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	var s span
	if s.Set(text) != nil || s == 0 {
		return time.Time{}, usage("--until: want a date such as 2027-01-31, a time such as 2027-01-31T09:00:00Z, or 7d")
	}
	return p.now().Add(time.Duration(s)).UTC().Truncate(time.Second), nil
}

func userRestoreCommand(p *program) *cobra.Command {
	var f peopleFlags
	return changing(p, &cobra.Command{
		Use: "restore USER", Short: "Let a suspended user in again",
		Long: "What was ended stays ended: the user signs in\nanew.", Example: "  latchkey user restore ada@example.com --by 42",
	}, &f, func(ctx context.Context, db *people, u *latchkey.User) (string, error) {
		err := db.Restore(ctx, u.ID)
		if errors.Is(err, latchkey.ErrNotFound) {
			err = errors.New("the user is not suspended")
		}
		return "restored user " + u.ID, err
	})
}

func userEndSessionsCommand(p *program) *cobra.Command {
	var f peopleFlags
	return ending(p, &cobra.Command{
		Use: "end-sessions USER", Short: "Sign a user out everywhere", Long: "The user can sign in again.",
		Example: "  latchkey user end-sessions ada@example.com",
	}, &f, func(ctx context.Context, db *people, u *latchkey.User) (string, error) {
		return "ended the sessions of user " + u.ID, db.EndSessions(ctx, u.ID)
	})
}

func userDeleteCommand(p *program) *cobra.Command {
	return removing(p, "delete", "Delete a user", "It asks first. Accounts, passkeys and sessions go with the\nuser.", (*users.Users).Delete)
}

func userEraseCommand(p *program) *cobra.Command {
	return removing(p, "erase", "Delete a user and what waits for an answer", "It asks first. It answers a request\nfor erasure, and what stays is in the guide: repeat it if it fails.", (*users.Users).Erase)
}

// removing returns a command that asks for a yes, unless --yes is given, and then calls
// remove with the user. name is the name of the command, such as "delete". The output
// appends a d to it: "deleted user 42".
func removing(p *program, name, short, long string, remove func(*users.Users, context.Context, string) error) *cobra.Command {
	var f peopleFlags
	c := ending(p, &cobra.Command{Use: name + " USER", Short: short, Long: long, Example: "  latchkey user " + name + " ada@example.com --yes"}, &f,
		func(ctx context.Context, db *people, u *latchkey.User) (string, error) {
			if !f.yes && !agrees(p, fmt.Sprintf("%s user %s (%s)? It cannot be undone. Type yes: ", name, u.ID, visible(u.Email))) {
				return "", errors.New("nothing was changed: answer yes, or use --yes")
			}
			return name + "d user " + u.ID, remove(db.Users, ctx, u.ID)
		})
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return c
}

// agrees asks a question on standard error and reports whether the next line of standard
// input is yes, in any case.
func agrees(p *program, question string) bool {
	fmt.Fprint(p.stderr, question)
	line, _ := bufio.NewReader(p.stdin).ReadString('\n') // an input that has ended is no
	return strings.EqualFold(strings.TrimSpace(line), "yes")
}

func userExportCommand(p *program) *cobra.Command {
	var f peopleFlags
	return f.bind(&cobra.Command{
		Use: "export USER", Short: "Print everything that is kept of a user", Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Print everything that the database keeps of a user as JSON, for a request for data. It has no
token, key or hash. What the application keeps is not in it: AccountPage.ExportMore is a function of
the site. USER is the id or the e-mail address. After an error nothing is printed.

` + aboutDatabaseURL,
		Example: "  latchkey user export ada@example.com > ada.json",
		RunE: does(func(c *cobra.Command, args []string) error {
			db, ctx, err := openPeople(c.Context(), p, &f, false)
			if err != nil {
				return err
			}
			defer func() { _ = db.Close() }()
			u, err := db.user(ctx, args[0])
			if err != nil {
				return err
			}
			var doc bytes.Buffer
			if err := db.Export(ctx, u.ID, &doc); err != nil {
				return db.said(err)
			}
			_, err = fmt.Fprintln(p.stdout, visible(strings.TrimSpace(doc.String())))
			return err
		}),
	}, true, false)
}

func userReindexCommand(p *program) *cobra.Command {
	var f peopleFlags
	c := &cobra.Command{
		Use: "reindex", Short: "Write the folded names that a search uses", Args: cobra.NoArgs,
		Long:    "Write the folded names that a search uses, where they are missing or out of date. Run it once\nafter an upgrade, and after a rollout during which older programs wrote. Repeat it as you like.\n\n" + aboutDatabaseURL,
		Example: "  latchkey user reindex",
		RunE: does(func(c *cobra.Command, _ []string) error {
			db, _, found, err := p.openUsable(c.Context(), f.database)
			if err != nil {
				return err
			}
			defer func() { _ = db.Close() }()
			n, err := sqladapter.Reindex(c.Context(), db.DB, db.dialect, sqladapter.Options{Layout: found.Layout, Unprepared: true})
			if err != nil {
				return db.failed(err)
			}
			fmt.Fprintf(p.stdout, "%s: wrote %s.\n", db.where, counted(int64(n), "folded name"))
			return nil
		}),
	}
	c.Flags().StringVar(&f.database, "database", "", "`URL` of the database (default: $DATABASE_URL)")
	return c
}
