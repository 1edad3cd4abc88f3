package oauth

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
)

// Callback is the authorization response that the browser brought back. The
// caller must trust nothing in it before it has compared State and
// CheckResponse has passed, in that order.
type Callback struct {
	Code  string
	State string // empty: none

	issuer    string
	hasIssuer bool
	err       error
}

// ParseCallback reads the parameters of an authorization response. An error that the
// provider states is part of the result: see IsError. ParseCallback itself returns an
// error if code, state, iss, error or response occurs twice (RFC 6749 section 3.1),
// because another reader might pick the other value. It also returns an error for a
// response of a flow that was not asked for: one with a token in it (RFC 9700 section
// 2.1.2), or one that is a JWT. It does not change params.
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

// IsError reports whether the response states an error. A code beside it must not be
// used.
func (cb *Callback) IsError() bool { return cb.err != nil }

// CheckResponse returns nil if cb holds a code and no error, and is not from another
// provider. It compares iss, if cb has it, with the issuer (RFC 9207 section 2.4).
// Without iss, it returns an error only if the metadata promise an iss. It returns the
// error that the provider states, a *ResponseError, only after that comparison. It does
// not compare State. It returns an error, too, if discovery fails.
func (c *Client) CheckResponse(ctx context.Context, cb *Callback) error {
	m, err := c.Discover(ctx)
	if err != nil {
		return err
	}
	switch {
	case cb.hasIssuer && !c.issuedBy(m, cb.issuer, nil):
		return fail(StepAuthorization, "the response is from another issuer: "+c.issuerMismatch(cb.issuer, m))
	case !cb.hasIssuer && m.IssuerInResponse:
		return fail(StepAuthorization, "the response lacks the iss parameter that the provider promises")
	case cb.err != nil:
		return cb.err
	case cb.Code == "":
		return fail(StepAuthorization, "the response has neither code nor error")
	}
	return nil
}

// issuerMismatch returns the text of an error that names both issuers and the cure. stated is
// untrusted text.
func (c *Client) issuerMismatch(stated string, m *Metadata) string {
	return fmt.Sprintf("iss is \"%s\", and the configured issuer \"%s\"; write Issuer to the letter as the provider has it, or accept several by MatchIssuer",
		printable(stated, maxIssuer), printable(cmp.Or(c.config.Issuer, m.Issuer), maxIssuer))
}

// maxIssuer bounds an issuer in an error, in bytes.
const maxIssuer = 200

// issuedBy reports whether issuer, as the provider states it, is the right one. It asks
// MatchIssuer, if set, and passes claims, which are nil outside ID tokens. Without
// MatchIssuer, issuer must equal the issuer of m to the letter, so nothing matches if
// that is unknown. An empty issuer is never right.
func (c *Client) issuedBy(m *Metadata, issuer string, claims map[string]any) bool {
	switch {
	case issuer == "":
		return false
	case c.config.MatchIssuer != nil:
		return c.config.MatchIssuer(issuer, claims)
	}
	return issuer == m.Issuer
}
