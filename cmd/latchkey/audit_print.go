package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/audit"
)

// eventPrinter prints events as they come. The caller ends it with end. err is the first
// error of the output; after it nothing is printed.
type eventPrinter struct {
	form  string
	out   *bufio.Writer
	cells *csv.Writer
	table *tabwriter.Writer
	rows  int // of the table since it was aligned
	// printed counts the events, and ofSite those that are not about the log itself.
	printed, ofSite int
	err             error
}

// mostAligned bounds the rows of a table that are aligned with each other.
const mostAligned = 1000

// newEventPrinter returns a printer of the form with this name, which begins with a
// heading in CSV and in the table. It returns a wrongUsage for a form that is not among
// forms.
func newEventPrinter(w io.Writer, form string, forms ...string) (*eventPrinter, error) {
	if !slices.Contains(forms, form) {
		return nil, usage("--format: there is no form %q: want %s", visible(form), strings.Join(forms, " or "))
	}
	p := &eventPrinter{form: form, out: bufio.NewWriter(w)}
	switch form {
	case formCSV:
		p.cells = csv.NewWriter(p.out)
		var names []string
		for _, a := range audit.AllFields(&event.Event{}) {
			names = append(names, a.Key)
		}
		p.err = p.cells.Write(names)
	case formText:
		p.table = tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
		_, p.err = fmt.Fprintln(p.table, "TIME\tTYPE\tOUTCOME\tUSER\tBY\tHOW\tCLIENT\tDETAIL\tCOUNT\tREFERENCE")
	}
	return p, nil
}

// print prints one event on one line, whatever the event holds. The line may wait for
// flush. An error is in p.err.
func (p *eventPrinter) print(e *event.Event) {
	if p.err != nil {
		return
	}
	p.printed++
	if !isAboutLog(e) {
		p.ofSite++
	}
	switch p.form {
	case formJSON:
		p.printJSON(e)
	case formCSV:
		var row []string
		for _, a := range audit.AllFields(e) {
			row = append(row, neutral(cellOf(a.Value)))
		}
		p.err = p.cells.Write(row)
	default:
		p.printRow(e)
	}
}

// printJSON prints an event as a JSON object on one line, in the order of its fields.
func (p *eventPrinter) printJSON(e *event.Event) {
	var line bytes.Buffer
	for i, a := range audit.Fields(e) {
		value, err := json.Marshal(a.Value.Any())
		if err != nil {
			p.err = err
			return
		}
		mark := ","
		if i == 0 {
			mark = "{"
		}
		fmt.Fprintf(&line, "%s%q:%s", mark, a.Key, value)
	}
	_, p.err = fmt.Fprintf(p.out, "%s}\n", visible(line.String()))
}

// cellOf returns a value as a cell of CSV: times as RFC 3339, and nothing for 0 and
// false.
func cellOf(v slog.Value) string {
	switch v.Kind() {
	case slog.KindTime:
		return v.Time().Format(time.RFC3339Nano)
	case slog.KindInt64:
		if v.Int64() == 0 {
			return ""
		}
	case slog.KindBool:
		if !v.Bool() {
			return ""
		}
	}
	return v.String()
}

// printRow prints a row of the table, which has fewer columns than an event has fields.
func (p *eventPrinter) printRow(e *event.Event) {
	user := e.UserID
	if e.Erased && user == "" {
		user = "(erased)"
	} else if user == "" {
		user = e.Name
	}
	count := ""
	if e.Count > 0 {
		count = strconv.Itoa(e.Count)
	}
	how := strings.TrimSpace(e.Provider + " " + strings.Join(e.AMR, "+"))
	detail := string(e.Detail)
	if detail == "" {
		detail = string(e.Reason)
	}
	cells := []string{
		e.Time.UTC().Format(time.RFC3339), string(e.Type), string(e.Outcome), user, strings.TrimSpace(string(e.By.Kind) + " " + e.By.ID),
		how, e.Client, detail, count, e.Reference,
	}
	for i, c := range cells {
		if cells[i] = visible(c); c == "" {
			cells[i] = "-"
		}
	}
	_, p.err = fmt.Fprintln(p.table, strings.Join(cells, "\t"))
	if p.rows++; p.rows == mostAligned {
		_ = p.flush() // print looks at err
	}
}

// flush writes what was printed so far to the output, and returns p.err.
func (p *eventPrinter) flush() error {
	p.rows = 0
	if p.cells != nil {
		p.cells.Flush()
		p.err = firstOf(p.err, p.cells.Error())
	}
	if p.table != nil {
		p.err = firstOf(p.err, p.table.Flush())
	}
	p.err = firstOf(p.err, p.out.Flush())
	return p.err
}

// end writes the rest to the output and returns the first error.
func (p *eventPrinter) end() error { return p.flush() }

// firstOf returns the first error that is not nil.
func firstOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
