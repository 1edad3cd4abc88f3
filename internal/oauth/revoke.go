package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// ErrNoRevocation reports a provider without an endpoint that revokes tokens.
var ErrNoRevocation = errors.New("oauth: the provider has no revocation endpoint")

// CanRevoke reports whether the provider may have a revocation endpoint: one is
// configured, or Issuer is, so that Revoke can discover one. It makes no request.
func (c *Client) CanRevoke() bool { return c.config.Revocation.URL != "" || c.config.Issuer != "" }

// Revoke revokes a token at the provider (RFC 7009). It discovers the endpoint if
// necessary. hint is "refresh_token" or "access_token". A provider answers with success
// for unknown tokens too. Without an endpoint Revoke returns ErrNoRevocation. An error
// that the provider states is a *ResponseError, and any other failure a *StepError.
func (c *Client) Revoke(ctx context.Context, token, hint string) error {
	m := c.explicit
	if c.config.Revocation.URL == "" && c.config.Issuer != "" {
		var err error
		if m, err = c.discovered(ctx); err != nil {
			return err
		}
	}
	if m.RevocationEndpoint == "" {
		return ErrNoRevocation
	}
	header, form := acceptJSON(), url.Values{"token": {token}, "token_type_hint": {hint}}
	if err := c.proof.authenticate(ctx, m, header, form); err != nil {
		return &StepError{Step: StepRevocation, Err: err}
	}
	a, err := c.channel.post(ctx, StepRevocation, m.RevocationEndpoint, header, form)
	if err != nil {
		return err
	}
	if a.status == http.StatusOK || a.status == http.StatusNoContent {
		return nil
	}
	if members, err := decodeObject(a.body); err == nil {
		if err := stated(StepRevocation, a.status, members); err != nil {
			if said, ok := errors.AsType[*ResponseError](err); ok {
				said.wait = askedToWait(a.header, c.config.Time())
			}
			return err
		}
	}
	return a.failure(StepRevocation, "the token was not revoked", c.config.Time())
}
