package webauthn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// Register implements [passkey.Ceremony] (Web Authentication Level 3, section 7.1). The
// caller fills in the user, the account and the dates of the passkey that it returns.
func (c Ceremony) Register(ctx context.Context, r passkey.Registration, answer []byte) (storage.Authenticator, error) {
	var none storage.Authenticator
	cred, err := readCredential(answer)
	if err != nil {
		return none, err
	}
	clientData, err := cred.checkClientData(typeCreate, r.Challenge, r.RelyingParty)
	if err != nil {
		return none, err
	}
	raw, err := cred.response.bytes("attestationObject", longestObject)
	if err != nil {
		return none, err
	}
	object, err := readAttestation(raw)
	if err != nil {
		return none, err
	}
	data := &object.AuthData
	if err := checkFlags(data.Flags); err != nil {
		return none, err
	}
	if !bytes.Equal(data.AttData.CredentialID, cred.id) {
		return none, errors.New("the credential id is not the attested one")
	}
	if err := checkKey(data.AttData.CredentialPublicKey, algorithms(r)); err != nil {
		return none, err
	}
	hash := sha256.Sum256(clientData)
	if err := checkStatement(r, object, hash[:]); err != nil {
		return none, err
	}
	if err := c.judge(ctx, object, hash[:]); err != nil {
		return none, err
	}
	model := modelOf(data.AttData.AAGUID)
	return storage.Authenticator{
		CredentialID: cred.id, PublicKey: data.AttData.CredentialPublicKey, Counter: data.Counter,
		DeviceType: deviceType(data.Flags), BackedUp: data.Flags.HasBackupState(), Transports: transports(cred.response["transports"]),
		AAGUID: model, Name: models[model],
	}, nil
}

// formatNone is the attestation format of authenticators that say nothing of
// themselves (section 8.7).
const formatNone = "none"

// safetyNet is a format that has no valid statement any longer: Google has ended
// the service, and a statement is good for a minute.
const safetyNet = "android-safetynet"

// checkStatement checks authData and, if the site asked for one, the attestation
// statement. A statement that the site did not ask for costs nothing: it is
// dropped unread (section 5.4.7), as if the format were none.
func checkStatement(r passkey.Registration, o *protocol.AttestationObject, clientDataHash []byte) error {
	verified := r.Options.UserVerification == passkey.Required
	if r.Options.Attestation == "" || r.Options.Attestation == formatNone {
		o.Format, o.Type, o.AttStatement = formatNone, formatNone, nil
		site := sha256.Sum256([]byte(r.RelyingParty.ID))
		return said(o.AuthData.Verify(site[:], nil, verified, !r.Conditional))
	}
	if o.Format == safetyNet {
		return errors.New("attestation of the format android-safetynet is not supported")
	}
	if err := checkChain(certificates(o.AttStatement)); err != nil {
		return err
	}
	return said(o.Verify(r.RelyingParty.ID, clientDataHash, verified, !r.Conditional, nil, parameters(r), protocol.AttestationPolicy{}, protocol.SignaturePolicy{}))
}

// judge calls CheckAttestation, if the site has set it, and returns its error.
func (c Ceremony) judge(ctx context.Context, o *protocol.AttestationObject, clientDataHash []byte) error {
	if c.CheckAttestation == nil {
		return nil
	}
	return c.CheckAttestation(ctx, Attestation{
		Format: o.Format, Type: o.Type, Statement: o.AttStatement, Certificates: certificates(o.AttStatement),
		AAGUID: modelOf(o.AuthData.AttData.AAGUID), AuthData: o.RawAuthData, ClientDataHash: clientDataHash,
	})
}

// certificates returns x5c of an attestation statement, or nil if it has none.
func certificates(statement map[string]any) (all [][]byte) {
	list, _ := statement["x5c"].([]any)
	for _, one := range list {
		if der, ok := one.([]byte); ok {
			all = append(all, der)
		}
	}
	return all
}

// readAttestation decodes an attestation object (section 6.5.4), which has
// exactly its three members.
func readAttestation(raw []byte) (*protocol.AttestationObject, error) {
	var m map[string]webauthncbor.RawMessage
	if err := webauthncbor.Unmarshal(raw, &m); err != nil {
		return nil, errors.New("attestationObject is no CBOR map")
	}
	for _, name := range []string{"fmt", "attStmt", "authData"} {
		if _, there := m[name]; !there {
			return nil, fmt.Errorf("attestationObject has no %s", name)
		}
	}
	if len(m) != 3 {
		return nil, errors.New("attestationObject has more than fmt, attStmt and authData")
	}
	const majorMap = 5 // RFC 8949, section 3.1; decoding would take null for an empty map
	if m["attStmt"][0]>>5 != majorMap {
		return nil, errors.New("attStmt is no map")
	}
	var o protocol.AttestationObject
	if err := webauthncbor.Unmarshal(raw, &o); err != nil {
		return nil, errors.New("attestationObject: a member has another type than it must have")
	}
	if x5c, there := o.AttStatement["x5c"]; there && !isChain(x5c) {
		return nil, errors.New("attStmt: x5c is no list of certificates")
	}
	if err := o.AuthData.Unmarshal(o.RawAuthData); err != nil {
		return nil, said(err)
	}
	if !o.AuthData.Flags.HasAttestedCredentialData() {
		return nil, errors.New("authData has no credential")
	}
	return &o, nil
}

// isChain reports whether x5c is a list of at least one certificate, and of nothing else.
// go-webauthn takes anything else for a statement without certificates, and verifies it
// as one.
func isChain(x5c any) bool {
	list, ok := x5c.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { _, ok := one.([]byte); return !ok })
}

// checkFlags refuses a backed-up passkey of a kind that cannot be backed up
// (section 6.1.3).
func checkFlags(f protocol.AuthenticatorFlags) error {
	if f.HasBackupState() && !f.HasBackupEligible() {
		return errors.New("authData says that a passkey is backed up which cannot be")
	}
	return nil
}

// The words of Auth.js for whether a passkey may be on several devices.
const (
	singleDevice = "singleDevice"
	multiDevice  = "multiDevice"
)

// deviceType returns the word of Auth.js for whether a passkey may be on several
// devices.
func deviceType(f protocol.AuthenticatorFlags) string {
	if f.HasBackupEligible() {
		return multiDevice
	}
	return singleDevice
}

// mostTransports is how many are kept.
const mostTransports = 8

// transports returns the first mostTransports names in raw that look like transports,
// without repetition. They are hints, so that a malformed list is no error.
func transports(raw json.RawMessage) (kept []string) {
	var given []any
	_ = json.Unmarshal(raw, &given)
	for _, one := range given {
		name, _ := one.(string)
		if looksLikeTransport(name) && !slices.Contains(kept, name) && len(kept) < mostTransports {
			kept = append(kept, name)
		}
	}
	return kept
}

// looksLikeTransport reports whether name is spelled like a transport, known or not: at
// most 32 lower case letters, digits and dashes.
func looksLikeTransport(name string) bool {
	if name == "" || len(name) > 32 {
		return false
	}
	return !slices.ContainsFunc([]byte(name), func(c byte) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' })
}

// said returns an error with the text of err and go-webauthn's details for developers, or
// err itself if it has no details.
func said(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) && e.DevInfo != "" {
		return fmt.Errorf("%s: %s", e.Details, e.DevInfo)
	}
	return err
}
