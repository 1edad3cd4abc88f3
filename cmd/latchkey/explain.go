package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/explain"
)

const aboutExplain = `Say what a failure was, why, and what to do about it.

CODE is a reference code as the log and, with Operations.ShowReference, the error
page have it, such as 7QM2-9XDK-4T1B. The secrets of the site open it: it says the
kind of the failure and the minute, without any log. DETAIL is the name of a kind,
such as state.missing, or of a type, such as UntrustedHost.

With --log the line about the code is looked for in a log of slog, JSON or text, so
that the most likely cause comes first. What the log holds is data: it is cut, and
printed without control characters.

Exit codes: 1 if the code or the name is unknown.`

type explainFlags struct {
	log  string
	json bool
}

func (p *program) explainCommand() *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use: "explain CODE|DETAIL", Short: "Say what a failure was, and what to do", Long: aboutExplain,
		Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		Example: `  latchkey explain 7QM2-9XDK-4T1B --env-file .env
  latchkey explain 7QM2-9XDK-4T1B --log site.log
  latchkey explain state.missing`,
		RunE: does(func(c *cobra.Command, args []string) error { return p.explain(c.Context(), args[0], f) }),
	}
	c.Flags().StringVar(&f.log, "log", "", "`file` with the site's log; - is standard input")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// explained is what the explain command prints.
type explained struct {
	Detail fault.Detail      `json:"detail"`
	Code   string            `json:"reference,omitempty"`
	Time   string            `json:"time,omitempty"`
	Clock  string            `json:"clock,omitempty"`  // what the time says of the clock of the site
	Secret string            `json:"secret,omitempty"` // what the code says of the secrets of the site
	Party  explain.Party     `json:"party"`
	What   string            `json:"what"`
	Causes []string          `json:"causes"`
	Cure   string            `json:"cure"`
	Also   string            `json:"operator,omitempty"` // what the operator can do where party is the visitor
	Error  string            `json:"error,omitempty"`    // of the log
	Facts  map[string]string `json:"facts,omitempty"`
}

// explain prints the explanation of what, a reference code or the name of a detail. It
// returns an error if what is neither.
func (p *program) explain(_ context.Context, what string, f explainFlags) error {
	line, err := p.lineAbout(what, f.log)
	if err != nil {
		return err
	}
	e := explained{Detail: explain.Named(what)}
	if _, isDetail := explain.Find(e.Detail); !isDetail {
		if e, err = p.openReference(what, line); err != nil {
			return err
		}
	}
	text, known := explain.Find(e.Detail)
	if !known {
		return fmt.Errorf("this version knows no detail %s", visible(string(e.Detail)))
	}
	e.Party, e.What, e.Causes, e.Cure = text.Party, text.What, explain.CausesOf(&text, line), explain.CureOf(&text, line)
	e.Also = explain.OperatorCure(e.Detail)
	if line != nil {
		e.Error, e.Facts = line.Error, line.Facts
	}
	if f.json {
		out := json.NewEncoder(p.stdout)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(e)
	}
	e.print(p.stdout)
	return nil
}

// openReference returns the detail and the time of a reference code. It opens the code
// with the secrets of the environment. If none opens it, it takes them from line, the
// line of the log that has the code; line may be nil. It returns an error if neither has
// them.
func (p *program) openReference(code string, line *explain.Line) (explained, error) {
	var secrets []string
	for _, s := range p.env.secrets() {
		secrets = append(secrets, s.value)
	}
	r, err := explain.NewCodec(secrets).Open(code, p.now())
	switch {
	case err == nil:
		return explained{Detail: r.Detail, Code: explain.Spelled(code), Time: r.Time.Format(time.RFC3339), Clock: aheadOf(r.Time, p.now())}, nil
	case line != nil:
		e := explained{Detail: line.Detail, Code: line.Reference, Time: line.Time}
		if len(secrets) > 0 {
			e.Secret = "No secret of this environment opens the code: the instance that wrote the line has other ones."
		}
		return e, nil
	case len(secrets) == 0:
		return explained{}, errors.New("there is no secret to open a code with: set AUTH_SECRET, or use --env-file or --log")
	}
	return explained{}, err
}

// aheadOf returns a sentence that says by how much the clock that made a code is ahead of
// this one at least, or "" if at is not after now. at is the time in the code.
func aheadOf(at, now time.Time) string {
	if !at.After(now) {
		return ""
	}
	return fmt.Sprintf("The code is from a clock that is ahead of the one here by at least %v. Have both set by NTP.", at.Sub(now).Round(time.Second))
}

// lineAbout returns the last line about a code in the log called name; "-" is standard
// input. It returns nil, nil if name is empty, if the log has no such line, or if code is
// no reference code.
func (p *program) lineAbout(code, name string) (*explain.Line, error) {
	if name == "" {
		return nil, nil
	}
	in := p.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	line, err := explain.Search(in, code)
	if errors.Is(err, explain.ErrForeign) { // it is the name of a detail
		return nil, nil
	}
	return line, err
}

// print writes e as text for people.
func (e *explained) print(out io.Writer) {
	fmt.Fprintf(out, "%s", e.Detail)
	if e.Time != "" {
		fmt.Fprintf(out, " at %s", e.Time)
	}
	if e.Clock != "" {
		fmt.Fprintf(out, "\n%s", e.Clock)
	}
	if e.Secret != "" {
		fmt.Fprintf(out, "\n%s", e.Secret)
	}
	fmt.Fprintf(out, "\n%s\n\nCauses, the most likely one first:\n", e.What)
	for _, cause := range e.Causes {
		fmt.Fprintf(out, "- %s\n", cause)
	}
	fmt.Fprintf(out, "\nFor the %s: %s\n", e.Party, e.Cure)
	if e.Also != "" {
		fmt.Fprintf(out, "For the operator: %s\n", e.Also)
	}
	if e.Error != "" {
		fmt.Fprintf(out, "\nThe log says: %s\n", e.Error)
	}
}
