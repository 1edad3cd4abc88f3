package webauthn

import (
	"errors"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/latchkeyhq/latchkey/passkey"
)

const shortestRSA = 2048 / 8 // bytes

// checkKey refuses public keys that are malformed, weak, or of an algorithm that
// was not asked for.
func checkKey(raw []byte, asked []int) error {
	key, err := webauthncose.ParsePublicKey(raw)
	if err != nil {
		return errors.New("the public key is malformed, or of no known kind")
	}
	var alg int64
	switch k := key.(type) {
	case webauthncose.EC2PublicKeyData:
		alg = k.Algorithm
	case webauthncose.OKPPublicKeyData:
		alg = k.Algorithm
	case webauthncose.RSAPublicKeyData:
		if alg = k.Algorithm; len(k.Modulus) < shortestRSA {
			return errors.New("the RSA key has fewer than 2048 bits")
		}
	default:
		return errors.New("the public key is of no kind that was asked for")
	}
	if !slices.Contains(asked, int(alg)) {
		return errors.New("the public key is of an algorithm that was not asked for")
	}
	return nil
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
