package directory

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// Which user a sign-in will end in. The application is asked about that user, and
// the sign-in ends in no other.

// OtherUser reports that a sign-in would end in a user that the application was not asked
// about. In a store with transactions nothing was written. In another store the record of
// the sign-up may have been written, and the second factor and the invitation are used up.
// In both cases the same Assertion may be committed once more.
type OtherUser struct {
	User  storage.User
	IsNew bool // the user would be created
}

// Stored returns the user, or nil if it would be created.
func (o *OtherUser) Stored() *storage.User {
	if o.IsNew {
		return nil
	}
	return &o.User
}

// Error returns a text without the user.
func (*OtherUser) Error() string {
	return "the sign-in ends in another user than the application was asked about"
}

// Foresee returns the stored user that a sign-in will end in. It returns nil if the
// sign-in will create a user, or if the application names the user (Vouched). current is
// the signed-in user that a new account is linked to; nil: none. It does not look for
// every reason to refuse: [Directory.CommitSignIn] does. The error for a suspended user is a
// Suspended. With in.Connects it may also be in.SessionGone, or say that the account is
// another than the one to connect, or that of another user. Foresee writes nothing, so a
// concurrent change may prove it wrong; CommitSignIn then returns an OtherUser.
func Foresee(ctx context.Context, d *Directory, in *Assertion, current *storage.User) (*storage.User, error) {
	found, err := foresee(ctx, d, in, current)
	if err == nil {
		err = gate(ctx, d, in, found)
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// foresee does what Foresee does, without a look at suspensions. Its rules are those of
// resolve: a change of one needs a change of the other.
func foresee(ctx context.Context, d *Directory, in *Assertion, current *storage.User) (*storage.User, error) {
	owner, err := d.KnownUser(ctx, d.Store, in)
	if err == nil {
		err = checkConnect(in, owner, current)
	}
	switch {
	case err != nil || owner != nil || in.NamesUser():
		return owner, err
	case current != nil:
		return current, nil
	case in.mayLink():
		return guarded.Optional(d.Store.UserByEmail(ctx, in.Person.Email))
	}
	return nil, nil
}

// endIn makes a stored user the one that the sign-in ends in. It returns an
// OtherUser if the application was not asked about that user.
func (signIn *SignIn) endIn(u *storage.User) error {
	signIn.User = *u
	return signIn.expect(false)
}

// expect returns an OtherUser if the application was asked, but not about signIn.User.
// isNew says that this user is still to be created.
func (signIn *SignIn) expect(isNew bool) error {
	if signIn.Vouched || signIn.Allowed == nil || slices.Contains(signIn.Allowed, signIn.User.ID) {
		return nil
	}
	return &OtherUser{User: signIn.User, IsNew: isNew}
}

// notLinked returns the error for an account, or an e-mail address, that
// belongs to another user.
func notLinked(in *Assertion) error {
	return failure.WrapFor(notLinkedType(in), in.Account.Provider, errors.New("the account or its e-mail address belongs to another user"))
}

// notLinkedType returns the error type of notLinked: ErrAccountNotLinked for a passkey,
// and ErrOAuthAccountNotLinked for any other account.
func notLinkedType(in *Assertion) fault.ErrorType {
	if in.Account.Type == storage.TypeWebAuthn {
		return fault.ErrAccountNotLinked
	}
	return fault.ErrOAuthAccountNotLinked
}
