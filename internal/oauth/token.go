package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Token is the answer of the token endpoint.
type Token struct {
	AccessToken  string
	Type         string        // lower case; always "bearer"
	RefreshToken string        // empty: none
	IDToken      string        // empty: none; not verified yet
	Scope        string        // empty: as asked for
	ExpiresIn    time.Duration // of AccessToken, whole seconds, ten years at most; meaningless without ExpiresAt
	ExpiresAt    time.Time     // of AccessToken, whole seconds; zero: not said

	// Extra holds every other member of the answer. Numbers are json.Number.
	Extra map[string]any
}

// Exchange trades an authorization code for a token. The ID token in it is not verified
// yet. redirectURI is the one that AuthorizationURL was given. verifier is empty if none
// was used. The parameters in more are sent too, unless the request has them already;
// nil: none. An error that the provider states is a *ResponseError, and any other
// failure a *StepError. The code is sent once: a failure ends the sign-in.
func (c *Client) Exchange(ctx context.Context, code, redirectURI, verifier string, more url.Values) (*Token, error) {
	m, err := c.Discover(ctx)
	if err != nil {
		return nil, err
	}
	form := url.Values{
		"grant_type": {"authorization_code"},
		"code":       {code},
		// A provider's own parameters can fix the redirect URI, and this
		// request has to repeat the one that was sent (RFC 6749 section 4.1.3).
		"redirect_uri": {or(m.query.Get("redirect_uri"), redirectURI)},
	}
	if verifier != "" {
		form.Set("code_verifier", verifier)
	}
	for name, values := range more {
		if !form.Has(name) {
			form[name] = values
		}
	}
	return c.requestToken(ctx, m, form)
}

// Refresh asks for a new access token. The answer has a new refresh token only if the
// old one is to be replaced. A new ID token has to be verified against the claims of the
// first one: see IDTokenCheck.Original. The parameters in more are sent too, unless the
// request has them already; nil: none. An error that the provider states is a
// *ResponseError, and any other failure a *StepError.
func (c *Client) Refresh(ctx context.Context, refreshToken string, more url.Values) (*Token, error) {
	m, err := c.Discover(ctx)
	if err != nil {
		return nil, err
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refreshToken}}
	for name, values := range more {
		if !form.Has(name) {
			form[name] = values
		}
	}
	return c.requestToken(ctx, m, form)
}

// requestToken adds the proof of the client to form, sends form to the token endpoint
// and returns the token.
func (c *Client) requestToken(ctx context.Context, m *Metadata, form url.Values) (*Token, error) {
	if m.TokenEndpoint == "" {
		return nil, fail(StepToken, "the provider has no token endpoint")
	}
	header := acceptJSON()
	if err := c.proof.authenticate(ctx, m, header, form); err != nil {
		return nil, &StepError{Step: StepToken, Err: err}
	}
	a, err := c.channel.post(ctx, StepToken, m.TokenEndpoint, header, form)
	if err != nil {
		return nil, err
	}
	return c.readToken(m, a)
}

// readToken returns the token in an answer. It returns a *ResponseError if the provider
// states an error, and a *StepError for any other answer without a usable token.
func (c *Client) readToken(m *Metadata, a *answer) (*Token, error) {
	wait := askedToWait(a.header, c.config.Time())
	unusable := func(err error) error { return &StepError{Step: StepToken, Status: a.status, Err: err, wait: wait} }
	if a.mediaType != "application/json" {
		return nil, unusable(errors.New("the answer is not application/json"))
	}
	members, err := decodeObject(a.body)
	if err != nil {
		return nil, unusable(err)
	}
	if err := stated(StepToken, a.status, members); err != nil {
		if said, ok := errors.AsType[*ResponseError](err); ok {
			said.wait = wait
		}
		return nil, namesUnsupported(err)
	}
	if a.status != http.StatusOK {
		return nil, unusable(errors.New("no token"))
	}
	token, err := parseToken(members, c.config.Time())
	if err != nil {
		return nil, unusable(err)
	}
	if token.IDToken != "" && m.Issuer == "" {
		return nil, unusable(errors.New("an ID token from a provider that is configured without issuer"))
	}
	return token, nil
}

// parseToken reads the members of a token (RFC 6749 section 5.1). It deletes them from
// members; what is left becomes Extra. It returns errDPoP for a DPoP token.
func parseToken(members map[string]any, now time.Time) (*Token, error) {
	t := &Token{Extra: members}
	for name, field := range map[string]*string{
		"access_token":  &t.AccessToken,
		"token_type":    &t.Type,
		"refresh_token": &t.RefreshToken,
		"id_token":      &t.IDToken,
		"scope":         &t.Scope,
	} {
		var err error
		if *field, err = text(members, name); err != nil {
			return nil, err
		}
		delete(members, name)
	}
	if value := members["error"]; value != nil && value != "" {
		return nil, errors.New("error is not a string")
	}
	if t.AccessToken == "" {
		return nil, errors.New("access_token is missing")
	}
	// Other types need a proof with every use, which this client cannot give.
	if t.Type = strings.ToLower(t.Type); t.Type == "dpop" {
		return nil, errDPoP
	} else if t.Type != "bearer" {
		return nil, errors.New("token_type is missing or unknown")
	}
	return t, t.readExpiry(now)
}

// readExpiry takes expires_in out of Extra and sets ExpiresIn and ExpiresAt, for at most
// longestExpiry. Some providers send a numeric text, which it accepts, too. Without
// expires_in it sets nothing. It returns an error for anything but a number from 0 on.
func (t *Token) readExpiry(now time.Time) error {
	value := t.Extra["expires_in"]
	delete(t.Extra, "expires_in")
	var digits string
	switch value := value.(type) {
	case nil:
		return nil
	case json.Number:
		digits = value.String()
	case string:
		digits = value
	}
	seconds, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(seconds) || seconds < 0 {
		return errors.New("expires_in is not a number of seconds")
	}
	t.ExpiresIn = time.Duration(min(seconds, longestExpiry.Seconds())) * time.Second
	t.ExpiresAt = time.Unix(now.Unix(), 0).Add(t.ExpiresIn)
	return nil
}

// longestExpiry is ten years: a longer life means "for ever", and would not fit
// into every store.
const longestExpiry = 10 * 365 * 24 * time.Hour

func acceptJSON() http.Header {
	return http.Header{"Accept": {"application/json"}}
}
