package users

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/internal/veil"
	"github.com/latchkeyhq/latchkey/storage"
)

// Enrolment is an authenticator app that a user sets up. Its fields are secrets: show
// them to the user alone, and keep them nowhere.
type Enrolment struct {
	veil.Hidden // prints and encodes as "[redacted]"

	ID     string // names the enrolment in [Users.ConfirmTOTP]
	URI    string // opens an authenticator app on the same device
	Secret string // base32, for users who type it
	QR     string // an SVG element of the URI, for users who scan it
}

var errNoFactors = errors.New("latchkey: the site has no second factors: set Config.Factors.Kinds")

// openFactors does what open does. It also returns ErrMissingAdapterMethods if the
// Adapter cannot keep factors, and ErrInvalidConfig for a site without second factors.
func (u *Users) openFactors(ctx context.Context, userID, operation string) (*directory.Work, error) {
	w, err := u.open(ctx, userID, operation, directory.AbilityFactors)
	if err == nil && w.Factors == nil {
		err = failure.Wrap(fault.ErrInvalidConfig, errNoFactors)
	}
	return w, err
}

// Factors lists the second factors of a user, without their secrets. Passkeys are
// listed by Passkeys. It needs latchkey.Config.Factors.
func (u *Users) Factors(ctx context.Context, userID string) ([]storage.Factor, error) {
	w, err := u.openFactors(ctx, userID, "Users.Factors")
	if err != nil {
		return nil, err
	}
	rows, err := w.Store.Factors().List(ctx, userID)
	for i := range rows {
		rows[i].Secret = ""
	}
	return rows, err
}

// BeginTOTP begins the setup of an authenticator app for a user. It changes no factor:
// the app becomes one when ConfirmTOTP gets a right code of it, within 15 minutes.
// BeginTOTP returns ErrFactor if the user has an e-mail address that is not proven, and if
// latchkey.Factors.Kinds has no FactorTOTP. It needs latchkey.Config.Factors.
func (u *Users) BeginTOTP(ctx context.Context, userID string) (Enrolment, error) {
	w, err := u.openFactors(ctx, userID, "Users.BeginTOTP")
	if err != nil {
		return Enrolment{}, err
	}
	id, e, err := w.Factors.BeginEnrolment(ctx, directory.EnrolmentOf{UserID: userID})
	if err != nil {
		return Enrolment{}, err
	}
	uri := otp.URI(w.Factors.Issuer, e.Account, e.Secret)
	image, err := otp.SVG(uri, "QR code")
	return Enrolment{ID: id, URI: uri, Secret: otp.Text(e.Secret), QR: image}, err
}

// ConfirmTOTP turns an authenticator app on if the code fits, and ends all sessions of
// the user except the one of ctx: see [Users]. enrolmentID is [Enrolment].ID. It keeps the
// first 64 visible characters of name, which names the app; empty: none. ConfirmTOTP returns
// recovery codes if this is the user's first factor, passkeys aside, and
// latchkey.Factors.Kinds has FactorRecovery: show them to the user once. They replace any
// earlier ones. A wrong code is ErrSecondFactor. The fifth wrong code ends the enrolment:
// the error is ErrFactor, as for an enrolment that is over, has expired or is of another
// user, and for a user with five apps. It needs latchkey.Config.Factors.
func (u *Users) ConfirmTOTP(ctx context.Context, userID, enrolmentID, name, code string) (recovery []string, err error) {
	w, err := u.openFactors(ctx, userID, "Users.ConfirmTOTP")
	if err != nil {
		return nil, err
	}
	defer w.Tell(ctx)
	of := directory.EnrolmentOf{Handle: enrolmentID, UserID: userID}
	recovery, err = w.Factors.ConfirmEnrolment(ctx, w.Events, directory.FactorChange{UserID: userID, Keep: w.SessionID}, of, directory.VisibleName(name), code)
	if errors.Is(err, directory.ErrNotPending) {
		err = failure.Wrap(fault.ErrFactor, err)
	}
	return recovery, err
}

// NewRecoveryCodes replaces the recovery codes of a user and returns the new ones. A user
// without another factor can have none, nor can users of a site without FactorRecovery in
// latchkey.Factors.Kinds: the error is ErrFactor. Browsers that were
// remembered for the second factor are remembered no more: see latchkey.Factors.Remember.
// It needs latchkey.Config.Factors.
func (u *Users) NewRecoveryCodes(ctx context.Context, userID string) ([]string, error) {
	w, err := u.openFactors(ctx, userID, "Users.NewRecoveryCodes")
	if err != nil {
		return nil, err
	}
	defer w.Tell(ctx)
	return w.Factors.NewRecoveryCodes(ctx, w.Events, userID)
}

// RemoveFactor removes a factor of a user, named by [storage.Factor].ID, and ends all
// sessions of the user except the one of ctx: see [Users]. It removes the recovery codes
// together with the last factor. It does not call latchkey.Factors.Require: the
// application decides whether the user may be without a factor. It needs
// latchkey.Config.Factors.
func (u *Users) RemoveFactor(ctx context.Context, userID, factorID string) error {
	w, err := u.openFactors(ctx, userID, "Users.RemoveFactor")
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	_, err = w.Factors.RemoveFactor(ctx, w.Events, directory.FactorChange{UserID: userID, Keep: w.SessionID}, factorID)
	return err
}

// ResetFactors removes all factors and recovery codes of a user, and ends all sessions
// of the user, because the user has lost the factors. Passkeys stay.
//
// Make sure that the right person asks: afterwards the first factor alone is enough to
// sign in. It is also enough to set up a new factor, with one exception: where
// latchkey.Factors.Require makes a sign-in set one up, a user with a proven address has to
// prove the mailbox first, if the site sends mails.
//
// A mail tells the user of the reset if the address is proven, the site sends mails and
// latchkey.Site.URL is set. While a change of the e-mail address can be undone, the former
// address is told, too. If ResetFactors cannot read the former address, it returns an
// error although the factors are removed. It needs latchkey.Config.Factors.
func (u *Users) ResetFactors(ctx context.Context, userID string) error {
	w, err := u.openFactors(ctx, userID, "Users.ResetFactors")
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	owner, err := w.Factors.ResetFactors(ctx, w.Events, userID)
	if err != nil {
		return err
	}
	w.MailReset(ctx, &owner)
	former, err := directory.FormerAddresses(ctx, w.Directory, &owner)
	for _, owner.Email = range former { // each was proven
		w.MailReset(ctx, &owner)
	}
	return err
}
