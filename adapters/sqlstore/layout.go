package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/sqlstore/internal/model"
)

// Layout says how a database is laid out. The zero value fits what [Migrate]
// makes.
type Layout struct {
	// Names has the tables and columns that are called otherwise than in
	// [Migrate]'s schema, such as "users": "auth.people" or
	// "users.emailVerified": "confirmed_at". A name may have a schema in front.
	//
	// An empty name says that there is no such column or table. [New] returns an error if
	// Latchkey needs it. It can do without ids of accounts and sessions, and many columns that
	// may be null. Of tables it can lack authenticators, revocations, limits, used_values,
	// leases, suspensions, activities, factors, recovery_codes, challenges, browsers, passwords
	// and audit_events. Fields without a column are not stored and read empty.
	Names map[string]string

	// PlainTokens stores session tokens as they are, for other programs that read
	// the same rows. Without it the store keeps their SHA-256, so that a copy of
	// the database opens no session. A row with a plain token is still found, and
	// its token is hashed then.
	PlainTokens bool

	// DatabaseIDs leaves the ids of users, accounts and sessions to the
	// database. An id that is given is replaced. On PostgreSQL they are of any
	// type that has a default, on MySQL and SQLite numbers. On SQLite the ids of
	// users have to be AUTOINCREMENT: without it the next user gets the id of a
	// deleted one, and all rows that still have that id.
	DatabaseIDs bool

	// UUIDs makes the ids of all rows UUIDs, for columns of that type and for
	// programs that expect them. An id that is no UUID is replaced.
	UUIDs bool

	// Times is the form in which all instants are kept. The zero value is
	// [TimesUsual].
	Times Times

	// Touched lists columns of other programs that are set to the present whenever
	// a row is written, such as "users.updatedAt": a table as in Names, and the
	// column as the database calls it. Tables that only this package writes cannot have
	// one: revocations, limits, used_values, leases, suspensions, activities and
	// recovery_codes.
	Touched []string

	// Unindexed says that unique indexes may be missing. Taken e-mail
	// addresses, accounts and tokens are then found under a lock, which keeps out
	// all users of this package, but no other programs. On MySQL [Store.Bind]
	// cannot be used with it.
	Unindexed bool
}

// AuthJS returns the layout of the PostgreSQL adapter of Auth.js, to share a
// database with it. User ids may be integers, UUIDs or text; unique indexes may
// be missing.
//
// What Auth.js has no column for is not kept:
//
//   - of users and accounts, members that have no field of their own;
//   - of users, when they were created or provisioned;
//   - of accounts, authorization details, and the e-mail address an account came
//     with;
//   - of sessions, everything but the id, the user, the token and the expiry;
//   - what a verification token is for;
//   - of passkeys, name, model, dates and user handle.
//
// There are no revocations, limits, used values, leases, suspensions, activities, factors,
// recovery codes, challenges, browsers, passwords and audit log. When Auth.js no longer runs,
// call [Migrate] to add all of it. The caller may change the Layout: each call returns
// another.
func AuthJS() Layout {
	return Layout{Names: model.AuthJS(), PlainTokens: true, DatabaseIDs: true, Unindexed: true}
}

// grammar returns the grammar of the layout for a dialect. On MySQL a layout with Names
// gets one that compares texts byte by byte: the tables may be those of another program,
// with collations of their own. The caller has called check.
func (l Layout) grammar(d Dialect) grammar {
	g := grammar{form: form{l.Times, d}, names: l.Names, ownIDs: !l.DatabaseIDs, uuids: l.UUIDs, exact: d == MySQL && len(l.Names) > 0}
	g.touched = map[string][]string{}
	for _, name := range l.Touched {
		table, column, _ := strings.Cut(name, ".")
		g.touched[table] = append(g.touched[table], column)
	}
	return g
}

// untouched are the tables that Layout.Touched cannot name: their statements set no
// column of another program.
var untouched = []string{"revocations", "limits", "used_values", "leases", "suspensions", "activities", "recovery_codes"}

// check returns an error if the layout names unknown tables or columns, leaves out
// necessary ones, touches a table that cannot be touched, has unknown Times, or has both
// DatabaseIDs and UUIDs.
func (l Layout) check() error {
	for name, to := range l.Names {
		dispensable, known := model.Nameable(name)
		if !known {
			return fmt.Errorf("sql: Names: there is no table or column %q", name)
		}
		if to == "" && !dispensable {
			return fmt.Errorf("sql: Names: %q cannot be done without", name)
		}
	}
	for _, name := range l.Touched {
		table, column, _ := strings.Cut(name, ".")
		if model.Of(table).Name == "" || column == "" {
			return fmt.Errorf("sql: Touched: %q is no column of a table", name)
		}
		if slices.Contains(untouched, table) {
			return fmt.Errorf("sql: Touched: %q: no other program has rows in %s (let the column have a default)", name, table)
		}
	}
	if !slices.Contains([]Times{TimesUsual, TimesUTC, TimesISO, TimesMillis, TimesMillisText, TimesSeconds}, l.Times) {
		return fmt.Errorf("sql: Times: there is no form %q", string(l.Times))
	}
	if l.DatabaseIDs && l.UUIDs {
		return errors.New("sql: DatabaseIDs and UUIDs exclude each other")
	}
	return nil
}

// describesOthers reports whether the layout is for tables that [Migrate] does not make: it
// renames a table or a column, or has Times, Touched or Unindexed. PlainTokens, DatabaseIDs,
// UUIDs, and tables or columns that it does without, do not matter.
func (l Layout) describesOthers() bool {
	for logical, name := range l.Names {
		if name != "" && name != logical[strings.LastIndexByte(logical, '.')+1:] {
			return true
		}
	}
	return l.Unindexed || l.Times != TimesUsual || len(l.Touched) > 0
}

// compare returns a [*MisfitError] if the tables do not fit the layout, as the first call
// of a [Store] would. It returns nil if the database cannot tell which tables it has (see
// unaskable), and other errors of the driver as they are.
func (l Layout) compare(ctx context.Context, c Conn, d Dialect) error {
	misfits, err := l.grammar(d).misfits(ctx, c, l.Unindexed, false)
	if unaskable(err) {
		return nil
	}
	return cmp.Or(err, asError(misfits))
}
