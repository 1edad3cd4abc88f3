package latchkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// How an OAuth is made ready.

// prepare returns a copy of p made ready, with empty fields taken from getenv and the
// catalogue. It returns the copy also with an error, which is ErrInvalidProvider or
// ErrInvalidEndpoints.
func (p *OAuth) prepare(s *setup, getenv func(string) string) (preparedProvider, error) {
	o := &oauthProvider{OAuth: *p, setup: s}
	fill.Default(&o.Name, o.ID)
	copyListsOf(&o.OAuth)
	variable := providerVariable(p.ID, "")
	o.ClientID = chosen(p.ClientID, p.catalogue.clientID, getenv(variable+"ID"))
	o.ClientSecret = chosen(p.ClientSecret, p.catalogue.clientSecret, getenv(variable+"SECRET"))
	o.Issuer = chosen(p.Issuer, p.catalogue.issuer, getenv(variable+"ISSUER"))
	if p.Derive != nil {
		if err := p.Derive(&o.OAuth); err != nil {
			o.about = o.describe()
			return o, failure.WrapFor(ErrInvalidProvider, o.ID, fmt.Errorf("%w%s", err, o.unset()))
		}
	}
	copyListsOf(&o.OAuth) // Derive may have set others
	o.proxied = strings.TrimRight(cmp.Or(p.RedirectProxyURL, s.config.Site.RedirectProxyURL), "/")
	if o.Identify == nil {
		o.Identify = defaultIdentity
	}
	if o.KeepTokens == nil {
		o.KeepTokens = defaultTokens
	}
	askUpstream(o, s)
	o.tracked = p.Logout.isOn()
	o.receiveOther = receiveIDToken
	o.fillChecks(s)
	o.warnOfDangers(s)
	o.http = o.wrapClient(s)
	o.about = o.describe()
	var err error
	if o.client, err = oauth.New(o.wire(s)); err != nil {
		return o, failure.WrapFor(ErrInvalidEndpoints, o.ID, fmt.Errorf("%w%s", err, o.unset()))
	}
	return o, o.validate()
}

// copyListsOf replaces the lists and the parameters of p by copies, which the
// application cannot change.
func copyListsOf(p *OAuth) {
	p.Checks = slices.Clone(p.Checks)
	for _, list := range []*[]string{
		&p.Scopes, &p.VisitorParams, &p.CallbackParams, &p.IDTokenAlgs, &p.AllowedAudiences, &p.NativeClientIDs, &p.ACRValues,
		&p.Refresh.AskScopes, &p.Refresh.Refused,
	} {
		*list = slices.Clone(*list)
	}
	for _, params := range []*url.Values{
		&p.Authorization.Params, &p.Token.Params, &p.UserInfo.Params, &p.Revocation.Params, &p.Logout.EndSession.Params,
		&p.Refresh.AskParams, &p.Refresh.Params,
	} {
		*params = maps.Clone(*params)
		for name, values := range *params {
			(*params)[name] = slices.Clone(values)
		}
	}
}

// askUpstream has each sign-in ask the provider for one of ACRValues, by the parameter
// acr_values, if Assurance and Factors.Require are set. It does nothing if the
// configuration has set that parameter.
func askUpstream(o *oauthProvider, s *setup) {
	if o.Assurance == nil || len(o.ACRValues) == 0 || s.config.Factors.Require == nil || o.Authorization.Params.Has("acr_values") {
		return
	}
	params := url.Values{}
	maps.Copy(params, o.Authorization.Params)
	params.Set("acr_values", strings.Join(o.ACRValues, " "))
	o.Authorization.Params = params
}

// unset returns a clause for an error's text that names the settings and environment
// variables of the credentials and the issuer that are missing, or "" if none is.
func (p *oauthProvider) unset() string {
	var names []string
	if p.ClientID == "" {
		names = append(names, "OAuth.ClientID or "+providerVariable(p.ID, "ID"))
	}
	if p.ClientSecret == "" && p.NewClientSecret == nil && p.SigningKey.Key == nil && p.ClientAuth != ClientAuthNone {
		names = append(names, "OAuth.ClientSecret or "+providerVariable(p.ID, "SECRET"))
	}
	if p.Issuer == "" && (p.OIDC || p.Derive != nil && p.Authorization.URL == "") {
		names = append(names, "OAuth.Issuer or "+providerVariable(p.ID, "ISSUER"))
	}
	if len(names) == 0 {
		return ""
	}
	return "; set " + strings.Join(names, ", ")
}

// describe returns what other code may ask of the provider. The functions in the result use
// p.client: the caller sets it before it calls one of them.
func (p *oauthProvider) describe() providerInfo {
	kind := TypeOAuth
	if p.OIDC {
		kind = TypeOIDC
	}
	return providerInfo{
		id: p.ID, name: p.Name, given: p.Name, kind: kind, style: p.Style, secret: p.ClientSecret,
		start: "signin/", linkable: true, postsCrossSite: p.postsCrossSite(), provesNoEmail: p.EmailTrust == EmailUnproven,
		provesEmail: p.AllowDangerousEmailAccountLinking,
		formOrigins: p.formOrigins,
		signedOut: func(ctx context.Context, x *exchange, ended endedSession) (*Response, error) {
			return signOutThere(ctx, x, p, ended)
		},
	}
}

// formOrigins returns the URLs at the provider that the browser may be sent to after a
// form was submitted. Those that are not known are empty.
func (p *oauthProvider) formOrigins() []string {
	return []string{p.client.AuthorizationEndpoint(), p.Issuer, p.client.EndSessionEndpoint()}
}

// fillChecks fills in the default checks; see [OAuth].Checks. It logs a warning if the
// configuration leaves callbacks unchecked.
func (p *oauthProvider) fillChecks(s *setup) {
	if p.isForeign() {
		p.Checks, p.exactChecks = []Check{CheckState}, true
		return
	}
	if len(p.Checks) == 0 {
		p.Checks = []Check{CheckPKCE}
	}
	if slices.Contains(p.Checks, CheckNone) {
		p.Checks = slices.DeleteFunc(p.Checks, func(c Check) bool { return c == CheckNone })
		p.exactChecks = true
		if !slices.Contains(p.Checks, CheckState) {
			s.log.WarnAtStart("callbacks of this provider are not checked: anybody can sign a browser in to an account of their own", "provider", p.ID)
		}
		return
	}
	if p.proxied != "" && !p.postsCrossSite() && !slices.Contains(p.Checks, CheckState) {
		p.Checks = append(p.Checks, CheckState)
	}
}

// warnOfDangers logs a warning at the start for each option that lets accounts or tokens
// be stolen.
func (p *oauthProvider) warnOfDangers(s *setup) {
	switch {
	case p.AllowDangerousEmailAccountLinking && !p.TrustUnverifiedEmail:
		s.log.WarnAtStart("AllowDangerousEmailAccountLinking: whoever this provider says has an e-mail address gets the account that has it", "provider", p.ID)
	case p.TrustUnverifiedEmail:
		s.log.WarnAtStart("TrustUnverifiedEmail: whoever can enter an e-mail address at this provider takes over the account that has it", "provider", p.ID)
	}
	if p.AllowPlainHTTP {
		s.log.WarnAtStart("AllowPlainHTTP: tokens and secrets travel in clear", "provider", p.ID)
	}
}

// validate returns ErrInvalidProvider if a field has an invalid value, or excludes
// another field that is set.
func (p *oauthProvider) validate() error {
	if p.RedirectProxyURL != "" && !weburl.IsHTTP(p.RedirectProxyURL) {
		return failure.WrapFor(ErrInvalidProvider, p.ID, fmt.Errorf("the field RedirectProxyURL is %q: want the proxy's base path URL", weburl.Show(p.RedirectProxyURL)))
	}
	if p.proxied != "" && !p.postsCrossSite() && !slices.Contains(p.Checks, CheckState) {
		return failure.WrapFor(ErrInvalidProvider, p.ID, errors.New("the field Checks has CheckNone, and a redirect proxy (RedirectProxyURL) finds by the state where a callback goes on to: add CheckState"))
	}
	if p.ResponseMode != "" && p.ResponseMode != "query" && p.ResponseMode != "form_post" {
		return failure.WrapFor(ErrInvalidProvider, p.ID, fmt.Errorf("the field ResponseMode is %q: want form_post, or nothing for the query", p.ResponseMode))
	}
	if p.isForeign() && (p.OIDC || p.ResponseMode != "" || p.Protocol.Begin == nil || p.Protocol.Receive == nil) {
		return failure.WrapFor(ErrInvalidProvider, p.ID, errors.New("the field Protocol needs Begin and Receive, and goes neither with OIDC nor with ResponseMode"))
	}
	if p.AcceptIDToken && (!p.OIDC || p.ProfileFromUserInfo || p.FetchProfile != nil) {
		return failure.WrapFor(ErrInvalidProvider, p.ID, errors.New("the field AcceptIDToken needs OIDC, and goes neither with ProfileFromUserInfo nor with FetchProfile: there is no access token"))
	}
	for _, c := range p.Checks {
		if c != CheckPKCE && c != CheckState && c != CheckNonce {
			return failure.WrapFor(ErrInvalidProvider, p.ID, fmt.Errorf("unknown check %q in Checks", c))
		}
	}
	return nil
}

// wrapClient returns the HTTP client for this provider. It follows no redirect
// a token in a header would go wherever the provider's answer says.
func (p *oauthProvider) wrapClient(s *setup) *http.Client {
	c := *s.config.Runtime.HTTPClient
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Timeout = s.config.Limits.ProviderCallTimeout
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

// wire returns the configuration for the provider's client in internal/oauth.
func (p *oauthProvider) wire(s *setup) oauth.Config {
	c := oauth.Config{
		OIDC: p.OIDC, Issuer: p.Issuer, ClientID: p.ClientID, ClientAuth: oauth.ClientAuth(p.ClientAuth),
		ClientIDParam: p.ClientIDParam, JWKS: p.JWKS, IDTokenAlgs: p.IDTokenAlgs, Audiences: s.config.audiences(p.AllowedAudiences),
		Authorization: oauth.Endpoint(p.Authorization), Token: oauth.Endpoint(p.Token), UserInfo: oauth.Endpoint(p.UserInfo), Revocation: oauth.Endpoint(p.Revocation), EndSession: oauth.Endpoint(p.Logout.EndSession),
		AllowInsecure: p.AllowPlainHTTP, HTTP: p.http, Time: s.now, CallTimeout: s.config.Limits.ProviderCallTimeout, MaxBody: int64(s.config.Limits.MaxResponseBytes),
		Cache: discoveryCache(s.config.Limits), StaleKeys: func(a oauth.StaleAnswer) { p.alertOfStaleKeys(s, a) }, Trace: p.watched(s).Trace,
	}
	if p.Transport == nil { // with one, it is unknown whether others would get the same answer
		c.Shared, c.Via = s.issuers, s.config.Runtime.HTTPClient
	}
	if p.Scopes != nil {
		c.Scopes = []string{strings.Join(p.Scopes, cmp.Or(p.ScopeSeparator, " "))}
	}
	if p.Offline {
		askOffline(p, &c)
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
	if p.isForeign() && c.Token.URL == "" {
		c.Token = c.Authorization // never asked either
	}
	if (p.FetchProfile != nil || p.isForeign()) && c.UserInfo.URL == "" {
		c.UserInfo = c.Token // never asked; it only says that nothing has to be discovered
	}
	return c
}

// alertOfStaleKeys logs that keys could not be fetched again. A key that the
// provider has withdrawn meanwhile is still trusted.
func (p *oauthProvider) alertOfStaleKeys(s *setup, a oauth.StaleAnswer) {
	s.log.Alert("the keys of this provider cannot be fetched: older ones stay in use until the time given", "provider", p.ID,
		"fetched", a.Since.UTC(), "until", a.End.UTC(), "error", redact.Text(a.Err.Error(), s.secrets(), journal.LongestText))
}

// discoveryCache returns how long discovery's answers and failures are cached, or nil for
// the defaults. A negative DiscoveryMaxAge or DiscoveryPause means not at all.
func discoveryCache(l Limits) *oauth.Cache {
	if l.DiscoveryMaxAge == 0 && l.DiscoveryPause == 0 {
		return nil
	}
	c := oauth.DefaultCache()
	if l.DiscoveryMaxAge != 0 {
		c.MaxAge = max(l.DiscoveryMaxAge, 0)
		c.MinAge = min(c.MinAge, c.MaxAge)
	}
	if l.DiscoveryPause != 0 {
		c.MaxFailurePause = max(l.DiscoveryPause, 0)
		c.FailurePause = min(c.FailurePause, c.MaxFailurePause)
	}
	if l.DiscoveryPause < 0 {
		c.MaxRetryAfter = 0
	}
	return &c
}

// askOffline adds to c the scopes and parameters that ask for a refresh token. It
// replaces no parameter that the application has set.
func askOffline(p *oauthProvider, c *oauth.Config) {
	scopes := p.Refresh.AskScopes
	if scopes == nil && len(p.Refresh.AskParams) == 0 && p.OIDC {
		scopes = []string{"offline_access"}
	}
	if len(scopes) > 0 {
		all := p.Scopes
		if all == nil {
			all = []string{"openid", "profile", "email"}
		}
		for _, scope := range scopes {
			if !slices.Contains(all, scope) {
				all = append(slices.Clip(all), scope)
			}
		}
		c.Scopes = []string{strings.Join(all, cmp.Or(p.ScopeSeparator, " "))}
	}
	params := url.Values{}
	for _, from := range []url.Values{p.Refresh.AskParams, c.Authorization.Params} {
		for name, values := range from {
			params[name] = values
		}
	}
	c.Authorization.Params = params
}
