package directory

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

const (
	shownActivities = 20
	activityLife    = 90 * 24 * time.Hour
	longestAgent    = 256 // bytes of a browser's description
)

// KeepActivities stores those events of q that are activities of their user, such as a
// sign-in. It takes no event out of q. It does nothing if d is nil or the adapter keeps
// no activities. It goes on after an error, and after ctx is cancelled, and returns all
// errors joined.
func KeepActivities(ctx context.Context, d *Directory, q *Outbox) error {
	if d == nil || d.Store.activities == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // a client that hangs up hides nothing
	var faults []error
	for _, entry := range q.list {
		if entry.Event != nil && people.IsActivity(entry.Event) {
			faults = append(faults, appendActivity(ctx, d.Store, entry.Event))
		}
	}
	return errors.Join(faults...)
}

// appendActivity stores an event as an activity of its user. It leaves out the User-Agent
// header of an administrator. The adapter keeps activities.
func appendActivity(ctx context.Context, s *Store, e *event.Event) error {
	a := storage.Activity{
		ID: secret.NewUserID(), UserID: e.UserID, Time: e.Time.Truncate(time.Millisecond), Type: people.TypeText(e.Type, e.Outcome), Provider: e.Provider,
		UserAgent: e.UserAgent[:min(len(e.UserAgent), longestAgent)], ActorKind: string(e.By.Kind),
	}
	if a.ActorKind == string(event.ActorAdmin) {
		a.UserAgent = "" // it is the administrator's
	}
	return guarded.Do(ctx, s.bounds, "Activities.Append", func(ctx context.Context) error { return s.activities.Activities().Append(ctx, a) })
}

// Activities returns the latest activities of a user in the last 90 days, at most 20, the
// newest first. The caller has checked that the adapter keeps activities.
func Activities(ctx context.Context, d *Directory, userID string) ([]storage.Activity, error) {
	list, err := listActivities(ctx, d.Store, userID, shownActivities)
	since := d.Now().Add(-activityLife)
	for i, a := range list {
		if a.Time.Before(since) {
			return list[:i], err
		}
	}
	return list, err
}

// PruneActivities removes the activities that are older than 90 days, and returns how
// many it removed. If the adapter keeps no activities, it returns 0.
func PruneActivities(ctx context.Context, s *Store, now time.Time) (int, error) {
	if s.activities == nil {
		return 0, nil
	}
	return guarded.CallFor(ctx, s.bounds, "Activities.Prune", func(n int) bool { return n >= 0 }, func(ctx context.Context) (int, error) {
		return s.activities.Activities().Prune(ctx, now.Add(-activityLife))
	})
}

// listActivities returns the latest activities of a user, at most limit, however old they
// are. The adapter keeps activities.
func listActivities(ctx context.Context, s *Store, userID string, limit int) ([]storage.Activity, error) {
	fits := func(a *storage.Activity) bool { return a.UserID == userID }
	return guarded.CallFor(ctx, s.bounds, "Activities.List", allFit(fits), func(ctx context.Context) ([]storage.Activity, error) {
		return s.activities.Activities().List(ctx, userID, limit)
	})
}
