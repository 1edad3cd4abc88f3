package oauth

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// AuthRequest is what differs from one authorization request to the next.
// Empty fields are not sent.
type AuthRequest struct {
	RedirectURI  string
	State        string
	Nonce        string
	Verifier     string // its S256 challenge is sent
	ResponseMode string

	// Params come from the request that starts the sign-in, and so possibly from
	// an attacker's link. They add to the provider's own parameters. They replace
	// scope, max_age (for OpenID Connect only with a shorter one) and those that
	// Replaceable names, and never the parameters of the protocol. Of a repeated name
	// the last value counts.
	Params      url.Values
	Replaceable []string

	Ask Ask // of the application itself
}

// Ask is what one call of the application asks of the provider. It wins over the
// provider's own parameters and over Params. Empty fields are not asked.
type Ask struct {
	Prompt    string
	MaxAge    *int64 // seconds
	ACRValues []string
	LoginHint string
	Scope     string // in the provider's own spelling
}

// Demands is what the ID token of a sign-in has to say because the authorization
// request asked for it. The zero Demands demand nothing.
type Demands struct {
	MaxAge *int64   // the max_age that was sent, in seconds; nil: none
	ACR    []string // one of these is the acr; nil: any, or none
}

// DemandsOf returns what the ID token must state after a sign-in with authorizationURL,
// which AuthorizationURL has made from a. That is the max_age in the URL, from any
// source, and a.ACRValues, which the result shares. acr_values of other sources are not
// demanded: providers use the parameter for other things.
func (a *Ask) DemandsOf(authorizationURL string) Demands {
	return Demands{MaxAge: maxAgeOf(authorizationURL), ACR: a.ACRValues}
}

// addTo sets in query the parameters of the fields that are not empty. It replaces what
// query has under these names. A MaxAge of 0 seconds is set; a nil MaxAge is not.
func (a *Ask) addTo(query url.Values) {
	for name, value := range map[string]string{
		"prompt": a.Prompt, "acr_values": strings.Join(a.ACRValues, " "), "login_hint": a.LoginHint, "scope": a.Scope,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if a.MaxAge != nil {
		query.Set("max_age", strconv.FormatInt(*a.MaxAge, 10))
	}
}

// reserved are the parameters that carry the protocol. With any of them a link
// could send the code elsewhere or undo a check (RFC 9700 section 4.1, 4.5).
var reserved = []string{
	"client_id", "redirect_uri", "response_type", "response_mode", "state", "nonce",
	"code_challenge", "code_challenge_method", "request", "request_uri",
}

// Scope returns the configured scopes, separated by spaces: the scope of
// Authorization.Params, or else Config.Scopes. It makes no request. AuthorizationURL may
// ask for others, because the query of the authorization endpoint and the Params and Ask
// of a request can replace them.
func (c *Client) Scope() string { return c.authorizationQuery(nil).Get("scope") }

// AuthorizationURL returns the URL to which the caller sends the browser. It discovers
// the endpoint if necessary, which can take a request. If two sources set the same
// parameter, the later source in this list wins: response_type, client_id, redirect_uri
// and scope of Config and r; the provider's parameters; the endpoint's own query; r.Ask;
// response_mode, state, nonce and the code challenge of r.
//
// r.Params come before r.Ask. They add parameters, but replace only scope, max_age and
// those that r.Replaceable names. Reserved names in r.Params are ignored. So is, for
// OpenID Connect, a max_age that is longer than the provider's own.
//
// AuthorizationURL returns an error if discovery fails, if the provider is not supported
// ([*UnsupportedError]) or has no authorization endpoint, or if, for OpenID Connect, a
// max_age is not a whole number of seconds below 2^31.
func (c *Client) AuthorizationURL(ctx context.Context, r AuthRequest) (string, error) {
	m, err := c.Discover(ctx)
	if err != nil {
		return "", err
	}
	if m.Unsupported != nil {
		return "", &StepError{Step: StepAuthorization, Err: m.Unsupported}
	}
	if m.authorization == nil {
		return "", fail(StepAuthorization, "the provider has no authorization endpoint")
	}
	query := maps.Clone(m.query)
	if r.RedirectURI != "" && !query.Has("redirect_uri") {
		query.Set("redirect_uri", r.RedirectURI)
	}
	for name, values := range r.Params {
		if len(values) > 0 && !c.isReserved(name) && (!m.query.Has(name) || r.mayReplace(name)) {
			query[name] = values[len(values)-1:]
		}
	}
	if err := c.limitMaxAge(m, query); err != nil {
		return "", &StepError{Step: StepAuthorization, Err: err}
	}
	r.Ask.addTo(query)
	r.protect(query)
	u := *m.authorization
	// Every decoder reads %20 as a space; only form decoders read + as one.
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	u.Fragment = c.config.Authorization.Fragment
	return u.String(), nil
}

// mayReplace reports whether Params may replace a parameter of the provider's own
// . The caller excludes reserved names first. limitMaxAge undoes the replacement
// by a max_age that is too long.
func (r *AuthRequest) mayReplace(name string) bool {
	return name == "scope" || name == "max_age" || slices.Contains(r.Replaceable, name)
}

// limitMaxAge puts the max_age of the provider's own parameters back into query if query
// has a longer one or none. An attacker's link must not relax the limit. It returns an
// error if either max_age is no number. For plain OAuth it does nothing.
func (c *Client) limitMaxAge(m *Metadata, query url.Values) error {
	if !c.config.OIDC {
		return nil
	}
	own, errOwn := maxAgeIn(m.query)
	sent, errSent := maxAgeIn(query)
	if own != nil && (sent == nil || *sent > *own) {
		query["max_age"] = m.query["max_age"]
	}
	return errors.Join(errOwn, errSent)
}

// maxAgeOf returns the max_age, in seconds, in the query of an authorization URL. It
// returns nil if there is none or it is malformed.
func maxAgeOf(authorizationURL string) *int64 {
	u, err := url.Parse(authorizationURL)
	if err != nil {
		return nil
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if text, found := strings.CutPrefix(pair, "max_age="); found { // AuthorizationURL escapes nothing of it
			age, _ := parseMaxAge(text)
			return age
		}
	}
	return nil
}

// maxAgeIn returns max_age in seconds, or nil if there is none. It returns an error if
// max_age is not a whole number of seconds below 2^31.
func maxAgeIn(query url.Values) (*int64, error) { return parseMaxAge(query.Get("max_age")) }

// parseMaxAge returns the seconds that text states, or nil for an empty text. Its error
// is that of maxAgeIn.
func parseMaxAge(text string) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	age, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, errors.New("max_age must be a number of seconds")
	}
	seconds := int64(age)
	return &seconds, nil
}

// protect sets in query the parameters that tie the answer to this request:
// response_mode, state, nonce and the code challenge. Empty ones are left out.
func (r *AuthRequest) protect(query url.Values) {
	for name, value := range map[string]string{
		"response_mode": r.ResponseMode,
		"state":         r.State,
		"nonce":         r.Nonce,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if r.Verifier != "" {
		query.Set("code_challenge", S256(r.Verifier))
		query.Set("code_challenge_method", "S256")
	}
}

// isReserved reports whether name is a parameter that a link must not set: one of the
// protocol, or Config.ClientIDParam.
func (c *Client) isReserved(name string) bool {
	return slices.Contains(reserved, name) || name == c.config.ClientIDParam && name != ""
}

// authorizationQuery returns the parameters that all authorization requests share. own
// is the query of the authorization endpoint, and replaces configured parameters of the
// same name; nil: none. A name with an empty list of values stays in the result, and is
// not sent. The caller may change the map, but not its lists, which belong to the
// configuration.
func (c *Client) authorizationQuery(own url.Values) url.Values {
	query := url.Values{
		"response_type": {"code"},
		"client_id":     {c.config.ClientID},
		"scope":         {strings.Join(c.config.Scopes, " ")},
	}
	if c.config.ClientIDParam != "" {
		query.Set(c.config.ClientIDParam, c.config.ClientID)
	}
	maps.Copy(query, c.config.Authorization.Params)
	maps.Copy(query, own)
	return query
}
