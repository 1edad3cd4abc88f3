// Package passwords has the flows of passwords that the library keeps: sign-in, sign-up,
// resets and changes. It knows no request. Callers hand over what was typed, with e-mail
// addresses in the form of mailbox.Canonical, and get what came of it.
package passwords

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// mostFailures is how many wrong passwords in a row a user may have before a right
// one from an unknown browser is no proof alone (NIST SP 800-63B-4, section 3.2.2).
const mostFailures = 100

// Hasher is the application's, or that of module password.
type Hasher struct {
	Hash  func(ctx context.Context, password string) (string, error)
	Check func(ctx context.Context, hash, password string) (Result, error)
	// Weakness says why a new password is refused; empty: it is good.
	Weakness func(ctx context.Context, password string, about []string) (string, error)
}

// Result says whether a password fits, its hash is outdated, and the password has leaked.
type Result struct{ OK, Stale, Breached bool }

// MailKind is what a mail is about.
type MailKind int

// The kinds of mail.
const (
	NoMail       MailKind = iota
	MailSignUp            // the link that completes a sign-up
	MailKnown             // a sign-up with the address of a user
	MailReset             // the link that sets a new password
	MailRenew             // the same, because the old password alone is no proof any more
	MailChanged           // the password was set, changed or removed
	MailAddress           // the link that proves a new address
	MailProve             // the link that proves the address of a user who came in without
	MailMoving            // to the former address, with the link that undoes the change
	MailRegain            // the link that makes this the address of a user who has lost the mailbox
	MailReplaced          // to the former address of that user, with the link that stops it
	MailMoved             // to that address after the change, with the link that undoes it
	MailTaken             // a user wanted to take the address of another
)

// Mail is a mail to be sent. The zero Mail is none.
type Mail struct {
	Kind    MailKind
	To      string
	UserID  string // whose mailbox it is; empty: of no user
	Handle  string // of its link; empty: it has none
	Code    string // to be typed where the mail was asked for; empty: there is none
	Expires time.Time
}

// Flows are the flows of one configuration. They are safe for concurrent use.
type Flows struct {
	Provider        string // id of the provider
	Directory       directory.Passwords
	Limits          *limit.Limits
	Hasher          Hasher
	LinkLife        time.Duration // of a reset link
	RegainDelay     time.Duration // until the address of a user who has lost the mailbox moves; at least 72 h
	SignUpOpen      bool          // everybody can create an account
	SignUpInvited   bool          // only addresses that have accepted an invitation get a link
	AllowUnverified bool          // users come in before their address is proven
	OfferPasskey    bool          // users without a passkey are offered one after a sign-in
	Timeout         time.Duration // of one call of Hasher
	Warn            func(ctx context.Context, err error)
}

// Asker is the client that a request comes from.
type Asker struct {
	// Requester returns how a client is counted for a user: with the id of its browser
	// if that is known for the user. The user need not exist.
	Requester func(userID string) limit.Requester
	// Mail calls write after the site has sent its response, and sends the mail from it.
	Mail func(write func(ctx context.Context) (Mail, error))
}

// Verdict says what became of a password that a client has sent.
type Verdict int

// The verdicts.
const (
	Wrong     Verdict = iota // or there is no such user, or no password
	Right                    // the user may sign in
	Unproven                 // it is right, but the address is not proven: a link was mailed
	Renewable                // it is right, known to others, and the browser is known: the user chooses another one
	Closed                   // it is right, but alone no proof: a link was mailed
	Stopped                  // it is right, but too many wrong ones came before: a link was mailed
)

// Shown is the outcome of a password that a client has sent.
type Shown struct {
	Verdict Verdict
	User    storage.User
	Stored  *storage.PasswordHash
	Wait    time.Duration // how long until a try makes sense; 0: at once
}

// Check decides about a password that a client has sent for an address. It counts a wrong
// password. For the verdict Right it forgets the wrong ones and may store a newer hash. For
// Unproven, Closed and Stopped it mails a link that sets a new password. If the
// client has to wait, the verdict is Wrong and Wait is positive. For an address without a
// user, and for a user without a password, Check does the same work as for a wrong
// password.
func (f *Flows) Check(ctx context.Context, email, password string, from Asker) (Shown, error) {
	user, err := guarded.Optional(f.Directory.Store.UserByEmail(ctx, email))
	if err != nil {
		return Shown{}, err
	}
	return f.check(ctx, user, email, password, from)
}

// Current is what became of a password that a signed-in user has typed.
type Current struct {
	OK   bool
	Hash string // the stored one
}

// CheckCurrent checks the password that a signed-in user has typed, and counts a wrong one as
// at a sign-in. For a right one OK is true and Hash is the stored hash. OK is false while the
// client has to wait. After too many wrong ones OK is false for the right password too,
// unless the browser is known. CheckCurrent then mails the link to a new one.
func (f *Flows) CheckCurrent(ctx context.Context, u *storage.User, password string, from Asker) (Current, error) {
	mail := from.Mail
	from.Mail = func(func(context.Context) (Mail, error)) {} // the user is here
	shown, err := f.check(ctx, u, u.Email, password, from)
	if shown.Verdict == Stopped {
		from.Mail = mail
		f.mailReset(from, MailRenew, func(context.Context) (*storage.User, error) { return u, nil })
		return Current{}, err
	}
	if err != nil || shown.Verdict == Wrong {
		return Current{}, err
	}
	stored, err := f.Directory.PasswordOf(ctx, u.ID) // it may have been hashed anew
	if stored == nil {
		return Current{}, err
	}
	return Current{OK: true, Hash: stored.Hash}, err
}

// check does the work of Check. user is nil if no user has the address. check mails the
// link for the verdicts Unproven, Closed and Stopped. If too many tries were made, it
// compares nothing and sets Wait.
func (f *Flows) check(ctx context.Context, user *storage.User, email, password string, from Asker) (shown Shown, err error) {
	id, counted := secret.NewUserID(), ""
	if user != nil {
		id, counted = user.ID, user.ID
		shown.User = *user
	}
	who := from.Requester(id)
	try, err := f.Limits.Take(ctx, f.Limits.UserAttempt(counted, email, who))
	if shown.Wait = try.Wait; err != nil || try.Wait > 0 {
		return shown, err
	}
	shown.Stored, err = guarded.Optional(f.Directory.Store.Passwords().Get(ctx, id))
	if err != nil {
		return shown, errors.Join(err, f.Limits.Return(ctx, try))
	}
	res, err := f.compare(ctx, shown.Stored, password)
	switch {
	case err != nil:
		return shown, errors.Join(err, f.Limits.Return(ctx, try))
	case !res.OK || shown.Stored == nil || user == nil:
		_, err := f.Directory.Store.Passwords().Fail(ctx, id)
		return shown, failure.Ignoring(err, storage.ErrNotFound)
	}
	if err := f.Limits.Return(ctx, try); err != nil {
		f.Warn(ctx, err)
	}
	shown.Verdict = f.judge(shown.Stored, user, res, who.Browser != "")
	switch shown.Verdict {
	case Right:
		f.renew(ctx, shown.Stored, password, res.Stale)
	case Unproven:
		f.mailReset(from, MailReset, func(context.Context) (*storage.User, error) { return user, nil })
	case Closed, Stopped:
		f.mailReset(from, MailRenew, func(context.Context) (*storage.User, error) { return user, nil })
	}
	return shown, nil
}

// OffersPasskey reports whether the browser goes to the page that offers a passkey after
// a sign-in with a password. It stores that a passkey was offered: see
// [directory.Passwords.OfferPasskey]. It logs an error of the store.
func (f *Flows) OffersPasskey(ctx context.Context, signIn *directory.SignIn) bool {
	if !f.OfferPasskey || signIn.Account.Provider != f.Provider {
		return false
	}
	offers, err := f.Directory.OfferPasskey(ctx, signIn)
	if err != nil {
		f.Warn(ctx, err)
	}
	return offers
}

// compare calls Hasher.Check, for at most Timeout. A hash that the hasher does not know
// fits no password. A nil stored is compared as an empty hash, so that it takes as long.
func (f *Flows) compare(ctx context.Context, stored *storage.PasswordHash, password string) (Result, error) {
	hash := ""
	if stored != nil {
		hash = stored.Hash
	}
	res, err := guarded.Timed(ctx, f.Timeout, "Password.Hasher: Check", func(ctx context.Context) (Result, error) { return f.Hasher.Check(ctx, hash, password) })
	if errors.Is(err, errors.ErrUnsupported) {
		f.Warn(ctx, err)
		return Result{}, nil
	}
	return res, busyAsOutage(err)
}

// busyAsOutage wraps the error of a hasher that has no memory left as ErrAdapter, an
// outage of the site: the same request succeeds in a moment. It returns any other error
// unchanged.
func busyAsOutage(err error) error {
	if errors.Is(err, storage.ErrUnavailable) {
		return failure.Wrap(fault.ErrAdapter, err)
	}
	return err
}

// judge returns the verdict about a right password. known says that the browser is known for
// the user. Renewable needs a proven address. For it the caller of Check gives the browser a
// link at once, and that link proves the address.
func (f *Flows) judge(stored *storage.PasswordHash, u *storage.User, res Result, known bool) Verdict {
	switch {
	case (stored.Renew || res.Breached) && known && !u.EmailVerified.IsZero():
		return Renewable
	case stored.Failures >= mostFailures && !known:
		return Stopped
	case stored.Renew || res.Breached:
		return Closed
	case u.EmailVerified.IsZero() && !f.AllowUnverified:
		return Unproven
	}
	return Right
}

// renew clears the count of wrong passwords after a right one, and with stale also stores
// a newer hash. After an error, which it logs, the stored password stays as it is.
func (f *Flows) renew(ctx context.Context, stored *storage.PasswordHash, password string, stale bool) {
	if !stale && stored.Failures == 0 {
		return
	}
	hash, err := stored.Hash, error(nil)
	if stale {
		hash, err = f.Hash(ctx, password)
	}
	if err == nil {
		err = f.Directory.Rehash(ctx, stored, hash)
	}
	if err != nil {
		f.Warn(ctx, err)
	}
}

// Hash calls Hasher.Hash, for at most Timeout. An empty hash is an error, and a hasher
// without free memory is ErrAdapter.
func (f *Flows) Hash(ctx context.Context, password string) (string, error) {
	hash, err := guarded.Timed(ctx, f.Timeout, "Password.Hasher: Hash", func(ctx context.Context) (string, error) { return f.Hasher.Hash(ctx, password) })
	if err == nil && hash == "" {
		err = errors.New("Password.Hasher: Hash returned nothing")
	}
	return hash, busyAsOutage(err)
}

// Weakness returns nil if a new password is good, and otherwise an ErrPassword whose Code
// says why it is refused. about holds what an attacker would try first, such as the
// user's name. Any other error means that Hasher.Weakness failed.
func (f *Flows) Weakness(ctx context.Context, password string, about ...string) error {
	code, err := guarded.Timed(ctx, f.Timeout, "Password.Weakness", func(ctx context.Context) (string, error) { return f.Hasher.Weakness(ctx, password, about) })
	if err == nil && code != "" {
		err = &fault.Error{Type: fault.ErrPassword, Code: code, Err: &failure.Mistake{Err: errors.New("the new password is refused: " + code)}}
	}
	return err
}
