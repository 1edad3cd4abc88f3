package webauthn_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// vectors are those of Web Authentication Level 3, section 16.
type vectors struct {
	AttestationRoot hexBytes
	Vectors         []vector
}

type vector struct {
	Name         string
	CredentialID hexBytes
	Registration struct{ Challenge, ClientDataJSON, AttestationObject hexBytes }

	Authentication struct{ Challenge, ClientDataJSON, AuthenticatorData, Signature hexBytes }
}

type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

func readVectors(t testing.TB) (all vectors) {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// byTheSpecification are the relying party and the origin of all vectors.
func byTheSpecification() passkey.RelyingParty {
	return passkey.RelyingParty{ID: "example.org", Name: "Example", Origins: []string{"https://example.org"}}
}

// refusedVectors are those whose registration is refused, and why. The makers of
// the last three are known by name, and the one of the vectors is none of them.
var refusedVectors = map[string]string{
	"none-es256-crossOrigin": "frame of another site",
	"none-es256-topOrigin":   "frame of another site",
	"packed-ed448":           "public key",
	"tpm-es256":              "TPM manufacturer",
	"android-key-es256":      "cert chain",
	"apple-es256":            "cert chain",
}

// each registration and authentication verifies.
func TestVectors(t *testing.T) {
	all := readVectors(t)
	if len(all.Vectors) != 15 {
		t.Fatalf("%d vectors", len(all.Vectors))
	}
	for _, v := range all.Vectors {
		t.Run("R-183 "+v.Name, func(t *testing.T) {
			key, err := v.register(all.ceremony(t))
			if why := refusedVectors[v.Name]; why != "" {
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("got %v, want a refusal for its %s", err, why)
				}
				if key, err = v.withoutStatement().register(webauthn.Ceremony{}); !byMaker(why) {
					if err == nil {
						t.Error("accepted without its attestation")
					}
					return
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(key.CredentialID, v.CredentialID) {
				t.Errorf("credential id %x", key.CredentialID)
			}
			if err := v.authenticate(key); err != nil {
				t.Error(err)
			}
		})
	}
}

// each is refused after a change of any one byte that somebody signed, and
// after most of the others.
func TestVectorsChanged(t *testing.T) {
	all := readVectors(t)
	for _, v := range all.Vectors {
		switch why := refusedVectors[v.Name]; {
		case byMaker(why):
			v = v.withoutStatement()
		case why != "":
			continue
		}
		ceremony := all.ceremony(t)
		key, err := v.register(ceremony)
		if err != nil {
			t.Fatal(err)
		}
		refuses := func(t *testing.T, part hexBytes, verify func() error) {
			t.Helper()
			for i := range part {
				part[i] ^= 1
				if verify() == nil {
					t.Errorf("byte %d of %d does not matter: %q", i, len(part), part[max(0, i-20):min(len(part), i+1)])
				}
				part[i] ^= 1
			}
		}
		a := v.Authentication
		for name, part := range map[string]hexBytes{"clientDataJSON": a.ClientDataJSON, "authenticatorData": a.AuthenticatorData, "signature": a.Signature, "public key": key.PublicKey} {
			t.Run("R-183 "+v.Name+", authentication, "+name, func(t *testing.T) {
				refuses(t, part, func() error { return v.authenticate(key) })
			})
		}
		t.Run("R-183 "+v.Name+", registration", func(t *testing.T) {
			client, object := v.Registration.ClientDataJSON, v.Registration.AttestationObject
			register := func() error { _, err := v.register(ceremony); return err }
			switch from, to := v.counterAndModel(); {
			case v.isNone(): // nobody has signed it
				client = client[:bytes.Index(client, []byte(`,"crossOrigin"`))]
			case v.Name == "fido-u2f-es256": // signs neither
				refuses(t, object[:from], register)
				refuses(t, object[to:], register)
			default:
				refuses(t, object, register)
			}
			refuses(t, client, register)
		})
		if !v.isNone() {
			continue
		}
		t.Run("R-183 "+v.Name+", what nobody attested", func(t *testing.T) {
			object := v.Registration.AttestationObject
			from, to := v.counterAndModel()
			for _, part := range []hexBytes{object[:from-1], object[to:]} { // without the flags
				refuses(t, part, func() error {
					changed, err := v.register(ceremony)
					if err != nil {
						return err
					}
					return v.authenticate(changed)
				})
			}
		})
	}
}

// byMaker: a vector is refused for who made its authenticator, so that it counts
// without its attestation.
func byMaker(why string) bool { return why == "TPM manufacturer" || why == "cert chain" }

// noStatement begins an attestation object of the format none, up to authData.
const noStatement = "\xa3\x63fmt\x64none\x67attStmt\xa0"

func (v vector) isNone() bool {
	return strings.HasPrefix(string(v.Registration.AttestationObject), noStatement)
}

// counterAndModel are where they stand in the attestation object.
func (v vector) counterAndModel() (from, to int) {
	to = bytes.Index(v.Registration.AttestationObject, v.CredentialID) - 2 // the length of the id
	return to - 4 - 16, to
}

// withoutStatement is the same authenticator without attestation.
func (v vector) withoutStatement() vector {
	object := v.Registration.AttestationObject
	v.Registration.AttestationObject = append([]byte(noStatement), object[bytes.Index(object, []byte("\x68authData")):]...)
	return v
}

// ceremony accepts what the attestation root of the vectors vouches for, each of
// its certificates whole.
func (all vectors) ceremony(t *testing.T) webauthn.Ceremony {
	t.Helper()
	root, err := x509.ParseCertificate(all.AttestationRoot)
	if err != nil {
		t.Fatal(err)
	}
	return webauthn.Ceremony{CheckAttestation: func(_ context.Context, a webauthn.Attestation) error {
		for _, der := range a.Certificates {
			leaf, err := x509.ParseCertificate(der)
			if err != nil {
				return err
			}
			if err := leaf.CheckSignatureFrom(root); err != nil {
				return err
			}
			if now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
				return errors.New("the certificate is not valid at the time")
			}
		}
		return nil
	}}
}

func (v vector) register(c webauthn.Ceremony) (storage.Authenticator, error) {
	r := passkey.Registration{
		RelyingParty: byTheSpecification(), Challenge: v.Registration.Challenge,
		Options: passkey.RegistrationOptions{Algorithms: []int{-7, -35, -36, -8, -257, -53}, UserVerification: passkey.Preferred, Attestation: "direct"},
	}
	return c.Register(context.Background(), r, credentialJSON(v.CredentialID, map[string][]byte{
		"clientDataJSON": v.Registration.ClientDataJSON, "attestationObject": v.Registration.AttestationObject,
	}))
}

func (v vector) authenticate(key storage.Authenticator) error {
	a := passkey.Authentication{
		RelyingParty: byTheSpecification(), Challenge: v.Authentication.Challenge,
		Options: passkey.AuthenticationOptions{UserVerification: passkey.Preferred},
	}
	_, err := webauthn.Ceremony{}.Authenticate(context.Background(), a, key, credentialJSON(v.CredentialID, map[string][]byte{
		"clientDataJSON": v.Authentication.ClientDataJSON, "authenticatorData": v.Authentication.AuthenticatorData, "signature": v.Authentication.Signature,
	}))
	return err
}

// credentialJSON is a credential as browsers send it.
func credentialJSON(id []byte, response map[string][]byte) []byte {
	encoded := map[string]string{}
	for name, value := range response {
		encoded[name] = base64.RawURLEncoding.EncodeToString(value)
	}
	name := base64.RawURLEncoding.EncodeToString(id)
	text, err := json.Marshal(map[string]any{"id": name, "rawId": name, "type": "public-key", "response": encoded, "clientExtensionResults": map[string]any{}})
	if err != nil {
		panic(err) // strings always encode
	}
	return text
}
