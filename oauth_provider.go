package latchkey

import (
	"net/http"
	"sync/atomic"

	"github.com/latchkeyhq/latchkey/internal/oauth"
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
