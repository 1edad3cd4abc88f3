package oauth

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// maxTokenSize bounds a signed token before anything in it is decoded.
const maxTokenSize = 16 << 10

// signed is a token with a verified signature. Its claims are not verified yet.
type signed struct {
	alg    string
	claims map[string]any
}

// open verifies the signature of a compact JWS from the provider and decodes its claims,
// which it does not check. The keys come from the provider's published set, or for HMAC
// from the client secret. It uses the kid of the token's header, and nothing else that
// the header says about keys (RFC 8725 section 3.10). It returns errEncrypted for an
// encrypted token. Errors about the token are no *StepError; those about the fetching of
// keys are.
func (c *Client) open(ctx context.Context, m *Metadata, token string) (*signed, error) {
	return openTyped(ctx, c, m, token, checkHeader)
}

// openTyped does what open does, with check in place of checkHeader.
func openTyped(ctx context.Context, c *Client, m *Metadata, token string, check func(token string) error) (*signed, error) {
	if err := checkShape(token); err != nil {
		return nil, err
	}
	jws, err := jose.ParseSignedCompact(token, m.algs)
	if err != nil {
		return nil, errors.New("malformed, or signed with an algorithm that is not accepted")
	}
	if err := check(token); err != nil {
		return nil, err
	}
	t := &compactToken{jws, token}
	payload, err := c.verify(ctx, t)
	if err != nil {
		return nil, err
	}
	claims, err := decodeObject(payload)
	if err != nil {
		return nil, fmt.Errorf("the claims: %w", err)
	}
	return &signed{alg: t.header().Algorithm, claims: claims}, nil
}

// compactToken is a parsed token and the text it was parsed from.
type compactToken struct {
	jws  *jose.JSONWebSignature
	text string
}

// header returns the protected header, whose signature may not be verified yet.
func (t *compactToken) header() jose.Header { return t.jws.Signatures[0].Protected }

// verify returns the payload, and true if key made the signature. Ed25519 is the name
// that RFC 9864 gives to EdDSA on that curve; the library knows only the older name.
func (t *compactToken) verify(key any) ([]byte, bool) {
	if t.header().Algorithm != algEd25519 {
		payload, err := t.jws.Verify(key)
		return payload, err == nil
	}
	public, ok := key.(ed25519.PublicKey)
	input := t.text[:strings.LastIndexByte(t.text, '.')]
	if !ok || len(public) != ed25519.PublicKeySize || !ed25519.Verify(public, []byte(input), t.jws.Signatures[0].Signature) {
		return nil, false
	}
	return t.jws.UnsafePayloadWithoutVerification(), true
}

// checkShape returns an error for a text that cannot be a token: one that is too long,
// has not three parts, or has a signature in a lax spelling of base64url. For five parts
// the error is errEncrypted.
func checkShape(token string) error {
	if len(token) > maxTokenSize {
		return errors.New("too large")
	}
	switch strings.Count(token, ".") {
	case 2:
	case 4:
		return errEncrypted
	default:
		return errors.New("not three parts")
	}
	// A lax decoder skips line breaks and ignores stray bits, which gives one
	// token many spellings.
	signature := token[strings.LastIndexByte(token, '.')+1:]
	if _, err := base64.RawURLEncoding.Strict().DecodeString(signature); err != nil || strings.ContainsAny(token, "\r\n") {
		return errors.New("not base64url")
	}
	return nil
}

// checkHeader returns an error for extensions that change what is signed, and for tokens
// that the same provider made for another purpose (RFC 8725 section 3.11). Access
// tokens, logout tokens and their like have a type that ends in "+jwt". checkHeader
// reads the header itself, because the library does not tell a null from nothing.
func checkHeader(token string) error {
	encoded, _, _ := strings.Cut(token, ".")
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return errors.New("the header is not base64url")
	}
	members, err := decodeObject(decoded)
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	for _, name := range []string{"crit", "b64"} {
		if _, stated := members[name]; stated {
			return errors.New("the header has extensions")
		}
	}
	if kind, stated := members["typ"]; stated {
		if kind, ok := kind.(string); !ok || strings.HasSuffix(strings.ToLower(kind), "+jwt") {
			return errors.New("a token of another type")
		}
	}
	return nil
}

// verify returns the payload if the client secret (for HMAC) or a key of the provider
// verifies the signature. It may fetch keys, or call ClientSecret, and returns their
// errors.
func (c *Client) verify(ctx context.Context, t *compactToken) ([]byte, error) {
	if !slices.Contains(hmacAlgs, t.header().Algorithm) {
		return c.verifyWithKeys(ctx, t)
	}
	secret, err := c.config.secret(ctx)
	if err != nil {
		return nil, err
	}
	payload, ok := t.verify([]byte(secret))
	if !ok {
		return nil, errors.New("the client secret does not verify the signature")
	}
	return payload, nil
}

// acceptedAlgs returns the algorithms that Config names. If it names none, the result is
// the asymmetric ones among those that the provider advertises, or RS256 if there are
// none. It never includes "none", and includes HMAC only if Config names it. Ed25519
// comes under both of its names.
func (c *Config) acceptedAlgs(advertised []string) []jose.SignatureAlgorithm {
	names := c.IDTokenAlgs
	if len(names) == 0 {
		names = advertised
	}
	var algs []jose.SignatureAlgorithm
	for _, name := range names {
		safe := slices.Contains(asymmetricAlgs, name)
		if asked := len(c.IDTokenAlgs) > 0; safe || asked {
			algs = append(algs, jose.SignatureAlgorithm(name))
		}
	}
	if len(algs) == 0 {
		return []jose.SignatureAlgorithm{jose.RS256}
	}
	if slices.Contains(algs, jose.EdDSA) || slices.Contains(algs, algEd25519) {
		algs = append(algs, ed25519Algs...)
	}
	return algs
}
