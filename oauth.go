package latchkey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/oauth"
)

// oauthProvider is an OAuth made ready.
type oauthProvider struct {
	OAuth
	client  *oauth.Client
	http    *http.Client // for FetchProfile; limited like every call
	proxied string       // RedirectProxyURL, the provider's or the site's
}

func (p *OAuth) prepare(s *setup, getenv func(string) string) (provider, error) {
	o := &oauthProvider{OAuth: *p}
	setDefault(&o.Name, o.ID)
	o.Scopes, o.Checks = slices.Clone(p.Scopes), slices.Clone(p.Checks)
	o.ClientID = firstOf(p.ClientID, providerEnv(getenv, p.ID, "ID"))
	o.ClientSecret = firstOf(p.ClientSecret, providerEnv(getenv, p.ID, "SECRET"))
	o.Issuer = firstOf(p.Issuer, providerEnv(getenv, p.ID, "ISSUER"))
	o.proxied = strings.TrimRight(firstOf(p.RedirectProxyURL, s.RedirectProxyURL), "/")
	if o.Identify == nil {
		o.Identify = defaultIdentity
	}
	if o.KeepTokens == nil {
		o.KeepTokens = defaultTokens
	}
	o.settleChecks(s)
	o.warnOfDangers(s)
	o.http = o.wrapClient(s)
	var err error
	if o.client, err = oauth.New(o.wire(s)); err != nil {
		return o, ErrInvalidEndpoints.at(o.ID, err)
	}
	return o, o.checkAddresses()
}

func (p *oauthProvider) info() providerInfo {
	kind := TypeOAuth
	if p.OIDC {
		kind = TypeOIDC
	}
	return providerInfo{p.ID, p.Name, kind, p.Style, nil}
}

func (p *oauthProvider) secrets() []string { return []string{p.ClientSecret} }

func (p *oauthProvider) formPost() bool { return p.ResponseMode == "form_post" }

// settleChecks fills in the default checks; see [OAuth].Checks.
func (p *oauthProvider) settleChecks(s *setup) {
	if len(p.Checks) == 0 {
		p.Checks = []Check{CheckPKCE}
	}
	if slices.Contains(p.Checks, CheckNone) {
		s.log.warn("callbacks of this provider are not checked: anybody can sign a visitor in to an account of their own", "provider", p.ID)
		p.Checks = slices.DeleteFunc(p.Checks, func(c Check) bool { return c == CheckNone })
		return
	}
	if p.proxied != "" && !p.formPost() && !slices.Contains(p.Checks, CheckState) {
		p.Checks = append(p.Checks, CheckState)
	}
}

func (p *oauthProvider) warnOfDangers(s *setup) {
	switch {
	case p.AllowDangerousEmailAccountLinking && !p.TrustUnverifiedEmail:
		s.log.warn("AllowDangerousEmailAccountLinking: whoever this provider says has an address gets the account that has it", "provider", p.ID)
	case p.TrustUnverifiedEmail:
		s.log.warn("TrustUnverifiedEmail: whoever can enter an address at this provider takes over the account that has it", "provider", p.ID)
	}
	if p.AllowPlainHTTP {
		s.log.warn("AllowPlainHTTP: tokens and secrets travel in clear", "provider", p.ID)
	}
}

func (p *oauthProvider) checkAddresses() error {
	if p.RedirectProxyURL != "" && !isHTTPURL(p.RedirectProxyURL) {
		return ErrInvalidProvider.at(p.ID, fmt.Errorf("the field RedirectProxyURL is %q: want the proxy's base path URL", showURL(p.RedirectProxyURL)))
	}
	if p.ResponseMode != "" && p.ResponseMode != "query" && p.ResponseMode != "form_post" {
		return ErrInvalidProvider.at(p.ID, fmt.Errorf("the field ResponseMode is %q: want form_post, or nothing for the query", p.ResponseMode))
	}
	for _, c := range p.Checks {
		if c != CheckPKCE && c != CheckState && c != CheckNonce {
			return ErrInvalidProvider.at(p.ID, fmt.Errorf("unknown check %q in Checks", c))
		}
	}
	return nil
}

// wrapClient is the HTTP client for this provider. It follows no redirect
// a token in a header would go wherever the provider's answer says.
func (p *oauthProvider) wrapClient(s *setup) *http.Client {
	c := *s.HTTPClient
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Timeout = s.Limits.Call
	c.Jar = nil // what a provider sets for one person must not be sent for the next
	if p.Transport != nil {
		base := c.Transport
		if base == nil {
			base = http.DefaultTransport
		}
		c.Transport = p.Transport(base)
	}
	return &c
}

// wire is the provider as internal/oauth knows it.
func (p *oauthProvider) wire(s *setup) oauth.Config {
	c := oauth.Config{
		OIDC: p.OIDC, Issuer: p.Issuer, ClientID: p.ClientID, ClientAuth: oauth.ClientAuth(p.ClientAuth),
		ClientIDParam: p.ClientIDParam, JWKS: p.JWKS, IDTokenAlgs: p.IDTokenAlgs, Audiences: p.AllowedAudiences,
		Authorization: oauth.Endpoint(p.Authorization), Token: oauth.Endpoint(p.Token), UserInfo: oauth.Endpoint(p.UserInfo),
		AllowInsecure: p.AllowPlainHTTP, HTTP: p.http, Time: s.now, CallTimeout: s.Limits.Call, MaxBody: int64(s.Limits.Upstream),
		Cache: discoveryCache(s.Limits),
	}
	if s.Hardened && c.Audiences == nil {
		c.Audiences = []string{}
	}
	if p.Scopes != nil {
		c.Scopes = []string{strings.Join(p.Scopes, firstOf(p.ScopeSeparator, " "))}
	}
	if p.AssertionAudience != "" {
		c.AssertionAudience = []string{p.AssertionAudience}
	}
	if p.SigningKey.Key != nil {
		c.SigningKey = &oauth.SigningKey{Key: p.SigningKey.Key, ID: p.SigningKey.KeyID, Alg: p.SigningKey.Algorithm}
	}
	if match := p.MatchIssuer; match != nil {
		c.MatchIssuer = func(issuer string, claims map[string]any) bool { return match(issuer, claims) }
	}
	switch {
	case p.NewClientSecret != nil:
		c.ClientSecret = func(ctx context.Context) (string, error) { return p.NewClientSecret(ctx, s.now()) }
	case p.ClientSecret != "":
		c.ClientSecret = func(context.Context) (string, error) { return p.ClientSecret, nil }
	}
	if p.FetchProfile != nil && c.UserInfo.URL == "" {
		c.UserInfo = c.Token // never asked; it only says that nothing has to be discovered
	}
	return c
}

// discoveryCache is nil for the usual lifetimes.
func discoveryCache(l Limits) *oauth.Cache {
	if l.DiscoveryMaxAge == 0 && l.DiscoveryPause == 0 {
		return nil
	}
	c := oauth.Cache{MinAge: 5 * time.Minute, MaxAge: 24 * time.Hour, FailurePause: time.Second, MaxFailurePause: 30 * time.Second, KeyPause: 30 * time.Second}
	if l.DiscoveryMaxAge != 0 {
		c.MaxAge = max(l.DiscoveryMaxAge, 0)
		c.MinAge = min(c.MinAge, c.MaxAge)
	}
	if l.DiscoveryPause != 0 {
		c.MaxFailurePause = max(l.DiscoveryPause, 0)
		c.FailurePause = min(c.FailurePause, c.MaxFailurePause)
	}
	return &c
}

// checks are the ones for a sign-in now: what the operator chose, or PKCE, with
// state and nonce as long as nobody says that the provider supports S256.
func (p *oauthProvider) checks(ctx context.Context) ([]Check, error) {
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

// begin sends the visitor to the provider.
func (p *oauthProvider) begin(ctx context.Context, v *visit) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, v.Limits.Callback)
	defer cancel()
	to, err := p.authorizationURL(ctx, v)
	if err != nil {
		return nil, ErrOAuthSignIn.at(p.ID, err)
	}
	return &Response{Redirect: to}, nil
}

func (p *oauthProvider) authorizationURL(ctx context.Context, v *visit) (string, error) {
	if p.formPost() && !v.origin.secure && !isLoopback(v.origin.host()) {
		return "", errors.New("response_mode form_post needs https: browsers send no cookie with the provider's post otherwise")
	}
	checks, err := p.checks(ctx)
	if err != nil {
		return "", err
	}
	redirectURI, origin := p.callbackAddress(v)
	f, err := v.newFlow(checks, origin)
	if err != nil {
		return "", err
	}
	if f.userID, err = p.whoBegins(ctx, v); err != nil {
		return "", err
	}
	to, err := p.client.AuthorizationURL(ctx, oauth.AuthRequest{
		RedirectURI: redirectURI, State: f.stateParam(), Nonce: f.nonce, Verifier: f.verifier,
		ResponseMode: p.ResponseMode, Params: v.query,
	})
	if err != nil {
		return "", err
	}
	return to, v.beginFlow(p, f, checks)
}

// callbackAddress is where the provider sends the visitor back to, and, if
// that is the proxy, where the proxy sends them on to.
func (p *oauthProvider) callbackAddress(v *visit) (redirectURI, origin string) {
	own := v.url("callback/" + p.ID)
	if p.proxied == "" || p.formPost() || p.isProxy(v) {
		return own, ""
	}
	return p.proxied + "/callback/" + p.ID, own
}

// isProxy: this deployment is the proxy itself.
func (p *oauthProvider) isProxy(v *visit) bool {
	u, err := url.Parse(p.proxied)
	return p.proxied != "" && err == nil && newOrigin(u.Scheme, u.Host).text == v.origin.text
}

// receive completes a sign-in. The order is that of the case for each check:
// nothing is asked of the provider before the browser has proven itself.
func (p *oauthProvider) receive(ctx context.Context, v *visit) (*arrival, error) {
	ctx, cancel := context.WithTimeout(ctx, v.Limits.Callback)
	defer cancel()
	params := p.params(v)
	answer, err := oauth.ParseCallback(params)
	if err != nil {
		return nil, err
	}
	if onward, err := p.sendOn(v, answer.State, params); err != nil || onward != "" {
		if err != nil {
			return nil, err
		}
		return nil, RespondWith(&Response{Redirect: onward})
	}
	checks, err := p.checks(ctx)
	if err != nil {
		return nil, err
	}
	f := &flow{}
	if err := v.findState(p, f, checks, answer.State); err != nil {
		return nil, err
	}
	if err := p.client.CheckResponse(ctx, answer); err != nil {
		return nil, p.refusal(err)
	}
	if err := v.findRest(p, f, checks, answer.State); err != nil {
		return nil, err
	}
	if err := v.spendFlow(ctx, p, f, checks); err != nil {
		return nil, err
	}
	if f.landing != "" {
		v.callbackURL = f.landing
	}
	grant, err := p.redeem(ctx, v, answer.Code, f, params)
	if err != nil {
		return nil, err
	}
	in, err := p.identify(grant)
	if err == nil && p.formPost() && !v.hasSessionCookie() {
		in.begunBy = f.userID
	}
	return in, err
}

// whoBegins is the user who is signed in, for providers that post from their
// own site: the session cookie stays away from that post.
func (p *oauthProvider) whoBegins(ctx context.Context, v *visit) (string, error) {
	if !p.formPost() || v.store == nil {
		return "", nil
	}
	here, err := v.sessions.current(ctx, v)
	if here == nil || err != nil {
		return "", err
	}
	return here.user.ID, nil
}

// params are those of the authorization response.
func (p *oauthProvider) params(v *visit) url.Values {
	if !p.formPost() {
		return v.query
	}
	if v.isPost() && mediaType(v.request.Header.Get("Content-Type")) == formType {
		params, _ := url.ParseQuery(string(v.request.Body))
		return params
	}
	return nil
}

// refusal tells an error that the provider states from everything else.
func (p *oauthProvider) refusal(err error) error {
	if said, ok := errors.AsType[*oauth.ResponseError](err); ok && said.Step == oauth.StepAuthorization {
		return ErrOAuthCallback.at(p.ID, err)
	}
	return err
}
