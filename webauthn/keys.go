package webauthn

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/latchkeyhq/latchkey/passkey"
)

// An unauthenticated client brings the keys that its answer is verified with, so
// the cost of a verification has a limit before the verification begins.

const (
	shortestRSA     = 2048 // bits
	longestRSA      = 4096 // bits
	largestExponent = 1<<31 - 1

	// longestKey is the limit of a COSE key in bytes. RSA of 4096 bits takes 527.
	longestKey = 600
	// mostCertificates is the limit of x5c.
	mostCertificates = 8
)

// rsaAlgorithms are the COSE identifiers that an RSA key may have (RFC 8812,
// section 2; RFC 8230, section 2). go-webauthn takes any.
var rsaAlgorithms = []int64{-257, -258, -259, -37, -38, -39, -65535}

// members of COSE keys by kind: kty, alg and those of the kind (RFC 9052, section
// 7.1; RFC 9053, section 7; RFC 8230, section 4).
var (
	ec2Members = []int64{1, 3, -1, -2, -3}
	okpMembers = []int64{1, 3, -1, -2}
	rsaMembers = []int64{1, 3, -1, -2}
)

// readKey decodes a COSE key and checks that a verification with it is sound and
// cheap: kty and alg agree, an RSA key is within bounds, and a point is on its
// curve and of no small order. It returns the key as webauthncose verifies with it, its
// algorithm, and the labels of all members that a key of this kind may have.
func readKey(raw []byte) (key any, alg int64, known []int64, err error) {
	if len(raw) > longestKey {
		return nil, 0, nil, fmt.Errorf("the public key has more than %d bytes", longestKey)
	}
	key, err = webauthncose.ParsePublicKey(raw)
	if err != nil {
		return nil, 0, nil, errors.New("the public key is malformed, or of no known kind")
	}
	switch k := key.(type) {
	case webauthncose.EC2PublicKeyData: // which go-webauthn has checked: alg, curve and point
		return key, k.Algorithm, ec2Members, nil
	case webauthncose.OKPPublicKeyData:
		return key, k.Algorithm, okpMembers, checkEd25519(k.XCoord)
	case webauthncose.RSAPublicKeyData:
		return key, k.Algorithm, rsaMembers, checkCOSERSA(&k)
	}
	return nil, 0, nil, errors.New("the public key is of no kind that is supported")
}

// checkKey refuses public keys that are malformed, weak, too large, or of an
// algorithm that was not asked for, and those with members that a passkey must not
// have (Web Authentication Level 3, section 6.5.1.1).
func checkKey(raw []byte, asked []int) error {
	_, alg, known, err := readKey(raw)
	if err != nil {
		return err
	}
	if !slices.Contains(asked, int(alg)) {
		return errors.New("the public key is of an algorithm that was not asked for")
	}
	var members map[int64]webauthncbor.RawMessage
	if err := webauthncbor.Unmarshal(raw, &members); err != nil {
		return errors.New("the public key has a member that is no number")
	}
	for label := range members {
		if !slices.Contains(known, label) {
			return fmt.Errorf("the public key has a member %d, which it must not have", label)
		}
	}
	return nil
}

// checkCOSERSA refuses an RSA key with an algorithm that is none of RSA, and what
// checkRSA refuses.
func checkCOSERSA(k *webauthncose.RSAPublicKeyData) error {
	if !slices.Contains(rsaAlgorithms, k.Algorithm) {
		return errors.New("the public key is of RSA, and its algorithm is not")
	}
	e, err := webauthncose.ParseRSAPublicKeyDataExponent(k)
	if err != nil {
		return errors.New("the RSA key has no usable exponent")
	}
	return checkRSA(new(big.Int).SetBytes(k.Modulus), e)
}

// checkRSA refuses an RSA key that is too short or too long, or that is malformed.
func checkRSA(n *big.Int, e int) error {
	switch bits := n.BitLen(); {
	case bits < shortestRSA || bits > longestRSA:
		return fmt.Errorf("the RSA key has %d bits, want %d to %d", bits, shortestRSA, longestRSA)
	case n.Bit(0) == 0:
		return errors.New("the modulus of the RSA key is even")
	case e < 3 || e > largestExponent || e%2 == 0:
		return errors.New("the exponent of the RSA key is even, or not within 3 to 2^31-1")
	}
	return nil
}

// checkChain limits what the certificates of a statement cost: their number, and
// the keys that they certify.
func checkChain(ders [][]byte) error {
	if len(ders) > mostCertificates {
		return fmt.Errorf("attStmt: more than %d certificates", mostCertificates)
	}
	for _, der := range ders {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return errors.New("attStmt: a certificate cannot be read")
		}
		if err := checkCertified(c.PublicKey); err != nil {
			return fmt.Errorf("attStmt: %w", err)
		}
	}
	return nil
}

// checkCertified refuses a key of a certificate that is weak or too large, or of another
// kind than RSA, Ed25519 and ECDSA on P-256, P-384 or P-521.
func checkCertified(key any) error {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return checkRSA(k.N, k.E)
	case *ecdsa.PublicKey:
		if slices.Contains([]elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()}, k.Curve) {
			return nil
		}
	case ed25519.PublicKey:
		return checkEd25519(k)
	}
	return errors.New("a certificate has a key of no kind that is supported")
}

// parameters returns the algorithms as go-webauthn knows them.
func parameters(r passkey.Registration) (all []protocol.CredentialParameter) {
	for _, alg := range algorithms(r) {
		all = append(all, protocol.CredentialParameter{
			Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.COSEAlgorithmIdentifier(alg),
		})
	}
	return all
}
