package latchkey

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/passwords"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// The pages below {base path}/password: sign-up, its confirmation, and new passwords
// by a link, and links about addresses. Looking at a link uses up nothing.

var errNoStep = failure.Wrap(ErrUnknownAction, failure.Of(fault.RequestUnknown, errors.New("no page about passwords has this name")))

// passwordRoute answers GET and POST /password.
func passwordRoute(ctx context.Context, x *exchange) (*Response, error) {
	p := passwordsOf(x.setup)
	step, token := page.PasswordStep(x.query.Get("do")), x.query.Get("token")
	if x.setup.moves == nil || p == nil && !step.IsOfAddress() {
		return nil, errNoStep
	}
	view := page.Password{Step: step, Email: shownEmail(x.query.Get("email"))}
	var err error
	switch step {
	case page.SignUpStep:
		if p.SignUp == SignUpClosed {
			return nil, errNoStep
		}
		if x.isPost() {
			return signUp(ctx, x, p)
		}
	case page.ForgotStep:
		if x.isPost() {
			return forgotPassword(ctx, x, p)
		}
	case page.VerifyStep:
		return verifySignUp(ctx, x, p, token)
	case page.ResetStep:
		return resetPassword(ctx, x, p, token)
	case page.OfferStep:
		return offerPasskey(ctx, x, p)
	case page.RegainStep, page.KeepStep:
		return lostMailbox(ctx, x, step, token)
	case page.UndoStep:
		if x.isPost() {
			return undoMove(ctx, x, p, token)
		}
		view.Email, err = x.setup.moves.Directory.LookAtUndo(ctx, token)
	default:
		err = errNoStep
	}
	if err != nil {
		return nil, err
	}
	return passwordPage(ctx, x, p, view, nil)
}

// passwordPage shows a page about passwords, built-in or the application's own. wrong is
// what is wrong with what was typed: a page says it, and a script gets status 422. An
// error that says nothing about what was typed is returned. p may be nil, except for a
// sign-up.
func passwordPage(ctx context.Context, x *exchange, p *passwordProvider, view page.Password, wrong error) (*Response, error) {
	code := wrongCode(wrong)
	switch {
	case wrong != nil && code == "":
		return nil, wrong
	case wrong != nil && (x.wantsJSON() || isScript(x.request.Header)):
		return wrongJSON(code), nil
	}
	action := "password"
	if x.action == "account" {
		action, view.CancelURL = "account", x.url("account")
	}
	do := map[page.PasswordStep]string{page.ChangeStep: "password", page.AddressStep: "email", page.MoveStep: "email"}[view.Step]
	if do == "" {
		do = string(view.Step)
	}
	params := []string{"do", do}
	if token := x.query.Get("token"); token != "" {
		params = append(params, "token", token)
	}
	if own := x.setup.config.Pages.Password; own != "" {
		if code != "" {
			params = append(params, "error", string(ErrPassword), "code", code)
		}
		return x.ownPage(own, params...), nil
	}
	view.Error, view.CSRFToken, view.Host = code, x.csrfToken, x.origin.Host()
	if p != nil {
		view.MinLength = p.MinLength
	}
	view.Action = x.url(action) + weburl.WithQuery("", params...)
	view.FormOrigins = x.setup.formOrigins(&x.links, "")
	if view.Step == page.SignUpStep || view.Step == page.ForgotStep {
		view.SignInURL = x.url("signin")
	}
	if view.Step == page.SignUpStep {
		view.Fields = (&providerInfo{fields: p.Fields}).button("").Fields
		for i, f := range view.Fields {
			view.Fields[i].Value = ""
			if f.Type != "password" && f.Type != "hidden" {
				view.Fields[i].Value = x.field(f.Name)
			}
		}
	}
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).Password(view))
}

// signUp begins a sign-up: it mails the link that completes it. Nothing is created, and
// the answer does not tell whether the address is known (F-077, F-078). With
// AllowUnverified it creates and signs in the user of a new address at once, which the
// answer then tells.
func signUp(ctx context.Context, x *exchange, p *passwordProvider) (*Response, error) {
	fields := map[string]string{}
	for _, f := range p.Fields {
		fields[f.Name] = x.field(f.Name)
	}
	email, err := typedMailbox(x.field("email"), mailbox.Normalize)
	typed := ""
	if err == nil {
		typed, err = typedPassword(ctx, x, p, email, fields["name"])
	}
	view := page.Password{Step: page.SignUpStep, Email: shownEmail(x.field("email"))}
	if err != nil {
		return passwordPage(ctx, x, p, view, err)
	}
	fields["email"] = email
	attempt := SignInAttempt{
		User: User{Name: fields["name"], Email: email}, Credentials: fields, VerificationRequest: true,
		Account: Account{Provider: p.ID, ProviderAccountID: email, Type: TypeCredentials},
	}
	if err := x.runSignInCallback(ctx, attempt); err != nil {
		return nil, err
	}
	in, from, started := &directory.SignUp{Email: email, Fields: fields, CallbackURL: x.callbackURL}, p.asker(ctx, x.setup, &x.visit, &x.links), x.now()
	if in.Hash, err = p.flows.EnterUnproven(ctx, email, typed, from); err != nil {
		return nil, err
	}
	if in.Hash != "" {
		return finishSignUp(ctx, x, p, in, "", started)
	}
	if err := p.flows.SignUp(ctx, in, typed, from); err != nil {
		return nil, err
	}
	return p.checkMail(&x.visit, &x.links, email, "email"), p.markBrowser(&x.visit, in)
}

// forgotPassword has the link that sets a new password mailed, if the address has a user.
// The answer does not tell whether it has.
func forgotPassword(ctx context.Context, x *exchange, p *passwordProvider) (*Response, error) {
	email, err := typedMailbox(x.field("email"), mailbox.Normalize)
	if err != nil {
		return passwordPage(ctx, x, p, page.Password{Step: page.ForgotStep, Email: shownEmail(x.field("email"))}, err)
	}
	p.flows.Forgot(email, p.asker(ctx, x.setup, &x.visit, &x.links))
	return p.checkMail(&x.visit, &x.links, email, "reset"), nil
}

// verifySignUp shows the page that completes a sign-up, and completes it by POST. A post
// without a token brings the code of the mail instead. In a browser that has not begun
// the sign-up the user chooses a password: the one that waits may be an attacker's
// (F-079).
func verifySignUp(ctx context.Context, x *exchange, p *passwordProvider, token string) (*Response, error) {
	started := x.now()
	if token == "" && x.isPost() {
		secret, back, err := p.linkByCode(ctx, x.setup, &x.visit, &x.links, p.ID, "email", x.field("code"))
		if back != nil || err != nil {
			return back, err
		}
		token = secret
	}
	in, err := p.flows.Directory.LookAtSignUp(ctx, token)
	if err != nil {
		return nil, err
	}
	view := page.Password{Step: page.VerifyStep, Email: in.Email, New: p.markOf(&x.visit) != in.Mark || in.Hash == "", Invited: in.Hash == ""}
	if !x.isPost() {
		return passwordPage(ctx, x, p, view, nil)
	}
	if view.New {
		typed, err := typedPassword(ctx, x, p, in.Email, in.Fields["name"])
		if err == nil {
			in.Hash, err = p.flows.Hash(ctx, typed)
		}
		if err != nil {
			return passwordPage(ctx, x, p, view, err)
		}
	}
	return finishSignUp(ctx, x, p, in, token, started)
}

// finishSignUp creates the user of a sign-up and signs the user in. Without a token the
// address is not proven; where there is an account page, a mail has the link that proves it.
// If the address has a user by now, finishSignUp redirects to the sign-in page.
func finishSignUp(ctx context.Context, x *exchange, p *passwordProvider, in *directory.SignUp, token string, started time.Time) (*Response, error) {
	var err error
	if x.callbackURL, err = x.resolveRedirect(ctx, in.CallbackURL); err != nil {
		x.callbackURL = x.home()
	}
	x.provider = p
	res, err := x.completeSignIn(ctx, &directory.Assertion{
		Person: User{Name: in.Fields["name"], Email: in.Email}, ProvesEmail: token != "", EmailVerified: token != "", Credentials: in.Fields, Counted: true, Started: started,
		NewPassword: &directory.NewPassword{Handle: token, Hash: in.Hash, Invited: p.SignUp == SignUpInvited},
		Account:     Account{Provider: p.ID, ProviderAccountID: in.Email, Type: TypeCredentials},
	})
	if errors.Is(err, directory.ErrAddressTaken) {
		return &Response{Redirect: x.links.signIn(x.callbackURL)}, nil
	}
	if err == nil && token == "" && x.setup.config.AccountPage.Enabled {
		p.flows.Prove(in.Email, p.asker(ctx, x.setup, &x.visit, &x.links))
	}
	return x.conclude(ctx, outcome{response: res}, err)
}

// resetPassword shows the form for a new password, and sets it by POST. It signs no user
// in (F-083, F-084). A user with second factors types one into the form; if those are
// passkeys alone, it redirects to the sign-in page, and the user opens the link again
// afterwards.
func resetPassword(ctx context.Context, x *exchange, p *passwordProvider, token string) (*Response, error) {
	d := p.flows.Directory
	link, err := d.LookAtReset(ctx, token)
	if err != nil {
		return nil, err
	}
	kinds, err := p.resetKinds(ctx, x.setup, &x.visit, link.UserID)
	if err != nil {
		return nil, err
	}
	if len(kinds) > 0 && !slices.Contains(kinds, FactorTOTP) { // a passkey: the user signs in with it, and opens the link again
		return &Response{Redirect: x.links.signIn(x.home())}, nil
	}
	view := page.Password{Step: page.ResetStep, Email: link.Email, Code: len(kinds) > 0}
	if !x.isPost() {
		return passwordPage(ctx, x, p, view, nil)
	}
	hash := ""
	typed, err := typedPassword(ctx, x, p, link.Email)
	if err == nil {
		hash, err = p.flows.Hash(ctx, typed)
	}
	var second *directory.Second
	var tries []limit.Try
	if err == nil && view.Code {
		second, tries, err = p.provesReset(ctx, x.setup, &x.visit, token, directory.Pending{UserID: link.UserID, Kinds: kinds}, x.field("code"))
	}
	if err != nil {
		returnTries(ctx, x, tries, !directory.IsUncounted(err))
		return passwordPage(ctx, x, p, view, err)
	}
	x.events.SetActor(event.Actor{Kind: event.ActorUser, ID: link.UserID})
	u, err := d.SetPassword(ctx, &x.events, directory.PasswordChange{Reset: token, Second: second, Hash: hash, Event: event.PasswordReset})
	returnTries(ctx, x, tries, errors.Is(err, directory.ErrWrongProof))
	if errors.Is(err, directory.ErrWrongProof) { // a concurrent request was faster
		return passwordPage(ctx, x, p, view, errWrongFactor)
	}
	if err != nil {
		return nil, err
	}
	p.flows.Tell(&u, p.asker(ctx, x.setup, &x.visit, &x.links))
	if err := p.keepKnown(ctx, x.setup, &x.visit, u.ID); err != nil {
		x.setup.log.Error(ctx, x, err)
	}
	return &Response{Redirect: weburl.WithQuery(x.links.signIn(x.home()), "done", "reset")}, nil
}

// undoMove gives the user of a link the former address back, and mails that address a
// link that sets a new password. p is nil on a site that keeps no passwords: the user
// then signs in as before.
func undoMove(ctx context.Context, x *exchange, p *passwordProvider, token string) (*Response, error) {
	u, taken, err := x.setup.moves.Directory.UndoMove(ctx, &x.events, token)
	if err != nil {
		return nil, takenIf(err)
	}
	if p == nil { // the owner signs in as ever
		return &Response{Redirect: x.links.signIn(x.home())}, nil
	}
	from := p.asker(ctx, x.setup, &x.visit, &x.links)
	from.Mail(func(ctx context.Context) (passwords.Mail, error) { return p.flows.Reset(ctx, &u, passwords.MailReset) })
	p.flows.TellFormer(&u, taken, from)
	return p.checkMail(&x.visit, &x.links, u.Email, "reset"), nil
}

// lostMailbox answers the links that are mailed when staff replaces the address of a user. A
// POST of the link in the new mailbox makes the change; the link in the former mailbox stops
// it. It needs no session. A GET uses up nothing.
func lostMailbox(ctx context.Context, x *exchange, step page.PasswordStep, token string) (*Response, error) {
	s, d := x.setup, x.setup.directory
	x.hide(token)
	switch {
	case step == page.KeepStep:
		return keepAddress(ctx, x, token)
	case !x.isPost():
		r, err := directory.LookAtRegain(ctx, d, token)
		if err != nil {
			return nil, err
		}
		return passwordPage(ctx, x, passwordsOf(s), page.Password{Step: step, Email: r.To}, nil)
	}
	m, from, err := directory.MoveRegained(ctx, d, &x.events, token)
	if err != nil {
		return nil, takenIf(err)
	}
	if m.Undo != "" {
		mailAsker(ctx, s, &x.visit, &x.links).Mail(func(context.Context) (passwords.Mail, error) {
			return passwords.Mail{Kind: passwords.MailMoved, To: from, UserID: m.UserID, Handle: m.Undo, Expires: m.Until}, nil
		})
	}
	return &Response{Redirect: weburl.WithQuery(x.links.signIn(x.home()), "done", "address")}, nil
}

// keepAddress shows the button that stops the change of an address that staff replaces,
// and stops it by POST. After the change, while that can be undone, it redirects to the
// undo: the mail with that link may have been lost.
func keepAddress(ctx context.Context, x *exchange, token string) (*Response, error) {
	s, undo := x.setup, directory.UndoOf(token)
	kept, err := directory.LookAtStop(ctx, s.directory, token)
	if err == nil && !x.isPost() {
		return passwordPage(ctx, x, passwordsOf(s), page.Password{Step: page.KeepStep, Email: kept}, nil)
	}
	if err == nil {
		err = directory.StopRegain(ctx, s.directory, &x.events, token)
	}
	if err == nil {
		return &Response{Redirect: weburl.WithQuery(x.links.signIn(x.home()), "done", "kept")}, nil
	}
	if _, void := s.moves.Directory.LookAtUndo(ctx, undo); void != nil {
		return nil, err
	}
	x.hide(undo)
	return &Response{Redirect: x.url("password?do=undo&token=" + undo)}, nil
}

// takenIf returns an ErrVerification for an address that another user has, and any other
// error as it is.
func takenIf(err error) error {
	if errors.Is(err, directory.ErrAddressTaken) {
		return failure.Wrap(ErrVerification, failure.Of(fault.LinkUsed, &failure.Mistake{Err: err}))
	}
	return err
}
