package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Factors implements [storage.FactorAdapter]. The calls about factors return an
// [errors.ErrUnsupported] if the layout has no table for factors. Those about recovery codes
// return it if there is no table for recovery codes.
func (s *Store) Factors() storage.FactorStore { return factors{s.db} }

// factors stores second factors and recovery codes.
type factors struct{ db *database }

// factorRow is what a row of factors is read into.
type factorRow struct {
	f             storage.Factor
	failures      int64
	created, used instant
}

// dest returns a destination in r for each column of factors, in the order of package
// model. The caller passes the list to database.into.
func (r *factorRow) dest() []any {
	f := &r.f
	return []any{&f.ID, &f.UserID, (*string)(&f.Kind), &f.Name, &f.Secret, &f.Step, &r.failures, &r.created, &r.used}
}

// read returns the factor of the row.
func (r *factorRow) read() storage.Factor {
	f := r.f
	f.Failures, f.Created, f.Used = int(r.failures), r.created.t, r.used.t
	return f
}

// Create implements [storage.FactorStore]. It returns ErrConflict if the id is taken. It
// returns ErrNotFound for an unknown user if the schema has a foreign key, as ours does.
func (s factors) Create(ctx context.Context, f storage.Factor) error {
	err := s.db.needs("factors")
	if err == nil && !s.db.findableID(f.UserID) {
		err = storage.ErrNotFound
	}
	if err == nil {
		at := s.db.q.forms["factors"].arg
		err = s.db.add(ctx, s.db.q.proofs.insertFactor, f.ID, f.UserID, string(f.Kind), f.Name, f.Secret, f.Step, int64(f.Failures), at(f.Created), at(f.Used))
	}
	return fail(ctx, "create factor", err)
}

// List implements [storage.FactorStore]. The oldest comes first. An unknown user has
// none.
func (s factors) List(ctx context.Context, userID string) (list []storage.Factor, err error) {
	if err = s.db.needs("factors"); err == nil {
		err = s.db.each(ctx, s.db.q.proofs.factorsOf, userID, func(scan func(...any) error) error {
			var row factorRow
			err := scan(s.db.into("factors", row.dest())...)
			list = append(list, row.read())
			return err
		})
	}
	return list, fail(ctx, "list factors", err)
}

// Use implements [storage.FactorStore]: it stores step and clears the failures. It changes
// nothing and returns ErrNotFound for an unknown id, or ErrConflict if step is not higher.
func (s factors) Use(ctx context.Context, id string, step int64, secret string, at time.Time) error {
	return fail(ctx, "use factor", s.use(ctx, id, step, secret, at))
}

// use stores step, the time at and secret in a factor, and clears its failures. An empty
// secret leaves the stored one. use returns errors of the driver as they are.
func (s factors) use(ctx context.Context, id string, step int64, secret string, at time.Time) error {
	if err := errors.Join(ctx.Err(), s.db.needs("factors")); err != nil {
		return err
	}
	if !findable(id) {
		return storage.ErrNotFound
	}
	if err := s.db.fitsColumn(ctx, "factors", "secret", secret); err != nil {
		return err
	}
	args := append(s.db.layout.touches("factors"), step, s.db.q.forms["factors"].arg(at), secret != "", secret, id, step)
	n, err := s.db.conn.Exec(ctx, s.db.q.proofs.useFactor, args...)
	if err != nil || n > 0 {
		return err
	}
	var failures int64
	if err := s.db.conn.One(ctx, s.db.q.proofs.failures, []any{id}, &failures); err != nil {
		return err
	}
	return storage.ErrConflict
}

// Fail implements [storage.FactorStore]. It returns the new failure count, or ErrNotFound.
func (s factors) Fail(ctx context.Context, id string) (int, error) {
	err := s.db.needs("factors")
	if err != nil {
		return 0, fail(ctx, "fail factor", err)
	}
	n, err := s.db.count(ctx, s.db.q.proofs.failFactor, s.db.q.proofs.failures, "factors", id)
	return n, fail(ctx, "fail factor", err)
}

// count adds one to the column failures in the row with the key, and returns the new
// number. add is the statement that adds one, and read the statement that reads the
// column; the key is an argument of both. table is the name in the model. count returns
// ErrNotFound if there is no such row, and errors of the driver as they are.
func (db *database) count(ctx context.Context, add, read, table, key string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !findable(key) {
		return 0, storage.ErrNotFound
	}
	var n int64
	args := append(db.layout.touches(table), key)
	if db.layout.dialect.returning() {
		err := db.conn.One(ctx, add+" RETURNING "+db.layout.dialect.quote(db.layout.name(table+".failures")), args, &n)
		return int(n), err
	}
	err := db.tx(ctx, func(tx *database) error { // which has locked the row
		changed, err := tx.conn.Exec(ctx, add, args...)
		if err == nil && changed == 0 {
			err = storage.ErrNotFound
		}
		if err != nil {
			return err
		}
		return tx.conn.One(ctx, read, []any{key}, &n)
	})
	return int(n), err
}

// Delete implements [storage.FactorStore]. It returns the factor as removed, or
// ErrNotFound if the user has no such factor.
func (s factors) Delete(ctx context.Context, userID, id string) (storage.Factor, error) {
	var row factorRow
	err := errors.Join(ctx.Err(), s.db.needs("factors"))
	if err == nil && (!s.db.findableID(userID) || !findable(id)) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.byID(ctx, func(db *database) error {
			return db.takeLocked(ctx, "factors", db.q.proofs.factor, db.q.proofs.deleteFactor, []any{userID, id}, func(db *database) []any { return db.into("factors", row.dest()) })
		})
	}
	if err != nil {
		return storage.Factor{}, fail(ctx, "delete factor", err)
	}
	return row.read(), nil
}

// takeLocked removes one row and reads it into what dest returns, or returns ErrNotFound. It
// locks the row against changes, so that it reads what it removes. dest gets the database that
// runs the statements, which may be bound to a transaction.
func (db *database) takeLocked(ctx context.Context, table, read, remove string, key []any, dest func(*database) []any) error {
	if db.layout.dialect.returning() {
		return db.take(ctx, table, read, remove, key, dest(db)...)
	}
	return db.tx(ctx, func(tx *database) error {
		return tx.take(ctx, table, read+" FOR UPDATE", remove, key, dest(tx)...)
	})
}

// ReplaceRecoveryCodes implements [storage.FactorStore]. It locks the user until the
// transaction ends. It returns ErrNotFound for an unknown user.
func (s factors) ReplaceRecoveryCodes(ctx context.Context, userID string, hashes []string) error {
	err := errors.Join(ctx.Err(), s.db.needs("recovery_codes"))
	if err == nil && !s.db.findableID(userID) {
		err = storage.ErrNotFound
	}
	if err == nil && !findable(hashes...) {
		err = errText
	}
	if err == nil {
		err = s.db.byID(ctx, func(db *database) error {
			return db.tx(ctx, func(tx *database) error { return factors{tx}.replaceCodes(ctx, userID, hashes) })
		})
	}
	return fail(ctx, "replace recovery codes", err)
}

// replaceCodes replaces the recovery codes of a user by hashes, and locks the row of the
// user. Without hashes the user has none afterwards. The caller has begun a transaction.
// replaceCodes returns ErrNotFound for an unknown user.
func (s factors) replaceCodes(ctx context.Context, userID string, hashes []string) error {
	var row userRow
	if err := s.db.conn.One(ctx, s.db.q.holdUser, []any{userID}, s.db.into("users", row.dest())...); err != nil {
		return err
	}
	if _, err := s.db.conn.Exec(ctx, s.db.q.proofs.deleteCodes, userID); err != nil || len(hashes) == 0 {
		return err
	}
	var args []any
	for _, hash := range hashes {
		if err := s.db.fitsColumn(ctx, "recovery_codes", "hash", hash); err != nil {
			return err
		}
		args = append(args, userID, hash)
	}
	_, err := s.db.conn.Exec(ctx, s.db.layout.insertCodes(len(hashes)), args...)
	return err
}

// UseRecoveryCode implements [storage.FactorStore]. It removes the code, or returns
// ErrNotFound if the user has no such code. A second statement counts the rest. Outside of a
// transaction, the code stays removed if that fails, and left may be out of date.
func (s factors) UseRecoveryCode(ctx context.Context, userID, hash string) (left int, err error) {
	err = errors.Join(ctx.Err(), s.db.needs("recovery_codes"))
	if err == nil && (!s.db.findableID(userID) || !findable(hash)) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.byID(ctx, func(db *database) error {
			n, err := db.conn.Exec(ctx, db.q.proofs.deleteCode, userID, hash)
			if err == nil && n == 0 {
				err = storage.ErrNotFound
			}
			if err != nil {
				return err
			}
			return db.conn.One(ctx, db.q.proofs.countCodes, []any{userID}, &left)
		})
	}
	return left, fail(ctx, "use recovery code", err)
}
