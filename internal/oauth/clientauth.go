package oauth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// assertionLifetime is short because an assertion is used at once. FAPI and
// RFC 9700 allow up to five minutes.
const assertionLifetime = time.Minute

// clientProof proves to the provider that token requests come from this client.
type clientProof struct {
	config *Config
	signer jose.Signer // private_key_jwt only
}

// authenticate adds the client id and the proof of the client to header or form, which
// are those of a request to the token or revocation endpoint. With NoClientAuth it adds
// the id alone. It returns an error if ClientSecret fails or returns nothing, or if the
// assertion cannot be signed.
func (p *clientProof) authenticate(ctx context.Context, m *Metadata, header http.Header, form url.Values) error {
	id := p.config.ClientID
	if name := p.config.ClientIDParam; name != "" {
		form.Set(name, id)
	}
	if p.config.ClientAuth != ClientSecretBasic {
		form.Set("client_id", id)
	}
	switch p.config.ClientAuth {
	case NoClientAuth:
		return nil
	case PrivateKeyJWT:
		return p.assert(m, form, p.signer)
	}
	secret, err := p.config.secret(ctx)
	if err != nil {
		return err
	}
	switch p.config.ClientAuth {
	case ClientSecretPost:
		form.Set("client_secret", secret)
	case ClientSecretJWT:
		return p.assertWithSecret(m, form, secret)
	default:
		// Both parts are form-encoded first (RFC 6749 section 2.3.1): a colon
		// in the id would otherwise move into the secret.
		pair := url.QueryEscape(id) + ":" + url.QueryEscape(secret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	return nil
}

// secret calls ClientSecret, which must not be nil, for the secret. The secret may
// differ from call to call. secret returns an error if it is empty.
func (c *Config) secret(ctx context.Context) (string, error) {
	secret, err := c.ClientSecret(ctx)
	if err != nil {
		return "", fmt.Errorf("client secret: %w", err)
	}
	if secret == "" {
		return "", errors.New("the client secret is empty")
	}
	return secret, nil
}

// assertWithSecret adds an assertion to form that is signed with the client secret
// (HS256).
func (p *clientProof) assertWithSecret(m *Metadata, form url.Values, secret string) error {
	key := jose.SigningKey{Algorithm: jose.HS256, Key: []byte(secret)}
	signer, err := jose.NewSigner(key, assertionHeader(""))
	if err != nil {
		return errors.New("the client secret cannot sign")
	}
	return p.assert(m, form, signer)
}

// assert makes a client assertion, valid for assertionLifetime and signed by signer, and
// sets it in form (RFC 7523 section 3).
func (p *clientProof) assert(m *Metadata, form url.Values, signer jose.Signer) error {
	now := p.config.Time()
	payload, err := json.Marshal(map[string]any{
		"iss": p.config.ClientID,
		"sub": p.config.ClientID,
		"aud": p.assertionAudience(m),
		"jti": rand.Text(),
		"iat": now.Unix(),
		"exp": now.Add(assertionLifetime).Unix(),
	})
	if err != nil {
		return errors.New("the client assertion cannot be encoded")
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return errors.New("the client assertion cannot be signed; a secret needs at least 32 bytes")
	}
	assertion, err := signed.CompactSerialize()
	if err != nil {
		return errors.New("the client assertion cannot be encoded")
	}
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", assertion)
	return nil
}

// assertionAudience returns the audience of client assertions, a string or a []string:
// Config.AssertionAudience, if set. By default it is the issuer, with MatchIssuer the
// configured issuer, and the token endpoint if there is no issuer. It is not an endpoint
// where an issuer is known: an attacker that can make the client use an endpoint of
// theirs could replay an assertion that names that endpoint.
func (p *clientProof) assertionAudience(m *Metadata) any {
	switch audience := p.config.AssertionAudience; len(audience) {
	case 0:
	case 1:
		return audience[0]
	default:
		return audience
	}
	if p.config.MatchIssuer != nil {
		return or(p.config.Issuer, m.TokenEndpoint) // the metadata may hold a template
	}
	return or(m.Issuer, m.TokenEndpoint)
}

// assertionHeader returns the options that set typ to JWT and, unless it is empty, kid.
func assertionHeader(kid string) *jose.SignerOptions {
	options := (&jose.SignerOptions{}).WithType("JWT")
	if kid != "" {
		options.WithHeader("kid", kid)
	}
	return options
}
