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
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/page"
)

// Guards that ask a signed-in user for another proof, and the page where the user
// gives it: /reauth.

// wantedProof is the error of a guard that asks for a proof.
type wantedProof struct{ factor.Wanted }

func (w *wantedProof) Error() string {
	if w.IsFactor {
		return "latchkey: a second factor is needed"
	}
	return "latchkey: a proof of at most " + w.Within.String() + " ago is needed"
}

// NeedRecent returns an error for the decide function of [Auth.Authorize] and of every
// framework's guard. The request passes if the user of the session has proven their
// identity at most d ago. A d of zero or less lets no request pass. Choose a d that leaves
// time for the proof and the way back. If the proof is too old, the browser is led to the page
// that asks for another, {base path}/reauth or [Pages].Reauth, and comes back afterwards.
// A site with neither [Config].Factors nor a [Password] leads it to the sign-in page.
// Scripts get status 401 (RFC 9470). No request of an administrator who acts as the user
// passes: that session has no [Assurance]. A visitor without a session gets what
// [ErrNoSession] gets. With JWTSessions the site has to keep the time of sign-ins, as
// [Assurance] says: otherwise the answer is status 500.
func NeedRecent(d time.Duration) error { return &wantedProof{factor.Wanted{Within: d}} }

// NeedFactor returns an error as [NeedRecent] does. The request passes if the session has a
// proof of one of the kinds beside another proof, however old. A sign-in by a magic link
// alone is not FactorEmail; one by a passkey with user verification alone is FactorPasskey.
// Without kinds the request passes if [Assurance].ACR is aal2, which such a passkey reaches,
// too. Name only kinds of [Factors].Kinds: users cannot prove others. errors.Join combines
// the error with one of NeedRecent. Without [Config].Factors the answer is status 500.
func NeedFactor(kinds ...FactorKind) error {
	return &wantedProof{factor.Wanted{IsFactor: true, Kinds: slices.Clone(kinds)}}
}

// wantedIn returns the proofs that err asks for, also if it wraps or joins errors of
// [NeedRecent] and [NeedFactor]. It returns nil if err is nil, or if it joins one of them
// with any other error.
func wantedIn(err error) (all []*wantedProof) {
	switch e := err.(type) {
	case *wantedProof:
		return []*wantedProof{e}
	case interface{ Unwrap() error }:
		return wantedIn(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			wanted := wantedIn(part)
			if wanted == nil {
				return nil
			}
			all = append(all, wanted...)
		}
	}
	return all
}

// unmetBy returns the first of the proofs that a session does not have, or nil.
func unmetBy(s *Session, all []*wantedProof, now time.Time) *wantedProof {
	a := factor.Assured{Proved: s.Proved, AMR: s.AMR, ACR: s.ACR}
	for _, w := range all {
		if !w.IsMet(a, now) {
			return w
		}
	}
	return nil
}

// StepUpChallenge returns the parameters of a challenge (RFC 9470, section 3) for an error of
// [NeedRecent] or [NeedFactor], or several that errors.Join combines, such as error="…",
// max_age="300". They follow the scheme in the header WWW-Authenticate, which is not among
// them. It returns "" for any other error.
func StepUpChallenge(err error) string {
	wanted := wantedIn(err)
	if wanted == nil {
		return ""
	}
	text := `error="insufficient_user_authentication"`
	for _, w := range wanted {
		if w.IsFactor {
			text += `, acr_values="` + factor.AAL2 + `"`
		} else {
			text += `, max_age="` + strconv.FormatInt(int64(max(0, w.Within)/time.Second), 10) + `"`
		}
	}
	return text
}

// unproven tells a script which proof the session lacks, and where the user of a
// browser gives it.
func unproven(r *Request, host string, isBearer bool, w *wantedProof, to string) *Response {
	body := `{"error":"insufficient_user_authentication"}`
	if !isBearer {
		body = `{"error":"insufficient_user_authentication","url":` + strconv.Quote(to) + `}`
	}
	res := noStore(jsonBytes(http.StatusUnauthorized, []byte(body)))
	res.Header[challengeHeader] = []string{(*browser.Bearer)(nil).Challenge(host) + ", " + StepUpChallenge(w)}
	if isHTMX(r.Header) {
		res.Header["Hx-Redirect"] = []string{to}
	}
	return res
}

// askProof returns a redirect to the page that asks for a proof and then leads to the URL
// back, or JSON for a script. A site without that page asks the user to sign in once
// more: a post is redirected to back, and any other request gets the page that says so.
func askProof(ctx context.Context, x *exchange, byFactor bool, back string) (*Response, error) {
	if !x.setup.config.stepsUp() {
		if x.isPost() {
			return &Response{Redirect: back}, nil
		}
		return signInAgainPage(ctx, x.setup, &x.visit, &x.links, back)
	}
	to := reauthURL(&x.links, byFactor, back)
	if asksForJSON(x.request) {
		return unproven(x.request, x.origin.Host(), false, &wantedProof{factor.Wanted{IsFactor: byFactor, Within: x.recent}}, to), nil
	}
	return &Response{Redirect: to}, nil
}

// signInAgainPage returns the page that asks the user to sign in again, which leads to the URL
// to.
func signInAgainPage(ctx context.Context, s *setup, v *visit, l *links, to string) (*Response, error) {
	return pageResponse(s.pagesFor(ctx, v).Reauth(page.Reauth{
		SignInURL: l.signIn(to), CancelURL: l.url("account"), Host: l.origin.Host(), Deletes: to == l.deletion(), Exports: to == ownExport(l),
	}))
}

// askIfStale asks for a proof if the user has not proven their identity recently enough
// to change how they sign in; the browser comes back to the URL back. It returns nil
// otherwise.
func askIfStale(ctx context.Context, x *exchange, here *currentUser, back string) (*Response, error) {
	may, byFactor, err := mayChange(ctx, x.setup, &x.visit, here)
	if may || err != nil {
		return nil, err
	}
	return askProof(ctx, x, byFactor, back)
}

// showReauth answers GET /reauth. It passes GET /factor to showFactor.
func showReauth(ctx context.Context, x *exchange) (*Response, error) {
	if x.action == "factor" {
		return showFactor(ctx, x)
	}
	p, res, err := provingOf(ctx, x, x.query.Get("for"), x.query.Get("use"), x.query.Get("provider"))
	if res != nil || err != nil {
		return res, err
	}
	s := x.setup
	switch {
	case p.byFactor && len(p.ways) == 0 && s.config.AccountPage.Enabled && !asksForJSON(x.request):
		return &Response{Redirect: x.url("account?do=totp")}, nil
	case asksForJSON(x.request):
		return waysJSON(p), nil
	case s.config.Pages.Reauth != "":
		return x.ownPage(s.config.Pages.Reauth, passedOn(x.query, x.callbackURL)...), nil
	}
	failed := x.query.Get("error")
	url := func(more ...string) string { return reauthURL(&x.links, p.byFactor, x.callbackURL, more...) }
	view := page.Prove{
		CSRFToken: x.csrfToken, Action: url(), SendAction: url("do", "send"), SignInURL: x.links.signIn(x.callbackURL),
		SignOutURL: x.url("signout"), CancelURL: x.home(), Host: x.origin.Host(), Name: maskedName(nameOf(&p.here.user)),
		Use: p.way.Use, Provider: p.way.Provider, ProviderName: p.way.Name, Wrong: failed != "" && failed != string(ErrReauth), Failed: failed == string(ErrReauth),
		Sent: x.query.Get("done") == "send", Spent: p.left == 0, FormOrigins: s.formOrigins(&x.links, x.callbackURL),
	}
	for _, w := range p.ways {
		if w != p.way {
			view.Others = append(view.Others, page.OtherProof{Use: w.Use, Name: w.Name, URL: url(w.params()...)})
		}
	}
	if w := passkeyProvider(s); w != nil && p.way.Use == string(FactorPasskey) {
		view.Provider, view.Script = w.ID, s.passkeyScript(&x.links)
	}
	return pageResponse(s.pagesFor(ctx, &x.visit).Prove(view))
}

// passedOn returns the parameters, name and value in turn, for Pages.Reauth.
func passedOn(query url.Values, callbackURL string) []string {
	params := []string{"callbackUrl", callbackURL}
	for _, name := range []string{"for", "use", "provider", "done", "error"} {
		if value := query.Get(name); value != "" {
			params = append(params, name, value)
		}
	}
	return params
}

// answerReauth answers POST /reauth.
func answerReauth(ctx context.Context, x *exchange) (*Response, error) {
	p, res, err := provingOf(ctx, x, x.query.Get("for"), x.field("use"), x.field("provider"))
	switch {
	case res != nil || err != nil:
		return res, err
	case x.query.Get("do") == "send":
		return sendProofCode(x.setup, ctx, &x.visit, &x.links, p)
	case p.way.Use == "":
		return wrongProof(&x.visit, &x.links, p, ErrReauth, fault.RequestMalformed), nil
	case p.way.Use == useProvider:
		return proveAtProvider(ctx, x, p)
	}
	kind := FactorKind(p.way.Use)
	tries, known, wait, err := admitCode(ctx, x, p.here.user.ID, kind)
	if err != nil { // no code was looked at, so none has failed
		return nil, err
	}
	if wait > 0 {
		return tooSoon(x.request, wait, wrongProof(&x.visit, &x.links, p, ErrSecondFactor, fault.LimitClient)), nil
	}
	if p.left, err = directory.TryProof(ctx, x.setup.directory, p.of); errors.Is(err, directory.ErrNoTries) {
		returnTries(ctx, x, tries, false)
		return wrongProof(&x.visit, &x.links, p, ErrReauth, fault.LimitClient), nil
	}
	var shown checkedProof
	if err == nil {
		shown, err = checkProof(ctx, x, p, known != nil)
		err = directory.ReturnProof(ctx, x.setup.directory, p.of, err)
	}
	if err != nil {
		returnTries(ctx, x, tries, !directory.IsUncounted(err))
		return nil, err
	}
	if shown.amr == nil {
		return wrongProof(&x.visit, &x.links, p, ErrSecondFactor, shown.wrong), nil
	}
	res, err = finishProof(ctx, x, p, shown.second, directory.Proof{AMR: shown.amr}, tries)
	return res, directory.ReturnProof(ctx, x.setup.directory, p.of, err)
}

// completeAtProvider answers the callback of a provider that was asked to identify the
// user of a session. It signs no user in and links nothing (F-065).
func completeAtProvider(ctx context.Context, x *exchange, f *browser.Flow, in *directory.Assertion) (*Response, error) {
	p, res, err := provingOf(ctx, x, f.StepUp, useProvider, in.Account.Provider)
	if res != nil || err != nil {
		return res, err
	}
	if !p.here.isMarked(f.Ref) {
		return nil, failure.WrapFor(ErrReauth, in.Account.Provider, directory.ErrSessionGone)
	}
	owner, err := guarded.Optional(x.setup.store.UserByAccount(ctx, in.Account.Provider, in.Account.ProviderAccountID))
	if err != nil {
		return nil, err
	}
	if owner == nil || owner.ID != p.here.user.ID || p.way.Use == "" {
		return nil, failure.WrapFor(ErrReauth, in.Account.Provider, &failure.Mistake{Err: errors.New("the provider has named another user, or an account that is not linked")})
	}
	amr := in.AMR
	if amr == nil {
		amr = factor.First(in.Account.Type, nil)
	}
	return finishProof(ctx, x, p, nil, directory.Proof{AMR: amr, ACR: in.ACR, AtProvider: in.AtProvider}, nil)
}

// failedAtProvider logs why a callback proves nothing, and redirects to the page that
// asked for the proof. If why is an outage, it returns why instead. A second callback of
// one flow is no failed proof, because the first one decides: failedAtProvider then
// redirects to the callback URL of the flow. If the ID token does not meet what was
// demanded, failedAtProvider has directory.NoteSilence remember that, and returns the error
// of NoteSilence beside the response.
func failedAtProvider(ctx context.Context, x *exchange, f *browser.Flow, why error) (*Response, error) {
	if isOutage(why) {
		return nil, why
	}
	logFailure(ctx, x, atProvider(x.provider, why))
	x.callbackURL = landingOf(f, x.callbackURL)
	if explain.DetailOf(why) == fault.FlowReplayed {
		return &Response{Redirect: x.callbackURL}, nil
	}
	p, res, err := provingOf(ctx, x, f.StepUp, useProvider, f.Provider)
	if res != nil || err != nil {
		return res, err
	}
	if errors.Is(why, oauth.ErrUnmet) {
		err = directory.NoteSilence(ctx, x.setup.directory, p.of)
	}
	return wrongProof(&x.visit, &x.links, p, ErrReauth, explain.DetailOf(why)), err
}

// wrongProof answers a proof that does not fit, and adds the event with why as its Detail.
// The page or script is told the error type reason, but CredentialsSignin for a password.
func wrongProof(v *visit, l *links, p *proving, reason ErrorType, why fault.Detail) *Response {
	if p.way.Use == usePassword {
		reason = ErrCredentialsSignin
	}
	v.events.Add(Event{Type: event.StepUp, Outcome: event.Failed, Reason: reason, Detail: why, UserID: p.here.user.ID, SessionID: p.here.sessionID, Provider: p.way.Provider}, nil)
	if asksForJSON(v.request) {
		return noStore(jsonBytes(http.StatusUnauthorized, []byte(`{"error":"`+string(reason)+`","left":`+strconv.Itoa(p.left)+`}`)))
	}
	return &Response{Redirect: reauthURL(l, p.byFactor, p.back, append(p.way.params(), "error", string(reason))...)}
}

// finishProof renews the session with what was shown, and redirects to x.callbackURL. A code
// that is wrong after all is answered by wrongProof, an ended session by the sign-in page. It
// gives back tries unless the code was wrong, and mails the user of a used recovery code.
func finishProof(ctx context.Context, x *exchange, p *proving, second *directory.Second, shown directory.Proof, tries []limit.Try) (*Response, error) {
	s, here := x.setup, p.here
	proof := directory.Proof{At: s.now(), AtProvider: shown.AtProvider}
	if assures(s) {
		proof.AMR, proof.ACR = factor.Raised(here.AMR, here.ACR, shown.AMR, shown.ACR)
	}
	renewed := s.sessions.renewal(&x.visit, here, proof)
	x.events.SetActor(event.Actor{Kind: event.ActorUser, ID: here.user.ID})
	err := directory.CompleteStepUp(ctx, s.directory, &x.events, directory.StepUp{
		Of: p.of, Second: second, Since: laterOf(here.since, here.Proved), Renew: renewed.stored,
		Event: Event{Type: event.StepUp, UserID: here.user.ID, SessionID: here.sessionID, Provider: p.way.Provider, AMR: shown.AMR, ACR: shown.ACR},
	})
	returnTries(ctx, x, tries, errors.Is(err, directory.ErrWrongProof))
	if err == nil {
		err = renewed.done(ctx)
	}
	switch {
	case errors.Is(err, directory.ErrWrongProof):
		return wrongProof(&x.visit, &x.links, p, ErrSecondFactor, fault.FactorWrong), nil
	case errors.Is(err, directory.ErrSessionGone), errors.Is(err, directory.ErrNoToken): // a sign-out was faster
		return &Response{Redirect: x.links.signIn(x.callbackURL)}, nil
	case err != nil:
		return nil, failure.Wrap(ErrReauth, err)
	}
	if second != nil && second.Recovery != "" {
		noticeUser(ctx, x, here.user.ID, Message{Kind: MessageRecoveryUsed, Left: second.Left})
	}
	res := &Response{Redirect: x.callbackURL}
	if asksForJSON(x.request) && !x.wantsJSON() {
		res = asJSON(res)
	}
	return res, nil
}
