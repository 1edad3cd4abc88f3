package latchkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256" // of most algorithms
	_ "crypto/sha512" // of ES384 and ES512
	"encoding/asn1"
	"fmt"
	"math/big"
)

// passkeyKey is a private key and how it signs.
type passkeyKey struct {
	crypto.Signer
	algorithm passkeyAlgorithm
}

// passkeyAlgorithm is a way to sign, with its numbers from the COSE registry
// (RFC 9053, section 2; RFC 8812, section 2).
type passkeyAlgorithm struct {
	name  string
	id    int
	hash  crypto.Hash    // 0: the message itself is signed
	curve elliptic.Curve // nil: no ECDSA
}

func passkeyAlgorithms() []passkeyAlgorithm {
	return []passkeyAlgorithm{
		{"ES256", -7, crypto.SHA256, elliptic.P256()},
		{"ES384", -35, crypto.SHA384, elliptic.P384()},
		{"ES512", -36, crypto.SHA512, elliptic.P521()},
		{"EdDSA", -8, 0, nil},
		{"RS256", -257, crypto.SHA256, nil},
	}
}

func (alg passkeyAlgorithm) newKey() (k passkeyKey, err error) {
	k.algorithm = alg
	switch {
	case alg.curve != nil:
		k.Signer, err = ecdsa.GenerateKey(alg.curve, rand.Reader)
	case alg.name == "EdDSA":
		_, k.Signer, err = ed25519.GenerateKey(rand.Reader)
	default:
		k.Signer, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	return k, err
}

// sign makes a signature in the form of Web Authentication Level 3, section
// 6.5.5: that of ECDSA in ASN.1, that of RSA with PKCS #1 v1.5.
func (k passkeyKey) sign(message []byte) ([]byte, error) {
	if k.algorithm.hash == 0 {
		return k.Sign(rand.Reader, message, crypto.Hash(0))
	}
	h := k.algorithm.hash.New()
	h.Write(message)
	digest := h.Sum(nil)
	for {
		signature, err := k.Sign(rand.Reader, digest, k.algorithm.hash)
		if err != nil || k.algorithm.curve == nil || fullLength(signature, k.algorithm.curve) {
			return signature, err
		}
	}
}

// fullLength reports whether r and s of an ECDSA signature are as long as the
// curve's numbers can be. One of 128 signatures with P-256 is not, and
// SimpleWebAuthn 9, which Auth.js 5 has, refuses it though it is right: a test
// against such a site would fail that often.
func fullLength(signature []byte, curve elliptic.Curve) bool {
	var halves struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &halves); err != nil {
		return true
	}
	length := (curve.Params().N.BitLen() + 7) / 8
	return len(halves.R.Bytes()) == length && len(halves.S.Bytes()) == length
}

// Labels and values of COSE keys (RFC 9053, section 7; RFC 8230, section 4).
const (
	coseKty, coseAlg           = 1, 3
	coseCrv, coseX, coseY      = -1, -2, -3 // of elliptic curves
	coseN, coseE               = -1, -2     // of RSA
	coseOKP, coseEC2, coseRSA  = 1, 2, 3    // values of coseKty
	coseP256, coseP384         = 1, 2       // values of coseCrv
	coseP521, coseEd25519Curve = 3, 6
)

// cose returns the public key as a COSE key.
func (k passkeyKey) cose() (map[int]any, error) {
	switch public := k.Public().(type) {
	case *ecdsa.PublicKey:
		point, err := public.Bytes() // 4, x, y
		if err != nil {
			return nil, err
		}
		curve := map[string]int{"P-256": coseP256, "P-384": coseP384, "P-521": coseP521}[public.Params().Name]
		half := len(point) / 2
		return map[int]any{coseKty: coseEC2, coseAlg: k.algorithm.id, coseCrv: curve, coseX: point[1 : 1+half], coseY: point[1+half:]}, nil
	case ed25519.PublicKey:
		return map[int]any{coseKty: coseOKP, coseAlg: k.algorithm.id, coseCrv: coseEd25519Curve, coseX: []byte(public)}, nil
	case *rsa.PublicKey:
		return map[int]any{coseKty: coseRSA, coseAlg: k.algorithm.id, coseN: public.N.Bytes(), coseE: big.NewInt(int64(public.E)).Bytes()}, nil
	}
	return nil, fmt.Errorf("latchkeytest: no COSE key for %s", k.algorithm.name)
}
