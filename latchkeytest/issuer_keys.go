package latchkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// signingKey is a key with its name and algorithm.
type signingKey struct {
	id, algorithm string
	key           crypto.Signer
}

// keyRing holds the key that signs, and one for another algorithm that is
// published beside it, as many providers do.
type keyRing struct{ usual, other signingKey }

// newKeyRing returns a ring with a usual key of this algorithm, and another key of a
// different one.
func newKeyRing(algorithm string) (keyRing, error) {
	usual, err := firstKey(algorithm)
	if err != nil {
		return keyRing{}, err
	}
	different := "ES256"
	if algorithm == different {
		different = "EdDSA"
	}
	other, err := generateKey(different)
	return keyRing{usual, other}, err
}

// sharedRSA is made once in a process, because that takes a good part of a
// second. Every Issuer gives it a name of its own.
var sharedRSA = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// firstKey returns a key with a new name. RSA keys are all the same key, sharedRSA.
func firstKey(algorithm string) (signingKey, error) {
	if algorithm != "RS256" {
		return generateKey(algorithm)
	}
	key, err := sharedRSA()
	return signingKey{rand.Text(), algorithm, key}, err
}

// generateKey returns a new key with a new name, or an error for an unknown algorithm.
func generateKey(algorithm string) (k signingKey, err error) {
	k = signingKey{id: rand.Text(), algorithm: algorithm}
	switch algorithm {
	case "RS256":
		k.key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ES256":
		k.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "EdDSA":
		_, k.key, err = ed25519.GenerateKey(rand.Reader)
	default:
		err = fmt.Errorf("latchkeytest: algorithm %q is none of RS256, ES256, EdDSA", algorithm)
	}
	return k, err
}

// publishedKeys returns the key set (RFC 7517, section 5).
func (iss *Issuer) publishedKeys() map[string]any {
	iss.mu.Lock()
	ring := iss.keys
	iss.mu.Unlock()
	var list []any
	for _, k := range []signingKey{ring.other, ring.usual} {
		jwk := jose.JSONWebKey{Key: k.key.Public(), KeyID: k.id, Algorithm: k.algorithm, Use: "sig"}
		var members map[string]any
		if raw, err := jwk.MarshalJSON(); err == nil && json.Unmarshal(raw, &members) == nil {
			list = append(list, members)
		}
	}
	return map[string]any{"keys": list}
}

// sign returns a signed token of claims, with the faults of bad: Sign, Header and
// RawIDToken.
func (iss *Issuer) sign(bad Misbehaviour, claims map[string]any) (string, error) {
	k, err := iss.signer(bad.Sign)
	if err != nil {
		return "", err
	}
	header := maps.Clone(k.header)
	if bad.Header != nil {
		bad.Header(header)
	}
	token, err := compact(header, claims, k.sign)
	if err == nil && bad.RawIDToken != nil {
		token = bad.RawIDToken(token)
	}
	return token, err
}

// signer is a way to sign with the header that belongs to it.
type signer struct {
	header map[string]any
	sign   func(input []byte) ([]byte, error)
}

// signer returns the signer of a Signing. It returns an error for an unknown one.
func (iss *Issuer) signer(how Signing) (signer, error) {
	iss.mu.Lock()
	ring := iss.keys
	iss.mu.Unlock()
	switch how {
	case SignUsual:
		return ring.usual.signer(), nil
	case SignOtherAlg:
		return ring.other.signer(), nil
	case SignDamaged:
		return ring.usual.signer().damaged(), nil
	case SignNone:
		return signer{map[string]any{"alg": "none", "typ": "JWT"}, func([]byte) ([]byte, error) { return nil, nil }}, nil
	case SignSecret:
		return hmacSigner([]byte(iss.config.ClientSecret)), nil
	case SignPublicKey:
		public, err := x509.MarshalPKIXPublicKey(ring.usual.key.Public())
		return hmacSigner(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})), err
	case SignOtherKey, SignUnknownKey:
		k, err := generateKey(ring.usual.algorithm)
		if how == SignOtherKey {
			k.id = ring.usual.id
		}
		return k.signer(), err
	}
	return signer{}, fmt.Errorf("latchkeytest: unknown Signing %q", how)
}

func (k signingKey) signer() signer {
	return signer{map[string]any{"alg": k.algorithm, "kid": k.id, "typ": "JWT"}, k.sign}
}

// damaged returns a signer that flips a bit of the signatures of s.
func (s signer) damaged() signer {
	return signer{s.header, func(input []byte) ([]byte, error) {
		signature, err := s.sign(input)
		if len(signature) > 0 {
			signature[len(signature)/2] ^= 1
		}
		return signature, err
	}}
}

func hmacSigner(secret []byte) signer {
	return signer{map[string]any{"alg": "HS256", "typ": "JWT"}, func(input []byte) ([]byte, error) {
		mac := hmac.New(sha256.New, secret)
		mac.Write(input)
		return mac.Sum(nil), nil
	}}
}

// sign makes the signature of a token (RFC 7518, section 3).
func (k signingKey) sign(input []byte) ([]byte, error) {
	digest := sha256.Sum256(input)
	switch key := k.key.(type) {
	case *rsa.PrivateKey:
		return rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		if err != nil {
			return nil, err
		}
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return signature, nil
	case ed25519.PrivateKey:
		return ed25519.Sign(key, input), nil
	}
	return nil, errors.New("latchkeytest: the key cannot sign")
}

// compact writes a token by hand (RFC 7515, section 7.1): libraries refuse to
// make most of the tokens that are of interest here.
func compact(header, claims map[string]any, sign func([]byte) ([]byte, error)) (string, error) {
	first, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	second, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	input := encode(first) + "." + encode(second)
	signature, err := sign([]byte(input))
	return input + "." + encode(signature), err
}
