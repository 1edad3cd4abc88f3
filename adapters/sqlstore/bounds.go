package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// bound describes what a column takes, as far as that is known.
type bound struct {
	name         string   // as the database calls it, with its table
	required     bool     // it is never null
	chars, bytes int      // how long a text may be; 0: as long as you like
	most         int64    // the largest number; 0: any
	latest       string   // the last instant, as it is written; empty: there is none
	among        []string // the texts that another table allows; nil: all
}

// bounds has the bounds of each table, in the order of its columns.
type bounds map[string][]bound

// unfitValue is a value that a column does not take. Its text has no values.
type unfitValue struct{ column, problem string }

// Error names the column and the problem, and not the value.
func (u *unfitValue) Error() string { return u.column + ": " + u.problem }

// takes returns nil if the column takes v, as far as that is known, and an *unfitValue
// otherwise. v is an argument of a statement; of other types than nil, string and int64
// the column takes every value.
func (b bound) takes(v any) error {
	problem := ""
	switch v := v.(type) {
	case nil:
		if b.required {
			problem = "it is never null, and there is nothing to write"
		}
	case string:
		problem = b.unfitText(v)
	case int64:
		if b.most > 0 && v > b.most {
			problem = fmt.Sprintf("it takes no number above %d", b.most)
		}
	}
	if problem != "" {
		return &unfitValue{b.name, problem}
	}
	return nil
}

// unfitText returns why the column does not take a text, or "" if it does.
func (b bound) unfitText(text string) string {
	switch {
	case b.chars > 0 && utf8.RuneCountInString(text) > b.chars:
		return fmt.Sprintf("it takes no text of more than %d characters", b.chars)
	case b.bytes > 0 && len(text) > b.bytes:
		return fmt.Sprintf("it takes no text of more than %d bytes", b.bytes)
	case b.latest != "" && text > b.latest:
		return "it takes no time after " + b.latest
	case b.among != nil && !slices.Contains(b.among, text):
		return "it refers to a table that had no row for this when the program first looked"
	}
	return ""
}

// bound returns what a column of a table takes. c is the column in the model, and d the
// column as the database describes it. table is the name in the model.
func (f *fitting) bound(table string, c model.Column, d field) bound {
	b := bound{name: f.layout.name(table) + "." + d.name, required: d.required && !d.filled}
	switch c.Kind {
	case model.Number, model.OptNumber:
		if f.layout.dialect != SQLite { // where types have no bounds
			b.most = mostIn[d.kind]
		}
	case model.Moment:
		if f.layout.dialect == MySQL && d.kind == "timestamp" {
			b.latest = "2038-01-19 03:14:07.999"
		}
	case model.Text, model.OptText:
		b.chars, b.bytes = d.chars, d.bytes
	}
	return b
}

// mostIn has the largest number of each type that is narrower than ours.
var mostIn = map[string]int64{
	"smallint": 1<<15 - 1, "mediumint": 1<<23 - 1, "integer": 1<<31 - 1, "int": 1<<31 - 1,
}

// learn notes in f.bounds what the columns of a table take. fields are the columns as the
// database describes them. On PostgreSQL learn also notes the values that a foreign key allows
// in accounts.type: see allowed. Its only error is that of reading these values.
func (f *fitting) learn(ctx context.Context, table model.Table, fields []field) error {
	list := make([]bound, len(table.Columns))
	for i, c := range table.Columns {
		name := f.layout.name(table.Name + "." + c.Name)
		at := slices.IndexFunc(fields, func(d field) bool { return d.name == name })
		if name == "" || at < 0 {
			continue
		}
		list[i] = f.bound(table.Name, c, fields[at])
		if table.Name == "accounts" && c.Name == "type" && f.layout.dialect == Postgres {
			among, err := f.allowed(ctx, table.Name, name)
			if err != nil {
				return err
			}
			list[i].among = among
		}
	}
	f.bounds[table.Name] = list
	return nil
}

// allowed returns the texts that a foreign key allows in a column, read from the table
// that the column refers to. It returns nil if the column refers to none. It is for
// PostgreSQL. table is the name in the model, and column the one in the database.
func (f *fitting) allowed(ctx context.Context, table, column string) (among []string, err error) {
	var other, key string
	found := false
	err = f.conn.Each(ctx, `SELECT k.confrelid::regclass::text, a.attname::text FROM pg_constraint k
		JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = k.confkey[1]
		JOIN pg_attribute b ON b.attrelid = k.conrelid AND b.attnum = k.conkey[1]
		WHERE k.contype = 'f' AND cardinality(k.conkey) = 1 AND k.conrelid = to_regclass($1) AND b.attname::text = $2`,
		[]any{f.layout.dialect.quote(f.layout.name(table)), column}, func(scan func(...any) error) error {
			found = true
			return scan(&other, &key)
		})
	if err != nil || !found {
		return nil, err
	}
	among = []string{}
	err = f.conn.Each(ctx, `SELECT `+f.layout.dialect.quote(key)+`::text FROM `+other, nil, func(scan func(...any) error) error {
		var value string
		err := scan(&value)
		among = append(among, value)
		return err
	})
	return among, err
}

// fits returns an *unfitValue or errText if row has a value that the database would refuse. It
// also returns one for a text that MySQL would cut off where it is not strict. It skips values
// that the insert does not take. It also returns the errors of bounds, which may inspect the
// tables first.
func (db *database) fits(ctx context.Context, in insert, row []any) error {
	known, err := db.bounds(ctx)
	if err != nil {
		return err
	}
	for i, v := range row {
		if !in.takes[i] {
			continue
		}
		if err := known.take(in.table, i, v); err != nil {
			return err
		}
	}
	return nil
}

// fitsColumn returns an *unfitValue or errText if a column does not take v. table and name are
// those of the model; fitsColumn panics if the model lacks the column. It also returns the
// errors of bounds, which may inspect the tables first.
func (db *database) fitsColumn(ctx context.Context, table, name string, v any) error {
	known, err := db.bounds(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(model.Of(table).Columns, func(c model.Column) bool { return c.Name == name })
	return known.take(table, i, v)
}

// take returns an error if column i of a table does not take v: errText for text that no
// database can hold, or an *unfitValue. For a table that is not in k it returns no
// *unfitValue.
func (k bounds) take(table string, i int, v any) error {
	if text, is := v.(string); is && !findable(text) {
		return errText
	}
	if list := k[table]; i < len(list) {
		return list[i].takes(v)
	}
	return nil
}

// bounds returns what the columns of the tables take. If no inspection has told that yet,
// it inspects the tables, or waits for an inspection that is running. It returns a
// [*MisfitError] if the tables do not fit. It returns nil and no error if the database
// cannot tell which tables it has. The result is shared, and the caller must not change
// it.
func (db *database) bounds(ctx context.Context) (bounds, error) {
	if known := db.inspector.learned.Load(); known != nil {
		return *known, nil
	}
	var err error
	if c, is := bare(db.conn).(*inspectedConn); is {
		err = c.wait(ctx)
	} else if err = db.guarded(ctx, func(db *database) error { return db.inspector.inspect(ctx, bare(db.conn), false) }); unaskable(err) {
		err = nil
	}
	if known := db.inspector.learned.Load(); err == nil && known != nil {
		return *known, nil
	}
	return nil, err
}
