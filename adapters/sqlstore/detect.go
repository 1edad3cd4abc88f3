package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// SchemaKind is whose tables a database has.
type SchemaKind string

// The kinds of schema.
const (
	SchemaAbsent  SchemaKind = "absent"  // nothing that looks like users
	SchemaOwn     SchemaKind = "own"     // what Migrate makes
	SchemaAuthJS  SchemaKind = "Auth.js" // what the PostgreSQL adapter of Auth.js asks for
	SchemaForeign SchemaKind = "foreign" // users of somebody else, another adapter of Auth.js included
)

// ErrForeignSchema reports users in the database who are kept neither by
// Latchkey nor by the PostgreSQL adapter of Auth.js.
var ErrForeignSchema = errors.New("sql: the database has users that are neither Latchkey's nor of Auth.js' PostgreSQL adapter")

// Found is what a database has.
type Found struct {
	Schema  SchemaKind
	Version int // of our schema; 0: not ours

	// Adapter is the adapter of Auth.js that seems to have made the tables, such
	// as "pg", "Prisma" or "Drizzle"; empty: none, or one that is not known by
	// its marks.
	Adapter string
	// Layout is what fits the tables; nil Names where Adapter is empty: they are
	// ours, or not understood.
	Layout Layout
	// Misfits is what keeps Layout from being used; nil: it can be.
	Misfits []Misfit
}

// Usable says whether a [Store] with the Layout works on the tables.
func (f Found) Usable() bool {
	known := f.Schema == SchemaOwn || f.Schema == SchemaAuthJS || f.Layout.Names != nil
	return known && len(f.Misfits) == 0
}

// Detect looks for users in the database's current schema: ours, those of the
// adapters of Auth.js under whatever names, and others that look like users. It
// compares names, types, unique keys and the form of some times, and changes
// nothing.
func Detect(ctx context.Context, c Conn, d Dialect) (Found, error) {
	if err := d.check(); err != nil {
		return Found{}, err
	}
	f, err := detect(ctx, c, d)
	return f, fail(ctx, "detect", err)
}

func detect(ctx context.Context, c Conn, d Dialect) (f Found, err error) {
	if err := checkReadable(ctx, c, d); err != nil {
		return f, err
	}
	columns, err := columnTypes(ctx, c, d)
	if err != nil {
		return f, err
	}
	all := byTable(columns)
	if columns["latchkey_migrations.version"] != "" {
		if f.Version, err = version(ctx, c); err != nil {
			return f, err
		}
	}
	if has := all["users"]["id"] != ""; f.Version > 0 && !has {
		f.Schema = SchemaAbsent // lost
		return f, nil
	}
	if f.Version > 0 || all["users"]["emailVerified"] != "" && all["users"]["extra"] != "" { // the latter: made by hand, or MySQL was interrupted
		ours, err := f.own(ctx, c, d, all)
		if err != nil || ours {
			return f, err
		}
	}
	return f, f.theirs(ctx, c, d, all)
}

// own fills in what is known of our tables. Tables without a version are ours
// only as far as what is there fits.
func (f *Found) own(ctx context.Context, c Conn, d Dialect, all existing) (bool, error) {
	var l Layout
	all.leaveIDs(d, &l)
	misfits, err := l.grammar(d).misfits(ctx, c, false, true)
	if err != nil || f.Version == 0 && slices.ContainsFunc(misfits, func(m Misfit) bool { return !m.missing }) {
		return false, err
	}
	f.Schema, f.Layout, f.Misfits = SchemaOwn, l, misfits
	return true, nil
}

// theirs fills in what is known of tables that are not ours.
func (f *Found) theirs(ctx context.Context, c Conn, d Dialect, all existing) (err error) {
	l, known := all.recognise(d)
	switch {
	case known:
	case all["users"]["id"] != "" || all.looksLikeUsers():
		f.Schema = SchemaForeign
		return nil
	default:
		f.Schema = SchemaAbsent
		return nil
	}
	of := all.adapter(d, l)
	f.Schema, f.Adapter = SchemaForeign, of.title
	all.makeUUIDs(&l, of)
	if of.nullIDs == d {
		of.leaveIDs(l.Names)
	}
	if l.Times, err = all.times(ctx, c, d, l, of); err != nil {
		return err
	}
	f.Layout = l
	if f.Misfits, err = l.grammar(d).misfits(ctx, c, true, false); err != nil {
		return err
	}
	if of.name == "pg" || of.name == "neon" {
		f.Schema, f.Layout.Unindexed, f.Layout.Names = SchemaAuthJS, true, AuthJS().Names
		maps.Copy(f.Layout.Names, l.Names)
		return nil
	}
	keyed, err := l.grammar(d).misfits(ctx, c, false, false)
	f.Layout.Unindexed = len(keyed) > len(f.Misfits)
	return err
}

// foreign is the refusal of tables that are somebody else's.
func (f Found) foreign() error {
	if err := asError(f.Misfits); err != nil {
		return fmt.Errorf("%w%s: %w", ErrForeignSchema, f.by(), err)
	}
	return fmt.Errorf("%w%s", ErrForeignSchema, f.by())
}

func (f Found) by() string {
	if f.Adapter == "" {
		return ""
	}
	return ", but of the adapter for " + f.Adapter
}
