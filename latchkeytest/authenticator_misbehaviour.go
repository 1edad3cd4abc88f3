package latchkeytest

import "fmt"

// PasskeyMisbehaviour is what an [Authenticator], or the browser before it,
// does wrong. Everything left zero is done right, so that one fault can be
// tried at a time. Functions change what they are given in place, or return what
// is sent instead; they run in the order of the fields. What is changed before
// Sign is signed as it then is.
type PasskeyMisbehaviour struct {
	// Unchecked leaves out what browsers insist on: an RP ID that belongs to the
	// origin, an algorithm that is asked for, no second passkey for a user who
	// has one there, user verification where it is required.
	Unchecked bool
	// Use is the passkey that signs, be it asked for or not. nil: one that is.
	Use *Passkey

	ClientData           func(members map[string]any) // type, challenge, origin, crossOrigin
	RawClientData        func(text []byte) []byte
	AuthenticatorData    func(d *AuthenticatorData)
	RawAuthenticatorData func(data []byte) []byte

	Sign      Signing // SignUsual, SignNone, SignOtherKey or SignDamaged
	Signature func(signature []byte) []byte

	Attestation    func(object map[string]any) // of a new passkey: fmt, attStmt, authData
	RawAttestation func(object []byte) []byte

	// Credential has the last word: it gets the members of what is sent, with
	// those of its member response.
	Credential func(members, response map[string]any)
}

// signature returns a signature by k as m.Sign asks for it, after m.Signature has changed
// it. It returns an error for a Signing that passkeys do not have.
func (m PasskeyMisbehaviour) signature(k passkeyKey, message []byte) (signature []byte, err error) {
	switch m.Sign {
	case SignUsual, SignDamaged:
		signature, err = k.sign(message)
	case SignNone:
		signature = []byte{}
	case SignOtherKey:
		if k, err = k.algorithm.newKey(); err == nil {
			signature, err = k.sign(message)
		}
	default:
		err = fmt.Errorf("latchkeytest: no passkey signs with %q", m.Sign)
	}
	if err != nil {
		return nil, err
	}
	if m.Sign == SignDamaged {
		signature[len(signature)/2] ^= 1
	}
	return rewrite(m.Signature, signature), nil
}

// edit lets f change x in place; nil: nothing is changed.
func edit[T any](f func(T), x T) {
	if f != nil {
		f(x)
	}
}

// rewrite returns f(data), or data if f is nil.
func rewrite(f func([]byte) []byte, data []byte) []byte {
	if f == nil {
		return data
	}
	return f(data)
}
