package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
)

const aboutMigrate = `Bring the database to the newest schema: from nothing, or from an earlier version.

` + aboutDatabaseURL + `

Of these the command makes the indexes, the table or the bucket that Latchkey's
adapter wants:

  mongodb://user:password@host/name
  dynamodb://table?region=eu-central-1       (credentials as Amazon's tools have them;
                                             layout=authjs for the table of Auth.js)
  nats://user:password@host:4222/bucket?replicas=3   (creds=FILE for a credentials file)

A database that an adapter of Auth.js uses is left alone: the command prints the
layout that it works with as it stands, or says what stands in the way, and makes
no second set of tables beside it. --adopt makes the tables of Auth.js'
PostgreSQL adapter Latchkey's own. Rows stay and sessions go on, but Auth.js can then no
longer use it. Rows that the new keys would refuse are listed by rule, and
nothing is changed.

Several instances may migrate at once: one works, the others wait. On PostgreSQL
and SQLite all is done or nothing; on MySQL run the command again after an
interruption.`

type migrateFlags struct {
	database            string
	dialect             dialect
	print, check, adopt bool
}

func (p *program) migrateCommand() *cobra.Command {
	var f migrateFlags
	c := &cobra.Command{
		Use: "migrate", Short: "Create or update the tables", Long: aboutMigrate, Args: cobra.NoArgs,
		Example: `  latchkey migrate
  latchkey migrate --database sqlite:auth.db
  latchkey migrate --check                      exit code 1 if there is something to do
  latchkey migrate --print --dialect postgres   the statements, without a database
  latchkey migrate --adopt                      take over the tables of Auth.js`,
		RunE: does(func(c *cobra.Command, _ []string) error {
			if f.print {
				return p.printSchema(f)
			}
			return p.migrate(c.Context(), f)
		}),
	}
	c.Flags().StringVar(&f.database, "database", "", "`URL` of the database (default: $DATABASE_URL)")
	c.Flags().BoolVar(&f.print, "print", false, "print the statements for --dialect and touch no database")
	c.Flags().Var(&f.dialect, "dialect", "of --print: postgres, mysql or sqlite (default: that of the database)")
	c.Flags().BoolVar(&f.check, "check", false, "only say whether there is something to do")
	c.Flags().BoolVar(&f.adopt, "adopt", false, "take over the tables of Auth.js")
	_ = c.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions([]string{"postgres", "mysql", "sqlite"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// dialect is the flag --dialect.
type dialect struct{ sqlstore.Dialect }

// Set implements pflag.Value.
func (d *dialect) Set(text string) error {
	known := map[string]sqlstore.Dialect{
		"postgres": sqladapter.Postgres, "postgresql": sqladapter.Postgres, "mysql": sqladapter.MySQL, "mariadb": sqladapter.MySQL,
		"sqlite": sqladapter.SQLite, "sqlite3": sqladapter.SQLite,
	}
	if d.Dialect = known[text]; d.Dialect == "" {
		return errors.New("want postgres, mysql or sqlite")
	}
	return nil
}

// String implements pflag.Value.
func (d *dialect) String() string { return string(d.Dialect) }

// Type implements pflag.Value.
func (d *dialect) Type() string { return "name" }

// printSchema prints the statements of a migration, or with --adopt those that take over
// the tables of Auth.js. The dialect is that of the flag or of the database's URL. No
// database is opened.
func (p *program) printSchema(f migrateFlags) error {
	of := f.dialect.Dialect
	if of == "" && f.adopt {
		of = sqladapter.Postgres
	}
	if of == "" {
		d, err := parseDatabase(cmp.Or(f.database, p.env.get("DATABASE_URL")))
		if err != nil {
			return usage("--print: say for which database, such as --dialect postgres")
		}
		of = d.dialect
	}
	statements := sqlstore.Schema(of)
	if f.adopt {
		if statements = sqlstore.AdoptionSchema(of); statements == "" {
			return usage("--adopt: Auth.js' own adapter is for PostgreSQL only: --dialect postgres")
		}
	}
	_, err := io.WriteString(p.stdout, statements)
	return err
}

// migrate brings the database to the newest schema; without SQL it calls migrateService.
// With --check it changes nothing, and returns errTold if there is something to do. If rows
// break rules of the new schema, it prints the rules and returns errTold. It changes tables
// of Auth.js' PostgreSQL adapter only with --adopt. Without --adopt it prints how Latchkey
// can use them, or why not and returns errTold. For usable tables of another adapter of
// Auth.js it prints how to use them, but --adopt is an error. All other foreign tables, and
// a schema of a newer version, are an error. It does not look at --print and --dialect.
func (p *program) migrate(ctx context.Context, f migrateFlags) error {
	if other, err := p.openService(ctx, f.database); err != nil {
		return err
	} else if other != nil {
		defer other.close()
		return p.migrateService(ctx, other, f)
	}
	db, err := p.connect(ctx, f.database, !f.check)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	found, err := db.examine(ctx)
	if err != nil {
		return err
	}
	newest := sqlstore.Version(db.dialect)
	switch {
	case found.Schema == sqlstore.SchemaForeign && f.adopt:
		return fmt.Errorf("%s: the tables of %s are not taken over, only those of Auth.js' PostgreSQL adapter: use them as they stand (`latchkey migrate` prints the layout)", db.where, maker(found))
	case found.Schema == sqlstore.SchemaForeign:
		fmt.Fprintf(p.stdout, foreignReport, db.where, maker(found), layoutText(found))
		return nil
	case found.Schema == sqlstore.SchemaAuthJS && !f.adopt:
		return p.reportAuthJS(ctx, db, found)
	case found.Version > newest:
		return fmt.Errorf("%s: it is at version %d, and this tool knows %d: use a newer one", db.where, found.Version, newest)
	case found.Version == newest && !found.Usable():
		return db.usable(found)
	case found.Version == newest:
		fmt.Fprintf(p.stdout, "%s: nothing to do, it is at version %d.\n", db.where, newest)
		return nil
	case f.check:
		return p.announce(ctx, db, found)
	}
	if err := sqladapter.Migrate(ctx, db.DB, db.dialect, sqladapter.Options{}); err != nil {
		return p.refused(db, err)
	}
	fmt.Fprintf(p.stdout, "%s: at version %d now; %s before.\n", db.where, newest, formerState(found))
	return nil
}

// refused returns the error err of a migration as the user of the command reads it. If
// rows break rules, it prints these to standard error and returns errTold.
func (p *program) refused(db *connection, err error) error {
	broken, ok := errors.AsType[*sqlstore.ViolationError](err)
	if misfit, is := errors.AsType[*sqlstore.MisfitError](err); is && !ok {
		return db.usable(sqlstore.Found{Misfits: misfit.Misfits})
	}
	if !ok {
		return db.failed(err)
	}
	fmt.Fprintf(p.stderr, "latchkey: %s: nothing is changed, because rows break these rules:\n", db.where)
	writeViolations(p.stderr, broken)
	return errTold
}

// announce prints what a migration would do and returns errTold, since there is something
// to do. If the rows or the tables do not allow a migration, it does what refused does.
func (p *program) announce(ctx context.Context, db *connection, found sqlstore.Found) error {
	if err := sqladapter.Check(ctx, db.DB, db.dialect, sqladapter.Options{}); err != nil {
		return p.refused(db, err)
	}
	command := "latchkey migrate"
	if found.Schema == sqlstore.SchemaAuthJS {
		command += " --adopt"
	}
	fmt.Fprintf(p.stdout, "%s: %s; `%s` brings it to version %d.\n", db.where, stateOf(found), command, sqlstore.Version(db.dialect))
	return errTold
}

// writeViolations writes a line for each rule that rows break.
func writeViolations(w io.Writer, broken *sqlstore.ViolationError) {
	for _, v := range broken.Violations {
		fmt.Fprintf(w, "  %s: %s; broken %s\n", v.Table, v.Rule, times(v.Rows))
	}
}

// times returns "once", "2 times" and so on.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

const authJSReport = `%s: the tables of Auth.js.

%s

--adopt would make it Latchkey's own, and no longer Auth.js':
  - session tokens are hashed when they are next used; sessions go on
  - e-mail addresses are unique and in lower case
  - accounts, session tokens, verification tokens and passkeys are unique
  - accounts, sessions and passkeys go when their user goes
  - new columns: extra members of users and accounts, how a session was opened, the
    e-mail address of an account, what a link is for, names and dates of passkeys
  - new tables where they are missing: passkeys, revocations, limits, used sign-ins,
    passwords, second factors, challenges, known browsers
The statements: latchkey migrate --print --adopt --dialect postgres
`

const foreignReport = `%s: the tables of %s. Nothing is changed.

It works as it stands, also with Auth.js beside it: give the adapter the layout

%s

--adopt does not take these tables over. Fields that have no column in them are
not kept.
`

// layoutText returns the layout of found tables as Go source, for the user to copy. The
// layout of Auth.js is the text sqlstore.AuthJS(), even if only the table for passkeys is
// missing in the database.
func layoutText(found sqlstore.Found) string {
	usual := found.Layout
	usual.Names = maps.Clone(usual.Names)
	delete(usual.Names, "authenticators")
	if text := usual.GoString(); text == sqlstore.AuthJS().GoString() {
		return text
	}
	return found.Layout.GoString()
}

// reportAuthJS prints how the tables of Auth.js can be used, and what --adopt would
// change. It changes nothing. It returns errTold if the tables cannot be used as they
// are.
func (p *program) reportAuthJS(ctx context.Context, db *connection, found sqlstore.Found) error {
	state := "It works as it stands, also with Auth.js beside it: give the adapter the layout\n\n" + layoutText(found)
	if !found.Usable() {
		state = "It does not work as it stands:" + misfitLines(found)
	}
	fmt.Fprintf(p.stdout, authJSReport, db.where, state)
	if !found.Usable() {
		return errTold
	}
	err := sqladapter.Check(ctx, db.DB, db.dialect, sqladapter.Options{})
	broken, ok := errors.AsType[*sqlstore.ViolationError](err)
	switch {
	case ok:
		fmt.Fprint(p.stdout, "\nBefore that, these rules have to hold:\n")
		writeViolations(p.stdout, broken)
		return nil
	case err != nil:
		return db.failed(err)
	}
	fmt.Fprint(p.stdout, "\nNo row stands in its way.\n")
	return nil
}
