package latchkey

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/storage"
)

// The route that asks for second factors: /factor.

// showFactor answers GET /factor. The query do names a page; else a form asks for a factor.
func showFactor(ctx context.Context, x *exchange) (*Response, error) {
	switch x.query.Get("do") {
	case "codes":
		return showCodes(ctx, x)
	case "later":
		return pageResponse(x.setup.pagesFor(ctx, &x.visit).Remind(page.Remind{
			Host: x.origin.Host(), EnrolURL: x.url("account?do=totp"), ContinueURL: x.callbackURL,
		}))
	}
	if res, err := lostRoute(ctx, x); res != nil || err != nil {
		return res, err
	}
	_, p, err := pendingOf(ctx, x.setup, &x.visit)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return notPending(ctx, x)
	case len(x.query) == 0 && leadsToRemoval(x.setup, &x.links, p):
		return &Response{Redirect: p.CallbackURL}, nil
	case asksForJSON(x.request):
		return factorJSON(p), nil
	}
	use := shownKind(p, x.query.Get("use"))
	if own := x.setup.config.Pages.Factor; own != "" && len(p.Secret) == 0 { // which has no way to show the secret of an app
		params := []string{"use", string(use)}
		if failed := x.query.Get("error"); failed != "" {
			params = append(params, "error", failed)
		}
		return x.ownPage(own, params...), nil
	}
	return factorPage(ctx, x, p, use)
}

// shownKind returns the kind that the page asks for: FactorTOTP if an app has to be set
// up, else the kind asked for if p has it, else the first of p.
func shownKind(p *directory.Pending, asked string) FactorKind {
	switch {
	case len(p.Secret) > 0:
		return FactorTOTP
	case slices.Contains(p.Kinds, FactorKind(asked)):
		return FactorKind(asked)
	}
	return p.Kinds[0]
}

// factorPage shows the form for a kind, or for the app that has to be enrolled.
func factorPage(ctx context.Context, x *exchange, p *directory.Pending, use FactorKind) (*Response, error) {
	s := x.setup
	wrong := x.query.Get("error") != ""
	if len(p.Secret) > 0 {
		return enrolPage(ctx, s, &x.visit, &x.links, page.Enrol{
			CSRFToken: x.csrfToken, Action: x.url("factor"), CancelAction: x.url("factor?do=cancel"), Name: p.Name, Wrong: wrong, Required: true,
		}, &directory.Enrolment{Secret: p.Secret, Account: p.Account})
	}
	view := page.Factor{
		CSRFToken: x.csrfToken, Action: x.url("factor"), CancelAction: x.url("factor?do=cancel"), SendAction: x.url("factor?do=send"),
		Use: string(use), Name: maskedName(p.Name), Host: x.origin.Host(), Wrong: wrong, Sent: x.query.Get("done") == "send",
		FormOrigins: s.formOrigins(&x.links, p.CallbackURL),
	}
	if canLose(s, p) {
		view.LostURL = x.url("factor?do=lost")
	}
	if !p.Enrols {
		view.Remember = days(s.config.Factors.Remember)
	}
	for _, kind := range p.Kinds {
		if kind != use {
			view.Others = append(view.Others, page.OtherFactor{Kind: string(kind), URL: x.url("factor?use=" + string(kind))})
		}
	}
	if w := passkeyProvider(s); w != nil && use == FactorPasskey {
		view.Provider, view.Script = w.ID, s.passkeyScript(&x.links)
	}
	return pageResponse(s.pagesFor(ctx, &x.visit).Factor(view))
}

// answerFactor answers POST /factor. The query do names a step; else it checks a factor.
func answerFactor(ctx context.Context, x *exchange) (*Response, error) {
	do, started := x.query.Get("do"), x.now()
	if do == "codes" {
		return saveCodes(ctx, x)
	}
	if res, err := lostRoute(ctx, x); res != nil || err != nil {
		return res, err
	}
	handle, p, err := pendingOf(ctx, x.setup, &x.visit)
	switch {
	case err != nil:
		return nil, err
	case do == "cancel":
		x.cookies.EndHalf()
		return onSignInPage(x), x.setup.directory.Factors.Forget(ctx, handle)
	case p == nil:
		return notPending(ctx, x)
	case do == "send":
		return sendCode(ctx, x, handle, p)
	}
	kind := FactorKind(x.field("use"))
	if kind == "" || len(p.Secret) > 0 {
		kind = shownKind(p, "")
	}
	tries, known, wait, err := admitCode(ctx, x, p.UserID, kind)
	if err != nil || wait > 0 {
		return tooSoon(x.request, wait, &Response{Redirect: x.url("factor?use=" + string(kind) + "&error=SecondFactor")}), err
	}
	var second *directory.Second
	var why fault.Detail
	if p, err = x.setup.directory.Factors.TrySecond(ctx, handle); err == nil {
		second, why, err = checkSecond(ctx, x, handle, p, kind, known)
		err = x.setup.directory.Factors.ReturnSecond(ctx, handle, err)
	}
	switch {
	case errors.Is(err, directory.ErrNotPending):
		return notPending(ctx, x)
	case err != nil:
		returnTries(ctx, x, tries, !directory.IsUncounted(err))
		return nil, err
	case second == nil:
		return wrongFactor(ctx, x, handle, p, kind, why)
	}
	return finishFactor(ctx, x, p, second, started, tries)
}

// finishFactor completes a sign-in after a second factor that fits, and answers. If another
// request has just used up the code, it answers as to a wrong factor, and tries stay counted.
// In any other case it gives back tries. If another request has used up the sign-in, it
// answers as if none waits. It mails the user if a recovery code was used.
func finishFactor(ctx context.Context, x *exchange, p *directory.Pending, second *directory.Second, started time.Time, tries []limit.Try) (*Response, error) {
	second.Remember = x.field("remember") != "" && len(p.Secret) == 0
	res, err := resume(ctx, x, p, second, started)
	err = x.setup.directory.Factors.ReturnSecond(ctx, second.Handle, err)
	returnTries(ctx, x, tries, errors.Is(err, directory.ErrWrongProof))
	switch {
	case errors.Is(err, directory.ErrWrongProof):
		return wrongFactor(ctx, x, second.Handle, p, second.Kind, fault.FactorWrong)
	case errors.Is(err, directory.ErrNotPending):
		return notPending(ctx, x)
	case err != nil:
		return refusedFactor(ctx, x, second.Handle, err)
	}
	if second.Recovery != "" {
		noticeUser(ctx, x, p.UserID, Message{Kind: MessageRecoveryUsed, Left: second.Left})
	}
	if second.Codes != nil {
		res.Redirect = x.url("factor?do=codes&callbackUrl=" + url.QueryEscape(res.Redirect))
	}
	if asksForJSON(x.request) && !x.wantsJSON() {
		res = asJSON(res)
	}
	return res, nil
}

// resume completes a sign-in after the right second factor. If an app has still to be set up,
// the sign-in waits on for that. If a concurrent request was faster, the error is directory's
// ErrWrongProof or ErrNotPending. If the user or provider has changed, it is ErrAccessDenied.
func resume(ctx context.Context, x *exchange, p *directory.Pending, second *directory.Second, started time.Time) (*Response, error) {
	in := p.Assertion
	if x.provider = x.setup.providers[in.Account.Provider]; x.provider == nil {
		return nil, failure.Wrap(ErrAccessDenied, failure.Of(fault.FactorProvider, errors.New("the provider of the first factor is not configured any more")))
	}
	if p.Enrols {
		if err := x.setup.directory.Factors.TakeMailProof(ctx, second); err != nil {
			return nil, err
		}
		x.callbackURL = p.CallbackURL
		return askForFactor(ctx, x, &in, &User{ID: p.UserID, Name: p.Name}, nil, true)
	}
	in.AMR = factor.Join(in.AMR, second.AMR)
	if level := factor.Level(in.AMR); level == factor.AAL2 {
		in.ACR = level
	}
	in.Second, in.Started, in.Proved = second, started, started
	in.IssuedHere = in.IssuedHere && x.setup.mark.isIn(p.Process)
	x.callbackURL = p.CallbackURL
	res, err := x.finishSignIn(ctx, &in)
	if errors.Is(err, directory.ErrUserChanged) {
		return nil, failure.Wrap(ErrAccessDenied, err)
	}
	if err == nil {
		x.cookies.EndHalf()
	}
	return res, err
}

// refusedFactor answers a sign-in that is refused after its second factor, and ends it.
// For an outage it returns err instead, and the sign-in waits on.
func refusedFactor(ctx context.Context, x *exchange, handle string, err error) (*Response, error) {
	if isOutage(err) {
		return nil, err
	}
	if x.provider != nil {
		addRefusal(x, err)
	}
	x.cookies.EndHalf()
	if ended := x.setup.directory.Factors.Forget(ctx, handle); ended != nil {
		x.setup.log.Error(ctx, x, ended)
	}
	return render(ctx, x.setup, x, x.request, err), nil
}

// admitCode counts a typed code before it is looked at. It returns the tries, which the caller
// gives back for a right code, and the browser if that is known for the user. A wait above 0
// refuses the code, and the user is mailed. It counts neither passkeys nor passwords.
func admitCode(ctx context.Context, x *exchange, userID string, kind FactorKind) (tries []limit.Try, known *storage.Browser, wait time.Duration, err error) {
	s := x.setup
	if userID == "" || !slices.Contains([]FactorKind{FactorTOTP, FactorEmail, FactorRecovery}, kind) {
		return nil, nil, 0, nil
	}
	handle := x.cookies.Known(s.tenant, x.now()).ID
	if assures(s) {
		known, err = s.directory.Factors.BrowserOf(ctx, handle, userID)
	} else {
		known, err = s.passwords.Directory.KnownBrowser(ctx, handle, userID)
	}
	if err != nil {
		return nil, nil, 0, err
	}
	code := limit.Code{UserID: userID, IsRecovery: kind == FactorRecovery}
	if known != nil {
		code.Browser = known.PublicID
	}
	tries, wait, err = s.limits.TakeCode(ctx, code)
	if err == nil && wait > 0 {
		s.log.Warn(ctx, "too many wrong second factors", "user", userID)
		noticeUser(ctx, x, userID, Message{Kind: MessageWrongCodes})
	}
	return tries, known, wait, err
}

// checkSecond returns what a right second factor uses up. It returns nil and why, and no
// error, for a wrong one.
func checkSecond(ctx context.Context, x *exchange, handle string, p *directory.Pending, kind FactorKind, known *storage.Browser) (*directory.Second, fault.Detail, error) {
	if kind == FactorPasskey {
		w := passkeyProvider(x.setup)
		if w == nil || !slices.Contains(p.Kinds, kind) {
			return nil, fault.FactorWrong, nil
		}
		amr, err := w.verifyFactor(ctx, x, secret.Hash(handle), p.UserID)
		if failure.TypeOf(err) == ErrWebAuthnVerification || failure.TypeOf(err) == ErrInvalidCheck {
			x.setup.log.Debug(ctx, x, err)
			return nil, explain.DetailOf(err), nil
		}
		return &directory.Second{Handle: handle, UserID: p.UserID, Kind: kind, AMR: amr}, "", err
	}
	code := x.field("code")
	x.hide(code)
	return x.setup.directory.Factors.CheckSecond(ctx, handle, p, directory.Shown{
		Kind: kind, Code: code, Name: directory.VisibleName(x.field("name")), IsKnown: known != nil,
	})
}

// wrongFactor answers a wrong second factor, and queues its event with why as Detail. The
// last wrong one that a sign-in may have ends the sign-in.
func wrongFactor(ctx context.Context, x *exchange, handle string, p *directory.Pending, kind FactorKind, why fault.Detail) (*Response, error) {
	x.events.Add(Event{Type: event.FactorFailed, Outcome: event.Failed, Reason: ErrSecondFactor, Detail: why, UserID: p.UserID, Provider: p.Assertion.Account.Provider, ProviderType: p.Assertion.Account.Type}, nil)
	x.setup.log.Info(ctx, x, "wrong second factor", "user", p.UserID)
	left := max(0, factor.MostTries-p.Tries)
	if left == 0 {
		x.cookies.EndHalf()
		if err := x.setup.directory.Factors.Forget(ctx, handle); err != nil {
			return nil, err
		}
	}
	switch {
	case asksForJSON(x.request):
		return noStore(jsonBytes(http.StatusUnauthorized, []byte(`{"error":"SecondFactor","left":`+strconv.Itoa(left)+`}`))), nil
	case left == 0:
		return onSignInPage(x, "error", string(ErrSecondFactor)), nil
	}
	return &Response{Redirect: x.url("factor") + weburl.WithQuery("", "use", string(kind), "error", string(ErrSecondFactor))}, nil
}

// keptCodes returns the recovery codes that wait for the session of a request, or a
// response for a browser without a session or without codes.
func keptCodes(ctx context.Context, x *exchange) (of directory.EnrolmentOf, codes []string, res *Response, err error) {
	here, err := x.setup.sessions.current(ctx, &x.visit)
	if err != nil {
		return of, nil, nil, err
	}
	if here == nil {
		return of, nil, onSignInPage(x), nil
	}
	of = pageHandle(x.setup, here.user.ID, here.mark().SessionID)
	codes, err = x.setup.directory.Factors.KeptCodes(ctx, of)
	if err == nil && codes == nil {
		res = &Response{Redirect: x.callbackURL}
	}
	x.hide(codes...)
	return of, codes, res, err
}

// showCodes answers GET /factor?do=codes.
func showCodes(ctx context.Context, x *exchange) (*Response, error) {
	_, codes, res, err := keptCodes(ctx, x)
	if res != nil || err != nil {
		return res, err
	}
	return codesPage(ctx, x, codes, x.callbackURL)
}

// saveCodes answers POST /factor?do=codes: with the codes as a file if there is a field
// file. Otherwise the user has saved them: it deletes them and redirects.
func saveCodes(ctx context.Context, x *exchange) (*Response, error) {
	of, codes, res, err := keptCodes(ctx, x)
	if res != nil || err != nil {
		return res, err
	}
	if x.field("file") == "" {
		return &Response{Redirect: x.callbackURL}, x.setup.directory.Factors.DropCodes(ctx, of)
	}
	text := issuer(x.setup, &x.links) + "\r\n\r\n"
	for _, code := range codes {
		text += code + "\r\n"
	}
	res = &Response{Status: http.StatusOK, Header: http.Header{}, Body: []byte(text)}
	res.Header.Set("Content-Type", "text/plain; charset=utf-8")
	res.Header.Set("Content-Disposition", `attachment; filename="recovery-codes.txt"`)
	return noStore(res), nil
}
