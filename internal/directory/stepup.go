package directory

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/storage"
)

// A new proof of the user's identity in a session.

// proofLife is how long the wrong proofs of a session count.
const proofLife = 10 * time.Minute

// silentProvider is appended to the handle of a session page. The row that it names
// says that a provider did not tell when the user signed in there.
const silentProvider = " silent"

// ErrNoTries reports that too many wrong proofs came in a session.
var ErrNoTries = challenge.ErrSpent

// TriesLeft returns how many wrong proofs the session with the handle of.Handle has left.
func TriesLeft(ctx context.Context, d *Directory, of EnrolmentOf) (int, error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Reauth, of.Handle)
	if err != nil {
		return factor.MostTries, failure.Ignoring(err, storage.ErrNotFound)
	}
	return max(0, factor.MostTries-row.Tries), nil
}

// TryProof counts one try at a proof in a session, and returns how many are left after
// it. The caller calls it before it compares the proof. It returns ErrNoTries if none was
// left. The count begins anew ten minutes after the first try.
func TryProof(ctx context.Context, d *Directory, of EnrolmentOf) (left int, err error) {
	rows := d.Waiting(d.Store)
	row, err := rows.Count(ctx, challenge.Reauth, of.Handle, factor.MostTries)
	if errors.Is(err, storage.ErrNotFound) {
		if err := rows.End(ctx, challenge.Reauth, of.Handle); err != nil { // an expired one
			return 0, err
		}
		_, err = rows.Create(ctx, challenge.Draft{Purpose: challenge.Reauth, Handle: of.Handle, UserID: of.UserID, Life: proofLife})
		if failure.Ignoring(err, storage.ErrConflict) != nil {
			return 0, err
		}
		row, err = rows.Count(ctx, challenge.Reauth, of.Handle, factor.MostTries)
	}
	if err != nil {
		return 0, err
	}
	return max(0, factor.MostTries-row.Tries), nil
}

// ReturnProof gives back the try that TryProof has counted, if [IsUncounted] is true for err,
// the outcome of that try. It returns err, joined with an error of giving back.
func ReturnProof(ctx context.Context, d *Directory, of EnrolmentOf, err error) error {
	return returnTry(ctx, d, challenge.Reauth, of.Handle, err)
}

// NoteSilence remembers for a session, for ten minutes, that a provider does not tell
// when its user signed in there.
func NoteSilence(ctx context.Context, d *Directory, of EnrolmentOf) error {
	rows, handle := d.Waiting(d.Store), of.Handle+silentProvider
	if err := rows.End(ctx, challenge.Reauth, handle); err != nil { // an expired one
		return err
	}
	_, err := rows.Create(ctx, challenge.Draft{Purpose: challenge.Reauth, Handle: handle, UserID: of.UserID, Life: proofLife})
	return failure.Ignoring(err, storage.ErrConflict)
}

// IsSilent reports whether NoteSilence was called for a session in the last ten minutes.
func IsSilent(ctx context.Context, d *Directory, of EnrolmentOf) (bool, error) {
	_, err := d.Waiting(d.Store).Get(ctx, challenge.Reauth, of.Handle+silentProvider)
	return err == nil, failure.Ignoring(err, storage.ErrNotFound)
}

// StepUp is a right proof in a session.
type StepUp struct {
	Of     EnrolmentOf // the session
	Second *Second     // a code that is used up; nil: another proof
	Since  time.Time   // the latest proof in it so far; zero: unknown
	Event  event.Event // about the session and the proof

	// Renew gives the session its new token.
	Renew func(ctx context.Context, s *Store, after time.Time) error
}

// CompleteStepUp uses up the code of a proof, renews the session by up.Renew and adds
// up.Event, in one transaction if the store has transactions. It renews a session in a
// store apart after the commit. It also ends a change of address that staff has asked
// for, and the count of tries. Nothing that can fail comes after the renewal: the browser
// would not get the new token. It returns ErrSessionGone if the session or the user is
// gone, or if the user's sessions were ended since up.Since. It returns ErrWrongProof if the
// code was used before, or is a wrong recovery code.
func CompleteStepUp(ctx context.Context, d *Directory, q *Outbox, up StepUp) error {
	return q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if _, err := s.LockUser(ctx, up.Of.UserID); err != nil {
			return goneIf(err, storage.ErrNotFound)
		}
		void, err := d.Revocations.userVoidAt(ctx, s, up.Of.UserID)
		if err != nil {
			return err
		}
		if !up.Since.IsZero() && !up.Since.After(void) {
			return ErrSessionGone
		}
		if up.Second != nil && d.Factors != nil {
			err = useProof(ctx, d.Factors, q, s, up.Second)
		} else if up.Second != nil {
			err = takeMailCode(ctx, d, s, up.Second)
		}
		if err != nil {
			return err
		}
		q.Add(up.Event, nil)
		if err := endRegain(ctx, d, q, s, &SignIn{User: storage.User{ID: up.Of.UserID}}); err != nil {
			return err
		}
		if err := d.Waiting(s).End(ctx, challenge.Reauth, up.Of.Handle); err != nil {
			return err
		}
		if !void.IsZero() { // which may be seconds ahead
			void = void.Add(time.Millisecond)
		}
		return afterCommit(ctx, s, func(ctx context.Context, s *Store) error {
			return goneIf(up.Renew(ctx, s, void), storage.ErrNotFound)
		})
	})
}

// takeMailCode uses up a mailed code. It returns ErrWrongProof if the code is gone.
func takeMailCode(ctx context.Context, d *Directory, s *Store, in *Second) error {
	_, err := d.Waiting(s).Take(ctx, challenge.Code, in.Mail)
	if errors.Is(err, storage.ErrNotFound) {
		return ErrWrongProof
	}
	return err
}
