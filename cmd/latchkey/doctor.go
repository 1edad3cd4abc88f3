package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const aboutDoctor = `Look at the environment as the site would, and say what is wrong with it.

Checked are the secrets, the site's URL and base path, whom the site believes
about its origin, the redirect proxy, the client id and secret of every provider
that the environment names, what their issuers answer, the database, and Redis.

Every line begins with OK, WARN or FAIL and a name; WARN and FAIL lines end with
the cure. The doctor sees the environment only. What is missing there may be set
by the program itself: --accept NAME turns a FAIL into a warning.

Exit codes: 1 after a FAIL, else 0.`

type doctorFlags struct {
	database  string
	providers []string
	accept    []string
	tokenKeys []string
}

func (p *program) doctorCommand() *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use: "doctor", Short: "Find out what is wrong with the environment", Long: aboutDoctor, Args: cobra.NoArgs,
		Example: `  latchkey doctor
  latchkey doctor --env-file .env.production
  latchkey doctor --provider github --provider https://accounts.google.com
  latchkey doctor --accept AUTH_URL              the program sets Site.URL`,
		RunE: does(func(c *cobra.Command, _ []string) error { return p.doctor(c.Context(), f) }),
	}
	c.Flags().StringVar(&f.database, "database", "", "`URL` of the database (default: $DATABASE_URL; neither: not checked)")
	c.Flags().StringArrayVar(&f.providers, "provider", nil, "`id` of a provider that has to be in the environment, or the URL of an issuer; may be repeated")
	c.Flags().StringArrayVar(&f.accept, "accept", nil, "`name` whose FAIL is only a warning; may be repeated")
	c.Flags().StringArrayVar(&f.tokenKeys, "token-key", nil, "`name` of a variable with one of Tokens.Keys, the newest first; may be repeated (default: the secrets)")
	return c
}

// isReported reports whether the report of the doctor can have a line for name, which
// --accept then may name.
func isReported(name string) bool {
	return name == "database" || name == "redis" || name == "factors" || name == "tokens" || slices.Contains(readNames, name) || providerStem(name) != "" || strings.Contains(name, "://")
}

func (p *program) doctor(ctx context.Context, f doctorFlags) error {
	for _, name := range f.accept {
		if !isReported(name) {
			return usage("--accept: nothing is reported by this name; it can be database, redis, %s, AUTH_<ID>_ID, AUTH_<ID>_SECRET, AUTH_<ID>_ISSUER, or the URL of an issuer", strings.Join(readNames, ", "))
		}
	}
	d := newDoctor(p, p.stdout, f.accept)
	d.checkNames()
	d.checkSpelling()
	d.checkSecrets()
	d.checkSiteURL()
	d.checkProxy()
	d.checkProviders(ctx, f.providers)
	d.checkDatabase(ctx, f.database, f.tokenKeys)
	d.checkRedis(ctx)
	return d.end()
}

// doctor looks at the environment of a program, and reports what is wrong with it.
type doctor struct {
	*report
	program *program
	env     environment
}

func newDoctor(p *program, out io.Writer, accept []string) *doctor {
	return &doctor{&report{out: out, accept: accept}, p, p.env}
}

// report prints findings as they come.
type report struct {
	out                    io.Writer
	accept                 []string
	good, doubtful, broken int
}

func (r *report) ok(name, format string, args ...any) {
	r.good++
	r.line("OK", name, format, args...)
}

func (r *report) warn(name, format string, args ...any) {
	r.doubtful++
	r.line("WARN", name, format, args...)
}

func (r *report) fail(name, format string, args ...any) {
	if slices.Contains(r.accept, name) {
		r.warn(name, "accepted: "+format, args...)
		return
	}
	r.broken++
	r.line("FAIL", name, format, args...)
}

func (r *report) line(level, name, format string, args ...any) {
	fmt.Fprintf(r.out, "%-4s  %s: %s\n", level, name, fmt.Sprintf(format, args...))
}

func (r *report) end() error {
	fmt.Fprintf(r.out, "\n%d ok, %s, %s\n", r.good, counted(int64(r.doubtful), "warning"), counted(int64(r.broken), "failure"))
	if r.broken > 0 {
		return errTold
	}
	return nil
}

// checkSpelling finds what was copied together with a value.
func (d *doctor) checkSpelling() {
	for _, name := range d.env.names() {
		value := d.env.get(name)
		if !strings.HasPrefix(name, "AUTH_") && !strings.HasPrefix(name, "NEXTAUTH_") {
			continue
		}
		first, last := value[0], value[len(value)-1]
		switch {
		case strings.TrimSpace(value) != value:
			d.warn(name, "begins or ends with space, which counts as part of it. Remove it")
		case len(value) > 1 && first == last && (first == '"' || first == '\''):
			d.warn(name, "is in quotation marks, which count as part of it. Remove them")
		}
	}
}
