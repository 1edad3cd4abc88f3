package sqlstore

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// Passwords implements [storage.PasswordAdapter]. The calls of the store return an
// [errors.ErrUnsupported] if the layout has no table for passwords.
func (s *Store) Passwords() storage.PasswordStore { return passwords{s.db} }

// passwords stores the passwords of users.
type passwords struct{ db *database }

// passwordRow is what a row of passwords is read into.
type passwordRow struct {
	p                storage.PasswordHash
	failures         int64
	created, changed instant
}

// dest returns a destination in r for each column of passwords, in the order of package
// model. The caller passes the list to database.into.
func (r *passwordRow) dest() []any {
	return []any{&r.p.UserID, &r.p.Hash, &r.failures, &r.p.Renew, &r.created, &r.changed}
}

// read returns the password of the row.
func (r *passwordRow) read() storage.PasswordHash {
	p := r.p
	p.Failures, p.Created, p.Changed = int(r.failures), r.created.t, r.changed.t
	return p
}

// Get implements [storage.PasswordStore]. It returns ErrNotFound if the user has no
// password.
func (s passwords) Get(ctx context.Context, userID string) (storage.PasswordHash, error) {
	p, err := s.get(ctx, userID)
	return p, fail(ctx, "get password", err)
}

// get returns the password of a user, or ErrNotFound. It returns driver errors as they are.
func (s passwords) get(ctx context.Context, userID string) (storage.PasswordHash, error) {
	var row passwordRow
	err := s.db.needs("passwords")
	if err == nil && !s.db.findableID(userID) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.find(ctx, s.db.q.proofs.password, []string{userID}, s.db.into("passwords", row.dest())...)
	}
	if err != nil {
		return storage.PasswordHash{}, err
	}
	return row.read(), nil
}

// Set implements [storage.PasswordStore]. It returns ErrConflict, and stores nothing, unless
// the stored hash equals was. An empty was demands that the user has no password yet. With an
// empty was, Set returns ErrNotFound for an unknown user if the schema has a foreign key, as
// ours does.
func (s passwords) Set(ctx context.Context, p storage.PasswordHash, was string) error {
	err := errors.Join(ctx.Err(), s.db.needs("passwords"))
	switch at := s.db.q.forms["passwords"].arg; {
	case err != nil:
	case !s.db.findableID(p.UserID):
		err = storage.ErrNotFound
	case was == "":
		err = s.db.add(ctx, s.db.q.proofs.insertPassword, p.UserID, p.Hash, int64(p.Failures), p.Renew, at(p.Created), at(p.Changed))
	default:
		err = s.replace(ctx, p, was)
	}
	return fail(ctx, "set password", err)
}

// maxReplacements is how often replace may find a row that another caller counts a
// wrong password in.
const maxReplacements = 10

// replace writes p, except Created, in the row of its user if the stored hash is was.
// Otherwise, or if there is no row, it returns ErrConflict. MySQL reports no changed row if
// the row already has the new values. replace then reads the row, and returns nil if it has
// them. If another caller has counted a wrong password in it, replace tries again.
func (s passwords) replace(ctx context.Context, p storage.PasswordHash, was string) error {
	if !findable(was) {
		return storage.ErrConflict
	}
	if err := s.db.fitsColumn(ctx, "passwords", "hash", p.Hash); err != nil {
		return err
	}
	kept := s.db.q.forms["passwords"]
	args := append(s.db.layout.touches("passwords"), p.Hash, int64(p.Failures), p.Renew, kept.arg(p.Changed), p.UserID, was)
	for range maxReplacements {
		var n int64
		err := s.db.byID(ctx, func(db *database) (err error) {
			n, err = db.conn.Exec(ctx, s.db.q.proofs.setPassword, args...)
			return err
		})
		if err != nil || n > 0 {
			return err
		}
		if s.db.layout.dialect.returning() {
			return storage.ErrConflict
		}
		found, err := s.get(ctx, p.UserID)
		if err != nil || found.Hash != was {
			return conflictOf(err)
		}
		if found.Hash == p.Hash && found.Failures == p.Failures && found.Renew == p.Renew && found.Changed.Equal(kept.kept(p.Changed)) {
			return nil
		}
	}
	return storage.ErrConflict
}

// conflictOf returns the error of replace for the error of a read that followed it. nil
// and ErrNotFound mean that the row has another hash or is gone, and become ErrConflict.
// conflictOf returns any other error as it is.
func conflictOf(err error) error {
	if err == nil || errors.Is(err, storage.ErrNotFound) {
		return storage.ErrConflict
	}
	return err
}

// Fail implements [storage.PasswordStore]. It returns the new number of failures, or
// ErrNotFound if the user has no password.
func (s passwords) Fail(ctx context.Context, userID string) (n int, err error) {
	err = s.db.needs("passwords")
	if err == nil && !s.db.findableID(userID) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.byID(ctx, func(db *database) (err error) {
			n, err = db.count(ctx, db.q.proofs.failPassword, db.q.proofs.passwordFailures, "passwords", userID)
			return err
		})
	}
	return n, fail(ctx, "fail password", err)
}

// Delete implements [storage.PasswordStore]. It returns ErrNotFound if the user has no
// password.
func (s passwords) Delete(ctx context.Context, userID string) error {
	err := errors.Join(ctx.Err(), s.db.needs("passwords"))
	if err == nil && !s.db.findableID(userID) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.byID(ctx, func(db *database) error {
			n, err := db.conn.Exec(ctx, db.q.proofs.deletePassword, userID)
			if err == nil && n == 0 {
				err = storage.ErrNotFound
			}
			return err
		})
	}
	return fail(ctx, "delete password", err)
}
