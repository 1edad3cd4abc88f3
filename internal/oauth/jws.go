package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// maxTokenSize bounds a signed token before anything in it is decoded.
const maxTokenSize = 16 << 10

// signed is a token whose signature was verified; its claims were not yet.
type signed struct {
	alg    string
	claims map[string]any
}

// open verifies the signature of a compact JWS from the provider and decodes
// its claims. Keys come from the provider's published set, or for HMAC from the
// client secret; what the token's header says about keys, beyond naming one by
// kid, is not looked at (RFC 8725 section 3.10).
func (c *Client) open(ctx context.Context, m *Metadata, token string) (*signed, error) {
	if err := checkShape(token); err != nil {
		return nil, err
	}
	jws, err := jose.ParseSignedCompact(token, m.algs)
	if err != nil {
		return nil, errors.New("malformed, or signed with an algorithm that is not accepted")
	}
	header := jws.Signatures[0].Protected
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	payload, err := c.verify(ctx, jws, header.Algorithm)
	if err != nil {
		return nil, err
	}
	claims, err := decodeObject(payload)
	if err != nil {
		return nil, errors.New("the claims are not a JSON object")
	}
	return &signed{alg: header.Algorithm, claims: claims}, nil
}

// checkShape refuses what cannot be a token, at the cost of one look at it.
func checkShape(token string) error {
	if len(token) > maxTokenSize {
		return errors.New("too large")
	}
	if strings.Count(token, ".") != 2 {
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

// checkHeader refuses extensions that change what is signed, and tokens made
// for another purpose by the same provider (RFC 8725 section 3.11): access
// tokens, logout tokens and their like carry a type ending in "+jwt".
func checkHeader(h jose.Header) error {
	for name, value := range h.ExtraHeaders {
		switch name {
		case "crit", "b64":
			return errors.New("the header has extensions")
		case "typ":
			if kind, ok := value.(string); !ok || strings.HasSuffix(strings.ToLower(kind), "+jwt") {
				return errors.New("a token of another type")
			}
		}
	}
	return nil
}

func (c *Client) verify(ctx context.Context, jws *jose.JSONWebSignature, alg string) ([]byte, error) {
	if !slices.Contains(hmacAlgs, alg) {
		return c.verifyWithKeys(ctx, jws)
	}
	secret, err := c.secret(ctx)
	if err != nil {
		return nil, err
	}
	payload, err := jws.Verify([]byte(secret))
	if err != nil {
		return nil, errors.New("the client secret does not verify the signature")
	}
	return payload, nil
}

// acceptedAlgs is what Config names, or the safe part of what the provider
// advertises, or RS256. It never contains "none", and HMAC only where Config
// asks for it.
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
	return algs
}
