package sqlstore

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// fitting compares a layout with the tables of one database, and notes what their
// columns take.
type fitting struct {
	typing
	unindexed bool
	conn      Conn
	misfits   []Misfit
	bounds    bounds
}

// misfits compares every table of the layout with the database and returns what does not
// fit. With unindexed it does not look for the unique keys of shared tables. Without all,
// dispensable tables may be missing. If the database returns an error, misfits returns
// that and the misfits found so far.
func (l grammar) misfits(ctx context.Context, c Conn, unindexed, all bool) ([]Misfit, error) {
	f, err := l.fit(ctx, c, unindexed, all)
	return f.misfits, err
}

// fit compares the tables as misfits does. Of tables whose columns all fit, it also notes what
// these take. The result has the misfits, and is never nil, also beside an error.
func (l grammar) fit(ctx context.Context, c Conn, unindexed, all bool) (*fitting, error) {
	f := &fitting{typing: typing{layout: l}, unindexed: unindexed, conn: c, bounds: bounds{}}
	for _, table := range model.Tables {
		if !l.has(table.Name) {
			continue
		}
		f.layout.form = l.formOf(table.Name)
		if err := f.table(ctx, table, all || !table.Dispensable); err != nil {
			return f, err
		}
	}
	return f, nil
}

// add notes a misfit. table is the name in the model, and column what the database calls
// the column, or "". missing says that a migration can make what is missing. problem and
// args are those of [fmt.Sprintf].
func (f *fitting) add(table, column string, missing bool, problem string, args ...any) {
	f.misfits = append(f.misfits, Misfit{Table: f.layout.name(table), Column: column, Problem: fmt.Sprintf(problem, args...), missing: missing})
}

// table compares one table, and learns what its columns take if all of them fit. A missing
// table is a misfit only if needed is true. If columns do not fit, table looks at neither keys
// nor values. Its error is that of the driver.
func (f *fitting) table(ctx context.Context, table model.Table, needed bool) error {
	fields, err := readFields(ctx, f.conn, f.layout.dialect, f.layout.name(table.Name))
	if err != nil {
		return err
	}
	if len(fields) == 0 {
		if needed {
			f.add(table.Name, "", true, "there is no such table%s", f.cure(table.Name))
			f.misfits[len(f.misfits)-1].lacking = table.Dispensable
		}
		return nil
	}
	before := len(f.misfits)
	f.columns(table, fields)
	if len(f.misfits) > before { // the user would not understand more
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

// cure returns a clause for the text of a misfit that asks for a migration. It returns ""
// if the layout gives the table or column another name than a migration would.
func (f *fitting) cure(logical string) string {
	if f.layout.name(logical) != logical[strings.LastIndexByte(logical, '.')+1:] {
		return ""
	}
	return ": was `latchkey migrate` forgotten?"
}

// columns notes a misfit for each column that is missing or has an unfit type, touched
// columns included, and for each column that must be written and that the layout does not
// have. fields are the columns as the database describes them.
func (f *fitting) columns(table model.Table, fields []field) {
	known := map[string]bool{}
	for _, c := range table.Columns {
		name := f.layout.name(table.Name + "." + c.Name)
		if name == "" {
			continue
		}
		known[name] = true
		i := slices.IndexFunc(fields, func(d field) bool { return d.name == name })
		if i < 0 {
			f.add(table.Name, name, true, "there is no such column%s", f.cure(table.Name+"."+c.Name))
			continue
		}
		if problem := f.unfit(table.Name, c, fields[i]); problem != "" {
			f.add(table.Name, name, false, "%s", problem)
		}
	}
	for _, name := range f.layout.touched[table.Name] {
		known[name] = true
		i := slices.IndexFunc(fields, func(d field) bool { return d.name == name })
		if i < 0 {
			f.add(table.Name, name, true, "there is no such column")
		} else if problem := f.unfitMoment(fields[i]); problem != "" {
			f.add(table.Name, name, false, "it is %s, and %s", fields[i].typeName(), problem)
		}
	}
	for _, d := range fields {
		if !known[d.name] && d.required && !d.filled {
			f.add(table.Name, d.name, false, "it must not be null and Latchkey does not write it: give it a default")
		}
	}
}

// expression finds the column in the key of a unique index that ignores case.
var expression = regexp.MustCompile(`(?i)\blower\(+"?(\w+)"?`)

// keys notes a misfit if no unique index keeps the key of the table unique. With
// f.unindexed it does not look at shared tables. Its error is that of the driver.
func (f *fitting) keys(ctx context.Context, table model.Table) error {
	if f.unindexed && table.Shared {
		return nil
	}
	name, quote := f.layout.name(table.Name), f.layout.dialect.quote
	keys, err := readKeys(ctx, f.conn, f.layout.dialect, name)
	if err != nil {
		return err
	}
	var want, quoted []string
	for _, c := range table.Key {
		column := f.layout.name(table.Name + "." + c)
		want, quoted = append(want, column), append(quoted, quote(column))
	}
	for _, key := range keys {
		if isUnique(key, want, f.layout.name(table.Name+".expires")) {
			return nil
		}
	}
	f.add(table.Name, "", true, "nothing keeps %s unique: CREATE UNIQUE INDEX %s ON %s (%s)", strings.Join(want, " and "),
		quote(strings.ReplaceAll(name, ".", "_")+"_unique"), quote(name), strings.Join(quoted, ", "))
	return nil
}

// isUnique reports whether all columns of a unique key are in want or are the column expires.
// Such a key is taken to keep want unique. expires may be "". key has names, expressions that
// ignore case, or "*", which counts as in want. isUnique returns false for an empty key.
func isUnique(key, want []string, expires string) bool {
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

// maxSample is how many rows values looks at.
const maxSample = 1000

// values notes a misfit for each column that has times in another form than that of the
// layout. It looks at the values of up to maxSample rows, and only if the type of the
// column does not tell the form. Seconds that are taken for milliseconds would all have
// expired. Its error is that of the driver.
func (f *fitting) values(ctx context.Context, table model.Table) error {
	other := f.layout.otherForms()
	if other == "" {
		return nil
	}
	for _, c := range table.Columns {
		name := f.layout.name(table.Name + "." + c.Name)
		if c.Kind != model.Moment || c.Presence != model.Always {
			continue
		}
		var worst int
		statement := fmt.Sprintf(`SELECT COALESCE(MAX(CASE %s ELSE 0 END), 0) FROM (SELECT %s AS v FROM %s LIMIT %d) AS seen`,
			other, f.layout.dialect.quote(name), f.layout.dialect.quote(f.layout.name(table.Name)), maxSample)
		if err := f.conn.One(ctx, statement, nil, &worst); err != nil {
			return err
		}
		if worst > 0 {
			f.add(table.Name, name, false, "there are %s, and Latchkey keeps %s", []string{"", "seconds", "texts", "milliseconds", "other forms"}[worst], f.layout.inWords())
		}
	}
	return nil
}

// otherForms returns the WHEN clauses of an SQL CASE that is positive for a value v in
// another form. The number says which: see values. otherForms returns "" if the type of
// the column allows no other form.
func (f form) otherForms() string {
	const seconds = `WHEN v BETWEEN 1000000000 AND 99999999999 THEN 1`
	notNumbers := ""
	if f.dialect == SQLite {
		notNumbers = ` WHEN typeof(v) NOT IN ('integer', 'null') THEN 2`
	}
	switch {
	case f.native() || f.times == TimesUTC && f.dialect == MySQL:
		return ""
	case f.isText():
		return `WHEN v IS NOT NULL AND (` + f.read("v") + ` NOT LIKE '` + f.pattern() + `' OR ` + f.read("v") + ` LIKE '-%') THEN 4`
	case f.times == TimesSeconds:
		return `WHEN v > 99999999999 THEN 3` + notNumbers
	}
	return seconds + notNumbers
}

// inWords returns the form as a phrase for a message.
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
