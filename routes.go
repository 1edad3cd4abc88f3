package latchkey

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey/fault"
	challenges "github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// route answers a request, in the order of docs/protocol.md.
func (x *exchange) route(ctx context.Context) (*Response, error) {
	if x.credential.Bearer != nil {
		return routeBearer(ctx, x), nil
	}
	if res, err := routeOpen(ctx, x); res != nil || err != nil {
		return res, err
	}
	remindOfDelays(x.setup, ctx, &x.links)
	x.takeCSRF()
	if err := x.takeCallbackURL(ctx); err != nil {
		return nil, err
	}
	if x.stepUp = stepUpHandlers(&x.setup.config, x.action); x.isPost() {
		return x.post(ctx)
	}
	switch x.action {
	case "csrf":
		return showCSRF(x), nil
	case "session":
		return privateJSON(x.sessionJSON(ctx, nil)), nil
	case "signin":
		if x.providerID != "" {
			return nil, failure.Wrap(ErrUnknownAction, failure.Of(fault.RequestUnknown, errors.New("a sign-in starts with POST")))
		}
		return signInPage(ctx, x)
	case "signout":
		return signOutPage(ctx, x)
	case "verify-request":
		return verifyRequestPage(ctx, x)
	case "error":
		return showError(ctx, x), nil
	case "callback":
		return x.callback(ctx)
	case "account":
		return showAccount(ctx, x)
	case "factor", "reauth":
		return showReauth(ctx, x)
	case "password", "invite", "act-as":
		return routeOfBoth(ctx, x)
	case "webauthn-options":
		if x.provider != nil && x.provider.info().options != nil {
			return x.provider.info().options(ctx, x)
		}
	}
	return nil, failure.Wrap(ErrUnknownAction, failure.Of(fault.RequestUnknown, errors.New("no such route for GET")))
}

// stepUpHandlers returns the functions that handle the callback of a provider that was asked
// to prove a session's user again (a step-up). It returns nil if the action is no
// callback, or if the site asks for no such proofs.
func stepUpHandlers(c *Config, action string) *providerProof {
	if action != "callback" || !c.stepsUp() {
		return nil
	}
	return &providerProof{completeAtProvider, failedAtProvider}
}

// routeOpen answers the routes that need neither a CSRF token nor a callback URL:
// providers, client, and those of a logout at a provider. It returns nil and no error for
// every other request.
func routeOpen(ctx context.Context, x *exchange) (*Response, error) {
	switch {
	case x.action == "providers" && !x.isPost():
		return x.setup.listProviders(&x.links), nil
	case x.action == "client" && !x.isPost():
		return showClient(x.request.Header, x.providerID)
	}
	return fromProvider(ctx, x), nil
}

// dependsOnCookie reports whether the answer to an action may differ for another browser.
func dependsOnCookie(action string) bool {
	return action != "providers" && action != "client" && action != "backchannel-logout"
}

// post answers a POST. The built-in forms need a CSRF token, except at callbacks.
func (x *exchange) post(ctx context.Context) (*Response, error) {
	switch x.action {
	case "signin", "signout", "session", "account", "password", "factor", "reauth", "invite", "act-as":
		if !x.csrfVerified {
			return nil, noCSRF(x.request.Header, x.origin.Text)
		}
	}
	switch x.action {
	case "session":
		return jsonBytes(http.StatusOK, x.sessionJSON(ctx, &change{x.form["data"]})), nil
	case "signin":
		return x.signIn(ctx)
	case "signout":
		return x.signOut(ctx)
	case "callback":
		return x.callback(ctx)
	case "account":
		return changeAccount(ctx, x)
	case "factor":
		return answerFactor(ctx, x)
	case "reauth":
		return answerReauth(ctx, x)
	case "password", "invite", "act-as":
		return routeOfBoth(ctx, x)
	}
	return nil, failure.Wrap(ErrUnknownAction, failure.Of(fault.RequestUnknown, errors.New("no such route for POST")))
}

// routeOfBoth answers GET and POST of the actions password, invite and act-as.
func routeOfBoth(ctx context.Context, x *exchange) (*Response, error) {
	switch x.action {
	case "password":
		return passwordRoute(ctx, x)
	case "invite":
		return inviteRoute(ctx, x)
	}
	if x.isPost() {
		return beginToAct(ctx, x)
	}
	return askToAct(ctx, x)
}

// listProviders answers GET /providers.
func (s *setup) listProviders(l *links) *Response {
	b := []byte{'{'}
	for i, p := range s.order {
		info := p.info()
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonscan.AppendText(b, info.id), `:{"id":`...)
		b = append(jsonscan.AppendText(b, info.id), `,"name":`...)
		b = append(jsonscan.AppendText(b, info.name), `,"type":`...)
		b = append(jsonscan.AppendText(b, string(info.kind)), `,"signinUrl":`...)
		b = append(jsonscan.AppendText(b, l.url("signin/"+info.id)), `,"callbackUrl":`...)
		b = append(jsonscan.AppendText(b, l.url("callback/"+info.id)), '}')
	}
	return jsonBytes(http.StatusOK, append(b, '}'))
}

// inviteRoute answers GET and POST /invite. Neither a look at an invitation nor its acceptance
// uses it up: the sign-in that proves its address does (F-095).
func inviteRoute(ctx context.Context, x *exchange) (*Response, error) {
	s, token := x.setup, x.query.Get("token")
	rows := s.directory.Waiting(s.store)
	in, err := rows.Invitation(ctx, token)
	view := page.Invite{CSRFToken: x.csrfToken, Action: x.url("invite?token=" + url.QueryEscape(token)), Email: in.Email, Host: x.origin.Host(), Origin: x.home()}
	own := s.config.Pages.Invite
	switch {
	case errors.Is(err, ErrNotFound) && own != "":
		return x.ownPage(own, "error", string(ErrVerification)), nil
	case errors.Is(err, ErrNotFound):
		return pageResponse(s.pagesFor(ctx, &x.visit).Invite(page.Invite{Gone: true, Host: view.Host, Origin: view.Origin}))
	case err != nil:
		return nil, err
	}
	x.hide(token)
	here, err := s.visitor(ctx, &x.visit)
	if err != nil {
		return nil, err
	}
	isOther := here != nil && here.Email != in.Email
	if isOther {
		view.As, view.SignOutURL = nameOf(here), x.url("signout")
	}
	if x.isPost() && !isOther {
		if err := rows.AcceptInvitation(ctx, token); err != nil {
			return nil, err
		}
		return acceptInvitation(ctx, x, &in)
	}
	if own != "" {
		return x.ownPage(own, "token", token, "email", in.Email), nil
	}
	view.FormOrigins = s.formOrigins(&x.links, in.CallbackURL)
	return pageResponse(s.pagesFor(ctx, &x.visit).Invite(view))
}

// acceptInvitation answers an invitation that was just accepted (F-206). An unmailed one leads
// to the sign-up with a password, if there is one. A mailed one proves the address: a new user
// is created and signed in or, without Email or with SignUpInvited, chooses a password first.
// All others, such as a mailed one of a known user, lead to the sign-in page.
func acceptInvitation(ctx context.Context, x *exchange, in *challenges.Invitation) (*Response, error) {
	s, started := x.setup, x.now()
	known, err := guarded.Optional(s.store.UserByEmail(ctx, in.Email))
	if err != nil {
		return nil, err
	}
	if x.callbackURL, err = x.resolveRedirect(ctx, cmp.Or(in.CallbackURL, x.home())); err != nil {
		x.callbackURL = x.home()
	}
	p, mail := passwordsOf(s), mailProvider(s)
	switch {
	case !in.Mailed && p != nil && p.SignUp != SignUpClosed:
		return &Response{Redirect: x.url("password") + weburl.WithQuery("", "do", "signup", "email", in.Email, "callbackUrl", x.callbackURL)}, nil
	case !in.Mailed || known != nil || p == nil && mail == nil:
		return &Response{Redirect: weburl.WithQuery(x.links.signIn(x.callbackURL), "email", in.Email)}, nil
	case mail == nil || p != nil && p.SignUp == SignUpInvited:
		token, _, err := p.flows.Directory.NewSignUp(ctx, &directory.SignUp{Email: in.Email, CallbackURL: x.callbackURL})
		x.hide(token)
		return &Response{Redirect: x.url("password?do=verify&token=" + token)}, err
	}
	x.provider = mail
	res, err := x.completeSignIn(ctx, &directory.Assertion{
		Person: User{Email: in.Email}, ProvesEmail: true, ByLink: true, Counted: true, Started: started, Account: mail.account(in.Email),
	})
	return x.conclude(ctx, outcome{response: res}, err)
}
