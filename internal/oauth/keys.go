package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
)

var (
	rsaAlgs        = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	asymmetricAlgs = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", algEd25519}
	hmacAlgs       = []string{"HS256", "HS384", "HS512"}
)

// algEd25519 is the name in RFC 9864 of EdDSA on the curve Ed25519, the only
// curve that is accepted. The two names mean the same.
const algEd25519 = "Ed25519"

var ed25519Algs = []jose.SignatureAlgorithm{jose.EdDSA, algEd25519}

const (
	minRSABits = 2048
	maxKeys    = 100 // of one set
)

// keySet is a provider's signing keys, parsed once.
type keySet struct{ keys []key }

type key struct {
	id     string   // empty: none
	algs   []string // what it may be used with
	public any
}

// errNoKey is the only error about a signature. The part that failed would only
// help an attacker who forged it.
var errNoKey = failed(CheckSignature, "no key of the provider verifies the signature")

// verify returns the signed payload, and true if a key fits. It tries every fitting key
// for a token without kid, and only the named key for one with a kid.
func (s *keySet) verify(t *compactToken) ([]byte, bool) {
	header := t.header()
	for _, k := range s.keys {
		if header.KeyID != "" && header.KeyID != k.id || !slices.Contains(k.algs, header.Algorithm) {
			continue
		}
		if payload, ok := t.verify(k.public); ok {
			return payload, true
		}
	}
	return nil, false
}

// verifyWithKeys returns the payload if a key of the provider verifies the signature,
// and otherwise errNoKey. If no key fits, the keys may have been rotated. It then
// fetches them once more, if mayRefetch allows it. It returns a *StepError if keys
// cannot be fetched.
func (c *Client) verifyWithKeys(ctx context.Context, t *compactToken) ([]byte, error) {
	keys, fresh, err := c.published.keys.get(ctx, c, nil)
	if err != nil {
		return nil, inStep(StepKeys, err)
	}
	payload, ok := keys.value.verify(t)
	if !ok && !fresh && c.mayRefetch(keys) {
		ctx := context.WithValue(ctx, reasonKey{}, "unknown_kid")
		if keys, _, err = c.published.keys.get(ctx, c, keys); err != nil {
			return nil, inStep(StepKeys, err)
		}
		payload, ok = keys.value.verify(t)
		fresh = true // newer than what failed
	}
	if !ok {
		return nil, errNoKey
	}
	if fresh {
		c.published.useful.Store(keys)
	}
	return payload, nil
}

// mayRefetch reports whether the client may fetch the keys again for a token that seen does
// not verify. Keys can rotate at any moment, so it may at once if a token was verified by
// seen right after the fetch. For any other set KeyPause has to pass, or tokens
// with invented kids would make the client flood the provider.
func (c *Client) mayRefetch(seen *memory[*keySet]) bool {
	return c.published.useful.Load() == seen || !c.config.Time().Before(seen.asked.Add(c.cache.KeyPause))
}

// fetchKeys fetches the keys from the provider, and returns them and how long they may
// be kept. It discovers their URL first if necessary.
func (c *Client) fetchKeys(ctx context.Context) (*keySet, time.Duration, error) {
	endpoint, err := c.keysURL(ctx)
	if err != nil {
		return nil, 0, err
	}
	a, err := c.channel.get(c.withReason(ctx), StepKeys, endpoint, acceptJSON())
	if err != nil {
		return nil, 0, err
	}
	if a.status != 200 {
		return nil, 0, a.failure(StepKeys, "no key set", c.config.Time())
	}
	set, err := parseKeys(a.body)
	if err != nil {
		return nil, 0, &StepError{Step: StepKeys, Err: err}
	}
	return set, lifetime(a.header, c.config.Time()), nil
}

// withReason returns ctx with the reason for which the keys are fetched, for Trace. A
// reason that ctx has already stays. Without Trace it returns ctx.
func (c *Client) withReason(ctx context.Context) context.Context {
	switch {
	case c.config.Trace == nil || reasonIn(ctx) != "":
		return ctx
	case c.published.keys.known() == nil:
		return context.WithValue(ctx, reasonKey{}, "first")
	}
	return context.WithValue(ctx, reasonKey{}, "expired")
}

// tellStale calls Config.StaleKeys, if set.
func (c *Client) tellStale(s StaleAnswer) {
	if c.config.StaleKeys != nil {
		c.config.StaleKeys(s)
	}
}

// keysURL returns the URL of the keys: that of Config, or else the discovered one. It
// uses discovery even for a provider that otherwise needs none. A plain OAuth provider
// with an issuer may send an ID token without being asked, and that is checked like any
// other. keysURL returns an error if there is no URL.
func (c *Client) keysURL(ctx context.Context) (string, error) {
	m := c.explicit
	if m.JWKSURI == "" && c.config.Issuer != "" {
		var err error
		if m, err = c.discovered(ctx); err != nil {
			return "", err
		}
	}
	if m.JWKSURI == "" {
		return "", fail(StepKeys, "the provider publishes no keys")
	}
	return m.JWKSURI, nil
}

// parseKeys reads a JWK set (RFC 7517 section 5). It passes over entries that are not
// usable signature keys, and over every usable one after the first maxKeys. A set
// without usable keys is no error; a text that is no JWK set is.
func parseKeys(document []byte) (*keySet, error) {
	members, err := decodeObject(document)
	if err != nil {
		return nil, err
	}
	list, ok := members["keys"].([]any)
	if !ok {
		return nil, errors.New("keys is not an array")
	}
	set := &keySet{}
	for _, entry := range list {
		if len(set.keys) == maxKeys {
			break
		}
		members, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		if k, ok := parseKey(members); ok {
			set.keys = append(set.keys, k)
		}
	}
	return set, nil
}

// parseKey reads one key of a set. It returns false if the key cannot verify signatures
// here.
func parseKey(members map[string]any) (key, bool) {
	use, err1 := text(members, "use")
	alg, err2 := text(members, "alg")
	kid, err3 := text(members, "kid")
	operations, err4 := texts(members, "key_ops")
	if errors.Join(err1, err2, err3, err4) != nil || use != "" && use != "sig" {
		return key{}, false
	}
	if operations != nil && !slices.Contains(operations, "verify") {
		return key{}, false
	}
	public, fitting := publicKey(members)
	if alg != "" {
		if !slices.Contains(fitting, alg) {
			return key{}, false
		}
		fitting = synonyms(alg)
	}
	return key{id: kid, algs: fitting, public: public}, len(fitting) > 0
}

// synonyms returns all names of the algorithm alg, alg included.
func synonyms(alg string) []string {
	if alg == "EdDSA" || alg == algEd25519 {
		return []string{"EdDSA", algEd25519}
	}
	return []string{alg}
}

// privateMembers make up the private part of a key (RFC 7518 section 6, RFC
// 8037 section 2). A key whose private part was published proves nothing.
var privateMembers = []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"}

// publicKey returns the public key of a JWK and the algorithms it can verify. Without
// algorithms the key is not usable. They are nil for a weak key, a symmetric or unknown
// one, and one with a published private part. publicKey reads only the members that make
// the key: certificates and thumbprints beside it prove nothing here.
func publicKey(members map[string]any) (public any, algs []string) {
	for _, name := range privateMembers {
		if _, stated := members[name]; stated {
			return nil, nil
		}
	}
	essential := make(map[string]any, 5)
	for _, name := range []string{"kty", "crv", "n", "e", "x", "y"} {
		if value, ok := members[name].(string); ok {
			essential[name] = value
		}
	}
	if essential["kty"] == "oct" || essential["kty"] == "AKP" {
		return nil, nil
	}
	encoded, err := json.Marshal(essential)
	if err != nil {
		return nil, nil
	}
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(encoded); err != nil || !jwk.Valid() {
		return nil, nil
	}
	return jwk.Key, algsOf(jwk.Key)
}

// algsOf returns the algorithms that the key can verify, or nil for a weak or unknown
// one.
func algsOf(public any) []string {
	switch public := public.(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() >= minRSABits { // absurdly large ones did not parse
			return rsaAlgs
		}
	case *ecdsa.PublicKey:
		switch public.Curve {
		case elliptic.P256():
			return []string{"ES256"}
		case elliptic.P384():
			return []string{"ES384"}
		case elliptic.P521():
			return []string{"ES512"}
		}
	case ed25519.PublicKey:
		return []string{"EdDSA", algEd25519}
	}
	return nil
}
