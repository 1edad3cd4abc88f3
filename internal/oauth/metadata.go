package oauth

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Metadata is the discovery document of a provider (OpenID Connect Discovery
// 3, RFC 8414 section 2), in which the values of Config replace the
// provider's. It is shared; do not change it.
type Metadata struct {
	Issuer                string // as the provider spells it; empty: unknown
	AuthorizationEndpoint string
	TokenEndpoint         string
	UserInfoEndpoint      string // empty: none
	JWKSURI               string
	EndSessionEndpoint    string   // empty: no logout at the provider
	RevocationEndpoint    string   // empty: tokens cannot be revoked (RFC 7009)
	CodeChallengeMethods  []string // what the provider says of PKCE; it may support more
	IDTokenAlgs           []string // as advertised, safe or not
	IssuerInResponse      bool     // every authorization response has an iss parameter (RFC 9207)
	Unsupported           error    // an [*UnsupportedError] if the provider demands what this package cannot do; nil: it does not

	authorization *url.URL                  // parsed, without its query; nil: none
	query         url.Values                // of every authorization request
	algs          []jose.SignatureAlgorithm // accepted for tokens the provider signs
}

// Discover returns the provider's metadata, from memory where the Cache allows it. If
// Config names everything a sign-in needs, Discover makes no request, and the metadata
// has the values of Config alone.
func (c *Client) Discover(ctx context.Context) (*Metadata, error) {
	if !c.discovers {
		return c.explicit, nil
	}
	return c.discovered(ctx)
}

// SupportsS256 reports whether the provider advertises PKCE with S256. A provider
// that is configured without discovery advertises nothing.
func (c *Client) SupportsS256(ctx context.Context) (bool, error) {
	m, err := c.Discover(ctx)
	if err != nil {
		return false, err
	}
	return slices.Contains(m.CodeChallengeMethods, "S256"), nil
}

// discovered returns the provider's metadata, from memory or by a request. If this
// client does not accept the cached document, discovered fetches it once more, if
// mayDiscoverAgain allows it. If that does not help, it returns the last document that
// this client has accepted, unless Cache.MaxAge is 0, or else an error.
func (c *Client) discovered(ctx context.Context) (*Metadata, error) {
	stated, fresh, err := c.published.metadata.get(ctx, c, nil)
	if err != nil {
		return nil, inStep(StepDiscovery, err)
	}
	m, err := c.own(stated.value)
	if err != nil && !fresh && c.mayDiscoverAgain(stated) {
		if stated, _, err = c.published.metadata.get(ctx, c, stated); err == nil {
			m, err = c.own(stated.value)
		}
	}
	if err == nil {
		return m, nil
	}
	if last := c.accepted.Load(); last != nil && c.cache.MaxAge > 0 {
		return last.ready, nil // as with any other answer that cannot be used
	}
	return nil, inStep(StepDiscovery, err)
}

// mayDiscoverAgain reports whether the client may fetch a document again, because it does
// not accept the one in the cache. It may once MaxFailurePause has passed since the last
// request: the cache is shared, and for other clients the document may be current.
func (c *Client) mayDiscoverAgain(seen *memory[*Metadata]) bool {
	return !c.config.Time().Before(seen.asked.Add(c.cache.MaxFailurePause))
}

// ownMetadata is the provider's metadata, and the same prepared for one client.
type ownMetadata struct{ stated, ready *Metadata }

// own checks the issuer of a cached document with MatchIssuer and returns the document
// prepared for this client. It returns errOtherIssuer if MatchIssuer refuses. It does
// the work once for each document.
func (c *Client) own(stated *Metadata) (*Metadata, error) {
	if last := c.accepted.Load(); last != nil && last.stated == stated {
		return last.ready, nil
	}
	if match := c.config.MatchIssuer; match != nil && !match(stated.Issuer, nil) {
		return nil, errOtherIssuer
	}
	ready := c.prepare(*stated)
	c.accepted.Store(&ownMetadata{stated, ready})
	return ready, nil
}

var errOtherIssuer = failed(CheckIssuer, "the document is about another issuer than the configured one")

// fetchMetadata fetches and checks the discovery document, and returns how long it may
// be kept.
func (c *Client) fetchMetadata(ctx context.Context) (*Metadata, time.Duration, error) {
	endpoint := strings.TrimSuffix(c.config.Issuer, "/") + "/.well-known/openid-configuration"
	a, err := c.channel.getWithinOrigin(ctx, StepDiscovery, endpoint)
	if err != nil {
		return nil, 0, err
	}
	if a.status != 200 {
		return nil, 0, a.failure(StepDiscovery, "no discovery document", c.config.Time())
	}
	m, err := c.parseMetadata(a.body)
	if err != nil {
		return nil, 0, &StepError{Step: StepDiscovery, Err: err}
	}
	return m, lifetime(a.header, c.config.Time()), nil
}

// parseMetadata reads and checks a discovery document. The check depends only on
// settings that all clients which share the document have in common (see askedAs). The
// result holds the provider's own values, not those of Config.
func (c *Client) parseMetadata(document []byte) (*Metadata, error) {
	members, err := decodeObject(document)
	if err != nil {
		return nil, err
	}
	m, err := readMetadata(members)
	if err != nil {
		return nil, err
	}
	if err := c.checkStatedIssuer(m.Issuer); err != nil {
		return nil, err
	}
	return m, c.checkDiscovered(c.prepare(*m))
}

// readMetadata copies the members that are used. An endpoint may be missing: not every
// client calls every one. It returns an error for an endpoint that is no text, and for a
// list that holds anything but texts.
func readMetadata(members map[string]any) (*Metadata, error) {
	var m Metadata
	for name, field := range map[string]*string{
		"issuer":                 &m.Issuer,
		"authorization_endpoint": &m.AuthorizationEndpoint,
		"token_endpoint":         &m.TokenEndpoint,
		"userinfo_endpoint":      &m.UserInfoEndpoint,
		"jwks_uri":               &m.JWKSURI,
		"end_session_endpoint":   &m.EndSessionEndpoint,
		"revocation_endpoint":    &m.RevocationEndpoint,
	} {
		var err error
		if *field, err = text(members, name); err != nil {
			return nil, err
		}
	}
	for name, field := range map[string]*[]string{
		"code_challenge_methods_supported":      &m.CodeChallengeMethods,
		"id_token_signing_alg_values_supported": &m.IDTokenAlgs,
	} {
		var err error
		if *field, err = texts(members, name); err != nil {
			return nil, err
		}
	}
	m.Unsupported = findUnsupported(members)
	m.IssuerInResponse, _ = members["authorization_response_iss_parameter_supported"].(bool)
	return &m, nil
}

// checkStatedIssuer compares the issuer that a document states with the configured one,
// to the letter (OpenID Connect Discovery 4.3). One difference is allowed, as with
// Auth.js: the operator has typed a slash behind a bare host, and the document has none.
// The document's spelling then counts. With MatchIssuer it checks nothing; own calls
// MatchIssuer.
func (c *Client) checkStatedIssuer(stated string) error {
	configured := c.config.Issuer
	switch {
	case c.config.MatchIssuer != nil:
		return nil
	case stated == configured, stated+"/" == configured && isBareHost(stated):
		return nil
	case stated != "" && strings.TrimRight(stated, "/") == strings.TrimRight(configured, "/"):
		return failed(CheckIssuer, "the document names the issuer with another slash at its end than the configured one: write it as the provider does")
	}
	return errOtherIssuer
}

// isBareHost reports whether an issuer has no path, not even a slash.
func isBareHost(issuer string) bool {
	u, err := url.Parse(issuer)
	return err == nil && u.Host != "" && u.Path == ""
}

// checkDiscovered returns an error if checkURL does not accept an endpoint of m. It also
// returns an error for an http endpoint on a loopback host, unless the issuer is on one
// too or AllowInsecure is set. Otherwise a distant issuer could send this server to its
// own loopback.
func (c *Client) checkDiscovered(m *Metadata) error {
	issuer, err := url.Parse(c.config.Issuer)
	if err != nil {
		return errors.New("the issuer is no URL")
	}
	for name, endpoint := range map[string]string{
		"authorization_endpoint": m.AuthorizationEndpoint,
		"token_endpoint":         m.TokenEndpoint,
		"userinfo_endpoint":      m.UserInfoEndpoint,
		"jwks_uri":               m.JWKSURI,
		"end_session_endpoint":   m.EndSessionEndpoint,
		"revocation_endpoint":    m.RevocationEndpoint,
	} {
		if endpoint == "" {
			continue
		}
		u, err := checkURL(endpoint, c.config.AllowInsecure)
		if err != nil {
			return errors.New(name + " " + err.Error())
		}
		if u.Scheme == "http" && !c.config.AllowInsecure && !isLoopback(issuer.Hostname()) {
			return errors.New(name + " must be https")
		}
	}
	return nil
}

// prepare returns m with the values that Config sets in place of those of the provider,
// and with parsed URLs.
func (c *Client) prepare(m Metadata) *Metadata {
	k := &c.config
	m.AuthorizationEndpoint = or(k.Authorization.URL, m.AuthorizationEndpoint)
	m.TokenEndpoint = withQuery(or(k.Token.URL, m.TokenEndpoint), k.Token.Params)
	m.UserInfoEndpoint = withQuery(or(k.UserInfo.URL, m.UserInfoEndpoint), k.UserInfo.Params)
	m.JWKSURI = or(k.JWKS, m.JWKSURI)
	m.RevocationEndpoint = withQuery(or(k.Revocation.URL, m.RevocationEndpoint), k.Revocation.Params)
	m.EndSessionEndpoint = withQuery(or(k.EndSession.URL, m.EndSessionEndpoint), k.EndSession.Params)
	m.algs = k.acceptedAlgs(m.IDTokenAlgs)
	if u, err := url.Parse(m.AuthorizationEndpoint); err == nil && m.AuthorizationEndpoint != "" {
		m.query = c.authorizationQuery(u.Query())
		u.RawQuery = ""
		m.authorization = u
	}
	return &m
}

// withQuery returns endpoint with params set in its query. It returns endpoint as it is
// if it is empty or no URL, or if there are no params.
func withQuery(endpoint string, params url.Values) string {
	if endpoint == "" || len(params) == 0 {
		return endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint // checkURL says so
	}
	query := u.Query()
	for name, values := range params {
		query[name] = values
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// inStep returns err as an error of the step, unless it has a step already.
func inStep(step Step, err error) error {
	var inner *StepError
	var stated *ResponseError
	if errors.As(err, &inner) || errors.As(err, &stated) {
		return err
	}
	return &StepError{Step: step, Err: err}
}

// AuthorizationEndpoint returns the authorization endpoint of Config or of the cached
// discovery document. It is empty if neither is known yet. It makes no request.
func (c *Client) AuthorizationEndpoint() string {
	if !c.discovers {
		return c.explicit.AuthorizationEndpoint
	}
	if stated := c.published.metadata.known(); stated != nil && stated.known {
		if m, err := c.own(stated.value); err == nil {
			return m.AuthorizationEndpoint
		}
	}
	return c.config.Authorization.URL
}
