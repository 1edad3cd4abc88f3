package webauthn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// Authenticate implements [passkey.Ceremony] (Web Authentication Level 3,
// section 7.2). It leaves counters and the user handle for the caller to compare.
func (Ceremony) Authenticate(_ context.Context, a passkey.Authentication, key storage.Authenticator, answer []byte) (passkey.Presentation, error) {
	var none passkey.Presentation
	cred, err := readCredential(answer)
	if err != nil {
		return none, err
	}
	if !bytes.Equal(cred.id, key.CredentialID) || a.Allow != nil && !slices.ContainsFunc(a.Allow, func(k storage.Authenticator) bool { return bytes.Equal(k.CredentialID, cred.id) }) {
		return none, errors.New("another credential answered than was asked for")
	}
	clientData, err := cred.checkClientData(typeGet, a.Challenge, a.RelyingParty)
	if err != nil {
		return none, err
	}
	raw, err := cred.response.bytes("authenticatorData", longestObject)
	if err != nil {
		return none, err
	}
	data, err := checkAuthenticatorData(raw, a, key)
	if err != nil {
		return none, err
	}
	signature, err := cred.response.bytes("signature", longestSignature)
	if err != nil {
		return none, err
	}
	hash := sha256.Sum256(clientData)
	if err := checkSignature(key.PublicKey, slices.Concat(raw, hash[:]), signature); err != nil {
		return none, err
	}
	handle, err := cred.userHandle()
	return passkey.Presentation{
		UserHandle: handle, Counter: data.Counter, BackedUp: data.Flags.HasBackupState(), UserVerified: data.Flags.HasUserVerified(),
	}, err
}

// userHandle returns the user handle that the authenticator has stored with the passkey,
// or nil if the answer has none.
func (c *credential) userHandle() ([]byte, error) {
	if c.response.isNull("userHandle") {
		return nil, nil
	}
	return c.response.bytes("userHandle", longestHandle)
}

// checkAuthenticatorData decodes the authenticator data and checks it: the hash of the RP
// ID, user presence, user verification if it is required, and the backup flags. Whether a
// passkey can be backed up must be as key.DeviceType says, unless that is empty.
func checkAuthenticatorData(raw []byte, a passkey.Authentication, key storage.Authenticator) (*protocol.AuthenticatorData, error) {
	var data protocol.AuthenticatorData
	if err := data.Unmarshal(raw); err != nil {
		return nil, said(err)
	}
	site := sha256.Sum256([]byte(a.RelyingParty.ID))
	if err := data.Verify(site[:], nil, a.Options.UserVerification == passkey.Required, true); err != nil {
		return nil, said(err)
	}
	if err := checkFlags(data.Flags); err != nil {
		return nil, err
	}
	if key.DeviceType != "" && deviceType(data.Flags) != key.DeviceType {
		return nil, errors.New("authData says another thing about backups than when the passkey was made")
	}
	return &data, nil
}

// checkSignature verifies signature over the bytes in signed with publicKey, a stored COSE
// key. It returns an error if the signature is wrong, or if the key cannot be used.
func checkSignature(publicKey, signed, signature []byte) error {
	key, _, _, err := readKey(publicKey)
	if err != nil {
		return fmt.Errorf("the stored public key cannot be used: %w", err)
	}
	valid, err := webauthncose.VerifySignature(key, signed, signature)
	if err != nil || !valid {
		return errors.New("the signature is not right")
	}
	return nil
}
