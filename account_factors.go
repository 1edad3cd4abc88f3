package latchkey

import (
	"context"
	"errors"
	"net/url"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/storage"
)

// The account page: second factors.

// factorsView returns the part of the account page with second factors.
func factorsView(s *setup, ctx context.Context, l *links, here *currentUser) (view page.SecondStep, err error) {
	if !assures(s) {
		return view, nil
	}
	held, err := s.directory.Factors.Held(ctx, s.store, &here.user)
	if err != nil {
		return view, err
	}
	view.AddAction, view.RemoveAction, view.ForgetAction = l.url("account?do=totp"), l.url("account?do=remove"), l.url("account?do=forget-browser")
	view.Mail = held.Has(FactorEmail)
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

// showEnrolment answers GET /account?do=totp. It begins the enrolment if a proof has
// led the user here, as it leads a user without a second factor.
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

// changeFactors answers the forms of the account page about second factors. A nil
// response: do is none of them.
func changeFactors(ctx context.Context, x *exchange, here *currentUser, do string) (*Response, error) {
	if !assures(x.setup) {
		return nil, nil
	}
	back := func(about string) *Response { return backToAccount(&x.links, &x.visit, about, here.user.ID) }
	d := x.setup.directory.Factors
	switch {
	case do == "totp" || do == "confirm":
		return addApp(ctx, x, here, do)
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

// addApp begins an authenticator app, or confirms its first code. A user with a factor
// proves it before another one is added.
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
	if err := finishChange(ctx, x, here, renewed, MessageFactorAdded); err != nil {
		return nil, err
	}
	if codes == nil {
		return back(noticeFactorAdded), nil
	}
	return toCodes(ctx, x, here, codes)
}

// changeIn returns a change of the user's factors that the session of the request
// survives, if its store can name it.
func changeIn(here *currentUser, r renewal) directory.FactorChange {
	c := directory.FactorChange{UserID: here.user.ID, Keep: here.sessionID}
	if here.sessionID != "" {
		c.Renew = r.stored
	}
	return c
}

// finishChange hands out the new token of the session, makes the browser known again
// and tells the owner.
func finishChange(ctx context.Context, x *exchange, here *currentUser, r renewal, kind MessageKind) error {
	if here.sessionID == "" {
		x.credential.Clear()
		return nil
	}
	if err := r.done(ctx); err != nil {
		return err
	}
	noticeUser(ctx, x, here.user.ID, Message{Kind: kind})
	return nil
}

// toCodes keeps new recovery codes for the session, and leads to the page that shows
// them.
func toCodes(ctx context.Context, x *exchange, here *currentUser, codes []string) (*Response, error) {
	of := pageHandle(x.setup, here.user.ID, here.mark().SessionID)
	if err := x.setup.directory.Factors.KeepCodes(ctx, of, codes); err != nil {
		return nil, err
	}
	return &Response{Redirect: x.url("factor?do=codes&callbackUrl=" + url.QueryEscape(x.url("account")))}, nil
}

// removeFactor answers the form that removes a factor.
func removeFactor(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	s := x.setup
	renewed := s.sessions.renewal(&x.visit, here, directory.Proof{AMR: here.AMR, ACR: here.ACR, At: here.Proved})
	c := changeIn(here, renewed)
	c.May = func(ctx context.Context, u *storage.User) (bool, error) {
		return mayLoseFactors(s, ctx, &x.visit, u, here)
	}
	err := s.directory.Factors.RemoveFactor(ctx, &x.events, c, x.field("factor"))
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
	return backToAccount(&x.links, &x.visit, noticeFactorRemoved, here.user.ID), nil
}

// mayLoseFactors reports whether the policy lets a user be without second factors.
func mayLoseFactors(s *setup, ctx context.Context, v *visit, u *User, here *currentUser) (bool, error) {
	in := directory.Assertion{Person: *u, AMR: here.AMR, ACR: here.ACR, Started: here.since, Proved: here.Proved}
	in.Account.UserID, in.Account.Provider = u.ID, here.provider
	d, err := askPolicy(s, ctx, v, &in, u, &factor.Held{})
	return d.Need != factor.Required, err
}
