package webauthn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// firstVector registers the first vector, which has no attestation, so that
// nothing but the code that is fuzzed decides.
func firstVector(f *testing.F) (v vector, key storage.Authenticator) {
	f.Helper()
	v = readVectors(f).Vectors[0]
	key, err := v.register(webauthn.Ceremony{})
	if err != nil {
		f.Fatal(err)
	}
	return v, key
}

// FuzzClientData: of what a stranger says that the browser said, only what was
// signed counts at a sign-in, and only what has the right type,
// challenge and origin at a registration.
func FuzzClientData(f *testing.F) {
	v, key := firstVector(f)
	for _, one := range readVectors(f).Vectors {
		f.Add([]byte(one.Registration.ClientDataJSON))
		f.Add([]byte(one.Authentication.ClientDataJSON))
	}
	signed := slices.Clone(v.Authentication.ClientDataJSON)
	var right struct{ Challenge string }
	if err := json.Unmarshal(v.Registration.ClientDataJSON, &right); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v := v
		v.Authentication.ClientDataJSON, v.Registration.ClientDataJSON = text, text
		if v.authenticate(key) == nil && !bytes.Equal(text, signed) {
			t.Errorf("nobody signed %q", text)
		}
		if _, err := v.register(webauthn.Ceremony{}); err != nil {
			return
		}
		var said map[string]any
		if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &said); err != nil {
			t.Fatalf("no JSON: %q", text)
		}
		if said["type"] != "webauthn.create" || said["challenge"] != right.Challenge || said["origin"] != "https://example.org" {
			t.Errorf("accepted %q", text)
		}
	})
}

// FuzzAuthenticatorData: only what was signed counts, and what an
// attestation object holds is consumed whole.
func FuzzAuthenticatorData(f *testing.F) {
	v, key := firstVector(f)
	for _, one := range readVectors(f).Vectors {
		f.Add([]byte(one.Authentication.AuthenticatorData))
		object := one.withoutStatement().Registration.AttestationObject
		f.Add([]byte(object[len(noStatement)+len("\x68authData\x58\xa4"):]))
	}
	signed := slices.Clone(v.Authentication.AuthenticatorData)
	f.Fuzz(func(t *testing.T, data []byte) {
		v := v
		v.Authentication.AuthenticatorData = data
		if v.authenticate(key) == nil && !bytes.Equal(data, signed) {
			t.Errorf("nobody signed %x", data)
		}
		v.Registration.AttestationObject = slices.Concat([]byte(noStatement), []byte("\x68authData\x59"), []byte{byte(len(data) >> 8), byte(len(data))}, data)
		made, err := v.register(webauthn.Ceremony{})
		if err == nil {
			mustBeWhole(t, v, made, data)
		}
	})
}

// FuzzAttestationObject: whatever is accepted is a passkey that can be kept.
func FuzzAttestationObject(f *testing.F) {
	all := readVectors(f)
	for _, one := range all.Vectors {
		f.Add([]byte(one.Registration.AttestationObject), []byte(one.Registration.ClientDataJSON), []byte(one.Registration.Challenge), []byte(one.CredentialID))
	}
	f.Fuzz(func(t *testing.T, object, client, challenge, id []byte) {
		v := vector{CredentialID: id}
		v.Registration.AttestationObject, v.Registration.ClientDataJSON, v.Registration.Challenge = object, client, challenge
		made, err := v.register(webauthn.Ceremony{})
		if err == nil {
			mustBeWhole(t, v, made, object)
		}
	})
}

// mustBeWhole: what was registered is what was answered, and a sign-in with the
// key gets as far as its signature.
func mustBeWhole(t *testing.T, v vector, made storage.Authenticator, data []byte) {
	t.Helper()
	if !bytes.Equal(made.CredentialID, v.CredentialID) || len(made.CredentialID) > 1023 || len(made.PublicKey) == 0 {
		t.Errorf("registered %x with a key of %d bytes", made.CredentialID, len(made.PublicKey))
	}
	if !bytes.Contains(data, made.CredentialID) {
		t.Errorf("the id %x is not in %x", made.CredentialID, data)
	}
	a := passkey.Authentication{RelyingParty: byTheSpecification(), Challenge: []byte("challenge")}
	if _, err := (webauthn.Ceremony{}).Authenticate(context.Background(), a, made, data); err == nil {
		t.Error("signed in without an answer")
	}
}
