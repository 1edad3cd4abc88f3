package latchkey

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// begin sends the browser to the provider.
func (p *oauthProvider) begin(ctx context.Context, x *exchange) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, x.setup.config.Limits.Callback)
	defer cancel()
	to, err := p.authorizationURL(ctx, x)
	if err != nil {
		return outcome{}, ErrOAuthSignIn.wrapFor(p.ID, err)
	}
	return outcome{response: &Response{Redirect: to}}, nil
}

func (p *oauthProvider) authorizationURL(ctx context.Context, x *exchange) (string, error) {
	if p.postsCrossSite() && !x.origin.Secure && !weburl.IsLoopback(x.origin.Host()) {
		return "", errors.New("response_mode form_post needs https: browsers send no cookie with the provider's post otherwise")
	}
	checks, err := p.checksNow(ctx)
	if err != nil {
		return "", err
	}
	redirectURI, origin := p.redirectURIs(x)
	f, err := x.setup.newFlow(checks, origin)
	if err != nil {
		return "", err
	}
	if f.userID, err = p.whoBegins(ctx, x); err != nil {
		return "", err
	}
	to, err := p.client.AuthorizationURL(ctx, oauth.AuthRequest{
		RedirectURI: redirectURI, State: f.stateParam(), Nonce: f.nonce, Verifier: f.verifier,
		ResponseMode: p.ResponseMode, Params: x.query,
	})
	if err != nil {
		return "", err
	}
	return to, p.beginFlow(x, f, checks)
}

// receive completes a sign-in. First the state, then what the provider says
// went wrong, then PKCE and nonce: the code is not redeemed before the browser
// has proven that it began this. Only discovery may be asked earlier.
func (p *oauthProvider) receive(ctx context.Context, x *exchange) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, x.setup.config.Limits.Callback)
	defer cancel()
	params := p.params(x)
	answer, err := oauth.ParseCallback(params)
	if err != nil {
		return outcome{}, err
	}
	onward, err := p.sendOn(x, answer.State, params)
	if err != nil {
		return outcome{}, err
	}
	if onward != "" {
		return outcome{response: &Response{Redirect: onward}}, nil
	}
	f, err := p.matchFlow(ctx, x, answer)
	if err != nil {
		return outcome{}, err
	}
	if f.callbackURL != "" {
		x.callbackURL = f.callbackURL
	}
	grant, err := p.redeem(ctx, x, answer.Code, f, params)
	if err != nil {
		return outcome{}, err
	}
	in, err := p.assertionOf(grant)
	if err == nil && p.postsCrossSite() && !x.cookies.hasSession() {
		in.begunBy = f.userID
	}
	return outcome{assertion: in}, err
}

// matchFlow finds the sign-in that a callback belongs to, and uses it up.
func (p *oauthProvider) matchFlow(ctx context.Context, x *exchange, answer *oauth.Callback) (*flow, error) {
	checks, err := p.checksNow(ctx)
	if err != nil {
		return nil, err
	}
	f := &flow{}
	if err := p.findState(x, f, checks, answer.State); err != nil {
		return nil, err
	}
	if err := p.client.CheckResponse(ctx, answer); err != nil {
		return nil, p.refusal(err)
	}
	if err := p.findRest(x, f, checks, answer.State); err != nil {
		return nil, err
	}
	return f, p.consumeFlow(ctx, x, f, checks)
}

// whoBegins is the user who is signed in, for providers that post from their
// own site: the session cookie stays away from that post.
func (p *oauthProvider) whoBegins(ctx context.Context, x *exchange) (string, error) {
	if !p.postsCrossSite() || x.setup.store == nil {
		return "", nil
	}
	here, err := x.setup.sessions.current(ctx, x)
	if here == nil || err != nil {
		return "", err
	}
	return here.user.ID, nil
}

// params are those of the authorization response.
func (p *oauthProvider) params(x *exchange) url.Values {
	if !p.postsCrossSite() {
		return x.query
	}
	if x.isPost() && mediaType(x.request.Header.Get("Content-Type")) == formType {
		params, _ := url.ParseQuery(string(x.request.Body))
		return params
	}
	return nil
}

// refusal tells an error that the provider states from everything else.
func (p *oauthProvider) refusal(err error) error {
	if said, ok := errors.AsType[*oauth.ResponseError](err); ok && said.Step == oauth.StepAuthorization {
		return ErrOAuthCallback.wrapFor(p.ID, err)
	}
	return err
}

// checksNow are the ones for a sign-in: what the operator chose, or PKCE, with
// state and nonce as long as nobody says that the provider supports S256
//
func (p *oauthProvider) checksNow(ctx context.Context) ([]Check, error) {
	if len(p.Checks) == 0 {
		return nil, nil
	}
	checks := p.Checks
	needed := []Check{CheckState}
	if p.OIDC {
		needed = append(needed, CheckNonce)
	}
	if slices.Contains(checks, CheckState) && (!p.OIDC || slices.Contains(checks, CheckNonce)) {
		return checks, nil
	}
	safe, err := p.client.SupportsS256(ctx)
	if err != nil {
		return nil, err
	}
	if safe && slices.Contains(checks, CheckPKCE) {
		return checks, nil
	}
	checks = slices.Clone(checks)
	for _, c := range needed {
		if !slices.Contains(checks, c) {
			checks = append(checks, c)
		}
	}
	return checks, nil
}
