package main

import (
	"context"
	"encoding/json"
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

With --site it asks a running site from outside instead: name and certificate,
routes, cookies, what the site takes for its own address, forged headers, sizes
and clocks. It signs no user in, sends no mail, prints no cookie, and ends within
15 seconds. It needs no secret; where the environment has one, it is looked at, too.

Exit codes: 1 after a FAIL, else 0.`

type doctorFlags struct {
	siteFlags
	json      bool
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
  latchkey doctor --accept AUTH_URL              the program sets Site.URL
  latchkey doctor --site https://app.example     ask the running site`,
		RunE: does(func(c *cobra.Command, _ []string) error { return p.doctor(c.Context(), f) }),
	}
	c.Flags().StringVar(&f.database, "database", "", "`URL` of the database (default: $DATABASE_URL; neither: not checked)")
	c.Flags().StringArrayVar(&f.providers, "provider", nil, "`id` of a provider that has to be in the environment, or the URL of an issuer; may be repeated")
	c.Flags().StringArrayVar(&f.accept, "accept", nil, "`name` whose FAIL is only a warning; may be repeated")
	c.Flags().StringVar(&f.site, "site", "", "`URL` of a running site to ask, with its base path unless that is /auth")
	c.Flags().StringVar(&f.health, "health", "", "with --site: `URL` of the readiness of an instance")
	c.Flags().StringArrayVar(&f.instances, "instances", nil, "with --site: `URL` of an instance to compare; may be repeated")
	c.Flags().BoolVar(&f.json, "json", false, "print the report as JSON")
	c.Flags().StringArrayVar(&f.tokenKeys, "token-key", nil, "`name` of a variable with one of Tokens.Keys, the newest first; may be repeated (default: the secrets)")
	return c
}

// isReported reports whether the doctor can report a finding with this name, so that
// --accept may name it.
func isReported(name string) bool {
	return slices.Contains(siteNames, name) || name == "database" || name == "redis" || name == "factors" || name == "tokens" || slices.Contains(readNames, name) || providerStem(name) != "" || strings.Contains(name, "://")
}

// doctor checks the environment, and with --site a running site, and prints the report.
// With --site it leaves out an environment that has no secret. It returns errTold if the
// report has a failure, and a wrongUsage for flags or a URL that make no sense.
func (p *program) doctor(ctx context.Context, f doctorFlags) error {
	for _, name := range f.accept {
		if !isReported(name) {
			return usage("--accept: nothing is reported by this name; it can be database, redis, %s, one of site.dns to site.instances, AUTH_<ID>_ID, AUTH_<ID>_SECRET, AUTH_<ID>_ISSUER, or the URL of an issuer", strings.Join(readNames, ", "))
		}
	}
	if f.site == "" && (f.health != "" || len(f.instances) > 0) {
		return usage("--health and --instances belong to --site")
	}
	d := newDoctor(p, p.stdout, f.accept)
	d.isJSON = f.json
	if f.site == "" || len(d.env.secrets()) > 0 {
		d.checkEnvironment(ctx, f)
	}
	if f.site != "" {
		if err := checkSite(ctx, p, d.report, f.siteFlags); err != nil {
			return err
		}
	}
	err := d.end()
	if f.site == "" && !f.json && err == nil {
		fmt.Fprintln(p.stdout, siteHint)
	}
	return err
}

// siteHint says what the environment alone does not tell.
const siteHint = "\nProxies, cookies and clocks show in the running site alone: latchkey doctor --site URL, with --instances URL for each of several."

// checkEnvironment makes all checks of the environment, and of the providers and
// databases that it names.
func (d *doctor) checkEnvironment(ctx context.Context, f doctorFlags) {
	d.checkNames()
	d.checkSpelling()
	d.checkSecrets()
	d.checkSiteURL()
	d.checkProxy()
	d.checkProviders(ctx, f.providers)
	d.checkDatabase(ctx, f.database, f.tokenKeys)
	if rawURL := d.env.get("REDIS_URL"); rawURL != "" {
		d.checkRedis(ctx, "REDIS_URL", rawURL, f.tokenKeys)
	}
}

// doctor looks at the environment of a program, and reports what is wrong with it.
type doctor struct {
	*report
	program *program
	env     environment
}

// newDoctor returns a doctor that prints to out and turns failures of the names in accept
// into warnings.
func newDoctor(p *program, out io.Writer, accept []string) *doctor {
	return &doctor{&report{out: out, accept: accept}, p, p.env}
}

// report counts findings, and prints each at once unless isHeld or isJSON is set. It is
// not safe for concurrent use.
type report struct {
	out                    io.Writer
	accept                 []string
	good, doubtful, broken int
	isHeld                 bool // findings are kept for another report
	isJSON                 bool // findings are printed at the end
	findings               []finding
}

// finding is one line of a report.
type finding struct {
	Level string `json:"level"`
	Name  string `json:"name"`
	Text  string `json:"text"`
}

// take adds the findings of from, a report with isHeld, in their order. It does not look
// at r.accept: from has done so for its failures.
func (r *report) take(from *report) {
	r.good, r.doubtful, r.broken = r.good+from.good, r.doubtful+from.doubtful, r.broken+from.broken
	for _, f := range from.findings {
		r.line(f.Level, f.Name, "%s", f.Text)
	}
}

// ok adds a finding that all is well with what name stands for.
func (r *report) ok(name, format string, args ...any) {
	r.good++
	r.line("OK", name, format, args...)
}

// warn adds a warning.
func (r *report) warn(name, format string, args ...any) {
	r.doubtful++
	r.line("WARN", name, format, args...)
}

// fail adds a failure, or a warning if --accept has the name.
func (r *report) fail(name, format string, args ...any) {
	if slices.Contains(r.accept, name) {
		r.warn(name, "accepted: "+format, args...)
		return
	}
	r.broken++
	r.line("FAIL", name, format, args...)
}

// line adds a finding without counting it, and prints it unless the report is held or
// JSON. It escapes the text, which may quote a server or a file.
func (r *report) line(level, name, format string, args ...any) {
	f := finding{level, visible(name), visibleLines(fmt.Sprintf(format, args...))}
	if r.isHeld || r.isJSON {
		r.findings = append(r.findings, f)
		return
	}
	fmt.Fprintf(r.out, "%-4s  %s: %s\n", f.Level, f.Name, f.Text)
}

// visibleLines escapes each line of text as visible does, and keeps the line ends. It
// indents the lines after the first, so that none of them looks like a finding.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if lines[i] = visible(line); i > 0 && !strings.HasPrefix(line, "  ") {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// end prints the totals, or the whole report if it is JSON. It returns errTold if there
// was a failure.
func (r *report) end() error {
	if r.isJSON {
		return r.endJSON()
	}
	fmt.Fprintf(r.out, "\n%d ok, %s, %s\n", r.good, counted(int64(r.doubtful), "warning"), counted(int64(r.broken), "failure"))
	if r.broken > 0 {
		return errTold
	}
	return nil
}

// endJSON prints the whole report as JSON. It returns errTold if there was a failure.
func (r *report) endJSON() error {
	e := json.NewEncoder(r.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(map[string]any{"findings": r.findings, "ok": r.good, "warnings": r.doubtful, "failures": r.broken})
	if err == nil && r.broken > 0 {
		err = errTold
	}
	return err
}

// checkSpelling warns of values with space or quotation marks around them, as copying
// leaves them.
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
