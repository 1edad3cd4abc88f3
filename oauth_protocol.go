package latchkey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/oauth"
)

// What a definition does itself: calls of its own, and the whole way in of services
// that speak neither OAuth 2 nor OpenID Connect (see [Protocol]).

// isForeign reports whether the provider has a [Protocol] of its own, instead of OAuth.
func (p *oauthProvider) isForeign() bool { return p.Protocol.Begin != nil || p.Protocol.Receive != nil }

// parseCallback parses the parameters of a callback. It returns ErrInvalidCheck if one is
// repeated that the token request sends on or, with a Protocol, if any is
// repeated: the next reader might pick the other value. Its other errors are those
// of oauth.ParseCallback. With a Protocol it parses only the state.
func parseCallback(p *oauthProvider, params url.Values) (*oauth.Callback, error) {
	for name, values := range params {
		if len(values) > 1 && (p.isForeign() || slices.Contains(p.CallbackParams, name)) {
			return nil, errCheck(p, fault.AuthorizationInvalid, fmt.Sprintf("the parameter %.32q of the callback is repeated", name))
		}
	}
	if !p.isForeign() {
		return oauth.ParseCallback(params)
	}
	return &oauth.Callback{State: params.Get("state"), Code: "of another protocol"}, nil
}

// hideParams keeps out of the log what a callback brings for another protocol, and
// what the token request repeats. The library cannot tell what of it is a secret.
func hideParams(v *visit, p *oauthProvider, params url.Values) {
	for name, values := range params {
		if p.isForeign() || slices.Contains(p.CallbackParams, name) {
			v.hide(values...)
		}
	}
}

// withState returns the callback URL for another protocol, in which the state
// travels.
func withState(redirectURI string, f *browser.Flow) string {
	return redirectURI + "?" + url.Values{"state": {f.StateParam()}}.Encode()
}

// receiveForeign calls Receive of the provider's Protocol and returns its Grant, with
// Params filled in. The caller has compared and spent the state.
func receiveForeign(ctx context.Context, v *visit, p *oauthProvider, returnURL string, params url.Values) (Grant, error) {
	grant, err := guarded.ContainResult(func() (Grant, error) { return p.Protocol.Receive(ctx, limitedClient(p), returnURL, params) })
	v.hide(grant.Tokens.AccessToken, grant.Tokens.RefreshToken)
	grant.Params = params
	if errors.Is(err, ErrOAuthCallback) {
		err = failure.WrapFor(ErrOAuthCallback, p.ID, err) // with what the definition says of it
	}
	return grant, err
}

// repeatedOf returns those of the callback's parameters that the token request sends on
// to the provider: the provider's CallbackParams that are not empty.
func repeatedOf(p *oauthProvider, params url.Values) url.Values {
	more := url.Values{}
	for _, name := range p.CallbackParams {
		if value := params.Get(name); value != "" {
			more.Set(name, value)
		}
	}
	return more
}

// limitedClient returns a client for the calls that a definition makes itself. It limits
// the size of the answers, and tells the log and the tracer of each call.
func limitedClient(p *oauthProvider) *http.Client {
	c := *p.http
	c.Transport = p.watched(p.setup).Transport(limitedTransport{p.http.Transport, int64(p.setup.config.Limits.MaxResponseBytes)})
	return &c
}

// limitedTransport limits the size of the answers that definitions read. Reading
// beyond the limit fails.
type limitedTransport struct {
	base  http.RoundTripper // nil: the standard one
	limit int64
}

// RoundTrip implements [http.RoundTripper].
func (t limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	res, err := base.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, t.limit)
	}
	return res, err
}
