package users

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/passwords"
	"github.com/latchkeyhq/latchkey/storage"
)

// The methods of this file need a latchkey.Password among the providers.

// Keeper is not for applications: it is the part of [Backend] that passwords need.
type Keeper struct {
	*passwords.Flows
	From passwords.Asker
	Host string // of the site; empty: it is not known
	// Send sends a mail at once. Its error is public.
	Send func(ctx context.Context, m passwords.Mail) error
}

var errNoHash = errors.New("latchkey: the hash of a password is empty")

// keeper opens the directory of a user, and returns it with the flows of passwords. A
// site without passwords is ErrInvalidConfig, and, if mails is set, also one without a
// known URL.
func (u *Users) keeper(ctx context.Context, userID, operation string, mails bool) (*directory.Work, *Keeper, error) {
	w, err := u.open(ctx, userID, operation)
	if err != nil {
		return nil, nil, err
	}
	k, err := u.backend.Passwords(ctx, mails)
	return w, k, err
}

// SetPassword gives a user a password, for a form or a seed of the application's own.
// The password has to pass the rules for new passwords: otherwise the error is
// ErrPassword, and latchkey.Error.Code says why. SetPassword ends all sessions of the
// user except the one of ctx (see [Users]), and makes links, codes, known browsers and
// sign-ins from before void. On a site with Site.URL it mails the user that the password
// was changed.
// Administrators let users choose their own password: see SendPasswordReset. All
// methods about passwords and browsers need a latchkey.Password among the providers.
func (u *Users) SetPassword(ctx context.Context, userID, password string) error {
	w, k, err := u.keeper(ctx, userID, "Users.SetPassword", false)
	if err != nil {
		return err
	}
	user, err := w.Store.User(ctx, userID)
	if err != nil {
		return err
	}
	if err := k.Weakness(ctx, password, user.Email, user.Name, k.Host); err != nil {
		return err
	}
	hash, err := k.Hash(ctx, password)
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	c := directory.PasswordChange{UserID: userID, Hash: hash, Keep: w.SessionID, Event: event.PasswordSet}
	if _, err := k.Directory.SetPassword(ctx, w.Events, c); err != nil {
		return err
	}
	k.Tell(&user, k.From)
	return nil
}

// CheckPassword returns nil if a password is the user's, also if the user has to choose
// another one before the next sign-in: see RequireNewPassword. It says nothing more of
// the user: a sign-in by the same password may be refused, because the address is not
// proven, the password is known to be leaked, or the user is suspended.
//
// CheckPassword returns ErrCredentialsSignin in these cases:
//
//   - The password is wrong, or the user has none.
//   - There were too many tries in a short time. The password is not looked at then.
//   - The password is right, but very many wrong ones in a row came before. On a site with
//     Site.URL a mail then brings the user a link to a new password.
//
// Tries count as those of an unknown browser.
func (u *Users) CheckPassword(ctx context.Context, userID, password string) error {
	w, k, err := u.keeper(ctx, userID, "Users.CheckPassword", false)
	if err != nil {
		return err
	}
	user, err := w.Store.User(ctx, userID)
	if err != nil {
		return err
	}
	found, err := k.CheckCurrent(ctx, &user, password, k.From)
	if err == nil && !found.OK {
		err = failure.Wrap(fault.ErrCredentialsSignin, &failure.Mistake{Err: failure.Of(fault.SignInWrong, errors.New("the password is wrong, or was tried too often"))})
	}
	return err
}

// SetPasswordHash stores a hash that another program has made, such as an imported one.
// It does what SetPassword does, without its rules and its mail. It does not look at the
// format of the hash: one that latchkey.Password.Hasher cannot check is stored, and no
// password fits it. Check imported hashes with Format of module password. An empty hash is
// an error.
func (u *Users) SetPasswordHash(ctx context.Context, userID, hash string) error {
	w, k, err := u.keeper(ctx, userID, "Users.SetPasswordHash", false)
	if err != nil {
		return err
	}
	if hash == "" {
		return errNoHash
	}
	defer w.Tell(ctx)
	_, err = k.Directory.SetPassword(ctx, w.Events, directory.PasswordChange{UserID: userID, Hash: hash, Keep: w.SessionID, Event: event.PasswordSet})
	return err
}

// RequireNewPassword stops the password of a user from signing the user in, because
// others may know it. It ends all sessions of the user and makes all browsers unknown.
// Whoever then types the right password is not signed in: the user gets a mail with a link
// to a form for a new password. A browser is known again after the user has signed in there
// in another way. In such a browser the right password opens the form at once, without a
// mail. A user without a password is ErrNotFound.
func (u *Users) RequireNewPassword(ctx context.Context, userID string) error {
	w, k, err := u.keeper(ctx, userID, "Users.RequireNewPassword", false)
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return k.Directory.RequireNewPassword(ctx, w.Events, userID)
}

// SendPasswordReset mails a user a link that sets a new password, or a first one. The
// mail leaves after the call. What fails then is only logged, such as a mail beyond
// latchkey.Limits.MailsPerRecipient. A user without an e-mail address is ErrNotFound. It
// needs latchkey.Password and latchkey.Site.URL.
func (u *Users) SendPasswordReset(ctx context.Context, userID string) error {
	w, k, err := u.keeper(ctx, userID, "Users.SendPasswordReset", true)
	if err != nil {
		return err
	}
	user, err := w.Store.User(ctx, userID)
	if err == nil && user.Email == "" {
		err = storage.ErrNotFound
	}
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	w.Events.Add(event.Event{Type: event.LinkSent, UserID: user.ID}, nil)
	k.From.Mail(func(ctx context.Context) (passwords.Mail, error) { return k.Reset(ctx, &user, passwords.MailReset) })
	return nil
}

// Browsers lists the browsers that are known for a user, because the user has signed
// in from them. ID is empty; [storage.Browser].PublicID names a browser. It needs
// latchkey.Password.
func (u *Users) Browsers(ctx context.Context, userID string) ([]storage.Browser, error) {
	_, k, err := u.keeper(ctx, userID, "Users.Browsers", false)
	if err != nil {
		return nil, err
	}
	known, err := k.Directory.KnownBrowsers(ctx, userID)
	for i := range known {
		known[i].ID = ""
	}
	return known, err
}

// ForgetBrowser makes a browser unknown for a user, named by
// [storage.Browser].PublicID. The browser is asked for a second factor again, and its
// sessions go on. An empty publicID is no error: it makes ALL browsers of the user unknown.
// An unknown publicID is ErrNotFound. It needs latchkey.Password.
func (u *Users) ForgetBrowser(ctx context.Context, userID, publicID string) error {
	w, k, err := u.keeper(ctx, userID, "Users.ForgetBrowser", false)
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return k.Directory.ForgetBrowser(ctx, w.Events, userID, publicID)
}
