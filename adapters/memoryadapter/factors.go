package memoryadapter

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Factors implements [storage.FactorAdapter].
func (a *Adapter) Factors() storage.FactorStore { return factors{a} }

// factors is the store of second factors and recovery codes of an adapter.
type factors struct{ a *Adapter }

// Create implements [storage.FactorStore]. An unknown user is ErrNotFound.
func (s factors) Create(ctx context.Context, f storage.Factor) error {
	return s.a.withData(ctx, func(d *data) error {
		if _, taken := d.factors[f.ID]; taken {
			return storage.ErrConflict
		}
		if _, known := d.users[f.UserID]; !known {
			return storage.ErrNotFound
		}
		f.Created, f.Used = utc(f.Created), utc(f.Used)
		put(d, d.factors, f.ID, f)
		return nil
	})
}

// List implements [storage.FactorStore]. The oldest comes first.
func (s factors) List(ctx context.Context, userID string) (list []storage.Factor, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		for _, f := range d.factors {
			if f.UserID == userID {
				list = append(list, f)
			}
		}
		slices.SortFunc(list, byCreation)
		return nil
	})
	return list, err
}

// Use implements [storage.FactorStore].
func (s factors) Use(ctx context.Context, id string, step int64, secret string, at time.Time) error {
	return s.a.withData(ctx, func(d *data) error {
		f, known := d.factors[id]
		if !known {
			return storage.ErrNotFound
		}
		if step <= f.Step {
			return storage.ErrConflict
		}
		f.Step, f.Failures, f.Used = step, 0, utc(at)
		f.Secret = cmp.Or(secret, f.Secret)
		put(d, d.factors, id, f)
		return nil
	})
}

// Fail implements [storage.FactorStore].
func (s factors) Fail(ctx context.Context, id string) (failures int, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		f, known := d.factors[id]
		if !known {
			return storage.ErrNotFound
		}
		f.Failures++
		put(d, d.factors, id, f)
		failures = f.Failures
		return nil
	})
	return failures, err
}

// Delete implements [storage.FactorStore].
func (s factors) Delete(ctx context.Context, userID, id string) (f storage.Factor, err error) {
	err = s.a.withData(ctx, func(d *data) (err error) {
		if found, known := d.factors[id]; !known || found.UserID != userID {
			return storage.ErrNotFound
		}
		f, err = take(d, d.factors, id)
		return err
	})
	return f, err
}

// ReplaceRecoveryCodes implements [storage.FactorStore]. An unknown user is
// ErrNotFound.
func (s factors) ReplaceRecoveryCodes(ctx context.Context, userID string, hashes []string) error {
	return s.a.withData(ctx, func(d *data) error {
		if _, known := d.users[userID]; !known {
			return storage.ErrNotFound
		}
		removeIf(d, d.recoveryCodes, func(code pair, _ struct{}) bool { return code[0] == userID })
		for _, hash := range hashes {
			put(d, d.recoveryCodes, pair{userID, hash}, struct{}{})
		}
		return nil
	})
}

// UseRecoveryCode implements [storage.FactorStore].
func (s factors) UseRecoveryCode(ctx context.Context, userID, hash string) (left int, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		if _, err := take(d, d.recoveryCodes, pair{userID, hash}); err != nil {
			return err
		}
		for code := range d.recoveryCodes {
			if code[0] == userID {
				left++
			}
		}
		return nil
	})
	return left, err
}

// byCreation compares factors so that the oldest comes first.
func byCreation(a, b storage.Factor) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
}
