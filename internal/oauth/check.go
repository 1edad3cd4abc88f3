package oauth

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/cryptosigner"
)

// check returns the faults of c, joined, or nil. It leaves out those of the signing key,
// which signer reports. c must have its defaults: see withDefaults.
func (c *Config) check() error {
	faults := []error{
		c.checkIssuer(),
		c.checkEndpoint("Authorization.URL", c.Authorization.URL),
		c.checkEndpoint("Token.URL", c.Token.URL),
		c.checkEndpoint("UserInfo.URL", c.UserInfo.URL),
		c.checkEndpoint("Revocation.URL", c.Revocation.URL),
		c.checkEndpoint("Logout.EndSession.URL", c.EndSession.URL),
		c.checkEndpoint("JWKS", c.JWKS),
		c.checkClient(),
		c.checkAlgs(),
		c.checkLimits(),
		c.checkMaxAge(),
	}
	return errors.Join(faults...)
}

// fault returns an error that names the wrong field of Config and the cure.
func fault(field, text string) error { return errors.New(field + ": " + text) }

// checkIssuer returns the fault of Issuer, which may be empty only if nothing needs it.
func (c *Config) checkIssuer() error {
	switch {
	case c.Issuer != "":
		return c.checkIssuerURL()
	case c.OIDC:
		return fault("Issuer", "is empty; set it to the provider's exact issuer identifier")
	case !c.selfSufficient():
		return fault("Issuer", "is empty; set it, or set the URL of Authorization and Token")
	}
	return nil
}

// checkIssuerURL requires Issuer to be a URL that checkURL accepts, without a query.
func (c *Config) checkIssuerURL() error {
	u, err := checkURL(c.Issuer, c.AllowInsecure)
	switch {
	case err != nil && !strings.ContainsAny(c.Issuer, ":@?#"):
		return fault("Issuer", fmt.Sprintf("is %q, which is no absolute https URL; write %q, to the slash at its end as the provider has it", c.Issuer, "https://"+c.Issuer))
	case err != nil:
		return fault("Issuer", err.Error())
	}
	if u.RawQuery != "" || u.ForceQuery {
		return fault("Issuer", "must have no query") // OpenID Connect Discovery 3
	}
	return nil
}

// checkEndpoint returns an error that names field if checkURL does not accept endpoint.
// It accepts an empty endpoint, and one that begins with a wrong Issuer, which
// checkIssuer reports.
func (c *Config) checkEndpoint(field, endpoint string) error {
	if endpoint == "" || c.followsFromBadIssuer(endpoint) {
		return nil
	}
	if _, err := checkURL(endpoint, c.AllowInsecure); err != nil {
		return fault(field, err.Error())
	}
	return nil
}

// followsFromBadIssuer reports whether the endpoint begins with Issuer, and Issuer is
// wrong. The error of check then names Issuer alone.
func (c *Config) followsFromBadIssuer(endpoint string) bool {
	return c.Issuer != "" && strings.HasPrefix(endpoint, strings.TrimRight(c.Issuer, "/")) && c.checkIssuerURL() != nil
}

// checkClient requires a ClientID, a known ClientAuth, and the secret or the key that it
// needs.
func (c *Config) checkClient() error {
	if c.ClientID == "" {
		return fault("ClientID", "is empty; set it to the id that the provider gave")
	}
	switch c.ClientAuth {
	case ClientSecretBasic, ClientSecretPost, ClientSecretJWT:
		if c.ClientSecret == nil {
			return fault("ClientSecret", fmt.Sprintf("is missing; %s needs it, a public client sets ClientAuth to %q", c.ClientAuth, NoClientAuth))
		}
	case PrivateKeyJWT:
		if c.SigningKey == nil {
			return fault("SigningKey", fmt.Sprintf("is missing; %s needs it", c.ClientAuth))
		}
	case NoClientAuth:
	default:
		return fault("ClientAuth", fmt.Sprintf("%q is none of the methods of OpenID Connect Core section 9", c.ClientAuth))
	}
	return nil
}

// checkAlgs requires supported IDTokenAlgs, and a ClientSecret if one of them is HMAC.
func (c *Config) checkAlgs() error {
	for _, alg := range c.IDTokenAlgs {
		switch {
		case slices.Contains(asymmetricAlgs, alg):
		case !slices.Contains(hmacAlgs, alg):
			return fault("IDTokenAlgs", fmt.Sprintf("%q is not supported; use %s", alg, strings.Join(asymmetricAlgs, ", ")))
		case c.ClientSecret == nil:
			return fault("IDTokenAlgs", alg+" needs ClientSecret")
		}
	}
	return nil
}

// checkLimits returns the faults of the numbers and durations, joined. c must have its
// defaults.
func (c *Config) checkLimits() error {
	var faults []error
	if c.CallTimeout < 0 {
		faults = append(faults, fault("CallTimeout", "must not be negative"))
	}
	if c.MaxBody < 0 {
		faults = append(faults, fault("MaxBody", "must not be negative"))
	}
	if c.Leeway < 0 || c.Leeway > time.Minute {
		faults = append(faults, fault("Leeway", "must be between 0 and 60 s"))
	}
	k := c.Cache
	if min(k.MinAge, k.FailurePause, k.KeyPause, k.MaxRetryAfter, k.MaxKeyAge, k.MaxStale) < 0 || k.MaxAge < k.MinAge || k.MaxFailurePause < k.FailurePause {
		faults = append(faults, fault("Cache", "durations must not be negative, and a maximum not below its minimum"))
	}
	return errors.Join(faults...)
}

// checkMaxAge returns a fault if a configured max_age is not a number of seconds. For
// plain OAuth it returns nil.
func (c *Config) checkMaxAge() error {
	if !c.OIDC {
		return nil
	}
	if _, err := maxAgeIn(c.Authorization.Params); err != nil {
		return fault("Authorization.Params", err.Error())
	}
	u, err := url.Parse(c.Authorization.URL)
	if err != nil {
		return nil // checkEndpoint says so
	}
	if _, err := maxAgeIn(u.Query()); err != nil {
		return fault("Authorization.URL", err.Error())
	}
	return nil
}

// signer checks that key and algorithm belong together and returns the signer of
// assertions (RFC 7523; CVE-2020-15222). It returns nil, nil if ClientAuth is not
// PrivateKeyJWT, and also if SigningKey is nil, which checkClient reports.
func (c *Config) signer() (jose.Signer, error) {
	k := c.SigningKey
	if c.ClientAuth != PrivateKeyJWT || k == nil {
		return nil, nil
	}
	if k.Key == nil {
		return nil, fault("SigningKey.Key", "is missing")
	}
	opaque := cryptosigner.Opaque(k.Key)
	if slices.Contains(opaque.Algs(), jose.EdDSA) {
		opaque = ed25519Signer{opaque}
	}
	fitting := opaque.Algs()
	if len(fitting) == 0 {
		return nil, fault("SigningKey.Key", "must be RSA, ECDSA on P-256, P-384 or P-521, or Ed25519")
	}
	alg := or(jose.SignatureAlgorithm(k.Alg), fitting[0])
	if !slices.Contains(fitting, alg) || !slices.Contains(asymmetricAlgs, string(alg)) {
		return nil, fault("SigningKey.Alg", fmt.Sprintf("%q does not fit the type of the key", alg))
	}
	if public, ok := k.Key.Public().(*rsa.PublicKey); ok && public.N.BitLen() < minRSABits {
		return nil, fault("SigningKey.Key", fmt.Sprintf("RSA keys need at least %d bits", minRSABits))
	}
	material, err := signingMaterial(k, opaque, alg)
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: material}, assertionHeader(k.ID))
	if err != nil {
		return nil, fault("SigningKey", "cannot be used")
	}
	return signer, nil
}

// signingMaterial returns the key that go-jose signs with. An *rsa.PrivateKey is
// returned as it is. Any other key signs through opaque. For such a key with PSS it
// returns an error: opaque would use a salt that RFC 7518 section 3.5 does not
// allow.
func signingMaterial(k *SigningKey, opaque jose.OpaqueSigner, alg jose.SignatureAlgorithm) (any, error) {
	switch k.Key.(type) {
	case *rsa.PrivateKey:
		return k.Key, nil
	}
	if strings.HasPrefix(string(alg), "PS") {
		return nil, fault("SigningKey.Alg", string(alg)+" needs an *rsa.PrivateKey; use an RS algorithm for this key")
	}
	return opaque, nil
}

// ed25519Signer signs under both names of its algorithm (RFC 9864).
type ed25519Signer struct{ jose.OpaqueSigner }

// Algs returns both names.
func (s ed25519Signer) Algs() []jose.SignatureAlgorithm { return ed25519Algs }

// SignPayload signs payload with Ed25519, whichever of the names is asked for.
func (s ed25519Signer) SignPayload(payload []byte, _ jose.SignatureAlgorithm) ([]byte, error) {
	return s.OpaqueSigner.SignPayload(payload, jose.EdDSA)
}

// checkURL parses an absolute https URL and returns an error for one with userinfo or a
// fragment. It accepts http on loopback hosts, or on any host if insecure (RFC 8414
// section 2). The text of an error has no subject; the caller puts the field in front.
func checkURL(endpoint string, insecure bool) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return nil, errors.New("is no URL")
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "", u.Opaque != "":
		return nil, errors.New("must be an absolute https URL")
	case u.User != nil:
		return nil, errors.New("must not contain a user name or password")
	case u.Fragment != "" || strings.Contains(endpoint, "#"):
		return nil, errors.New("must not have a fragment")
	case u.Scheme == "http" && !insecure && !isLoopback(u.Hostname()):
		return nil, errors.New("must be https; http is for loopback hosts only, unless insecure endpoints are allowed")
	}
	return u, nil
}

// isLoopback reports whether host, without a port, is localhost or a loopback address.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
