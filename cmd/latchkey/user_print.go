package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/latchkeyhq/latchkey"
)

// The forms of output.
const (
	formText = "text"
	formJSON = "json"
	formCSV  = "csv"
)

// visible returns text with an escape such as \u001b in place of each character that is
// not printable, line ends included. Names and addresses come from users, and a terminal
// might obey them.
func visible(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// neutral returns text as a cell that no spreadsheet takes for a formula: it puts an
// apostrophe in front of one, and escapes as visible does.
func neutral(text string) string {
	if strings.IndexAny(text, "=+-@\t\r\n\x00＝＋－＠") == 0 {
		text = "'" + text
	}
	return visible(text)
}

// writeJSON writes a value as JSON in which only ends of lines are not printable.
func writeJSON(w io.Writer, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		if _, err := fmt.Fprintln(w, visible(line)); err != nil {
			return err
		}
	}
	return nil
}

// person is a user as the commands print it.
type person struct {
	ID            string     `json:"id"`
	Email         string     `json:"email,omitempty"`
	Name          string     `json:"name,omitempty"`
	EmailVerified *time.Time `json:"emailVerified,omitempty"`
	Created       *time.Time `json:"created,omitempty"`
	State         string     `json:"state"` // active, suspended or provisioned
	Until         *time.Time `json:"suspendedUntil,omitempty"`
	Reason        string     `json:"reason,omitempty"`
	By            string     `json:"suspendedBy,omitempty"`
}

func personOf(u *latchkey.User, now time.Time) person {
	p := person{ID: u.ID, Email: u.Email, Name: u.Name, EmailVerified: known(u.EmailVerified), Created: known(u.Created), State: "active"}
	if !u.Provisioned.IsZero() {
		p.State = "provisioned"
	}
	if u.Suspension.Holds(now) {
		p.State, p.Until, p.Reason, p.By = "suspended", known(u.Suspension.Until), u.Suspension.Reason, u.Suspension.By
	}
	return p
}

// known returns nil for a time that is not known.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Truncate(time.Second))
}

func shownTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

var columns = []string{"id", "email", "name", "verified", "created", "state"}

func (p *person) cells() []string {
	return []string{p.ID, p.Email, p.Name, shownTime(p.EmailVerified), shownTime(p.Created), p.State}
}

// printPeople prints a list in one of the forms.
func printPeople(w io.Writer, form string, list []person) error {
	switch form {
	case formJSON:
		return writeJSON(w, list)
	case formCSV:
		out := csv.NewWriter(w)
		_ = out.Write(columns) // Error says it
		for _, p := range list {
			cells := p.cells()
			for i, c := range cells {
				cells[i] = neutral(c)
			}
			_ = out.Write(cells)
		}
		out.Flush()
		return out.Error()
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, strings.ToUpper(strings.Join(columns, "\t")))
	for _, p := range list {
		cells := p.cells()
		for i, c := range cells {
			if cells[i] = visible(c); c == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(out, strings.Join(cells, "\t"))
	}
	return out.Flush()
}

// pair is one line of the description of a user.
type pair struct{ name, value string }

func printPairs(w io.Writer, pairs []pair) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range pairs {
		if p.value != "" {
			fmt.Fprintf(out, "%s:\t%s\n", p.name, visible(p.value))
		}
	}
	return out.Flush()
}
