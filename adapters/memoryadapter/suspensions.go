package memoryadapter

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Suspensions implements [storage.SuspensionAdapter].
func (s peopleStores) Suspensions() storage.SuspensionStore { return suspensions{s.of} }

// suspensions is the store of suspensions of an adapter.
type suspensions struct{ a *Adapter }

// Put implements [storage.SuspensionStore].
func (s suspensions) Put(ctx context.Context, userID string, v storage.Suspension) error {
	return s.a.withData(ctx, func(d *data) error {
		if _, known := d.users[userID]; !known {
			return storage.ErrNotFound
		}
		v.Since, v.Until = utc(v.Since), utc(v.Until)
		put(d, d.suspensions, userID, v)
		return nil
	})
}

// Get implements [storage.SuspensionStore].
func (s suspensions) Get(ctx context.Context, userID string) (v storage.Suspension, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		found, known := d.suspensions[userID]
		if !known {
			return storage.ErrNotFound
		}
		v = found
		return nil
	})
	return v, err
}

// Delete implements [storage.SuspensionStore].
func (s suspensions) Delete(ctx context.Context, userID string) (v storage.Suspension, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		v, err = take(d, d.suspensions, userID)
		return err
	})
	return v, err
}

// Activities implements [storage.ActivityAdapter].
func (s peopleStores) Activities() storage.ActivityStore { return activities{s.of} }

// activities is the store of activities of an adapter.
type activities struct{ a *Adapter }

// Append implements [storage.ActivityStore]. An unknown user is ErrNotFound. An activity
// with the same ID is replaced.
func (s activities) Append(ctx context.Context, v storage.Activity) error {
	return s.a.withData(ctx, func(d *data) error {
		if _, known := d.users[v.UserID]; !known {
			return storage.ErrNotFound
		}
		v.Time = utc(v.Time)
		put(d, d.activities, v.ID, v)
		return nil
	})
}

// List implements [storage.ActivityStore].
func (s activities) List(ctx context.Context, userID string, limit int) (list []storage.Activity, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		for _, v := range d.activities {
			if v.UserID == userID {
				list = append(list, v)
			}
		}
		slices.SortFunc(list, func(a, b storage.Activity) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.ID, a.ID)) })
		list = list[:min(limit, len(list))]
		return nil
	})
	return list, err
}

// Prune implements [storage.ActivityStore].
func (s activities) Prune(ctx context.Context, before time.Time) (n int, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		n = removeIf(d, d.activities, func(_ string, v storage.Activity) bool { return v.Time.Before(before) })
		return nil
	})
	return n, err
}
