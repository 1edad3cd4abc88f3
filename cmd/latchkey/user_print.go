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
// apostrophe in front of what looks like one, and escapes as visible does.
func neutral(text string) string {
	if strings.IndexAny(text, "=+-@\t\r\n\x00＝＋－＠") == 0 {
		text = "'" + text
	}
	return visible(text)
}

// writeJSON writes a value as indented JSON, and escapes what is not printable in its
// texts as visible does.
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

// personOf returns u as the commands print it. now decides whether a suspension holds.
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

// known returns t in UTC and whole seconds, or nil if t is zero because the time is not
// known.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Truncate(time.Second))
}

// shownTime returns t as RFC 3339, or "" for nil.
func shownTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

var columns = []string{"id", "email", "name", "verified", "created", "state"}

// cells returns the values of columns, not escaped.
func (p *person) cells() []string {
	return []string{p.ID, p.Email, p.Name, shownTime(p.EmailVerified), shownTime(p.Created), p.State}
}

// printPeople prints a list as formJSON, formCSV or, for any other form, a table.
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

// printPairs prints each pair on a line, and leaves out those without a value.
func printPairs(w io.Writer, pairs []pair) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range pairs {
		if p.value != "" {
			fmt.Fprintf(out, "%s:\t%s\n", p.name, visible(p.value))
		}
	}
	return out.Flush()
}
