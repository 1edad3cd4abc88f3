package interop

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"testing"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// The virtual authenticator of latchkeytest is judged here by a server that
// others wrote.

const passkeyOrigin = "https://accounts.example.org"

// relyingParty is go-webauthn with one user.
type relyingParty struct {
	t           *testing.T
	webauthn    *webauthn.WebAuthn
	credentials []webauthn.Credential
}

func newRelyingParty(t *testing.T) *relyingParty {
	t.Helper()
	w, err := webauthn.New(&webauthn.Config{
		RPID: "example.org", RPDisplayName: "Example", RPOrigins: []string{passkeyOrigin}, AttestationPreference: protocol.PreferDirectAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{UserVerification: protocol.VerificationRequired, ResidentKey: protocol.ResidentKeyRequirementRequired},
	})
	ok(t, err)
	return &relyingParty{t: t, webauthn: w}
}

func (*relyingParty) WebAuthnID() []byte                           { return []byte("a handle") }
func (*relyingParty) WebAuthnName() string                         { return "ada@example.com" }
func (*relyingParty) WebAuthnDisplayName() string                  { return "Ada" }
func (p *relyingParty) WebAuthnCredentials() []webauthn.Credential { return p.credentials }

func (p *relyingParty) register(a *latchkeytest.Authenticator) error {
	p.t.Helper()
	options, session, err := p.webauthn.BeginRegistration(p, webauthn.WithExclusions(webauthn.Credentials(p.credentials).CredentialDescriptors()))
	ok(p.t, err)
	answer, err := a.Create(jsonOf(p.t, options))
	ok(p.t, err)
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return err
	}
	made, err := p.webauthn.CreateCredential(p, *session, parsed)
	if err == nil {
		p.credentials = append(p.credentials, *made)
	}
	return err
}

// signIn without an e-mail address: any passkey will do.
func (p *relyingParty) signIn(a *latchkeytest.Authenticator) (*webauthn.Credential, error) {
	p.t.Helper()
	options, session, err := p.webauthn.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	ok(p.t, err)
	answer, err := a.Get(jsonOf(p.t, options))
	ok(p.t, err)
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, err
	}
	find := func(_, handle []byte) (webauthn.User, error) {
		if !bytes.Equal(handle, p.WebAuthnID()) {
			p.t.Errorf("the user handle is %q", handle)
		}
		return p, nil
	}
	used, err := p.webauthn.ValidateDiscoverableLogin(find, *session, parsed)
	if err == nil {
		i := slices.IndexFunc(p.credentials, func(c webauthn.Credential) bool { return bytes.Equal(c.ID, used.ID) })
		p.credentials[i] = *used
	}
	return used, err
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	ok(t, err)
	return text
}

// TestAuthenticator: what it makes is accepted, with each algorithm and kind of
// attestation.
func TestAuthenticator(t *testing.T) {
	for _, algorithm := range []string{"ES256", "ES384", "ES512", "EdDSA", "RS256"} {
		for _, attestation := range []string{"none", "self", "basic"} {
			t.Run(algorithm+", "+attestation, func(t *testing.T) {
				p, a := newRelyingParty(t), latchkeytest.NewAuthenticator(passkeyOrigin)
				a.Algorithm, a.Attestation = algorithm, attestation
				ok(t, p.register(a))
				for range 2 {
					used, err := p.signIn(a)
					ok(t, err)
					f := used.Flags
					if !f.UserPresent || !f.UserVerified || !f.BackupEligible || !f.BackupState || used.Authenticator.SignCount != 0 {
						t.Errorf("flags %+v, counter %d", f, used.Authenticator.SignCount)
					}
				}
			})
		}
	}
}

// TestAuthenticatorKeepsCount: keys that are bound to a device count, and a copy
// is found out.
func TestAuthenticatorKeepsCount(t *testing.T) {
	p, a := newRelyingParty(t), latchkeytest.NewAuthenticator(passkeyOrigin)
	a.DeviceBound, a.Transports = true, []string{"usb", "nfc"}
	ok(t, p.register(a))
	clone := a.Clone()
	for want := uint32(2); want < 4; want++ {
		used, err := p.signIn(a)
		ok(t, err)
		if got := used.Authenticator; got.SignCount != want || got.CloneWarning || used.Flags.BackupEligible || used.Flags.BackupState {
			t.Errorf("got %+v with flags %+v, want a count of %d", got, used.Flags, want)
		}
	}
	used, err := p.signIn(clone)
	ok(t, err)
	if !used.Authenticator.CloneWarning {
		t.Error("the clone was not told from the key")
	}
}

// TestAuthenticatorMisbehaves: each fault is noticed, and nothing but a fault.
func TestAuthenticatorMisbehaves(t *testing.T) {
	type bad = latchkeytest.PasskeyMisbehaviour
	data := func(f func(*latchkeytest.AuthenticatorData)) bad { return bad{AuthenticatorData: f} }
	client := func(name string, value any) bad {
		return bad{ClientData: func(members map[string]any) { members[name] = value }}
	}
	cut := func(b []byte) []byte { return b[:len(b)-1] }
	for name, m := range map[string]bad{
		"type":                    client("type", "webauthn.other"),
		"challenge":               client("challenge", base64.RawURLEncoding.EncodeToString(make([]byte, 32))),
		"origin":                  client("origin", "https://example.net"),
		"no client data":          {RawClientData: cut},
		"RP ID":                   data(func(d *latchkeytest.AuthenticatorData) { d.RPIDHash[0] ^= 1 }),
		"nobody present":          data(func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagUserPresent }),
		"nobody verified":         data(func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagUserVerified }),
		"extensions not there":    data(func(d *latchkeytest.AuthenticatorData) { d.Flags |= latchkeytest.FlagExtensions }),
		"extensions not promised": data(func(d *latchkeytest.AuthenticatorData) { d.Extensions = map[string]any{} }),
		"cut off":                 {RawAuthenticatorData: cut},
		"signature damaged":       {Sign: latchkeytest.SignDamaged},
		"signature empty":         {Sign: latchkeytest.SignNone},
		"signature of others":     {Sign: latchkeytest.SignOtherKey},
		"signature cut off":       {Signature: cut},
		"no type":                 {Credential: func(members, _ map[string]any) { delete(members, "type") }},
		"no client data member":   {Credential: func(_, response map[string]any) { delete(response, "clientDataJSON") }},
	} {
		t.Run(name, func(t *testing.T) {
			p, a := newRelyingParty(t), latchkeytest.NewAuthenticator(passkeyOrigin)
			a.Attestation = "self"
			a.Misbehave(m)
			if p.register(a) == nil {
				t.Error("the passkey was registered")
			}
			a = latchkeytest.NewAuthenticator(passkeyOrigin)
			ok(t, p.register(a))
			a.Misbehave(m)
			if _, err := p.signIn(a); err == nil {
				t.Error("the passkey was accepted")
			}
			a.Misbehave(bad{})
			_, err := p.signIn(a)
			ok(t, err)
		})
	}
}

// TestAttestationMisbehaves: as above, for what only new passkeys have.
func TestAttestationMisbehaves(t *testing.T) {
	for name, m := range map[string]latchkeytest.PasskeyMisbehaviour{
		"no format":        {Attestation: func(object map[string]any) { delete(object, "fmt") }},
		"unknown format":   {Attestation: func(object map[string]any) { object["fmt"] = "wax seal" }},
		"a statement":      {Attestation: func(object map[string]any) { object["attStmt"] = map[string]any{"alg": -7} }},
		"data of a kind":   {Attestation: func(object map[string]any) { object["authData"] = "text" }},
		"no CBOR":          {RawAttestation: func(b []byte) []byte { return b[1:] }},
		"nothing attested": {AuthenticatorData: func(d *latchkeytest.AuthenticatorData) { d.Flags &^= latchkeytest.FlagAttestedData }},
		"no key":           {AuthenticatorData: func(d *latchkeytest.AuthenticatorData) { d.PublicKey = nil }},
		"long id":          {AuthenticatorData: func(d *latchkeytest.AuthenticatorData) { d.CredentialID = make([]byte, 1024) }},
	} {
		t.Run(name, func(t *testing.T) {
			p, a := newRelyingParty(t), latchkeytest.NewAuthenticator(passkeyOrigin)
			a.Misbehave(m)
			if p.register(a) == nil {
				t.Error("the passkey was registered")
			}
		})
	}
}
