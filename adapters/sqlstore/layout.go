package sqlstore

import "fmt"

// Layout says how a database is laid out. The zero value fits what [Migrate]
// makes.
type Layout struct {
	// Names has the tables and columns that are called otherwise than in
	// [Migrate]'s schema, such as "users": "auth.people" or
	// "users.emailVerified": "confirmed_at". A name may have a schema in front.
	//
	// An empty name says that there is no such column, which is possible for
	// those that may be null, or no such table, which is possible for
	// authenticators, revocations, limits and used_values. A field without a column is not kept: it
	// reads back empty.
	Names map[string]string

	// PlainTokens keeps session tokens as they are, for others who read the
	// same rows. Without it their SHA-256 is stored, so that a copy of the
	// database opens no session; a row with a plain token is found once more by
	// it and converted.
	PlainTokens bool

	// DatabaseIDs leaves the ids of users, accounts and sessions to the
	// database, whatever their type. An id that is given is replaced. Only
	// PostgreSQL can say what it chose.
	DatabaseIDs bool

	// Unindexed says that unique indexes may be missing. Taken e-mail
	// addresses, accounts and tokens are then found under a lock, which holds
	// for all who use this package, but not against other programs. PostgreSQL
	// only.
	Unindexed bool
}

// AuthJS is the layout of the PostgreSQL adapter of Auth.js, to share a
// database with it. User ids may be integers, UUIDs or text; unique indexes may
// be missing.
//
// What Auth.js has no column for is not kept:
//
//   - of users and accounts, members that have no field of their own;
//   - of accounts, authorization details, and the e-mail address an account came
//     with;
//   - of sessions, everything but the user, the token and the expiry;
//   - what a verification token is for;
//   - of passkeys, name, model and dates.
//
// There are no revocations, limits and used values. [Migrate] adds all of it when Auth.js no longer
// runs.
func AuthJS() Layout {
	names := map[string]string{"revocations": "", "limits": "", "used_values": ""}
	for table, columns := range tables {
		for _, c := range columns {
			if c.presence == added {
				names[table+"."+c.name] = ""
			}
		}
	}
	return Layout{Names: names, PlainTokens: true, DatabaseIDs: true, Unindexed: true}
}

// grammar writes statements for the layout.
func (l Layout) grammar(d Dialect) grammar {
	return grammar{dialect: d, names: l.Names, ownIDs: !l.DatabaseIDs}
}

// check reports what makes no sense.
func (l Layout) check(d Dialect) error {
	if d != Postgres && (l.DatabaseIDs || l.Unindexed) {
		return fmt.Errorf("sql: DatabaseIDs and Unindexed need PostgreSQL, not %s", d)
	}
	for name, to := range l.Names {
		c, known := nameable[name]
		if !known {
			return fmt.Errorf("sql: Names: there is no table or column %q", name)
		}
		if to == "" && !c {
			return fmt.Errorf("sql: Names: %q cannot be done without", name)
		}
	}
	return nil
}
