package latchkey

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	challenges "github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/passwords"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/storage"
)

// The account page where the library keeps passwords, or lets users change their address:
// a new password, a new address, known browsers.

// accountPassword answers requests to /account with do=email, keep, password, nopassword
// or forget; keep, nopassword and forget only by POST. It returns nil, nil for any other
// do, for email and keep on a site without changes of addresses, and for the others on a
// site that keeps no passwords.
func accountPassword(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	p := passwordsOf(x.setup)
	do := x.query.Get("do")
	switch {
	case x.setup.moves != nil && do == "email" && (x.query.Get("token") != "" || p != nil && x.isPost() && x.field("code") != ""):
		return moveAddress(ctx, x, p, here)
	case x.setup.moves != nil && do == "email":
		return askForAddress(ctx, x, p, here)
	case x.setup.moves != nil && do == "keep" && x.isPost(): // a defence, which takes no proof
		return backToAccount(&x.links, &x.visit, noticeKept, here.user.ID), directory.KeepAddress(ctx, x.setup.directory, &x.events, here.user.ID)
	case p == nil:
	case do == "password":
		return changePassword(ctx, x, p, here)
	case do == "nopassword" && x.isPost():
		if res, err := askIfStale(ctx, x, here, x.url("account")); res != nil || err != nil {
			return res, err
		}
		return p.remove(ctx, x.setup, &x.visit, &x.links, here)
	case do == "forget" && x.isPost():
		err := p.flows.Directory.ForgetBrowser(ctx, &x.events, here.user.ID, x.field("browser"))
		return backToAccount(&x.links, &x.visit, noticeForgotten, here.user.ID), failure.Ignoring(err, ErrNotFound)
	}
	return nil, nil
}

// changePassword shows the form for a new password, and by POST sets the password, ends
// the other sessions of the user and mails the user. A user with a password types it
// as well. A user without one, or with a second factor, needs a recent proof first.
func changePassword(ctx context.Context, x *exchange, p *passwordProvider, here *currentUser) (*Response, error) {
	d, u := p.flows.Directory, &here.user
	stored, err := d.PasswordOf(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	may, byFactor, err := mayChange(ctx, x.setup, &x.visit, here)
	if err != nil {
		return nil, err
	}
	if !may && (stored == nil || byFactor) {
		return askProof(ctx, x, byFactor, x.url("account?do=password"))
	}
	view := page.Password{Step: page.ChangeStep, Email: u.Email, Current: stored != nil}
	if !x.isPost() {
		return passwordPage(ctx, x, p, view, nil)
	}
	from, was := p.asker(ctx, x.setup, &x.visit, &x.links), ""
	typed, err := typedPassword(ctx, x, p, u.Email, u.Name)
	if err == nil && stored != nil {
		was, err = p.checkCurrent(ctx, u, x.field("current"), from)
	}
	hash := ""
	if err == nil {
		hash, err = p.flows.Hash(ctx, typed)
	}
	if err != nil {
		return passwordPage(ctx, x, p, view, err)
	}
	c := directory.PasswordChange{UserID: u.ID, Hash: hash, Was: &was, Keep: here.sessionID, Event: event.PasswordChanged}
	if stored == nil {
		c.Event = event.PasswordSet
	}
	renewed, done := renewing(ctx, x.setup, &x.visit, here)
	c.Renew = renewed
	if _, err := d.SetPassword(ctx, &x.events, c); err != nil {
		return nil, err
	}
	p.flows.Tell(u, from)
	return p.changed(ctx, x.setup, &x.visit, &x.links, u, noticePassword), done()
}

// checkCurrent returns the stored hash of a user whose current password is typed. If
// typed is wrong, or was tried too often, it returns an ErrPassword with the code wrong,
// which the form shows.
func (p *passwordProvider) checkCurrent(ctx context.Context, u *User, typed string, from passwords.Asker) (hash string, err error) {
	shown, err := p.flows.CheckCurrent(ctx, u, typed, from)
	if err != nil || !shown.OK {
		if err == nil {
			err = &Error{Type: ErrPassword, Code: "wrong", Detail: fault.PasswordWrong, Err: &failure.Mistake{Err: errors.New("the current password is wrong, or was tried too often")}}
		}
		return "", err
	}
	return shown.Hash, nil
}

// remove removes the password of the signed-in user, ends the other sessions of the user
// and mails the user. If the user has no other sign-in method, the password stays, and
// the account page says so. The caller has checked that the user has given a recent
// proof.
func (p *passwordProvider) remove(ctx context.Context, s *setup, v *visit, l *links, here *currentUser) (*Response, error) {
	renewed, done := renewing(ctx, s, v, here)
	_, err := p.flows.Directory.SetPassword(ctx, &v.events, directory.PasswordChange{UserID: here.user.ID, Keep: here.sessionID, Event: event.PasswordRemoved, Renew: renewed})
	switch {
	case errors.Is(err, ErrLastAccount):
		return backToAccount(l, v, noticeLast, here.user.ID), nil
	case errors.Is(err, ErrNotFound): // there is none
		return &Response{Redirect: l.url("account")}, nil
	case err != nil:
		return nil, err
	}
	p.flows.Tell(&here.user, p.asker(ctx, s, v, l))
	return p.changed(ctx, s, v, l, &here.user, noticeUnset), done()
}

// changed returns a redirect to the account page, with a flash message about the change.
// The change has voided what made browsers known for the user: changed makes this one
// known again, and logs an error of that. A nil p is for sites that keep no passwords.
func (p *passwordProvider) changed(ctx context.Context, s *setup, v *visit, l *links, u *User, about string) *Response {
	if p != nil {
		if err := p.keepKnown(ctx, s, v, u.ID); err != nil {
			s.log.Error(ctx, v.about, err)
		}
	}
	return backToAccount(l, v, about, u.ID)
}

// askForAddress shows the form for a new e-mail address, and by POST mails a link to that
// address. On a site that keeps passwords (p is not nil) the mail also has a code, and
// the browser gets a cookie for it. A recent proof is needed first. The answer does not
// tell whether another user has the address.
func askForAddress(ctx context.Context, x *exchange, p *passwordProvider, here *currentUser) (*Response, error) {
	if res, err := askIfStale(ctx, x, here, x.url("account?do=email")); res != nil || err != nil {
		return res, err
	}
	view := page.Password{Step: page.AddressStep}
	if !x.isPost() {
		return passwordPage(ctx, x, p, view, nil)
	}
	to, err := typedMailbox(x.field("email"), mailbox.Normalize)
	if err != nil {
		return passwordPage(ctx, x, p, view, err)
	}
	if p == nil {
		if err := x.setup.moves.Move(ctx, &x.events, &here.user, to, mailAsker(ctx, x.setup, &x.visit, &x.links)); err != nil {
			return nil, err
		}
		leaveSent(&x.visit, "", to)
		return &Response{Redirect: x.url("verify-request?type=move")}, nil
	}
	handle, err := p.flows.MoveWithCode(ctx, &x.events, &here.user, to, p.asker(ctx, x.setup, &x.visit, &x.links))
	if err != nil {
		return nil, err
	}
	kept := browser.MailCode{Handle: handle, For: p.flows.MoveCodes()}
	return p.checkMail(&x.visit, &x.links, to, "move"), x.cookies.SetMailCode(kept, x.now(), challenges.CodeLife)
}

// moveAddress takes the link or the code of the mail that askForAddress has sent. To a
// GET with the query parameter token it answers with a button. A POST moves the address,
// by that token or, without one, by the field code in the browser that asked for the
// mail, and ends the other sessions of the user. A void link, and an address that another
// user has by now, are ErrVerification.
func moveAddress(ctx context.Context, x *exchange, p *passwordProvider, here *currentUser) (*Response, error) {
	d, token := x.setup.moves.Directory, x.query.Get("token")
	if token == "" {
		secret, back, err := p.linkByCode(ctx, x.setup, &x.visit, &x.links, p.flows.MoveCodes(), "move", x.field("code"))
		if back != nil || err != nil {
			return back, err
		}
		x.cookies.Forget(&x.cookies.Specs.Link)
		token = secret
	}
	to, err := d.LookAtMove(ctx, token, &here.user)
	if err != nil {
		return nil, err
	}
	if !x.isPost() {
		return passwordPage(ctx, x, p, page.Password{Step: page.MoveStep, Email: to, Same: to == here.user.Email}, nil)
	}
	renewed, done := renewing(ctx, x.setup, &x.visit, here)
	u, err := d.MoveAddress(ctx, &x.events, token, directory.PasswordChange{UserID: here.user.ID, Keep: here.sessionID, Renew: renewed})
	if err != nil {
		return nil, takenIf(err)
	}
	return p.changed(ctx, x.setup, &x.visit, &x.links, &u, noticeEmail), done()
}

// renewing prepares a new token for the session of the request, for a change that ends all
// other sessions of its user. The caller passes stored, which may be nil, as the Renew of the
// change. The change calls it in its transaction with the first instant that is not void.
// After the commit the caller calls done, which puts the token into the response. The change
// also ends a stored session without an id, because no id tells the store which one to keep:
// stored is nil then, and done clears the cookie.
func renewing(ctx context.Context, s *setup, v *visit, here *currentUser) (stored func(context.Context, *directory.Store, time.Time) error, done func() error) {
	switch in := s.sessions.(type) {
	case *databaseStrategy:
		if here.sessionID == "" {
			return nil, func() error { v.credential.Clear(); return nil }
		}
		former, next := rowToken(v.credential.Token()), in.plan(v).Row
		return func(ctx context.Context, store *directory.Store, after time.Time) error {
				return store.RenewSession(ctx, former, storage.StoredSession{Token: next.Token, Expires: next.Expires, Proved: after.UTC(), AMR: here.AMR, ACR: here.ACR})
			}, func() error {
				v.credential.Put(browser.Escape(next.Token), next.Expires)
				return nil
			}
	case *tokenStrategy:
		var from time.Time
		return func(_ context.Context, _ *directory.Store, after time.Time) error { from = after; return nil }, func() error {
			token := v.credential.Token()
			claims, err := in.decode(ctx, token.Text, token.Spec)
			if err != nil {
				return err
			}
			in.track(claims)
			u, err := s.store.User(ctx, here.user.ID)
			if err != nil {
				return err
			}
			claims["email"], claims[jwtclaims.AuthTime] = u.Email, jwtclaims.UnixSeconds(from)
			return in.seal(ctx, v, claims, life{})
		}
	}
	return nil, func() error { return nil }
}

// showPasswords sets the fields of the account page about passwords, the e-mail address
// and known browsers. It leaves fields zero that the configuration does not offer.
// byPasskey reports whether the user can sign in with a passkey, and so remove the
// password.
func showPasswords(ctx context.Context, s *setup, l *links, view *page.Account, u *User, byPasskey bool) error {
	if s.moves != nil {
		view.AddressURL = l.url("account?do=email")
		to, err := directory.ReplacementFor(ctx, s.directory, u.ID)
		if view.Replacement, view.KeepAction = to, l.url("account?do=keep"); err != nil {
			return err
		}
	}
	if s.passwords == nil {
		return nil
	}
	d := s.passwords.Directory
	stored, err := d.PasswordOf(ctx, u.ID)
	if err != nil {
		return err
	}
	known, err := d.KnownBrowsers(ctx, u.ID)
	for _, b := range known {
		name, system := people.BrowserOf(b.UserAgent)
		view.Browsers = append(view.Browsers, page.Device{ID: b.PublicID, Name: name, System: system, Seen: b.Seen})
	}
	view.HasPassword, view.PasswordURL, view.ForgetAction = stored != nil, l.url("account?do=password"), l.url("account?do=forget")
	if view.HasPassword && byPasskey {
		view.RemovePassword = l.url("account?do=nopassword")
	}
	return err
}
