package sqlstore

import (
	"errors"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/storage"
)

// Misfit is a table or column that a [Layout] cannot be used with.
type Misfit struct {
	Table, Column string // as the database calls them; without a column it is the table
	Problem       string // what is wrong, and what to do about it; no values of rows

	missing bool // there is no such table or column, so that it can be made
	lacking bool // it is a whole table, and one that a layout may be without
}

// String returns the misfit as text: the table or column, and the problem.
func (m Misfit) String() string {
	if m.Column == "" {
		return m.Table + ": " + m.Problem
	}
	return m.Table + "." + m.Column + ": " + m.Problem
}

// MisfitError has everything that keeps a [Layout] from being used with the
// tables of a database. Every call of a [Store] returns it until the tables fit,
// and [Migrate] refuses such tables. Its text has no values of rows.
type MisfitError struct{ Misfits []Misfit }

// Is reports whether target is [storage.ErrSchema]. It also accepts
// [errors.ErrUnsupported] if nothing is wrong except that dispensable tables are
// missing.
func (e *MisfitError) Is(target error) bool {
	return target == storage.ErrSchema || target == errors.ErrUnsupported && !slices.ContainsFunc(e.Misfits, func(m Misfit) bool { return !m.lacking })
}

// Error names every misfit. It has no values of rows.
func (e *MisfitError) Error() string { return "sql: " + e.text() }

// text returns what Error returns, without "sql: " in front.
func (e *MisfitError) text() string {
	list := make([]string, len(e.Misfits))
	for i, m := range e.Misfits {
		list[i] = m.String()
	}
	return "the tables do not fit the layout: " + strings.Join(list, "; ")
}

// asError returns a [*MisfitError] with the misfits, or nil if there are none.
func asError(misfits []Misfit) error {
	if len(misfits) == 0 {
		return nil
	}
	return &MisfitError{misfits}
}

// withoutMissing returns a copy of the misfits without those that a migration removes:
// tables, columns and unique keys that are missing.
func withoutMissing(misfits []Misfit) []Misfit {
	return slices.DeleteFunc(slices.Clone(misfits), func(m Misfit) bool { return m.missing })
}
