package oauth

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

// Errors about the subject of a userinfo answer. Both end a sign-in whose profile
// it is.
var (
	ErrOtherSubject = errors.New("sub is another one than the ID token's")
	ErrNoSubject    = errors.New("sub is missing") // it is no text, or empty
)

// UserInfo returns the claims of the userinfo endpoint about the access token's user.
// wantSubject is the sub of the ID token. For an OpenID Connect provider, and whenever
// wantSubject is not empty, UserInfo compares it with the answer's sub, so that an
// attacker cannot substitute another user's access token (OpenID Connect Core 5.3.4). If
// they differ, the error wraps ErrOtherSubject, or ErrNoSubject if the answer has no
// sub. For plain OAuth with an empty wantSubject, UserInfo does not look at sub.
//
// UserInfo accepts only an answer of the 2xx kind with a JSON object. OpenID Connect
// providers may sign it. Numbers are json.Number. An error that the provider states is a
// *ResponseError, and any other failure a *StepError.
func (c *Client) UserInfo(ctx context.Context, accessToken, wantSubject string) (map[string]any, error) {
	m, err := c.Discover(ctx)
	if err != nil {
		return nil, err
	}
	if m.UserInfoEndpoint == "" {
		return nil, fail(StepUserInfo, "the provider has no userinfo endpoint")
	}
	header := acceptJSON()
	header.Set("Authorization", "Bearer "+accessToken)
	if c.config.OIDC {
		header.Set("Accept", "application/json, application/jwt")
	}
	a, err := c.channel.get(ctx, StepUserInfo, m.UserInfoEndpoint, header)
	if err != nil {
		return nil, err
	}
	claims, err := c.readUserInfo(ctx, m, a)
	if err != nil {
		return nil, err
	}
	if c.config.OIDC || wantSubject != "" {
		if err := checkSameSubject(claims, wantSubject); err != nil {
			return nil, &StepError{Step: StepUserInfo, Err: err}
		}
	}
	return claims, nil
}

// checkSameSubject returns nil if sub is want, ErrNoSubject if there is no sub, and
// otherwise ErrOtherSubject.
func checkSameSubject(claims map[string]any, want string) error {
	switch sub, _ := claims["sub"].(string); sub {
	case "":
		return ErrNoSubject
	case want:
		return nil
	}
	return ErrOtherSubject
}

// readUserInfo returns the claims in an answer. OpenID Connect providers may sign them,
// and the signature is verified. It does not compare the subject.
func (c *Client) readUserInfo(ctx context.Context, m *Metadata, a *answer) (map[string]any, error) {
	unusable := func(err error) error { return &StepError{Step: StepUserInfo, Status: a.status, Err: err} }
	if c.config.OIDC && a.mediaType == "application/jwt" && a.status == http.StatusOK {
		return c.openUserInfo(ctx, m, string(a.body))
	}
	claims, err := decodeObject(a.body)
	if err == nil {
		if err := stated(StepUserInfo, a.status, claims); err != nil {
			return nil, err
		}
	}
	switch {
	case a.status < 200 || a.status > 299:
		return nil, unusable(errors.New("no profile"))
	case err != nil:
		return nil, unusable(err)
	}
	return claims, nil
}

// openUserInfo verifies a signed answer and returns its claims. The answer must state
// its issuer and its audience, or any other token of the provider would pass (OpenID
// Connect Core 5.3.2). It need not state its expiry.
func (c *Client) openUserInfo(ctx context.Context, m *Metadata, token string) (map[string]any, error) {
	answer, err := c.open(ctx, m, token)
	if err != nil {
		return nil, inStep(StepUserInfo, err)
	}
	claims := answer.claims
	if err := checkDates(claims); err != nil {
		return nil, inStep(StepUserInfo, err)
	}
	if err := c.checkIssuerClaim(m, claims); err != nil {
		return nil, inStep(StepUserInfo, err)
	}
	if aud, ok := audienceOf(claims); !ok || !slices.Contains(aud, c.config.ClientID) {
		return nil, fail(StepUserInfo, "aud does not name this client")
	}
	if value, stated := claims["exp"]; stated {
		exp, ok := seconds(value)
		if !ok || float64(c.config.Time().Unix()) >= exp+c.config.Leeway.Seconds() {
			return nil, fail(StepUserInfo, "expired")
		}
	}
	return claims, nil
}
