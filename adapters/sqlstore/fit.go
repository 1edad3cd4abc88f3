package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Misfit is a table or column that a [Layout] cannot be used with.
type Misfit struct {
	Table, Column string // as the database calls them; without a column it is the table
	Problem       string // what is wrong, and what to do about it; no values of rows

	missing bool // there is no such table or column, so that it can be made
	lacking bool // it is a whole table, and one that a layout may be without
}

// String is a misfit as a sentence.
func (m Misfit) String() string {
	if m.Column == "" {
		return m.Table + ": " + m.Problem
	}
	return m.Table + "." + m.Column + ": " + m.Problem
}

// MisfitError has everything that keeps a [Layout] from being used with the
// tables of a database. Every call of a [Store] answers with it until the tables
// fit, and [Migrate] refuses such tables. Its text has no values of rows.
type MisfitError struct{ Misfits []Misfit }

// Is makes tables that are not there yet an [errors.ErrUnsupported], where nothing
// else is wrong and a layout may be without them.
func (e *MisfitError) Is(target error) bool {
	return target == errors.ErrUnsupported && !slices.ContainsFunc(e.Misfits, func(m Misfit) bool { return !m.lacking })
}

// Error implements error.
func (e *MisfitError) Error() string { return "sql: " + e.text() }

func (e *MisfitError) text() string {
	list := make([]string, len(e.Misfits))
	for i, m := range e.Misfits {
		list[i] = m.String()
	}
	return "the tables do not fit the layout: " + strings.Join(list, "; ")
}

// asError is nil when everything fits.
func asError(misfits []Misfit) error {
	if len(misfits) == 0 {
		return nil
	}
	return &MisfitError{misfits}
}

// tableOrder is the order in which tables are looked at.
var tableOrder = []string{"users", "accounts", "sessions", "verification_token", "authenticators", "revocations", "limits", "used_values"}

// uniqueColumns are what must be unique in each table. Of a table that is
// partitioned by expiry, the expiry may belong to the key.
var uniqueColumns = map[string][]string{
	"users":              {"email"},
	"accounts":           {"provider", "providerAccountId"},
	"sessions":           {"sessionToken"},
	"verification_token": {"identifier", "token"},
	"authenticators":     {"credentialID"},
	"revocations":        {"key"},
	"limits":             {"key"},
	"used_values":        {"key"},
}

// fitting compares a layout with the tables of one database.
type fitting struct {
	grammar
	unindexed bool
	conn      Conn
	idKind    string // of users.id
	misfits   []Misfit
	bounds    bounds
}

// misfits looks at every table that the layout names. Tables of abilities that a
// site may never use may be missing unless all is set.
func (l grammar) misfits(ctx context.Context, c Conn, unindexed, all bool) ([]Misfit, error) {
	f, err := l.fit(ctx, c, unindexed, all)
	return f.misfits, err
}

// fit is misfits, and what the tables take.
func (l grammar) fit(ctx context.Context, c Conn, unindexed, all bool) (*fitting, error) {
	f := &fitting{grammar: l, unindexed: unindexed, conn: c, bounds: bounds{}}
	for _, table := range tableOrder {
		if !l.has(table) {
			continue
		}
		f.form = l.formOf(table)
		if err := f.table(ctx, table, all || !nameable[table]); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *fitting) add(table, column string, missing bool, problem string, args ...any) {
	f.misfits = append(f.misfits, Misfit{Table: f.name(table), Column: column, Problem: fmt.Sprintf(problem, args...), missing: missing})
}

func (f *fitting) table(ctx context.Context, table string, needed bool) error {
	fields, err := readFields(ctx, f.conn, f.dialect, f.name(table))
	if err != nil {
		return err
	}
	if len(fields) == 0 {
		if needed {
			f.add(table, "", true, "there is no such table%s", f.cure(table, "was `latchkey migrate` forgotten?"))
			f.misfits[len(f.misfits)-1].lacking = nameable[table]
		}
		return nil
	}
	before := len(f.misfits)
	f.columns(table, fields)
	if len(f.misfits) > before { // more would not be understood
		return nil
	}
	if err := f.keys(ctx, table); err != nil {
		return err
	}
	if err := f.learn(ctx, table, fields); err != nil {
		return err
	}
	return f.values(ctx, table)
}

// cure is for what a migration would make: it knows no other names.
func (f *fitting) cure(logical, text string) string {
	if f.name(logical) != logical[strings.LastIndexByte(logical, '.')+1:] {
		return ""
	}
	return ": " + text
}

// columns compares the columns of a table, each by name and type.
func (f *fitting) columns(table string, fields []field) {
	known := map[string]bool{}
	for _, c := range tables[table] {
		name := f.name(table + "." + c.name)
		if name == "" {
			continue
		}
		known[name] = true
		i := slices.IndexFunc(fields, func(d field) bool { return d.name == name })
		if i < 0 {
			f.add(table, name, true, "there is no such column%s", f.cure(table+"."+c.name, "was `latchkey migrate` forgotten?"))
			continue
		}
		if problem := f.unfit(table, c, fields[i]); problem != "" {
			f.add(table, name, false, "%s", problem)
		}
	}
	for _, name := range f.touched[table] {
		known[name] = true
		i := slices.IndexFunc(fields, func(d field) bool { return d.name == name })
		if i < 0 {
			f.add(table, name, true, "there is no such column")
		} else if problem := f.unfitMoment(fields[i]); problem != "" {
			f.add(table, name, false, "it is %s, and %s", fields[i].typeName(), problem)
		}
	}
	for _, d := range fields {
		if !known[d.name] && d.required && !d.filled {
			f.add(table, d.name, false, "it must not be null and Latchkey does not write it: give it a default")
		}
	}
}

// expression finds the column in the key of a unique index that ignores case.
var expression = regexp.MustCompile(`(?i)\blower\(+"?(\w+)"?`)

// keys looks for the unique key of a table.
func (f *fitting) keys(ctx context.Context, table string) error {
	if f.unindexed && signature[table] != nil {
		return nil
	}
	keys, err := readKeys(ctx, f.conn, f.dialect, f.name(table))
	if err != nil {
		return err
	}
	var want []string
	for _, c := range uniqueColumns[table] {
		want = append(want, f.name(table+"."+c))
	}
	for _, key := range keys {
		if f.unique(key, want, f.name(table+".expires")) {
			return nil
		}
	}
	quoted := make([]string, len(want))
	for i, c := range want {
		quoted[i] = f.dialect.quote(c)
	}
	f.add(table, "", true, "nothing keeps %s unique: CREATE UNIQUE INDEX %s ON %s (%s)", strings.Join(want, " and "),
		f.dialect.quote(strings.ReplaceAll(f.name(table), ".", "_")+"_unique"), f.dialect.quote(f.name(table)), strings.Join(quoted, ", "))
	return nil
}

func (f *fitting) unique(key, want []string, expires string) bool {
	for _, c := range key {
		if m := expression.FindStringSubmatch(c); m != nil {
			c = m[1]
		}
		if c = strings.Trim(c, `"`); c != "*" && !slices.Contains(want, c) && (c != expires || expires == "") {
			return false
		}
	}
	return len(key) > 0
}

// looked is how many rows are looked at.
const looked = 1000

// values looks at the times of some rows, where the type does not say in which
// form they are: seconds, taken for milliseconds, would all have expired.
func (f *fitting) values(ctx context.Context, table string) error {
	other := f.otherForms()
	if other == "" {
		return nil
	}
	for _, c := range tables[table] {
		name := f.name(table + "." + c.name)
		if c.kind != moment || c.presence != always {
			continue
		}
		var worst int
		statement := fmt.Sprintf(`SELECT COALESCE(MAX(CASE %s ELSE 0 END), 0) FROM (SELECT %s AS v FROM %s LIMIT %d) AS seen`,
			other, f.dialect.quote(name), f.dialect.quote(f.name(table)), looked)
		if err := f.conn.One(ctx, statement, nil, &worst); err != nil {
			return err
		}
		if worst > 0 {
			f.add(table, name, false, "there are %s, and Latchkey keeps %s", []string{"", "seconds", "texts", "milliseconds", "other forms"}[worst], f.inWords())
		}
	}
	return nil
}

// otherForms finds values that are kept in another form; empty: the type of the
// column allows no other.
func (f *fitting) otherForms() string {
	const seconds = `WHEN v BETWEEN 1000000000 AND 99999999999 THEN 1`
	notNumbers := ""
	if f.dialect == SQLite {
		notNumbers = ` WHEN typeof(v) NOT IN ('integer', 'null') THEN 2`
	}
	switch {
	case f.native() || f.times == TimesUTC && f.dialect == MySQL:
		return ""
	case f.isText():
		return `WHEN v IS NOT NULL AND (` + f.form.read("v") + ` NOT LIKE '` + f.pattern() + `' OR ` + f.form.read("v") + ` LIKE '-%') THEN 4`
	case f.times == TimesSeconds:
		return `WHEN v > 99999999999 THEN 3` + notNumbers
	}
	return seconds + notNumbers
}

// inWords is how the layout keeps times.
func (f form) inWords() string {
	switch f.times {
	case TimesUTC:
		return "the clock of UTC"
	case TimesISO:
		return "texts such as " + isoText
	case TimesMillisText:
		return "milliseconds since 1970 as text"
	case TimesSeconds:
		return "seconds since 1970"
	}
	return "milliseconds since 1970"
}
