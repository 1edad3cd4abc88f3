package latchkey

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/watch"
)

// oauthProvider is an OAuth made ready.
type oauthProvider struct {
	OAuth
	setup   *setup
	about   providerInfo
	client  *oauth.Client
	http    *http.Client // for FetchProfile; limited like every call
	proxied string       // RedirectProxyURL, the provider's or the site's
	hinted  atomic.Bool  // hint has logged its warning

	tracked     bool // sessions keep what the provider calls them
	exactChecks bool // nothing is added to Checks

	// receiveOther takes callbacks that bring something else than a code.
	receiveOther func(ctx context.Context, p *oauthProvider, x *exchange) (out outcome, taken bool, err error)
}

func (p *oauthProvider) info() *providerInfo { return &p.about }

// postsCrossSite reports whether the provider answers with a post from its own site.
func (p *oauthProvider) postsCrossSite() bool { return p.ResponseMode == "form_post" }

// oneCall is what the application's own code asks of a provider in one call.
type oneCall struct {
	params url.Values // they may replace those of the configuration
	scopes []string
	maxAge *time.Duration
	stepUp string    // as in [browser.FlowOrigin]
	ask    oauth.Ask // the rest, to which withAsked adds scopes and maxAge

	connect *browser.Connect // nil: a sign-in
}

// askedKey is where a context has what was asked.
type askedKey struct{}

// withAsked returns ctx with the options a of one sign-in at p. It returns
// ErrInvalidConfig for a MaxAge or ACRValues that are malformed or that p cannot prove: p
// has to be an OpenID Provider with Checks, because only an ID token proves them. A
// provider that is not OAuth ignores the scopes. The account that ctx wants to be
// connected is kept.
func withAsked(ctx context.Context, p preparedProvider, a oneCall) (context.Context, error) {
	a.connect = askedIn(ctx).connect
	if a.maxAge != nil {
		seconds := int64(*a.maxAge / time.Second)
		a.ask.MaxAge = &seconds
	}
	at, isOAuth := p.(*oauthProvider)
	var why string
	switch {
	case a.maxAge == nil && len(a.ask.ACRValues) == 0:
	case !isOAuth || !at.OIDC:
		why = "MaxAge and ACRValues need an OpenID Provider: only its ID token says what they demand"
	case len(at.Checks) == 0:
		why = "MaxAge and ACRValues need one of OAuth.Checks, which keeps what was demanded"
	case a.maxAge != nil && *a.maxAge < 0:
		why = "MaxAge is negative"
	case slices.ContainsFunc(a.ask.ACRValues, func(v string) bool { return len(strings.Fields(v)) != 1 || strings.Fields(v)[0] != v }):
		why = "a value of ACRValues is empty or has a space"
	}
	if why != "" {
		return ctx, failure.Wrap(ErrInvalidConfig, failure.Of(fault.ProviderOptions, errors.New("SignInOptions: "+why)))
	}
	if isOAuth && len(a.scopes) > 0 {
		scopes := slices.Clone(a.scopes)
		if at.OIDC && !slices.Contains(scopes, "openid") {
			scopes = append([]string{"openid"}, scopes...)
		}
		a.ask.Scope = strings.Join(scopes, cmp.Or(at.ScopeSeparator, " "))
	}
	return context.WithValue(ctx, askedKey{}, a), nil
}

// askedIn returns what the application asks of the sign-in that ctx belongs to, such as MaxAge
// or an account to link. It returns the zero oneCall if the application has asked for nothing.
func askedIn(ctx context.Context) oneCall {
	a, _ := ctx.Value(askedKey{}).(oneCall)
	return a
}

// connecting returns ctx for a flow that links an account, or grants it more scopes.
// Other options that ctx has are dropped.
func connecting(ctx context.Context, c browser.Connect) context.Context {
	return context.WithValue(ctx, askedKey{}, oneCall{connect: &c})
}

// watched returns an observer that reports calls to the provider to the log, the tracer
// and the health check.
func (p *oauthProvider) watched(s *setup) *watch.Provider {
	return &watch.Provider{ID: p.ID, Tenant: s.tenant, Opaque: p.Transport != nil, Log: s.log, Now: s.now, Health: s.health.Provider(p.ID)}
}
