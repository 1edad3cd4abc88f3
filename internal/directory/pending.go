package directory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// Pending is a sign-in whose first factor was right and that waits for the second. The
// store has nothing of it yet but this.
type Pending struct {
	Assertion   Assertion
	UserID      string               // of the stored user; empty: the sign-in creates one
	CallbackURL string               // where the browser goes in the end
	Process     string               // an id of the process that began it
	Kinds       []storage.FactorKind // that are asked for, the strongest first; none: an app is enrolled
	Secret      []byte               // of the app that is enrolled
	Enrols      bool                 // an app is enrolled after one of Kinds was shown
	Account     string               // the user's name in that app
	Name        string               // as the page says for whom it is

	Expires time.Time // set by Waiting
	Tries   int       // set by Waiting
}

// plainAssertion has the fields of an Assertion, and not its methods.
type plainAssertion Assertion

// assertionRecord is an Assertion in JSON. Its own fields stand for those that JSON
// would hide or lose.
type assertionRecord struct {
	plainAssertion
	Account storage.AccountRecord
	Keep    *storage.AccountRecord // nil: all of the account's tokens
	Passkey *storage.AuthenticatorRecord
	Second  *struct{}
}

// MarshalJSON returns the assertion with its secrets. The caller keeps the JSON only in
// rows that are sealed.
func (in Assertion) MarshalJSON() ([]byte, error) {
	r := assertionRecord{plainAssertion: plainAssertion(in), Account: storage.AccountRecord(in.Account), Passkey: (*storage.AuthenticatorRecord)(in.Passkey)}
	if !reflect.DeepEqual(in.Keep, in.Account.Tokens) {
		r.Keep = &storage.AccountRecord{Tokens: in.Keep}
	}
	return json.Marshal(r)
}

// UnmarshalJSON reads what MarshalJSON writes. Numbers become json.Number, and Second
// becomes nil.
func (in *Assertion) UnmarshalJSON(data []byte) error {
	var r assertionRecord
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		return err
	}
	*in = Assertion(r.plainAssertion)
	in.Account, in.Keep = storage.Account(r.Account), r.Account.Tokens
	in.Passkey, in.Second = (*storage.Authenticator)(r.Passkey), nil
	if r.Keep != nil {
		in.Keep = r.Keep.Tokens
	}
	return nil
}

// Suspend stores a sign-in that waits for its second factor, sealed, and returns the
// handle that the browser keeps. Of one user the newest [factor.MostPending] stay. It
// adds the event SignInChallenged. [Suspend] of this package is about users.
func (d *Factors) Suspend(ctx context.Context, q *Outbox, p *Pending, life time.Duration) (handle string, err error) {
	rows := d.Waiting(d.Store)
	handle, err = rows.Create(ctx, challenge.Draft{Purpose: challenge.SignIn, UserID: p.UserID, Data: p, Life: life})
	if err != nil {
		return "", err
	}
	if p.UserID != "" {
		err = rows.Keep(ctx, challenge.SignIn, p.UserID, factor.MostPending)
	}
	q.Add(event.Event{
		Type: event.SignInChallenged, UserID: p.UserID, Provider: p.Assertion.Account.Provider, ProviderType: p.Assertion.Account.Type,
	}, nil)
	return handle, err
}

// Suspended returns the sign-in that waits under a handle, and leaves it there. It
// returns ErrNotPending if there is none.
func (d *Factors) Suspended(ctx context.Context, handle string) (*Pending, error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.SignIn, handle)
	return readPending(row, err)
}

// TrySecond counts one try at the second factor of a sign-in, and returns the sign-in.
// The caller calls it before it compares the factor. It returns ErrNotPending if there is
// no such sign-in. If no try was left, it returns ErrNotPending and ends the sign-in.
func (d *Factors) TrySecond(ctx context.Context, handle string) (*Pending, error) {
	row, err := d.Waiting(d.Store).Try(ctx, challenge.SignIn, handle, factor.MostTries)
	return readPending(row, err)
}

// IsUncounted reports whether err says that an outage has kept a proof from being looked
// at, so that no try counts. It is false for an outage after the proof was found wrong.
func IsUncounted(err error) bool { return guarded.IsOutage(err) && !errors.Is(err, ErrWrongProof) }

// ReturnSecond gives back the try that TrySecond has counted, if [IsUncounted] is true for
// err, the outcome of that try. It returns err, joined with an error of giving back. The
// caller calls it once for each try.
func (d *Factors) ReturnSecond(ctx context.Context, handle string, err error) error {
	return returnTry(ctx, d.Directory, challenge.SignIn, handle, err)
}

// TryMailCode counts one try at the code with a handle, and calls judge with what
// [challenge.Rows.TryCode] returns. If the error of judge [IsUncounted], it gives the try
// back. It returns the error of TryCode, or else that of judge.
func TryMailCode(ctx context.Context, rows *challenge.Rows, handle, purpose string, judge func(c challenge.MailCode, fits func(typed string) error) error) error {
	stands, fits, err := rows.TryCode(ctx, handle, purpose)
	if err != nil {
		return err
	}
	if err = judge(stands, fits); IsUncounted(err) {
		err = errors.Join(err, rows.Return(ctx, challenge.Code, handle))
	}
	return err
}

// returnTry gives the try that was counted at a challenge back if err IsUncounted. It
// returns err, joined with an error of giving back.
func returnTry(ctx context.Context, d *Directory, p challenge.Purpose, handle string, err error) error {
	if !IsUncounted(err) {
		return err
	}
	if failed := d.Waiting(d.Store).Return(ctx, p, handle); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// readPending decodes a sign-in and sets the fields that come from its row. It returns
// ErrNotPending if err says that there is none.
func readPending(row *challenge.Row, err error) (*Pending, error) {
	if err != nil {
		return nil, notPendingIf(err)
	}
	p := &Pending{}
	if err := row.Read(p); err != nil {
		return nil, err
	}
	p.UserID, p.Expires, p.Tries = row.UserID, row.Expires, row.Tries
	return p, nil
}

// Forget ends the sign-in that waits under a handle, and the code that was mailed for it.
// It returns nil if there is none.
func (d *Factors) Forget(ctx context.Context, handle string) error {
	if handle == "" {
		return nil
	}
	rows := d.Waiting(d.Store)
	return errors.Join(rows.End(ctx, challenge.Code, mailHandle(handle)), rows.End(ctx, challenge.SignIn, handle))
}

// Shown is what a user has shown as second factor.
type Shown struct {
	Kind    storage.FactorKind
	Code    string // as it was typed
	Name    string // of the app that is enrolled
	IsKnown bool   // the user has signed in in this browser before
}

// CheckSecond returns what the transaction of the sign-in has to use up for the code in
// shown, or nil and why if the code is wrong: FactorUnreadable if the secret of an app did
// not open, else FactorWrong. If p.Secret is set, the code has to be of that app,
// which the user enrols. A well-formed recovery code is never nil here: a wrong one fails
// with ErrWrongProof when it is used up. A wrong code of an app counts as a failure of
// all apps of the user. A kind that is not in p.Kinds is wrong. Passkeys are checked
// elsewhere.
func (d *Factors) CheckSecond(ctx context.Context, handle string, p *Pending, shown Shown) (second *Second, why fault.Detail, err error) {
	second, why = &Second{Handle: handle, UserID: p.UserID, Kind: shown.Kind, AMR: factor.OfKind(shown.Kind)}, fault.FactorWrong
	if len(p.Secret) > 0 {
		step, ok := otp.Check(p.Secret, otp.Typed(shown.Code), d.Now(), d.Skew)
		if !ok {
			return nil, why, nil
		}
		second.Enrol = &NewApp{Name: shown.Name, Secret: p.Secret, Step: step}
		return second, "", nil
	}
	if !slices.Contains(p.Kinds, shown.Kind) {
		return nil, why, nil
	}
	switch shown.Kind {
	case storage.FactorTOTP:
		return d.checkApp(ctx, second, shown)
	case storage.FactorRecovery:
		if factor.TypedRecovery(shown.Code) == "" {
			return nil, why, nil
		}
		second.Recovery = factor.RecoveryHash(p.UserID, shown.Code)
		return second, "", nil
	case storage.FactorEmail:
		second, err = CheckMailCode(ctx, d.Directory, second, shown.Code)
		return second, why, err
	}
	return nil, why, nil
}

// checkApp returns second with the app that the code fits. If the code fits none, or was
// used before, checkApp counts a failure at each app that it tried, and returns nil and
// why. If it cannot count one, the error is also ErrWrongProof. From unknown browsers it
// tries no app with many failures. It logs an app whose secret does not open.
func (d *Factors) checkApp(ctx context.Context, second *Second, shown Shown) (_ *Second, why fault.Detail, err error) {
	rows, err := d.Store.Factors().List(ctx, second.UserID)
	if err != nil {
		return nil, "", err
	}
	why = fault.FactorWrong
	apps := (&factor.Held{Rows: rows}).Apps()
	if !shown.IsKnown {
		apps = slices.DeleteFunc(apps, func(f storage.Factor) bool { return f.Failures >= factor.MostFailures })
	}
	second.App, err = d.sealer.Match(apps, otp.Typed(shown.Code), d.Now(), d.Skew, func(f storage.Factor, err error) {
		why = fault.FactorUnreadable
		d.Log.Error(ctx, journal.NoSubject{}, failure.Wrap(fault.ErrFactor, failure.Of(fault.FactorUnreadable, fmt.Errorf("a second factor cannot be used: %w", err))), "user", f.UserID, "factor", f.ID)
	})
	if err != nil || second.App != nil {
		return second, "", err
	}
	for _, app := range apps {
		if _, err := d.Store.Factors().Fail(ctx, app.ID); err != nil {
			return nil, why, errors.Join(ErrWrongProof, err)
		}
	}
	return nil, why, nil
}

// mailCodeLife is how long a mailed code works.
const mailCodeLife = 10 * time.Minute

// mailHandle returns the handle of the code that is mailed for a sign-in.
func mailHandle(handle string) string { return "second factor " + handle }

// NewMailCode stores a new code for the sign-in that waits under a handle, in place of an
// earlier one, and returns the code with its expiry. It sends no mail.
func NewMailCode(ctx context.Context, d *Directory, handle string, p *Pending) (code string, expires time.Time, err error) {
	rows, name := d.Waiting(d.Store), mailHandle(handle)
	if err := rows.End(ctx, challenge.Code, name); err != nil {
		return "", expires, err
	}
	code = secret.Digits(8)
	_, err = rows.Create(ctx, challenge.Draft{Purpose: challenge.Code, Handle: name, UserID: p.UserID, Data: code, Life: mailCodeLife})
	return code, d.Now().Add(mailCodeLife), err
}

// CheckMailCode returns second with Mail set, so that the sign-in uses the code up that
// was mailed for second.Handle. It returns nil if another code was typed, or if no code
// waits.
func CheckMailCode(ctx context.Context, d *Directory, second *Second, typed string) (*Second, error) {
	second.Mail = mailHandle(second.Handle)
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Code, second.Mail)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var code string
	if err := row.Read(&code); err != nil {
		return nil, err
	}
	if row.UserID != second.UserID || !secret.Equal(code, otp.Typed(typed)) {
		return nil, nil
	}
	return second, nil
}
