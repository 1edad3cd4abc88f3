package latchkey

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/storage"
)

// The account page: second factors.

// factorsView returns what the account page shows of the user's second factors. On a site
// without second factors it returns the zero SecondStep, which shows nothing.
func factorsView(s *setup, ctx context.Context, l *links, here *currentUser) (view page.SecondStep, err error) {
	if !assures(s) {
		return view, nil
	}
	held, err := s.directory.Factors.Held(ctx, s.store, &here.user)
	if err != nil {
		return view, err
	}
	view.RemoveAction, view.ForgetAction = l.url("account?do=remove"), l.url("account?do=forget-browser")
	if slices.Contains(s.directory.Factors.Kinds, FactorTOTP) {
		view.AddAction = l.url("account?do=totp")
	}
	if chosen := held.Mail(); chosen != nil {
		view.MailID = chosen.ID
	} else if slices.Contains(s.directory.Factors.Kinds, FactorEmail) {
		view.MailAction = l.url("account?do=mail")
	}
	for _, app := range held.Apps() {
		view.Apps = append(view.Apps, page.App{ID: app.ID, Name: app.Name, Created: app.Created})
	}
	if s.directory.Factors.CanHaveCodes(held) {
		view.RecoveryAction = l.url("account?do=recovery")
	}
	if s.config.Factors.RecoveryDelay > 0 {
		lost, err := s.directory.Factors.LostFor(ctx, here.user.ID)
		if err != nil {
			return view, err
		}
		if lost != nil {
			view.StopAction = l.url("account?do=stop")
		}
	}
	trusted, err := s.directory.Factors.TrustedBrowsers(ctx, here.user.ID)
	for _, b := range trusted {
		name, system := people.BrowserOf(b.UserAgent)
		view.Browsers = append(view.Browsers, page.TrustedBrowser{ID: b.PublicID, Name: name, System: system, Until: b.Trusted})
	}
	return view, err
}

// showEnrolment answers GET /account?do=totp with the page that sets up an authenticator
// app. It asks for a recent proof first. It continues the enrolment of this session, or
// begins one if there is none. A user whose e-mail address is not proven is redirected to
// the account page, which says so.
func showEnrolment(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	if res, err := askIfStale(ctx, x, here, x.url("account?do=totp")); res != nil || err != nil {
		return res, err
	}
	of := pageHandle(x.setup, here.user.ID, here.mark().SessionID)
	e, err := x.setup.directory.Factors.EnrolmentFor(ctx, of)
	if errors.Is(err, directory.ErrNotPending) {
		_, e, err = x.setup.directory.Factors.BeginEnrolment(ctx, of)
	}
	if errors.Is(err, directory.ErrUnproven) {
		return backToAccount(&x.links, &x.visit, noticeUnverified, here.user.ID), nil
	}
	if err != nil {
		return nil, err
	}
	return enrolPage(ctx, x.setup, &x.visit, &x.links, page.Enrol{
		CSRFToken: x.csrfToken, Action: x.url("account?do=confirm"), CancelURL: x.url("account"), Wrong: x.query.Get("error") != "",
	}, e)
}

// changeFactors answers the forms of the account page about second factors: do is totp,
// confirm, mail, recovery, remove, stop or forget-browser. It returns nil, nil for any other
// do, for a remove without the field factor, which is about a passkey, and on a site
// without second factors.
func changeFactors(ctx context.Context, x *exchange, here *currentUser, do string) (*Response, error) {
	if !assures(x.setup) {
		return nil, nil
	}
	back := func(about string) *Response { return backToAccount(&x.links, &x.visit, about, here.user.ID) }
	d := x.setup.directory.Factors
	switch {
	case do == "totp" || do == "confirm":
		return addApp(ctx, x, here, do)
	case do == "mail":
		return chooseMail(ctx, x, here)
	case do == "recovery" || do == "remove" && x.field("factor") != "":
		if res, err := askIfStale(ctx, x, here, x.url("account")); res != nil || err != nil {
			return res, err
		}
		if do == "remove" {
			return removeFactor(ctx, x, here)
		}
		codes, err := d.NewRecoveryCodes(ctx, &x.events, here.user.ID)
		if err != nil {
			return nil, err
		}
		noticeUser(ctx, x, here.user.ID, Message{Kind: MessageRecoveryMade})
		return toCodes(ctx, x, here, codes)
	case do == "stop":
		return &Response{Redirect: x.url("account")}, d.StopLostOf(ctx, &x.events, nil, here.user.ID)
	case do == "forget-browser":
		err := d.ForgetBrowser(ctx, &x.events, here.user.ID, x.field("browser"))
		return back(noticeForgotten), failure.Ignoring(err, ErrNotFound)
	}
	return nil, nil
}

// addApp begins the enrolment of an authenticator app if do is totp. For any other do it
// checks the app's first code, and stores the app if the code is right. It asks for a
// recent proof first; a user with a second factor has to prove a factor again.
func addApp(ctx context.Context, x *exchange, here *currentUser, do string) (*Response, error) {
	s := x.setup
	back := func(about string) *Response { return backToAccount(&x.links, &x.visit, about, here.user.ID) }
	if res, err := askIfStale(ctx, x, here, x.url("account?do=totp")); res != nil || err != nil {
		return res, err
	}
	of := pageHandle(s, here.user.ID, here.mark().SessionID)
	if do == "totp" {
		_, _, err := s.directory.Factors.BeginEnrolment(ctx, of)
		if errors.Is(err, directory.ErrUnproven) {
			return back(noticeUnverified), nil
		}
		return &Response{Redirect: x.url("account?do=totp")}, err
	}
	x.hide(x.field("code"))
	renewed := s.sessions.renewal(&x.visit, here, directory.Proof{AMR: factor.Again(here.AMR, factor.OfKind(FactorTOTP)), ACR: factor.AAL2, At: s.now()})
	codes, err := s.directory.Factors.ConfirmEnrolment(ctx, &x.events, changeIn(here, renewed), of, directory.VisibleName(x.field("name")), x.field("code"))
	switch {
	case failure.TypeOf(err) == ErrSecondFactor:
		return &Response{Redirect: x.url("account?do=totp&error=SecondFactor")}, nil
	case errors.Is(err, directory.ErrNotPending), errors.Is(err, directory.ErrTooManyApps):
		return &Response{Redirect: x.url("account")}, nil
	case err != nil:
		return nil, err
	}
	return finishAdded(ctx, x, here, renewed, codes)
}

// chooseMail makes mailed codes a second factor of the user. It asks for a recent proof
// first; a user with a second factor has to prove a factor again. If the user's e-mail
// address is not proven, it redirects to the account page, which says so.
func chooseMail(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	s := x.setup
	if res, err := askIfStale(ctx, x, here, x.url("account")); res != nil || err != nil {
		return res, err
	}
	renewed := s.sessions.renewal(&x.visit, here, directory.Proof{AMR: here.AMR, ACR: here.ACR, At: here.Proved})
	codes, err := directory.ChooseMail(ctx, s.directory.Factors, &x.events, changeIn(here, renewed))
	switch {
	case errors.Is(err, directory.ErrUnproven):
		return backToAccount(&x.links, &x.visit, noticeUnverified, here.user.ID), nil
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrConflict):
		return &Response{Redirect: x.url("account")}, nil
	case err != nil:
		return nil, err
	}
	return finishAdded(ctx, x, here, renewed, codes)
}

// finishAdded answers after a second factor was added. It leads to the page of the new
// recovery codes or, without any, to the account page.
func finishAdded(ctx context.Context, x *exchange, here *currentUser, renewed renewal, codes []string) (*Response, error) {
	if err := finishChange(ctx, x, here, renewed, MessageFactorAdded); err != nil {
		return nil, err
	}
	if codes == nil {
		return backToAccount(&x.links, &x.visit, noticeFactorAdded, here.user.ID), nil
	}
	if here.sessionID == "" { // the session has ended, and no other may see them
		return codesPage(ctx, x, codes, x.url("account"))
	}
	return toCodes(ctx, x, here, codes)
}

// changeIn returns a change of the factors of the signed-in user. The change ends all
// sessions of the user except the one of the request, which r renews. If that session has
// no id, the change ends it, too.
func changeIn(here *currentUser, r renewal) directory.FactorChange {
	c := directory.FactorChange{UserID: here.user.ID, Keep: here.sessionID}
	if here.sessionID != "" {
		c.Renew = r.stored
	}
	return c
}

// finishChange puts the renewed session into the response after a change of factors, and
// mails the user a message of kind. If the session has no id, the change has ended it:
// finishChange clears the cookie instead.
func finishChange(ctx context.Context, x *exchange, here *currentUser, r renewal, kind MessageKind) error {
	if here.sessionID == "" {
		x.credential.Clear()
	} else if err := r.done(ctx); err != nil {
		return err
	}
	noticeUser(ctx, x, here.user.ID, Message{Kind: kind})
	return nil
}

// toCodes keeps new recovery codes for the session, and returns a redirect to the page
// that shows them.
func toCodes(ctx context.Context, x *exchange, here *currentUser, codes []string) (*Response, error) {
	of := pageHandle(x.setup, here.user.ID, here.mark().SessionID)
	if err := x.setup.directory.Factors.KeepCodes(ctx, of, codes); err != nil {
		return nil, err
	}
	return &Response{Redirect: x.url("factor?do=codes&callbackUrl=" + url.QueryEscape(x.url("account")))}, nil
}

// removeFactor answers the form that removes the factor with the id in the field factor. It
// ends the user's other sessions. It renews that of the request, or ends it if it has no id.
// If it is the last factor and Factors.Require demands one, the factor stays, and the account
// page says so. The caller has checked that the user has given a recent proof.
func removeFactor(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	s := x.setup
	renewed := s.sessions.renewal(&x.visit, here, directory.Proof{AMR: here.AMR, ACR: here.ACR, At: here.Proved})
	c := changeIn(here, renewed)
	c.May = func(ctx context.Context, u *storage.User) (bool, error) {
		return mayLoseFactors(s, ctx, &x.visit, u, here)
	}
	kind, err := s.directory.Factors.RemoveFactor(ctx, &x.events, c, x.field("factor"))
	switch {
	case errors.Is(err, ErrLastFactor):
		return backToAccount(&x.links, &x.visit, noticeLastFactor, here.user.ID), nil
	case errors.Is(err, ErrNotFound):
		return &Response{Redirect: x.url("account")}, nil
	case err != nil:
		return nil, err
	}
	if err := finishChange(ctx, x, here, renewed, MessageFactorRemoved); err != nil {
		return nil, err
	}
	about := noticeFactorRemoved
	if kind == FactorEmail {
		about = noticeMailRemoved
	}
	return backToAccount(&x.links, &x.visit, about, here.user.ID), nil
}

// mayLoseFactors reports whether the user may be without second factors. It returns false if
// Factors.Require, asked as for a user who has none, returns FactorRequired.
func mayLoseFactors(s *setup, ctx context.Context, v *visit, u *User, here *currentUser) (bool, error) {
	in := directory.Assertion{Person: *u, AMR: here.AMR, ACR: here.ACR, Started: here.since, Proved: here.Proved}
	in.Account.UserID, in.Account.Provider = u.ID, here.provider
	d, err := askPolicy(s, ctx, v, &in, u, &factor.Held{})
	return d.Need != factor.Required, err
}
