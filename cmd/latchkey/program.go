package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// What the program ends with.
const (
	exitOK      = 0
	exitProblem = 1 // it found, or had, a problem
	exitUsage   = 2 // it was called wrongly
)

// program is one run of the command line, with everything outside of it that the run
// uses.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            environment
	now            func() time.Time
	http           *http.Client
}

// run runs the whole program and returns its exit code. args has no name of the program,
// and environ is as os.Environ gives it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, env: environ, now: time.Now, http: &http.Client{}}
	return p.run(ctx, args)
}

// run runs the command that args name and returns the exit code. It prints the error of the
// command to stderr, except for errTold. An error that is not a problem is wrong usage.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.command()
	root.SetArgs(args)
	c, err := root.ExecuteContextC(ctx)
	_, isProblem := errors.AsType[problem](err)
	switch {
	case err == nil:
		return exitOK
	case isProblem:
		if text := err.Error(); text != "" {
			fmt.Fprintf(p.stderr, "latchkey: %s\n", text)
		}
		return exitProblem
	}
	fmt.Fprintf(p.stderr, "latchkey: %v\nRun \"%s --help\" for its usage.\n", err, c.CommandPath())
	return exitUsage
}

// problem is an error of a command that was called as it should be. Its exit code is
// exitProblem. Every other error is wrong usage, which cobra finds out for the most part.
type problem struct{ error }

// Unwrap returns what the problem is.
func (p problem) Unwrap() error { return p.error }

// wrongUsage is what a command itself finds wrong with its call. Its exit code is
// exitUsage.
type wrongUsage struct{ error }

// Unwrap returns what is wrong.
func (w wrongUsage) Unwrap() error { return w.error }

// usage returns a wrongUsage with a formatted text. As in fmt.Errorf, %w wraps an error.
func usage(format string, args ...any) error { return wrongUsage{fmt.Errorf(format, args...)} }

// errTold is a problem that the output has named already. run prints nothing for it, and
// returns exitProblem.
var errTold = errors.New("")

type action = func(c *cobra.Command, args []string) error

// does returns a function that calls f and turns its error into a problem, unless it is a
// wrongUsage.
func does(f action) action {
	return func(c *cobra.Command, args []string) error {
		err := f(c, args)
		if _, wrong := errors.AsType[wrongUsage](err); err == nil || wrong {
			return err
		}
		return problem{err}
	}
}

const about = `Latchkey's tool prepares and checks what a site with Latchkey needs.

It reads the same environment as the site. Variables can also come from a file
(--env-file .env); those of the environment itself win. It prints no secret but
one it has just made, no password of a database, and no token but one that it
was asked to make.

Exit codes: 0 all is well, 1 there is a problem, 2 wrong usage.`

// command returns the command latchkey with all commands below it. Before one of them
// runs, it reads --env-file into p.env.
func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use: "latchkey", Short: "Prepare and check a site with Latchkey", Long: about,
		Example: `  latchkey secret --append .env     make a secret
  latchkey migrate                  create the tables in $DATABASE_URL
  latchkey doctor                   find out what is wrong
  latchkey help token decode        learn more about one command`,
		SilenceErrors: true, SilenceUsage: true, Version: version(),
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("latchkey {{.Version}}\n")
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	file := root.PersistentFlags().String("env-file", "", "`file` with variables that the environment lacks")
	root.PersistentPreRunE = does(func(*cobra.Command, []string) (err error) {
		p.env, err = p.env.with(*file)
		return err
	})
	root.AddCommand(p.secretCommand(), p.migrateCommand(), p.sweepCommand(), p.resealCommand(), p.userCommand(), auditCommand(p), p.passwordCommand(), p.tokenCommand(), p.doctorCommand(), p.explainCommand(), p.providersCommand(), p.versionCommand())
	return root
}

// group adds the commands below to c, lets c itself only print its help, and returns c.
func group(c *cobra.Command, below ...*cobra.Command) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(below...)
	return c
}
