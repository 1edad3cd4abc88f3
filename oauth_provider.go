package latchkey

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"

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
	hinted  atomic.Bool  // the operator knows what the ID tokens lack

	exactChecks bool // nothing is added to Checks
}

func (p *oauthProvider) info() *providerInfo { return &p.about }

func (p *oauthProvider) postsCrossSite() bool { return p.ResponseMode == "form_post" }

// ownParamsKey is where a context has the names of ownParams.
type ownParamsKey struct{}

// withOwnParams marks parameters that the application's own code adds to an
// authorization request.
func withOwnParams(ctx context.Context, params url.Values) context.Context {
	if len(params) == 0 {
		return ctx
	}
	return context.WithValue(ctx, ownParamsKey{}, slices.Collect(maps.Keys(params)))
}

// ownParams returns the names of the parameters that the application's own code
// adds. They may replace those of the configuration.
func ownParams(ctx context.Context) []string {
	names, _ := ctx.Value(ownParamsKey{}).([]string)
	return names
}

// watched returns what tells the log and the tracer of calls to the provider.
func (p *oauthProvider) watched(s *setup) *watch.Provider {
	return &watch.Provider{ID: p.ID, Tenant: s.tenant, Opaque: p.Transport != nil, Log: s.log, Now: s.now}
}
