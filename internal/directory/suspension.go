package directory

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// A suspension keeps a user out. Every sign-in looks at it twice: before the
// application is asked, and in the transaction that opens the session. A suspension
// that is made meanwhile also moves the instant of ends.go, and so voids what was
// begun before.

// Suspended reports that a user may not sign in. In the errors of this package a
// fault.Error with ErrAccessDenied wraps it.
type Suspended struct {
	Until time.Time // zero: until the suspension is taken back
}

// Error returns a text without the user.
func (*Suspended) Error() string { return "the user is suspended" }

// SuspendedCode is the code of the error of a sign-in that a suspension refuses.
const SuspendedCode = "suspended"

// refuse returns the error for the sign-in of a user whom the suspension s keeps out now,
// or nil. A nil s keeps no user out.
func refuse(d *Directory, in *Assertion, s *storage.Suspension) error {
	if !s.Holds(d.Now()) {
		return nil
	}
	return &fault.Error{
		Type: fault.ErrAccessDenied, Provider: in.Account.Provider, Code: SuspendedCode,
		Err: &failure.Mistake{Err: &Suspended{Until: s.Until}},
	}
}

// suspensionOf returns the stored suspension of a user, even if its time is over. It
// returns nil if there is none, or if the adapter keeps none.
func suspensionOf(ctx context.Context, s *Store, userID string) (*storage.Suspension, error) {
	if s.suspensions == nil || userID == "" {
		return nil, nil
	}
	found, err := guarded.Optional(guarded.Call(ctx, s.bounds, "Suspensions.Get", func(ctx context.Context) (storage.Suspension, error) {
		return s.suspensions.Suspensions().Get(ctx, userID)
	}))
	return found, failure.Ignoring(err, errors.ErrUnsupported) // a layout without the table
}

// CheckSuspension returns an error that is a Suspended if the user may not sign in. A
// flow that changes how a user signs in calls it after the user's proof, and before it
// writes anything. s is the store of the transaction.
func CheckSuspension(ctx context.Context, d *Directory, s *Store, userID string) error {
	found, err := suspensionOf(ctx, s, userID)
	if err != nil {
		return err
	}
	return refuse(d, &Assertion{}, found)
}

// IsSuspended reports whether a user is suspended now. It is false if the adapter keeps
// no suspensions.
func IsSuspended(ctx context.Context, d *Directory, userID string) (bool, error) {
	found, err := suspensionOf(ctx, d.Store, userID)
	return found.Holds(d.Now()), err
}

// gate refuses the sign-in of a suspended user before the application is asked. u is the
// stored user that the sign-in will end in. With a nil u, gate looks for the suspension
// of a user that the application named, and lets any other sign-in pass.
func gate(ctx context.Context, d *Directory, in *Assertion, u *storage.User) error {
	switch {
	case u != nil:
		return refuse(d, in, u.Suspension)
	case !in.Vouched:
		return nil
	}
	found, err := suspensionOf(ctx, d.Store, in.Person.ID)
	if err != nil {
		return err
	}
	return refuse(d, in, found)
}

// gateUnderLock refuses the sign-in of a user who was suspended after the user was read.
// A suspension ends all sessions of the user and leaves a revocation. So gateUnderLock
// does not ask the store if claimSession has claimed a live session of the user. Nor does
// it if revocations are stored and none is on record for the user.
func gateUnderLock(ctx context.Context, d *Directory, s *Store, signIn *SignIn) error {
	if signIn.isHeld() && d.Revocations != nil { // a live session proves it
		return nil
	}
	if d.Revocations != nil && d.Revocations.Store != nil && !signIn.wasEnded {
		return nil
	}
	found, err := suspensionOf(ctx, s, signIn.User.ID)
	if err != nil {
		return err
	}
	return refuse(d, &signIn.Assertion, found)
}

// Suspend stores a suspension, ends all sessions of the user, and deletes the challenges that
// are under way. It does so in one transaction if the adapter has transactions and revocations
// are not kept elsewhere. Otherwise a repeated call finishes what was interrupted. Suspend
// returns ErrNotFound for an unknown user, and ErrMissingAdapterMethods if the adapter keeps
// no suspensions or cannot end sessions. It returns ErrSessionsNotEnded if JWT sessions go on:
// the user is suspended all the same. It adds the event UserSuspended.
func Suspend(ctx context.Context, d *Directory, q *Outbox, userID string, v storage.Suspension) error {
	if err := CanSuspend(d, "Users.Suspend"); err != nil {
		return err
	}
	put := func(ctx context.Context, s *Store) error {
		q.Add(event.Event{Type: event.UserSuspended, UserID: userID}, nil)
		return guarded.Do(ctx, s.bounds, "Suspensions.Put", func(ctx context.Context) error {
			return s.suspensions.Suspensions().Put(ctx, userID, v)
		})
	}
	if err := endWith(ctx, d, q, userID, put); err != nil {
		return err
	}
	if d.EndlessTokens {
		return fault.ErrSessionsNotEnded
	}
	return nil
}

// Restore deletes the suspension of a user. If it holds, Restore ends all sessions and
// challenges of the user once more. If it has run out, they are the user's own, and stay
// . Restore returns ErrNotFound if there is none, and ErrMissingAdapterMethods
// as Suspend does. It adds the event UserRestored.
func Restore(ctx context.Context, d *Directory, q *Outbox, userID string) error {
	if err := CanSuspend(d, "Users.Restore"); err != nil {
		return err
	}
	remove := func(ctx context.Context, s *Store) error {
		err := guarded.Do(ctx, s.bounds, "Suspensions.Delete", func(ctx context.Context) error {
			_, err := s.suspensions.Suspensions().Delete(ctx, userID)
			return err
		})
		if err == nil {
			q.Add(event.Event{Type: event.UserRestored, UserID: userID}, nil)
		}
		return err
	}
	found, err := suspensionOf(ctx, d.Store, userID)
	if err != nil {
		return err
	}
	if found != nil && !found.Holds(d.Now()) {
		return q.together(ctx, d.Store, remove)
	}
	return endWith(ctx, d, q, userID, remove)
}

// CanSuspend returns nil if users can be suspended. Otherwise it returns
// ErrMissingAdapterMethods, because the store cannot keep suspensions or cannot end the
// sessions of a user. call is the name of the call in the error.
func CanSuspend(d *Directory, call string) error {
	if !d.Store.Has(AbilitySuspensions) {
		return d.Store.Lacks(call, AbilitySuspensions)
	}
	if d.StoredSessions {
		return d.Store.Require(call, AbilitySessionLists)
	}
	return nil
}

// endWith calls change, and ends all sessions and challenges of a user, in one
// transaction. If revocations take no part in it, endWith ends the sessions after the
// commit: the end must not be seen before the change.
func endWith(ctx context.Context, d *Directory, q *Outbox, userID string, change func(context.Context, *Store) error) error {
	end := func(ctx context.Context, s *Store) error {
		if _, err := d.endAll(ctx, q, s, userID, ""); err != nil {
			return err
		}
		return deleteChallenges(ctx, s, userID)
	}
	together := d.Revocations == nil || d.Revocations.InAdapter
	begun := q.mark()
	err := q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		err := change(ctx, s)
		if err == nil && together {
			err = end(ctx, s)
		}
		return err
	})
	if err != nil || together {
		if err != nil {
			q.rewind(begun) // also without transactions: it is not done
		}
		return err
	}
	return q.InTxAnyway(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if _, err := s.LockUser(ctx, userID); err != nil {
			return err
		}
		return end(ctx, s)
	})
}

// pendingPurposes are what a suspension deletes, beside what endAll does. The way back to
// a former e-mail address stays: it belongs to the owner of that address.
var pendingPurposes = []string{
	string(challenge.SignIn), string(challenge.Enrol), string(challenge.Codes), string(challenge.Reauth),
	string(challenge.Code), string(challenge.Reset), string(challenge.Email), string(challenge.ActAs),
}

// deleteChallenges deletes the challenges of a user that a suspension and its end remove,
// those of pendingPurposes. It does nothing if the store keeps no challenges.
func deleteChallenges(ctx context.Context, s *Store, userID string) error {
	if s.challenges == nil {
		return nil
	}
	_, err := s.Challenges().Delete(ctx, userID, pendingPurposes...)
	return failure.Ignoring(err, errors.ErrUnsupported) // a layout without the table
}
