package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/foreign"
	"github.com/latchkeyhq/latchkey/storage"
)

// SchemaKind is whose tables a database has.
type SchemaKind string

// The kinds of schema.
const (
	SchemaAbsent  SchemaKind = "absent"  // nothing that looks like users
	SchemaOwn     SchemaKind = "own"     // what Migrate makes
	SchemaAuthJS  SchemaKind = "Auth.js" // what the PostgreSQL adapter of Auth.js asks for
	SchemaForeign SchemaKind = "foreign" // users of another program, such as another adapter of Auth.js
)

// ErrForeignSchema reports that the database has users who belong neither to
// Latchkey nor to the PostgreSQL adapter of Auth.js.
var ErrForeignSchema = errors.New("sql: the database has users that are neither Latchkey's nor of Auth.js' PostgreSQL adapter")

// Found is what a database has.
type Found struct {
	Schema  SchemaKind
	Version int // of our schema; 0: not ours

	// Adapter is the adapter of Auth.js that seems to have made the tables, such
	// as "pg", "Prisma" or "Drizzle". It is empty if no adapter did, or one that is
	// not known by its marks.
	Adapter string
	// Layout is what fits the tables. It is the zero Layout if there are no users, or if
	// the tables are not understood.
	Layout Layout
	// Misfits is what keeps Layout from being used. It is nil if nothing does, and for
	// tables that are not understood.
	Misfits []Misfit
}

// Usable reports whether a [Store] with f.Layout works on the tables as they are. It
// returns false for a database without users.
func (f Found) Usable() bool {
	known := f.Schema == SchemaOwn || f.Schema == SchemaAuthJS || f.Layout.Names != nil
	return known && len(f.Misfits) == 0
}

// Detect looks for users in the database's current schema: ours, those of the adapters of
// Auth.js under whatever names, and others that look like users. It compares names,
// types, unique keys and the form of some times, and changes nothing. What it finds is no
// error: an empty database is SchemaAbsent. It returns an error for an unknown dialect,
// if the database cannot be asked, and if its user may not read the tables.
func Detect(ctx context.Context, c Conn, d Dialect) (Found, error) {
	if err := d.check(); err != nil {
		return Found{}, err
	}
	f, err := detect(ctx, c, d)
	return f, fail(ctx, "detect", err)
}

// detect returns what the database has (see Found), and errors of the driver as they are.
func detect(ctx context.Context, c Conn, d Dialect) (f Found, err error) {
	if err := checkReadable(ctx, c, d); err != nil {
		return f, err
	}
	columns, err := columnTypes(ctx, c, d)
	if err != nil {
		return f, err
	}
	db := foreign.ByTable(columns)
	if columns["latchkey_migrations.version"] != "" {
		if f.Version, err = version(ctx, c); err != nil {
			return f, err
		}
	}
	if has := db["users"]["id"] != ""; f.Version > 0 && !has {
		f.Schema = SchemaAbsent // the table users has been lost
		return f, nil
	}
	if f.Version > 0 || db["users"]["emailVerified"] != "" && db["users"]["extra"] != "" { // the latter: made by hand, or MySQL was interrupted
		ours, err := f.own(ctx, c, d, db)
		if err != nil || ours {
			return f, err
		}
	}
	return f, f.theirs(ctx, c, d, db)
}

// own reports whether the tables are ours, and if so sets Schema, Layout and Misfits of f.
// Tables with a version are ours. Those without are ours if they lack tables, columns or keys
// at most: if anything else differs, own returns false and changes nothing. The caller has set
// f.Version, to 0 for tables without a version.
func (f *Found) own(ctx context.Context, c Conn, d Dialect, db foreign.Database) (bool, error) {
	var ids foreign.Layout
	db.LeaveIDs(foreign.Engine(d), &ids)
	l := Layout{Names: ids.Names, DatabaseIDs: ids.DatabaseIDs}
	misfits, err := l.grammar(d).misfits(ctx, c, false, true)
	if err != nil || f.Version == 0 && slices.ContainsFunc(misfits, func(m Misfit) bool { return !m.missing }) {
		return false, err
	}
	f.Schema, f.Layout, f.Misfits = SchemaOwn, l, misfits
	return true, nil
}

// theirs sets Schema, Adapter, Layout and Misfits of f for tables that are not ours.
func (f *Found) theirs(ctx context.Context, c Conn, d Dialect, db foreign.Database) (err error) {
	guess, known := db.Recognise(foreign.Engine(d))
	switch {
	case !known && db.HasUsers():
		f.Schema = SchemaForeign
		return nil
	case !known:
		f.Schema = SchemaAbsent
		return nil
	}
	f.Schema, f.Adapter = SchemaForeign, guess.Adapter
	l := foreignLayout(guess.Layout)
	if l.Times, err = timesIn(ctx, c, l.grammar(d), guess); err != nil {
		return err
	}
	f.Layout = l
	if f.Misfits, err = l.grammar(d).misfits(ctx, c, true, false); err != nil {
		return err
	}
	if guess.Adoptable {
		f.Schema, f.Layout.Unindexed, f.Layout.Names = SchemaAuthJS, true, AuthJS().Names
		maps.Copy(f.Layout.Names, l.Names)
		return nil
	}
	keyed, err := l.grammar(d).misfits(ctx, c, false, false)
	f.Layout.Unindexed = len(keyed) > len(f.Misfits)
	return err
}

// timesIn returns the form of the times in the tables of a guess. It reads one value of
// each of guess.TimeColumns until the form of one is known. Otherwise it returns the form
// that the guess has.
func timesIn(ctx context.Context, c Conn, l grammar, guess foreign.Guess) (Times, error) {
	for _, column := range guess.TimeColumns {
		value, err := l.oneValue(ctx, c, column)
		if err != nil {
			return TimesUsual, err
		}
		if times, is := timesOf(l.dialect, value, guess.DigitsAreText); is {
			return times, nil
		}
	}
	return Times(guess.Layout.Times), nil
}

// oneValue returns a value of a column, such as "sessions.expires", as text, from any row
// where it is not null. It returns "" if there is no such row.
func (l grammar) oneValue(ctx context.Context, c Conn, column string) (value string, err error) {
	as := "TEXT"
	if l.dialect == MySQL {
		as = "CHAR"
	}
	table, _, _ := strings.Cut(column, ".")
	statement := l.sql(`SELECT CAST({` + column + `} AS ` + as + `) FROM {` + table + `} WHERE {` + column + `} IS NOT NULL LIMIT 1`)
	err = c.One(ctx, statement, nil, &value)
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return value, err
}

// foreign returns an error that wraps ErrForeignSchema and names the adapter and the
// misfits, as far as f has them.
func (f Found) foreign() error {
	if err := asError(f.Misfits); err != nil {
		return fmt.Errorf("%w%s: %w", ErrForeignSchema, f.by(), err)
	}
	return fmt.Errorf("%w%s", ErrForeignSchema, f.by())
}

// by returns the clause of an error's text that names the adapter, or "" if it is not
// known.
func (f Found) by() string {
	if f.Adapter == "" {
		return ""
	}
	return ", but of the adapter for " + f.Adapter
}
