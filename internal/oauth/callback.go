package oauth

import (
	"context"
	"net/url"
)

// Callback is an authorization response: what the browser brought back. Nothing
// in it is to be believed before its State was compared and CheckResponse
// passed, in that order.
type Callback struct {
	Code  string
	State string // empty: none

	issuer    string
	hasIssuer bool
	err       error
}

// ParseCallback reads the parameters of an authorization response. One that
// matters and occurs twice is an error (RFC 6749 section 3.1), since whoever
// looks at it next might pick the other one. So are those of flows that were not
// asked for: tokens beside a code (RFC 9700 section 2.1.2), and a response that
// is a JWT. params is not changed.
func ParseCallback(params url.Values) (*Callback, error) {
	for _, name := range []string{"code", "state", "iss", "error", "response"} {
		if len(params[name]) > 1 {
			return nil, fail(StepAuthorization, "the parameter "+name+" is repeated")
		}
	}
	for _, name := range []string{"id_token", "access_token", "token", "response"} {
		if params.Has(name) {
			return nil, fail(StepAuthorization, "the response has "+name+", which was not asked for")
		}
	}
	return &Callback{
		Code:      params.Get("code"),
		State:     params.Get("state"),
		issuer:    params.Get("iss"),
		hasIssuer: params.Has("iss"),
		err: stated(StepAuthorization, 0, map[string]any{
			"error":             params.Get("error"),
			"error_description": params.Get("error_description"),
		}),
	}, nil
}

// IsError says whether the provider reports an error instead of a code.
func (cb *Callback) IsError() bool { return cb.err != nil }

// CheckResponse says whether cb is this provider's and holds a code. An error
// that the provider reports is a *ResponseError. The issuer comes first: also
// an error is only believed from the right provider (RFC 9207 section 2.4).
func (c *Client) CheckResponse(ctx context.Context, cb *Callback) error {
	m, err := c.Discover(ctx)
	if err != nil {
		return err
	}
	switch {
	case cb.hasIssuer && !c.issuedBy(m, cb.issuer, nil):
		return fail(StepAuthorization, "the response is from another issuer")
	case !cb.hasIssuer && m.IssuerInResponse:
		return fail(StepAuthorization, "the response lacks the iss parameter that the provider promises")
	case cb.err != nil:
		return cb.err
	case cb.Code == "":
		return fail(StepAuthorization, "the response has neither code nor error")
	}
	return nil
}

// issuedBy compares an issuer that the provider states with the one it should
// be. Without an issuer of its own a provider cannot state any.
func (c *Client) issuedBy(m *Metadata, issuer string, claims map[string]any) bool {
	switch {
	case m.Issuer == "" || issuer == "":
		return false
	case c.config.MatchIssuer != nil:
		return c.config.MatchIssuer(issuer, claims)
	}
	return issuer == m.Issuer
}
