package sqlstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// Suspensions implements [storage.SuspensionAdapter]. Its calls return an
// [errors.ErrUnsupported] if the layout has no table for suspensions.
func (s *Store) Suspensions() storage.SuspensionStore { return suspensions{s.db} }

// suspensions stores suspensions. If the layout has no table for them, its methods
// return an [errors.ErrUnsupported].
type suspensions struct{ db *database }

// Put implements [storage.SuspensionStore]. It locks the user until the transaction ends,
// and replaces an earlier suspension. It returns ErrNotFound for an unknown user.
func (s suspensions) Put(ctx context.Context, userID string, v storage.Suspension) error {
	if err := s.db.needs("suspensions"); err != nil {
		return fail(ctx, "suspend", err)
	}
	at := s.db.layout.formOf("suspensions")
	row := []any{userID, at.arg(v.Since), at.arg(v.Until), null(v.Reason), null(v.By)}
	return fail(ctx, "suspend", s.db.tx(ctx, func(tx *database) error {
		if !findable(v.Reason, v.By) {
			return errText
		}
		if err := tx.lockUser(ctx, userID); err != nil {
			return err
		}
		if _, err := tx.conn.Exec(ctx, tx.q.deleteSuspension, userID); err != nil {
			return err
		}
		_, err := tx.conn.Exec(ctx, tx.q.insertSuspension, row...)
		return err
	}))
}

// lockUser keeps other transactions from changing a user until this one ends. db is bound
// to a transaction. lockUser returns ErrNotFound for an unknown user.
func (db *database) lockUser(ctx context.Context, id string) error {
	_, err := users{db: db}.update(ctx, id, storage.UserChange{})
	return err
}

// Get implements [storage.SuspensionStore]. It returns a suspension in force or not, and
// ErrNotFound if the user has none.
func (s suspensions) Get(ctx context.Context, userID string) (storage.Suspension, error) {
	v, err := s.read(ctx, userID)
	return v, fail(ctx, "get suspension", err)
}

// read returns the suspension of a user, or ErrNotFound. It returns errors of the driver
// as they are.
func (s suspensions) read(ctx context.Context, userID string) (v storage.Suspension, err error) {
	if err := s.db.needs("suspensions"); err != nil {
		return v, err
	}
	if !s.db.findableID(userID) {
		return v, storage.ErrNotFound
	}
	var since, until instant
	if err := s.db.find(ctx, s.db.q.suspension, []string{userID}, &since, &until, &v.Reason, &v.By); err != nil {
		return storage.Suspension{}, err
	}
	v.Since, v.Until = since.t, until.t
	return v, nil
}

// Delete implements [storage.SuspensionStore]. It locks the user until the transaction
// ends, and returns the suspension as removed. It returns ErrNotFound for an unknown
// user, and for one without a suspension.
func (s suspensions) Delete(ctx context.Context, userID string) (v storage.Suspension, err error) {
	if err := s.db.needs("suspensions"); err != nil {
		return v, fail(ctx, "restore", err)
	}
	err = s.db.tx(ctx, func(tx *database) error {
		if err := tx.lockUser(ctx, userID); err != nil {
			return err
		}
		if v, err = (suspensions{tx}).read(ctx, userID); err != nil {
			return err
		}
		_, err = tx.conn.Exec(ctx, tx.q.deleteSuspension, userID)
		return err
	})
	return v, fail(ctx, "restore", err)
}

// KeepsActors implements [storage.ActorAdapter]. It returns false if the layout lacks the
// column actor or actor_session of sessions.
func (s *Store) KeepsActors() bool {
	return s.db.layout.has("sessions.actor") && s.db.layout.has("sessions.actor_session")
}

// Activities implements [storage.ActivityAdapter]. Its calls return an
// [errors.ErrUnsupported] if the layout has no table for activities.
func (s *Store) Activities() storage.ActivityStore { return activities{s.db} }

// activities stores activities of users. If the layout has no table for them, its
// methods return an [errors.ErrUnsupported].
type activities struct{ db *database }

// Append implements [storage.ActivityStore]. It returns ErrNotFound for an unknown user
// if the schema has a foreign key, as ours does.
func (s activities) Append(ctx context.Context, v storage.Activity) error {
	err := s.db.needs("activities")
	if err == nil && !s.db.findableID(v.UserID) {
		err = storage.ErrNotFound
	}
	if err != nil {
		return fail(ctx, "append activity", err)
	}
	agent := strings.ReplaceAll(strings.ToValidUTF8(v.UserAgent, "\uFFFD"), "\x00", "\uFFFD") // as plainAgent returns it
	row := []any{v.ID, v.UserID, s.db.layout.formOf("activities").arg(v.Time), v.Type, null(v.Provider), null(agent), null(v.ActorKind)}
	_, err = s.db.conn.Exec(ctx, s.db.q.insertActivity, row...)
	if is(err, orphan) || is(err, malformed) {
		err = storage.ErrNotFound
	}
	return fail(ctx, "append activity", err)
}

// List implements [storage.ActivityStore]. The latest comes first. limit is positive.
func (s activities) List(ctx context.Context, userID string, limit int) (list []storage.Activity, err error) {
	if err := s.db.needs("activities"); err != nil {
		return nil, fail(ctx, "list activities", err)
	}
	if !s.db.findableID(userID) {
		return nil, ctx.Err()
	}
	err = s.db.byID(ctx, func(db *database) error {
		return db.conn.Each(ctx, db.q.activitiesOf, []any{userID, limit}, func(scan func(...any) error) error {
			v := storage.Activity{UserID: userID}
			var at instant
			err := scan(&v.ID, &at, &v.Type, &v.Provider, &v.UserAgent, &v.ActorKind)
			v.Time = at.t
			list = append(list, v)
			return err
		})
	})
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return list, fail(ctx, "list activities", err)
}

// Prune implements [storage.ActivityStore]. It removes all activities from before the
// instant before in one statement, and returns how many.
func (s activities) Prune(ctx context.Context, before time.Time) (int, error) {
	if err := s.db.needs("activities"); err != nil {
		return 0, fail(ctx, "prune activities", err)
	}
	n, err := s.db.conn.Exec(ctx, s.db.q.pruneActivities, s.db.layout.formOf("activities").arg(before))
	return int(n), fail(ctx, "prune activities", err)
}
