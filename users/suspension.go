package users

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/storage"
)

// SuspendOptions says how long a user is kept out, and why.
type SuspendOptions struct {
	Until  time.Time // zero: until Restore
	Reason string    // at most 500 code points; part of the user's export, and on no page of the user
}

// longestReason is the number of code points of a reason.
const longestReason = 500

// Suspend keeps a user out: every sign-in of the user is refused from then on. It ends
// all sessions, sign-ins under way, codes and pending changes of the address. It does
// so in one transaction if the store has transactions; in a store without them, repeat
// a call that failed. A second call replaces the suspension. The suspension records the
// actor of ctx: see event.WithActor. A field of o that makes no sense is an
// [InputError]. An unknown user is ErrNotFound.
//
// Suspend returns ErrSessionsNotEnded if the suspension is stored but JWT sessions go
// on until they expire, because no latchkey.SessionConfig.Revocations are configured.
// It needs an Adapter that is a [storage.SuspensionAdapter]; without it the error is
// [errors.ErrUnsupported] too. Stored sessions also need a
// [storage.SessionListAdapter].
func (u *Users) Suspend(ctx context.Context, userID string, o SuspendOptions) error {
	w, err := u.open(ctx, userID, "Users.Suspend")
	if err != nil {
		return err
	}
	now := w.Now()
	switch {
	case !o.Until.IsZero() && !o.Until.After(now):
		return wrong("Until", "it has passed")
	case utf8.RuneCountInString(o.Reason) > longestReason:
		return wrong("Reason", "it has more than 500 characters")
	case !utf8.ValidString(o.Reason) || strings.ContainsRune(o.Reason, 0):
		return wrong("Reason", "it is no text")
	}
	defer w.Tell(ctx)
	s := storage.Suspension{Since: now.UTC(), Until: o.Until.UTC(), Reason: o.Reason, By: event.ActorIn(ctx).ID}
	if o.Until.IsZero() {
		s.Until = time.Time{}
	}
	return directory.Suspend(ctx, w.Directory, w.Events, userID, s)
}

// Restore lifts a suspension: the user can sign in again. Like Suspend, it ends all
// sessions of the user, sign-ins under way, codes and pending changes of the address,
// because a failed Suspend may have left some. If the suspension has run out, Restore ends
// nothing, and only removes what is stored of it. JWT sessions without
// latchkey.SessionConfig.Revocations go on, and are no error. It returns ErrNotFound if
// the user has no suspension. It needs what Suspend needs.
func (u *Users) Restore(ctx context.Context, userID string) error {
	w, err := u.open(ctx, userID, "Users.Restore")
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return directory.Restore(ctx, w.Directory, w.Events, userID)
}

// wrong returns an InputError.
func wrong(field, problem string) error { return &fault.InputError{Field: field, Problem: problem} }
