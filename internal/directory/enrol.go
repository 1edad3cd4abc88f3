package directory

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/storage"
)

// Factors that a user sets up and removes, outside of a sign-in.

// Enrolment is an authenticator app whose first code is awaited.
type Enrolment struct {
	Secret  []byte
	Account string // the user's name in the app
}

// enrolmentData is the sealed part of its row.
type enrolmentData struct {
	Secret  string `json:"secret"`
	Account string `json:"account"`
	Session string `json:"session,omitempty"` // that it was begun in; empty: none
}

const (
	enrolmentLife = 15 * time.Minute
	codesLife     = 10 * time.Minute
)

// EnrolmentOf names an enrolment, or what else is kept for a session: its handle, and the
// user and session that it belongs to.
type EnrolmentOf struct {
	Handle  string
	UserID  string
	Session string // empty: none
}

// BeginEnrolment starts the enrolment of an authenticator app for the user of.UserID. It
// stores the enrolment under of.Handle, in place of an earlier one, or under a new handle if
// that is empty, and returns handle and secret. If the user has an e-mail address that is not
// proven, it returns ErrUnproven: an attacker could sign up first and lock the owner out.
// Without apps on the site it returns an ErrFactor, and for an unknown user ErrNotFound.
func (d *Factors) BeginEnrolment(ctx context.Context, of EnrolmentOf) (handle string, e *Enrolment, err error) {
	u, err := d.Store.User(ctx, of.UserID)
	if err == nil {
		err = d.canEnrol(ctx, &u)
	}
	if err != nil {
		return "", nil, err
	}
	rows := d.Waiting(d.Store)
	if of.Handle != "" {
		if err := rows.End(ctx, challenge.Enrol, of.Handle); err != nil {
			return "", nil, err
		}
	}
	e = &Enrolment{Secret: otp.NewSecret(), Account: accountOf(&u)}
	handle, err = rows.Create(ctx, challenge.Draft{
		Purpose: challenge.Enrol, Handle: of.Handle, UserID: u.ID, Life: enrolmentLife,
		Data: enrolmentData{base64.RawStdEncoding.EncodeToString(e.Secret), e.Account, of.Session},
	})
	return handle, e, err
}

// ErrUnproven reports that the e-mail address of a user has to be proven first.
var ErrUnproven = failure.Wrap(fault.ErrFactor, failure.Of(fault.FactorFailed, errors.New("the user's e-mail address is not proven")))

var errNoApps = failure.Wrap(fault.ErrFactor, failure.Of(fault.FactorFailed, errors.New("Factors.Kinds has no FactorTOTP, so that no sign-in would ask for the app")))

// canEnrol returns errNoApps if the site does not offer apps, and ErrUnproven if the user
// has an e-mail address that is not proven.
func (d *Factors) canEnrol(ctx context.Context, u *storage.User) error {
	if !d.offers(storage.FactorTOTP) {
		return errNoApps
	}
	isProven, err := IsAddressProven(ctx, d.Directory, u)
	if err == nil && !isProven && u.Email != "" {
		err = ErrUnproven
	}
	return err
}

// EnrolmentFor returns an enrolment that is under way. It returns ErrNotPending if there
// is none with the handle, or if it is of another user or session.
func (d *Factors) EnrolmentFor(ctx context.Context, of EnrolmentOf) (*Enrolment, error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Enrol, of.Handle)
	if err != nil {
		return nil, notPendingIf(err)
	}
	return readEnrolment(row, of)
}

// notPendingIf returns ErrNotPending if err says that a challenge is gone or spent, and
// err otherwise.
func notPendingIf(err error) error {
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, challenge.ErrSpent) {
		return ErrNotPending
	}
	return err
}

// readEnrolment decodes an enrolment. It returns ErrNotPending for one of another user or
// session.
func readEnrolment(row *challenge.Row, of EnrolmentOf) (*Enrolment, error) {
	var data enrolmentData
	if err := row.Read(&data); err != nil {
		return nil, err
	}
	if row.UserID != of.UserID || data.Session != of.Session {
		return nil, ErrNotPending
	}
	raw, err := base64.RawStdEncoding.DecodeString(data.Secret)
	return &Enrolment{Secret: raw, Account: data.Account}, err
}

// FactorChange is a change of a user's factors.
type FactorChange struct {
	UserID string
	Keep   string // id of the stored session that goes on; empty: none

	// Renew gives the session that goes on a new token. after is the first instant that
	// is not void. nil: no session goes on.
	Renew func(ctx context.Context, s *Store, after time.Time) error

	// May reports whether the user may be without factors. nil: yes.
	May func(ctx context.Context, u *storage.User) (bool, error)
}

// ConfirmEnrolment stores the app of an enrolment under name if the code is right, and
// ends the other sessions of the user. For the user's first factor it returns new
// recovery codes, if the site offers them. A wrong code is ErrSecondFactor. The fifth
// wrong code is ErrNotPending and ends the enrolment; one that is gone, or of another
// user or session, is ErrNotPending, too. A user with too many apps gets ErrTooManyApps.
// It adds the event FactorAdded.
func (d *Factors) ConfirmEnrolment(ctx context.Context, q *Outbox, c FactorChange, of EnrolmentOf, name, code string) (codes []string, err error) {
	rows := d.Waiting(d.Store)
	row, err := rows.Try(ctx, challenge.Enrol, of.Handle, factor.MostTries)
	if err != nil {
		return nil, notPendingIf(err)
	}
	e, err := readEnrolment(row, of)
	if err != nil {
		return nil, err
	}
	step, ok := otp.Check(e.Secret, otp.Typed(code), d.Now(), d.Skew)
	if !ok {
		if row.Tries >= factor.MostTries {
			return nil, errors.Join(ErrNotPending, rows.EndRow(ctx, row))
		}
		return nil, failure.Wrap(fault.ErrSecondFactor, &failure.Mistake{Err: failure.Of(fault.FactorWrong, errors.New("the code does not fit the new app"))})
	}
	err = d.changeFactors(ctx, q, c, func(ctx context.Context, s *Store, u *storage.User, held *factor.Held) error {
		if _, err := d.Waiting(s).Take(ctx, challenge.Enrol, of.Handle); err != nil {
			return notPendingIf(err)
		}
		codes, err = addApp(ctx, d, q, s, u.ID, held, &NewApp{Name: name, Secret: e.Secret, Step: step})
		return err
	})
	return codes, returnTry(ctx, d.Directory, challenge.Enrol, of.Handle, err)
}

// RemoveFactor removes the factor with an id of a user, ends the other sessions of the
// user, and returns the kind of the factor. With the last factor it removes the recovery
// codes. It returns ErrNotFound if the user has no such factor, and ErrLastFactor if c.May
// says that the user has to have one. It adds the event FactorRemoved.
func (d *Factors) RemoveFactor(ctx context.Context, q *Outbox, c FactorChange, id string) (kind storage.FactorKind, err error) {
	err = d.changeFactors(ctx, q, c, func(ctx context.Context, s *Store, u *storage.User, held *factor.Held) error {
		before := held.Count(d.Kinds)
		if _, err := s.Factors().Delete(ctx, u.ID, id); err != nil {
			return err
		}
		kind = held.KindOf(id)
		rest, err := d.Held(ctx, s, u)
		if err != nil {
			return err
		}
		if rest.Count(d.Kinds) == 0 && before > 0 && c.May != nil {
			may, err := c.May(ctx, u)
			if err != nil {
				return err
			}
			if !may {
				return d.bringBackFactor(ctx, s, held, id)
			}
		}
		q.Add(event.Event{Type: event.FactorRemoved, UserID: u.ID}, nil)
		if rest.Count(d.Kinds) > 0 {
			return nil
		}
		return s.Factors().ReplaceRecoveryCodes(ctx, u.ID, nil)
	})
	return kind, err
}

// bringBackFactor stores a factor again that its user has to have, where no transaction
// rolls its removal back. It always returns ErrLastFactor.
func (d *Factors) bringBackFactor(ctx context.Context, s *Store, held *factor.Held, id string) error {
	if s.Tx == nil {
		for _, f := range held.Rows {
			if f.ID == id {
				return errors.Join(fault.ErrLastFactor, s.Factors().Create(ctx, f))
			}
		}
	}
	return fault.ErrLastFactor
}

// clearedLife is how long a user whose factors were removed by an administrator has to
// prove the mailbox before an app is enrolled at a sign-in.
const clearedLife = 365 * 24 * time.Hour

// ResetFactors removes all factors and recovery codes of a user for an administrator, and ends
// all sessions of the user. Passkeys stay. It returns the user, or ErrNotFound for an unknown
// user, and adds the event FactorReset. If the address is proven, the user has to prove the
// mailbox before a sign-in enrols the next app: see [Factors.EnrolsByMail].
func (d *Factors) ResetFactors(ctx context.Context, q *Outbox, userID string) (owner storage.User, err error) {
	err = d.changeFactors(ctx, q, FactorChange{UserID: userID}, func(ctx context.Context, s *Store, u *storage.User, held *factor.Held) error {
		for _, f := range held.Rows {
			if _, err := s.Factors().Delete(ctx, u.ID, f.ID); failure.Ignoring(err, storage.ErrNotFound) != nil {
				return err
			}
		}
		owner = *u
		q.Add(event.Event{Type: event.FactorReset, UserID: u.ID}, nil)
		if err := s.Factors().ReplaceRecoveryCodes(ctx, u.ID, nil); err != nil || u.Email == "" || u.EmailVerified.IsZero() {
			return err
		}
		rows := d.Waiting(s)
		if err := rows.End(ctx, challenge.Cleared, u.ID); err != nil {
			return err
		}
		_, err := rows.Create(ctx, challenge.Draft{Purpose: challenge.Cleared, Handle: u.ID, UserID: u.ID, Life: clearedLife})
		return err
	})
	return owner, err
}

// EnrolsByMail reports whether a user has to prove the mailbox before a sign-in enrols an
// app, because an administrator has removed the factors and others may know the first
// factor. It returns false for a user whose address is not proven.
func (d *Factors) EnrolsByMail(ctx context.Context, u *storage.User) (bool, error) {
	if u.Email == "" || u.EmailVerified.IsZero() {
		return false, nil
	}
	_, err := d.Waiting(d.Store).Get(ctx, challenge.Cleared, u.ID)
	return err == nil, failure.Ignoring(err, storage.ErrNotFound)
}

// TakeMailProof uses up in.Mail, the mailed code after which a user enrols an app, and
// in.Handle, the sign-in that waited for the code. It returns ErrWrongProof or
// ErrNotPending if a concurrent request has used up the one or the other.
func (d *Factors) TakeMailProof(ctx context.Context, in *Second) error {
	if _, err := d.Waiting(d.Store).Take(ctx, challenge.Code, in.Mail); errors.Is(err, storage.ErrNotFound) {
		return ErrWrongProof
	} else if err != nil {
		return err
	}
	return takePending(ctx, d, d.Store, in)
}

// changeFactors runs change with the user locked, and then ends everything that the user
// proved before, except the session c.Keep, which c.Renew gives a new token. It does all
// of it in one transaction if the store has transactions. It returns ErrNotFound for an
// unknown user, and the errors of change.
func (d *Factors) changeFactors(ctx context.Context, q *Outbox, c FactorChange, change func(context.Context, *Store, *storage.User, *factor.Held) error) error {
	return q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		u, err := s.LockUser(ctx, c.UserID)
		if err != nil {
			return err
		}
		held, err := d.Held(ctx, s, &u)
		if err != nil {
			return err
		}
		if err := change(ctx, s, &u, held); err != nil {
			return err
		}
		ended, err := d.endAll(ctx, q, s, u.ID, c.Keep)
		if err == nil {
			err = renewKept(ctx, d.Directory, s, u.ID, c.Keep, c.Renew, after(ended))
		}
		return err
	})
}

// NewRecoveryCodes replaces the recovery codes of a user, and takes the trust of the
// user's browsers away. It returns ErrFactor if the user has no other factor, or the site
// offers no recovery codes. It adds the event RecoveryChanged.
func (d *Factors) NewRecoveryCodes(ctx context.Context, q *Outbox, userID string) (codes []string, err error) {
	err = q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		u, err := s.LockUser(ctx, userID)
		if err != nil {
			return err
		}
		held, err := d.Held(ctx, s, &u)
		if err != nil {
			return err
		}
		if !d.CanHaveCodes(held) {
			return failure.Wrap(fault.ErrFactor, failure.Of(fault.FactorFailed, errors.New("recovery codes exist only beside another factor")))
		}
		if codes, err = makeCodes(ctx, d, s, u.ID); err != nil {
			return err
		}
		q.Add(event.Event{Type: event.RecoveryChanged, UserID: u.ID}, nil)
		return d.browsers(s).Distrust(ctx, u.ID)
	})
	return codes, err
}

// KeepCodes keeps new recovery codes under of.Handle, in place of others, for ten minutes
// or until DropCodes. The caller derives the handle from the session: of.Session is not
// looked at.
func (d *Factors) KeepCodes(ctx context.Context, of EnrolmentOf, codes []string) error {
	rows := d.Waiting(d.Store)
	if err := rows.End(ctx, challenge.Codes, of.Handle); err != nil {
		return err
	}
	_, err := rows.Create(ctx, challenge.Draft{Purpose: challenge.Codes, Handle: of.Handle, UserID: of.UserID, Life: codesLife, Data: codes})
	return err
}

// KeptCodes returns the recovery codes that are kept under of.Handle for the user
// of.UserID, or nil.
func (d *Factors) KeptCodes(ctx context.Context, of EnrolmentOf) (codes []string, err error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Codes, of.Handle)
	if err != nil || row.UserID != of.UserID {
		return nil, failure.Ignoring(err, storage.ErrNotFound)
	}
	return codes, row.Read(&codes)
}

// DropCodes forgets the recovery codes that are kept under of.Handle. It returns nil if
// there are none.
func (d *Factors) DropCodes(ctx context.Context, of EnrolmentOf) error {
	return d.Waiting(d.Store).End(ctx, challenge.Codes, of.Handle)
}
