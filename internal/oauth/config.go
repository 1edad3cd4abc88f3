package oauth

import (
	"context"
	"crypto"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Config describes a provider and how the client talks to it.
type Config struct {
	OIDC bool // an ID token is expected; needs Issuer

	// Issuer is the provider's exact identifier, including a slash at its end. Only
	// the slash after a bare host may be superfluous. Issuer may be empty only for
	// a plain OAuth provider whose endpoints are all given. Such a provider can send
	// neither an iss parameter nor an ID token.
	Issuer string

	// MatchIssuer replaces the exact comparison for providers that issue under
	// many names (one per tenant). It sees every issuer the provider states:
	// in the discovery document and in the authorization response with nil
	// claims, in an ID token with the token's claims. nil: exact comparison.
	MatchIssuer func(issuer string, claims map[string]any) bool

	ClientID string

	// ClientSecret is called once per use, because some providers want a new secret
	// each time. nil: none.
	ClientSecret func(ctx context.Context) (string, error)

	ClientAuth ClientAuth  // empty: ClientSecretBasic
	SigningKey *SigningKey // needed by PrivateKeyJWT, otherwise unused

	// AssertionAudience is the aud of client assertions. Empty: the issuer
	// (the token endpoint where there is none). One value is sent as a string,
	// several as an array, which a server should refuse unless it asked for it.
	AssertionAudience []string

	// ClientIDParam is a second name under which the client id is sent, in
	// authorization and token requests. Empty: none.
	ClientIDParam string

	// Scopes are asked for unless Authorization.Params has a scope of its own.
	// nil: openid, profile, email. Empty but not nil: an empty scope.
	Scopes []string

	Authorization, Token, UserInfo Endpoint

	// Revocation is the endpoint of RFC 7009. An empty URL is discovered.
	Revocation Endpoint

	// EndSession is the endpoint of RP-Initiated Logout 1.0. An empty URL is discovered.
	EndSession Endpoint

	JWKS string // where the signing keys are; empty: discovered

	// IDTokenAlgs are the signature algorithms an ID token may have. Empty:
	// the asymmetric ones among those the metadata lists, else RS256. The HMAC
	// ones, keyed with the client secret, are only accepted when named here.
	IDTokenAlgs []string

	// Audiences are the other audiences an ID token may have besides this
	// client. nil: any, as long as its azp names this client. Not nil: these
	// only, with the same condition.
	Audiences []string

	// AllowInsecure accepts http endpoints on every host, so that tokens and secrets travel
	// in clear. Without it, http is accepted on loopback hosts only.
	AllowInsecure bool

	// HTTP makes the calls. It is copied, never follows redirects, and keeps
	// no cookies. nil: a transport of its own with the system's roots.
	HTTP *http.Client

	Time        func() time.Time // nil: time.Now
	CallTimeout time.Duration    // for one call; 0: 5 s
	MaxBody     int64            // bytes of one answer, decompressed; 0: 1 MiB
	Leeway      time.Duration    // for the times in an ID token; 0: 30 s; at most 60 s

	Cache *Cache // nil: the defaults that Cache names

	// Trace is called before each request. It may add headers. The function that it
	// returns is called at the end; status is 0, and header nil, if there was no
	// answer. nil: requests are not traced.
	Trace func(ctx context.Context, c Call) (context.Context, func(status int, header http.Header, err error))

	// Shared caches metadata and keys for all its clients that ask the same
	// provider within the same limits and with the same Via. Via must be comparable
	// and stand for what HTTP is made of. nil: this client has a cache of its own.
	Shared *Shared
	Via    any

	// StaleKeys is called when keys could not be fetched and older ones stay in use.
	// Calls do not overlap. Of clients that share the keys, only that of the client
	// that asked is called. nil: nothing is called.
	StaleKeys func(StaleAnswer)
}

// Call is a request to a provider.
type Call struct {
	Step             Step
	Method, Endpoint string
	Header           http.Header
	Reason           string // for which keys are fetched: first, expired or unknown_kid; empty: another step
}

// StaleAnswer describes an older answer that stays in use because a newer one
// cannot be fetched.
type StaleAnswer struct {
	Since time.Time // when it was fetched
	End   time.Time // from when on it is not used any more
	Err   error     // why there is no newer one
}

// ClientAuth is how the client proves itself at the token endpoint. The method
// is used as configured; there is no falling back to another one.
type ClientAuth string

// The methods of OpenID Connect Core section 9.
const (
	ClientSecretBasic ClientAuth = "client_secret_basic"
	ClientSecretPost  ClientAuth = "client_secret_post"
	ClientSecretJWT   ClientAuth = "client_secret_jwt"
	PrivateKeyJWT     ClientAuth = "private_key_jwt"
	NoClientAuth      ClientAuth = "none"
)

// Endpoint is a URL of the provider and the parameters that always go to it. An
// empty URL is discovered. For the authorization endpoint Params are defaults
// that the URL's own query and then the request can replace; for the others
// they are set in the query.
type Endpoint struct {
	URL    string
	Params url.Values

	// Fragment ends the URL that browsers are sent to, for a provider that wants
	// one against RFC 6749 section 3.1. Empty: none.
	Fragment string
}

// SigningKey signs client assertions.
type SigningKey struct {
	Key crypto.Signer // RSA (2048 bits or more), ECDSA on P-256, P-384 or P-521, or Ed25519
	ID  string        // the kid that the provider knows it by; empty: not sent
	Alg string        // must fit Key; empty: RS256, ES256, ES384, ES512 or EdDSA, by its type
}

// Cache says how long answers about the provider itself (metadata and keys)
// are remembered. A Cache is taken literally: zero means that nothing is
// remembered, except for MaxStale. A nil *Cache in Config means the defaults given here.
type Cache struct {
	MinAge, MaxAge time.Duration // the answer's own lifetime counts between these; default 5 min, 24 h

	// FailurePause is how long a failure is remembered instead of asking
	// again. It doubles with every further failure, up to MaxFailurePause.
	// Meanwhile, what was known before stays in use. Default 1 s, 30 s.
	FailurePause, MaxFailurePause time.Duration

	// MaxRetryAfter bounds the wait that a failing answer asks for by its header
	// Retry-After; what it asks for counts if it is more than FailurePause.
	// Default 5 min.
	MaxRetryAfter time.Duration

	// MaxKeyAge is the MaxAge of keys, if it is shorter: a withdrawn key is trusted no longer
	// than that, unless newer keys cannot be fetched (see MaxStale). The MinAge of keys is
	// KeyPause if that is shorter. Default 1 h.
	MaxKeyAge time.Duration

	// MaxStale is for how long keys are used in all while newer ones cannot be
	// fetched. Zero: without end. Default 24 h.
	MaxStale time.Duration

	// KeyPause is how long an unknown key is no reason to ask for the keys
	// again, when asking the last time did not help. Default 30 s.
	KeyPause time.Duration
}

var defaultCache = Cache{
	MinAge:          5 * time.Minute,
	MaxAge:          24 * time.Hour,
	FailurePause:    time.Second,
	MaxFailurePause: 30 * time.Second,
	MaxRetryAfter:   5 * time.Minute,
	MaxKeyAge:       time.Hour,
	MaxStale:        24 * time.Hour,
	KeyPause:        30 * time.Second,
}

// DefaultCache returns the cache rules that a nil Cache of [Config] means.
func DefaultCache() Cache { return defaultCache }

// forMetadata returns the rules for metadata. It sets MaxStale to 0, which means that
// stale metadata stays in use until newer metadata can be fetched. Endpoints seldom
// move. Keys do, and their URL is in the metadata.
func (c Cache) forMetadata() Cache {
	c.MaxStale = 0
	return c
}

// forKeys returns the rules for keys. It lowers MaxAge to MaxKeyAge, and MinAge to
// KeyPause, if those are shorter.
func (c Cache) forKeys() Cache {
	c.MaxAge = min(c.MaxAge, c.MaxKeyAge)
	c.MinAge = min(c.MinAge, c.KeyPause, c.MaxAge)
	return c
}

// withDefaults returns a copy of c with the defaults in place of zero values. The copy
// has lists, maps and a Cache of its own. It shares SigningKey, HTTP and Shared with c.
func (c Config) withDefaults() Config {
	c.ClientAuth = or(c.ClientAuth, ClientSecretBasic)
	c.CallTimeout = or(c.CallTimeout, 5*time.Second)
	c.MaxBody = or(c.MaxBody, 1<<20)
	c.Leeway = or(c.Leeway, 30*time.Second)
	if c.Time == nil {
		c.Time = time.Now
	}
	cache := defaultCache
	if c.Cache != nil {
		cache = *c.Cache
	}
	c.Cache = &cache
	if c.Scopes == nil {
		c.Scopes = []string{"openid", "profile", "email"}
	}
	c.Scopes = slices.Clone(c.Scopes)
	c.AssertionAudience = slices.Clone(c.AssertionAudience)
	c.IDTokenAlgs = slices.Clone(c.IDTokenAlgs)
	c.Audiences = slices.Clone(c.Audiences)
	for _, e := range []*Endpoint{&c.Authorization, &c.Token, &c.UserInfo, &c.Revocation, &c.EndSession} {
		e.Params = maps.Clone(e.Params)
		for name, values := range e.Params {
			e.Params[name] = slices.Clone(values)
		}
	}
	return c
}

// selfSufficient reports whether a sign-in needs nothing from discovery. The
// userinfo endpoint does not count: a client without one reads the profile
// elsewhere.
func (c *Config) selfSufficient() bool {
	keys := !c.OIDC || c.JWKS != "" || c.onlyHMAC()
	return c.Authorization.URL != "" && c.Token.URL != "" && keys
}

// onlyHMAC reports whether IDTokenAlgs names HMAC algorithms alone, which need no JWKS.
func (c *Config) onlyHMAC() bool {
	asymmetric := func(alg string) bool { return !strings.HasPrefix(alg, "HS") }
	return len(c.IDTokenAlgs) > 0 && !slices.ContainsFunc(c.IDTokenAlgs, asymmetric)
}

// or returns value, or fallback if value is the zero value.
func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
