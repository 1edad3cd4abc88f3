package latchkey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// begin returns the outcome that redirects the browser to the provider. Its errors are
// ErrOAuthSignIn, except for directory.ErrActing, which comes back as it is.
func (p *oauthProvider) begin(ctx context.Context, x *exchange) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, x.setup.config.Limits.ProviderTimeout)
	defer cancel()
	to, err := p.authorizationURL(ctx, x)
	if errors.Is(err, directory.ErrActing) {
		return outcome{}, err
	}
	if err != nil {
		return outcome{}, failure.WrapFor(ErrOAuthSignIn, p.ID, err)
	}
	return outcome{response: &Response{Redirect: to}}, nil
}

// authorizationURL begins a flow: it puts the values of its checks into the cookies, and
// returns the URL at the provider that the browser goes to. It returns
// directory.ErrActing if an administrator acts as the user.
func (p *oauthProvider) authorizationURL(ctx context.Context, x *exchange) (string, error) {
	if p.postsCrossSite() && !x.origin.Secure && !weburl.IsLoopback(x.origin.Host()) {
		return "", errors.New("response_mode form_post needs https: browsers send no cookie with the provider's post otherwise")
	}
	checks, err := p.currentChecks(ctx)
	if err != nil {
		return "", err
	}
	asked := askedIn(ctx)
	redirectURI, origin := p.redirectURIs(&x.links)
	f, err := p.newFlow(x.callbackURL, checks, origin)
	if err != nil {
		return "", err
	}
	if err = noteBeginner(ctx, x.setup, &x.visit, &f.FlowOrigin); err != nil {
		return "", err
	}
	f.Connect = asked.connect
	to, err := p.authorizationRequest(ctx, asked, x.query, redirectURI, f)
	if err != nil {
		return "", err
	}
	f.StepUp = asked.stepUp
	f.Record(redirectURI, browser.Demands(asked.ask.DemandsOf(to)))
	x.setup.log.Note(ctx, x, "a sign-in begins", "checks", f.Sent.Checks)
	return to, x.cookies.Begin(f, x.setup.config.Security.OneFlow, x.now())
}

// authorizationRequest returns the URL at the provider that asks for a sign-in.
func (p *oauthProvider) authorizationRequest(ctx context.Context, asked oneCall, query url.Values, redirectURI string, f *browser.Flow) (string, error) {
	if p.isForeign() {
		return guarded.ContainResult(func() (string, error) { return p.Protocol.Begin(withState(redirectURI, f)) })
	}
	return p.client.AuthorizationURL(ctx, oauth.AuthRequest{
		RedirectURI: redirectURI, State: f.StateParam(), Nonce: f.Nonce, Verifier: f.Verifier,
		ResponseMode: p.ResponseMode, Params: query, Replaceable: slices.Concat(p.VisitorParams, slices.Collect(maps.Keys(asked.params))), Ask: asked.ask,
	})
}

// receive completes a sign-in, or the proof of a session's user (a step-up). If a step-up
// fails, x.stepUp.failed makes response and error: mostly a redirect to the page that asked.
func (p *oauthProvider) receive(ctx context.Context, x *exchange) (outcome, error) {
	if x.stepUp == nil {
		return receiveAnswer(ctx, x, p)
	}
	state, flows := p.params(x.request).Get("state"), x.cookies.Flows(p.ID, x.now()) // before receiveAnswer, since a flow that is spent leaves the cookies
	out, err := receiveAnswer(ctx, x, p)
	if err == nil && out.proof != nil { // with all the time of the request, as a sign-in has
		out.response, err = x.stepUp.complete(ctx, x, out.proof, out.assertion)
		out.assertion = nil
	}
	i := slices.IndexFunc(flows, func(f *browser.Flow) bool { return f.StepUp != "" && f.IsNamedBy(state) })
	if err == nil || i < 0 {
		return out, err
	}
	res, err := x.stepUp.failed(ctx, x, flows[i], err)
	return outcome{response: res, proof: flows[i]}, err
}

// receiveAnswer does the work of receive. An ID token that the client brings, an answer
// for a preview deployment and a post without its session cookie end early. For all
// others it checks the state, then the error that the provider states, and then that the
// browser has kept the value of each check. Only after that redeem trades the code and
// compares the nonce with that of the ID token. Only discovery may be asked earlier.
// If sendOn cannot tell which deployment the answer is for, the error that the provider
// states wins over that of sendOn. After an error, respond drops the cookies that were
// set, so that the browser keeps those of the flow.
func receiveAnswer(ctx context.Context, x *exchange, p *oauthProvider) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, x.setup.config.Limits.ProviderTimeout)
	defer cancel()
	if out, taken, err := p.receiveOther(ctx, p, x); taken {
		return begunHere(ctx, x, out, err)
	}
	params := p.params(x.request)
	hideParams(&x.visit, p, params)
	answer, err := parseCallback(p, params)
	if err != nil {
		return outcome{}, err
	}
	elsewhere, err := p.sendOn(&x.links, x.isPost(), answer.State, params)
	if err != nil {
		if stated := p.client.CheckResponse(ctx, answer); stated != nil && answer.IsError() {
			err = p.providerError(stated) // for whichever deployment it was
		}
		return outcome{}, err
	}
	if elsewhere != "" {
		return outcome{response: &Response{Redirect: elsewhere}}, nil
	}
	if !answer.IsError() && x.field(fieldAgain) == "" && p.lacksSession(&x.visit) {
		res, err := p.repeatPost(ctx, x, params)
		return outcome{response: res}, err
	}
	f, err := p.matchFlow(ctx, &x.visit, answer, answerAt(p, &x.links, answer.State))
	if err != nil {
		return outcome{}, err
	}
	noteMatch(ctx, p.setup, &x.visit, f, answer.State)
	x.callbackURL = landingOf(f, x.callbackURL)
	grant, err := p.redeem(ctx, x, answer.Code, f, params)
	if err != nil {
		return outcome{}, err
	}
	in, err := p.assertionOf(grant)
	if err != nil {
		return outcome{}, err
	}
	return answered(x, f, in, p.setup.mark.isIn(f.ID))
}

// noteMatch logs that a callback was matched to flow f, and tells the tracer: state=ok if
// the state names f, and state=unchecked for a flow that statelessFlow chose.
func noteMatch(ctx context.Context, s *setup, v *visit, f *browser.Flow, state string) {
	text, decided := "a callback belongs to a sign-in of this browser", "state=ok"
	if !f.IsNamedBy(state) {
		text, decided = "a callback is taken whose state names no sign-in of this browser", "state=unchecked"
	}
	s.log.Note(ctx, v.about, text, "checks", f.Checks())
	v.trail.Decided(decided)
}

// answered returns the outcome of flow f: a sign-in, or, for a flow that began as a
// step-up, the proof of a session's user. For a sign-in it writes into in where and when
// f began. isOurs says that this process began f. It returns ErrReauth for a proof if the
// site does not ask for proofs any more.
func answered(x *exchange, f *browser.Flow, in *directory.Assertion, isOurs bool) (outcome, error) {
	switch {
	case f.StepUp == "":
		in.BegunIn, in.BegunFresh = &f.Ref, f.Fresh
		if c := f.Connect; c != nil {
			in.Connects, in.Wanted = true, c.Account
		}
		in.Issued, in.IssuedHere = f.BegunAt(f.Expires), isOurs
		return outcome{assertion: in}, nil
	case x.stepUp == nil:
		return outcome{}, failure.WrapFor(ErrReauth, f.Provider, errors.New("a proof came back, and no page asks for proofs any more"))
	}
	return outcome{assertion: in, proof: f}, nil
}

// fieldAgain is the form field that marks a repeated post. A post with it is not repeated
// once more. That is all it does, so a client may set it.
const fieldAgain = "latchkey-again"

// lacksSession reports whether the provider's page has posted an answer without the
// session cookie, while a flow of this provider in the cookies began in a session. An
// attacker that plants check cookies here must not gain the account of the user of this
// browser.
func (p *oauthProvider) lacksSession(v *visit) bool {
	if v.cookies.HasSession() || !p.postsCrossSite() {
		return false
	}
	return slices.ContainsFunc(v.cookies.Flows(p.ID, v.now()), func(f *browser.Flow) bool { return f.UserID != "" })
}

// repeatPost returns a page of this site that has the browser repeat the provider's post,
// so that its session cookie comes along. Nothing is spent yet.
func (p *oauthProvider) repeatPost(ctx context.Context, x *exchange, params url.Values) (*Response, error) {
	v := page.Confirm{
		AtOnce: true, Action: x.path("callback/" + p.ID), Host: x.origin.Host(),
		Hidden: []page.Hidden{{Name: fieldAgain, Value: "yes"}}, FormOrigins: x.setup.formOrigins(&x.links, ""),
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name == fieldAgain { // an empty one would come last and win
			continue
		}
		for _, value := range params[name] {
			v.Hidden = append(v.Hidden, page.Hidden{Name: name, Value: value})
		}
	}
	for _, f := range x.cookies.Flows(p.ID, x.now()) {
		v.FormOrigins = append(v.FormOrigins, f.CallbackURL)
	}
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).Confirm(v))
}

// answerAt returns the values of a callback that are compared with its flow: the state,
// the redirect URI, and whether the provider answers with a post.
func answerAt(p *oauthProvider, l *links, state string) browser.Answer {
	redirectURI, _ := p.redirectURIs(l)
	return browser.Answer{State: state, RedirectURI: redirectURI, Posted: p.postsCrossSite()}
}

// matchFlow finds the sign-in that a callback belongs to, by the state, and compares the
// rest of back with it. Only the first answer that names a flow counts, whatever else the
// answer says (RFC 9700 section 4.2.4). It returns the provider's error if the answer
// states one, and ErrInvalidCheck if the answer belongs to no sign-in of this browser.
func (p *oauthProvider) matchFlow(ctx context.Context, v *visit, answer *oauth.Callback, back browser.Answer) (f *browser.Flow, err error) {
	checks, err := p.currentChecks(ctx)
	if err != nil {
		return nil, err
	}
	flows := v.cookies.Flows(p.ID, v.now())
	i := slices.IndexFunc(flows, func(f *browser.Flow) bool { return f.IsNamedBy(back.State) })
	if i < 0 {
		f, err = p.statelessFlow(ctx, v, answer, flows, checks)
	} else {
		f = flows[i]
		err = answerNamed(ctx, v, p, f, answer)
	}
	if err != nil {
		return nil, err
	}
	return f, p.compare(f, back, checks)
}

// answerNamed notes that flow f was answered, and then checks the answer. It notes first,
// so that an answer that fails counts, too. It returns the error of CheckResponse, and
// ErrInvalidCheck for every answer but the first.
func answerNamed(ctx context.Context, v *visit, p *oauthProvider, f *browser.Flow, answer *oauth.Callback) error {
	isFirst := noteAnswer(ctx, p, v, f)
	if err := p.client.CheckResponse(ctx, answer); err != nil {
		return p.providerError(err)
	}
	if !isFirst {
		return errCheck(p, fault.FlowReplayed, shownText)
	}
	return nil
}

// statelessFlow chooses the flow of a callback whose state names no flow of this browser
// . For a callback without a state, that is the newest flow that Auth.js began
// without one. Else, with Security.SkipStateCheck and if checks has no CheckState, it is the
// newest flow. Else, if checks is empty, it is a new flow in which no check has a value.
// statelessFlow has CheckResponse check the answer, and returns its error. If no flow is
// chosen, the error is ErrInvalidCheck, or the one that the provider states if no flow is
// under way or checks has no CheckState.
func (p *oauthProvider) statelessFlow(ctx context.Context, v *visit, answer *oauth.Callback, flows []*browser.Flow, checks []Check) (*browser.Flow, error) {
	i := -1
	if answer.State == "" {
		i = slices.IndexFunc(flows, (*browser.Flow).IsStateless)
	}
	if i < 0 && len(flows) > 0 && p.setup.config.Security.SkipStateCheck && !slices.Contains(checks, CheckState) {
		i = 0
	}
	refused := answer.IsError() && (len(flows) == 0 || !slices.Contains(checks, CheckState))
	if i < 0 && len(checks) > 0 && !refused {
		return nil, errCheck(p, v.cookies.MissingFlow(v.now()), "the state is missing, or names no sign-in that is under way in this browser")
	}
	if err := p.client.CheckResponse(ctx, answer); err != nil {
		return nil, p.providerError(err)
	}
	if i < 0 {
		return &browser.Flow{Provider: p.ID}, nil
	}
	return flows[i], nil
}

// noteBeginner writes into b the session that a sign-in begins in, if there is one. It is
// sealed into the flow: only the user of that session may gain an account by it, and only
// while the session lives.
func noteBeginner(ctx context.Context, s *setup, v *visit, b *browser.FlowOrigin) error {
	if s.store == nil {
		return nil
	}
	here, err := s.sessions.current(ctx, v)
	if here == nil || err != nil {
		return err
	}
	b.Ref, b.Fresh = here.mark(), v.isFresh(here)
	return nil
}

// begunHere completes the assertion of out, which came without a flow: its sign-in was
// begun in the session of this very request. If err is not nil, it returns err and no
// outcome.
func begunHere(ctx context.Context, x *exchange, out outcome, err error) (outcome, error) {
	var here browser.FlowOrigin
	if err == nil {
		err = noteBeginner(ctx, x.setup, &x.visit, &here)
	}
	if err != nil {
		return outcome{}, err
	}
	out.assertion.BegunIn, out.assertion.BegunFresh = &here.Ref, here.Fresh
	return out, nil
}

// params returns the parameters of the authorization response, repeated ones included
// . It returns nil if the provider should answer with a form post and r is none.
func (p *oauthProvider) params(r *Request) url.Values {
	from := r.URL.RawQuery
	if p.postsCrossSite() {
		if r.Method != http.MethodPost || mediaType(r.Header.Get("Content-Type")) != formType {
			return nil
		}
		from = string(r.Body)
	}
	params, _ := url.ParseQuery(from)
	return params
}

// providerError returns an ErrOAuthCallback if the provider itself stated err in the callback,
// with a hint if the provider wants a nonce. It returns any other err as it is.
func (p *oauthProvider) providerError(err error) error {
	if said, ok := errors.AsType[*oauth.ResponseError](err); ok && said.Step == oauth.StepAuthorization {
		if wantsNonce(said) && !slices.Contains(p.Checks, CheckNonce) {
			err = fmt.Errorf("%w: it wants a nonce, so add latchkey.CheckNonce to the provider's Checks", err)
		}
		return failure.WrapFor(ErrOAuthCallback, p.ID, &fault.TokenError{Code: said.Code, Err: err})
	}
	return err
}

// wantsNonce reports whether the provider demands a nonce, which a default
// request does not carry.
func wantsNonce(said *oauth.ResponseError) bool {
	return strings.Contains(strings.ToLower(said.Code+" "+said.Description), "nonce")
}
