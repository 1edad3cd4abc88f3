package oauth

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Logout at the provider: OpenID Connect RP-Initiated Logout 1.0 and Back-Channel
// Logout 1.0.

// ErrNoEndSession reports a provider without an end-session endpoint.
var ErrNoEndSession = errors.New("oauth: the provider has no end-session endpoint")

// maxEndSessionURL is the longest URL that is made with an ID token. Some servers
// refuse longer ones.
const maxEndSessionURL = 4096

// EndSession is what a request to log out at the provider carries. Empty fields are not
// sent.
type EndSession struct {
	IDToken    string // of the session; expired or not
	LogoutHint string
	ReturnTo   string
	State      string
	Params     url.Values // added; those of the protocol are left out
}

// endSessionParams are the parameters that carry the protocol.
var endSessionParams = []string{"client_id", "id_token_hint", "logout_hint", "post_logout_redirect_uri", "state"}

// EndSessionURL returns the URL at which the browser logs out at the provider. It
// discovers the endpoint if necessary. r.Params replace parameters of the same name in
// the endpoint's own query. A URL over maxEndSessionURL bytes is made again without the
// ID token. Without an endpoint EndSessionURL returns ErrNoEndSession.
func (c *Client) EndSessionURL(ctx context.Context, r EndSession) (string, error) {
	m := c.explicit
	if c.config.EndSession.URL == "" && c.config.Issuer != "" {
		var err error
		if m, err = c.discovered(ctx); err != nil {
			return "", err
		}
	}
	if m.EndSessionEndpoint == "" {
		return "", ErrNoEndSession
	}
	u, err := url.Parse(m.EndSessionEndpoint)
	if err != nil {
		return "", errors.New("oauth: the end-session endpoint is no URL")
	}
	query := u.Query()
	for name, values := range r.Params {
		if !slices.Contains(endSessionParams, name) {
			query[name] = values
		}
	}
	for name, value := range map[string]string{
		"client_id": c.config.ClientID, "id_token_hint": r.IDToken, "logout_hint": r.LogoutHint, "post_logout_redirect_uri": r.ReturnTo, "state": r.State,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if u.RawQuery = encodeQuery(query); r.IDToken != "" && len(u.String()) > maxEndSessionURL {
		query.Del("id_token_hint")
		u.RawQuery = encodeQuery(query)
	}
	return u.String(), nil
}

// encodeQuery encodes query with %20 for a space, which every decoder reads.
func encodeQuery(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }

// EndSessionEndpoint returns the end-session endpoint of Config or of the cached
// discovery document. It is empty if the provider has none, or if none is known yet. It
// makes no request.
func (c *Client) EndSessionEndpoint() string {
	if c.config.EndSession.URL != "" || c.config.Issuer == "" {
		return c.explicit.EndSessionEndpoint
	}
	if stated := c.published.metadata.known(); stated != nil && stated.known {
		if m, err := c.own(stated.value); err == nil {
			return m.EndSessionEndpoint
		}
	}
	return ""
}

// LogoutToken is a verified logout token: at least one of Subject and SessionID is set.
type LogoutToken struct {
	Issuer         string
	Subject        string
	SessionID      string
	ID             string // jti
	Issued         time.Time
	Expires        time.Time // zero: it has no exp
	RevokesOffline bool      // the provider ends offline access, too
}

// LogoutCheck is how strictly a logout token is checked.
type LogoutCheck struct {
	Typed   bool // only typ logout+jwt will do
	Undated bool // a token without exp will do, if it is at most two minutes old
}

const (
	// logoutEvent is the member of events that makes a token a logout token.
	logoutEvent = "http://schemas.openid.net/event/backchannel-logout"
	// maxLogoutAge is how old a logout token may be.
	maxLogoutAge = 24 * time.Hour
	// maxUndatedAge is how old one without exp may be.
	maxUndatedAge = 2 * time.Minute
)

// VerifyLogoutToken checks a logout token by Back-Channel Logout 1.0, section 2.6, and
// returns what it says. Its errors are *StepError. It does not check whether the jti was
// used before; the caller does. A token for another client, or of another issuer, costs
// no call to the provider.
func (c *Client) VerifyLogoutToken(ctx context.Context, token string, want LogoutCheck) (*LogoutToken, error) {
	if err := glance(c, token, want); err != nil {
		return nil, &StepError{Step: StepLogout, Err: err}
	}
	m, err := c.Discover(ctx)
	if err != nil {
		return nil, err
	}
	signed, err := openTyped(ctx, c, m, token, func(string) error { return nil }) // glance has checked the header
	if err != nil {
		return nil, inStep(StepLogout, err)
	}
	t, err := checkLogoutToken(c, m, signed.claims, want)
	if err != nil {
		return nil, &StepError{Step: StepLogout, Err: err}
	}
	return t, nil
}

// glance checks what needs no key: the form, the header, and whether the token claims to
// be from this provider and for this client.
func glance(c *Client, token string, want LogoutCheck) error {
	if err := checkShape(token); err != nil {
		return err
	}
	header, rest, _ := strings.Cut(token, ".")
	payload, _, _ := strings.Cut(rest, ".")
	if err := checkLogoutHeader(header, want.Typed); err != nil {
		return err
	}
	claims, err := decodePart(payload)
	if err != nil {
		return fmt.Errorf("the claims: %w", err)
	}
	issuer, _ := claims["iss"].(string)
	ours := issuer != "" && strings.TrimRight(issuer, "/") == strings.TrimRight(c.config.Issuer, "/")
	if match := c.config.MatchIssuer; match != nil {
		ours = issuer != "" && match(issuer, claims)
	}
	if !ours {
		return errors.New("iss is not the configured issuer")
	}
	return c.checkAudience(claims, nil)
}

// decodePart decodes a part of a compact token that is a JSON object.
func decodePart(part string) (map[string]any, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return nil, errors.New("not base64url")
	}
	return decodeObject(raw)
}

// checkLogoutHeader checks header, the encoded first part of a token. It returns an
// error for a header that brings keys of its own or changes what is signed, and for a
// token of another type than logout+jwt. Unless typed, it also accepts the type JWT and
// no type, which providers from before the standard send.
func checkLogoutHeader(header string, typed bool) error {
	members, err := decodePart(header)
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	for _, name := range []string{"crit", "b64", "jwk", "jku", "x5c", "x5u"} {
		if _, stated := members[name]; stated {
			return errors.New("the header has extensions or a key of its own")
		}
	}
	stated, there := members["typ"]
	kind, _ := stated.(string)
	kind = strings.TrimPrefix(strings.ToLower(kind), "application/")
	if kind == "logout+jwt" || !typed && (kind == "jwt" || !there) {
		return nil
	}
	return errors.New("a token of another type")
}

// checkLogoutToken checks the claims of a token whose signature has been verified, and
// returns what they say.
func checkLogoutToken(c *Client, m *Metadata, claims map[string]any, want LogoutCheck) (*LogoutToken, error) {
	if err := checkDates(claims); err != nil {
		return nil, err
	}
	if err := c.checkIssuerClaim(m, claims); err != nil {
		return nil, err
	}
	if err := c.checkAudience(claims, nil); err != nil {
		return nil, err
	}
	t := &LogoutToken{}
	t.Issuer, _ = claims["iss"].(string)
	if err := checkLogoutTimes(c, t, claims, want); err != nil {
		return nil, err
	}
	if t.ID, _ = claims["jti"].(string); t.ID == "" {
		return nil, errors.New("jti is missing or no text")
	}
	events, _ := claims["events"].(map[string]any)
	event, ok := events[logoutEvent].(map[string]any)
	if !ok {
		return nil, errors.New("events does not have the member of a logout")
	}
	t.RevokesOffline, _ = event["revoke_offline_access"].(bool)
	if _, stated := claims["nonce"]; stated {
		return nil, errors.New("nonce is stated, as in an ID token")
	}
	if err := t.name(claims); err != nil {
		return nil, err
	}
	return t, nil
}

// name sets Subject and SessionID from the claims sub and sid. It returns an error if
// one of them is stated but empty, too long or no text, or if neither is stated.
func (t *LogoutToken) name(claims map[string]any) error {
	for name, into := range map[string]*string{"sub": &t.Subject, "sid": &t.SessionID} {
		stated, there := claims[name]
		if !there {
			continue
		}
		if *into, _ = stated.(string); *into == "" || len(*into) > maxSubject {
			return fmt.Errorf("%s is empty, too long or no text", name)
		}
	}
	if cmp.Or(t.Subject, t.SessionID) == "" {
		return errors.New("neither sub nor sid is stated")
	}
	return nil
}

// checkLogoutTimes requires a token that was issued within the last day and has not
// expired. It sets t.Issued, and t.Expires, which is at most a day from now. Without
// exp, the token must be at most maxUndatedAge old, want.Undated must allow it, and
// t.Expires stays zero.
func checkLogoutTimes(c *Client, t *LogoutToken, claims map[string]any, want LogoutCheck) error {
	now := float64(c.config.Time().UnixMilli()) / 1000
	iat, ok := seconds(claims["iat"])
	switch {
	case !ok:
		return errors.New("iat is missing or not a time")
	case iat > now+maxFuture.Seconds():
		return clockError(CheckEarly, "from the future: iat is", iat, now)
	case iat < now-maxLogoutAge.Seconds():
		return clockError(CheckExpired, "too old: iat is", iat, now)
	}
	t.Issued = instantOf(iat)
	exp, ok := seconds(claims["exp"])
	switch {
	case ok && now >= exp+c.config.Leeway.Seconds():
		return clockError(CheckExpired, "expired: exp is", exp, now)
	case ok:
		t.Expires = instantOf(min(exp, now+maxLogoutAge.Seconds()))
		return nil
	case !want.Undated:
		return errors.New("exp is missing")
	case iat < now-maxUndatedAge.Seconds():
		return clockError(CheckExpired, "too old for a token without exp: iat is", iat, now)
	}
	return nil
}

// instantOf returns the instant of a NumericDate, to the millisecond.
func instantOf(seconds float64) time.Time { return time.UnixMilli(int64(seconds * 1000)).UTC() }

// IssuedAt returns the iat of verified claims. It returns the zero time if there is
// none, or one that cannot be a time in seconds.
func IssuedAt(claims map[string]any) time.Time {
	iat, ok := seconds(claims["iat"])
	if !ok || iat > 1e11 {
		return time.Time{}
	}
	return instantOf(iat)
}

// WithParams adds params to the query of to, the URL of a logout, and returns the
// result. It leaves out a parameter that to has already, and the protocol's own
// parameters. It returns an error if to is no URL.
func WithParams(to string, params url.Values) (string, error) {
	u, err := url.Parse(to)
	if err != nil {
		return "", errors.New("oauth: the logout URL is no URL")
	}
	more, has := url.Values{}, u.Query()
	for name, values := range params {
		if !has.Has(name) && !slices.Contains(endSessionParams, name) {
			more[name] = values
		}
	}
	if len(more) == 0 {
		return to, nil
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += encodeQuery(more)
	return u.String(), nil
}
