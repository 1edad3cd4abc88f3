package sqlstore

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// update changes a user and returns the user as stored, without the suspension. In a
// transaction it locks the user until the transaction ends, also if c changes nothing. It
// returns ErrNotFound for an unknown user, and ErrConflict if the e-mail address is
// taken.
func (s users) update(ctx context.Context, id string, c storage.UserChange) (u storage.User, err error) {
	if err := ctx.Err(); err != nil {
		return u, err
	}
	if !s.db.findableID(id) {
		return u, storage.ErrNotFound
	}
	args, err := s.changes(ctx, c)
	if err != nil {
		return u, err
	}
	args = append(s.db.layout.touches("users"), args...)
	change := func(db *database) error { u, err = (users{db: db}).change(ctx, id, append(args, id)); return err }
	err = s.db.byID(ctx, func(db *database) error {
		if c.Email == nil || *c.Email == "" {
			return change(db)
		}
		return users{db: db}.claimEmail(ctx, *c.Email, id, change)
	})
	return u, err
}

// changes returns the arguments of the statement updateUser between those of touches and
// the id: for each column whether it changes, and to what. It returns an error if a
// column does not take its value.
func (s users) changes(ctx context.Context, c storage.UserChange) (args []any, err error) {
	for i, to := range []*string{c.Name, c.Email, nil, c.Image} {
		if i == 2 {
			args = append(args, c.EmailVerified != nil, nil)
			if c.EmailVerified != nil {
				args[len(args)-1] = s.db.layout.arg(*c.EmailVerified)
			}
			continue
		}
		args = append(args, to != nil, nil)
		if to == nil {
			continue
		}
		args[len(args)-1] = null(*to)
		if err := s.db.fitsColumn(ctx, "users", []string{"name", "email", "", "image"}[i], null(*to)); err != nil {
			return nil, err
		}
	}
	if s.db.layout.has("users.name_key") {
		args = append(args, c.Name != nil, nil)
		if c.Name != nil {
			args[len(args)-1] = nameKey(*c.Name)
		}
	}
	if s.db.layout.has("users.provisioned") {
		args = append(args, c.Provisioned != nil, nil)
		if c.Provisioned != nil {
			args[len(args)-1] = s.db.layout.arg(*c.Provisioned)
		}
	}
	return args, nil
}

// change runs the statement updateUser with args, of which id is the last, and returns
// the changed user without the suspension. It returns ErrNotFound for an unknown user,
// and ErrConflict if the e-mail address is taken.
func (s users) change(ctx context.Context, id string, args []any) (storage.User, error) {
	var row userRow
	err := s.db.guarded(ctx, func(db *database) error {
		if db.layout.dialect.returning() {
			return db.conn.One(ctx, db.q.updateUser+" RETURNING "+db.layout.read("users", ""), args, db.into("users", row.dest())...)
		}
		n, err := db.conn.Exec(ctx, db.q.updateUser, args...)
		if err != nil {
			return err
		}
		if err := db.conn.One(ctx, db.q.plainUser, []any{id}, db.into("users", row.dest())...); err != nil || n > 0 {
			return err
		}
		return users{db: db}.mark(ctx, id)
	})
	if is(err, unique) {
		err = storage.ErrConflict
	}
	if err != nil {
		return storage.User{}, err
	}
	return row.read()
}

// mark writes a row of used_values for a user whom a transaction locks without a change.
// The nodes of a Galera cluster do not see each other's locks: they give up the later of
// two transactions only if both have written the same row. mark does nothing outside of a
// transaction, or if there is no table used_values.
func (s users) mark(ctx context.Context, id string) error {
	if !s.db.bound || !s.db.layout.has("used_values") {
		return nil
	}
	_, err := s.db.conn.Exec(ctx, s.db.q.mark, storedKey("user "+id))
	if is(err, absent) { // tables of an earlier version
		return nil
	}
	return err
}

// claimEmail calls f while it claims an e-mail address for the user with this id, as
// database.claim does. It returns ErrConflict if the layout is Unindexed and another user
// has the address.
func (s users) claimEmail(ctx context.Context, email, id string, f func(*database) error) error {
	others := s.db.layout.sql(`SELECT 1 FROM {users} WHERE {users.email} = ? AND {users.id} <> ?`)
	return s.db.claim(ctx, f, claimed("users.email", email), others, email, id)
}

// delete removes a user and the rows that the user owns in one transaction, and returns
// the user, without the suspension. It returns ErrNotFound for an unknown user.
func (s users) delete(ctx context.Context, id string) (u storage.User, err error) {
	if err := ctx.Err(); err != nil {
		return u, err
	}
	if !s.db.findableID(id) {
		return u, storage.ErrNotFound
	}
	err = s.db.byID(ctx, func(db *database) error {
		return db.tx(ctx, func(tx *database) error {
			var row userRow
			if err := tx.conn.One(ctx, tx.q.holdUser, []any{id}, tx.into("users", row.dest())...); err != nil {
				return err
			}
			if err := (users{db: tx}).deleteOwned(ctx, id); err != nil { // first: the tables of others may demand it
				return err
			}
			if _, err := tx.conn.Exec(ctx, tx.q.deleteUser, id); err != nil {
				return err
			}
			u, err = row.read()
			return err
		})
	})
	return u, err
}

// deleteOwned deletes the sessions, accounts and passkeys of a user, and the user's rows
// in those tables of our own that exist. It leaves the audit log alone. The caller has
// begun a transaction.
func (s users) deleteOwned(ctx context.Context, id string) error {
	for _, statement := range []string{s.db.q.deleteSessions, s.db.q.deleteAccountsOf} {
		if _, err := s.db.conn.Exec(ctx, statement, id); err != nil {
			return err
		}
	}
	known, err := s.db.bounds(ctx)
	if err != nil {
		return err
	}
	for _, owned := range s.db.q.proofs.deleteOwned {
		if known[owned.table] == nil { // of a later version, but it may have been made since
			err = s.deleteIn(ctx, owned.sql, id)
		} else {
			_, err = s.db.conn.Exec(ctx, owned.sql, id)
		}
		if err != nil {
			return err
		}
	}
	if !s.db.layout.has("authenticators") { // an Auth.js that never had passkeys has no table of them
		return nil
	}
	return s.deleteIn(ctx, s.db.q.deleteAuthenticatorsOf, id)
}

// deleteIn runs a statement that deletes the rows of a user in a table that need not
// exist. It returns nil if the table does not exist. A transaction of the caller can then
// go on.
func (s users) deleteIn(ctx context.Context, statement, id string) error {
	err := s.db.guarded(ctx, func(db *database) error {
		_, err := db.conn.Exec(ctx, statement, id)
		return err
	})
	if is(err, absent) {
		return nil
	}
	return err
}
