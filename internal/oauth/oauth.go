// Package oauth speaks OAuth 2.0 and OpenID Connect to one provider, from the
// client's side (a "relying party").
//
// A [Client] is made once, by [New], and follows the steps of one sign-in:
//
//	AuthorizationURL   returns the URL to which the browser is sent
//	ParseCallback      reads the answer; compare its State first
//	CheckResponse      checks that this provider sent the answer, and a code
//	Exchange           trades the code for a Token
//	VerifyIDToken      returns the verified claims (OpenID Connect)
//	UserInfo           returns more claims, or the only ones (plain OAuth)
//
// Everything that is received is treated as hostile: sizes, types, spellings
// and timings have limits, redirects are not followed, and a check that fails
// ends the step with an error that holds no secret, token, body or query
// string.
//
// The package knows nothing of browsers, cookies, sessions or users.
package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync/atomic"
)

// Client talks to one provider. It never changes after New, apart from what it
// remembers of the provider's metadata and keys, and is safe for concurrent
// use.
type Client struct {
	config Config // defaults filled in; own copies of everything that could be changed from outside
	cache  Cache

	channel *backChannel
	proof   *clientProof

	explicit  *Metadata // what Config says; all there is when nothing needs discovery
	discovers bool      // something that every sign-in needs is not in Config

	published *published
	accepted  atomic.Pointer[ownMetadata] // the last of it that this client took
}

// New checks c and returns a client for it. It returns all faults at once,
// joined; each names its field and the cure. It makes no request.
func New(c Config) (*Client, error) {
	c = c.withDefaults()
	client := &Client{
		config:    c,
		cache:     *c.Cache,
		discovers: !c.selfSufficient(),
	}
	signer, err := c.signer()
	if err := errors.Join(c.check(), err); err != nil {
		return nil, err
	}
	client.channel, client.proof = newBackChannel(&client.config), &clientProof{&client.config, signer}
	client.explicit = client.prepare(Metadata{Issuer: c.Issuer})
	client.published = c.published()
	return client, nil
}

// NewVerifier returns a fresh PKCE code verifier: 256 random bits in 43
// unreserved characters (RFC 7636 section 4.1).
func NewVerifier() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// S256 returns the code challenge of a verifier (RFC 7636 section 4.2). The
// package never uses the method "plain".
func S256(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
