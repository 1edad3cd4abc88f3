package latchkeytest_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// What it makes is judged by another implementation in internal/interop.

const shop = "https://shop.example.org"

func creation(more string) []byte {
	return []byte(`{"rp":{"id":"example.org","name":"Example"},"user":{"id":"YWRh","name":"ada@example.com","displayName":"Ada"},
		"challenge":"Y2hhbGxlbmdl","pubKeyCredParams":[{"type":"public-key","alg":-999},{"type":"public-key","alg":-8},{"type":"public-key","alg":-7}]` + more + `}`)
}

func request(more string) []byte {
	return []byte(`{"rpId":"example.org","challenge":"Y2hhbGxlbmdl"` + more + `}`)
}

type credential struct {
	ID, RawID, Type, AuthenticatorAttachment string
	ClientExtensionResults                   map[string]any
	Response                                 struct {
		ClientDataJSON, AttestationObject, AuthenticatorData, PublicKey, Signature string
		UserHandle                                                                 *string
		PublicKeyAlgorithm                                                         int
		Transports                                                                 []string
	}
}

func made(t *testing.T, answer []byte, err error) (c credential) {
	t.Helper()
	if err == nil {
		err = json.Unmarshal(answer, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func decode(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestAuthenticatorBytes holds the encodings to the first test vector of Web
// Authentication Level 3, section 16.
func TestAuthenticatorBytes(t *testing.T) {
	const (
		aaguid = "8446ccb9ab1db374750b2367ff6f3a1f"
		id     = "f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4"
		x      = "afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61"
		y      = "930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220"
		object = "a363666d74646e6f6e656761747453746d74a068617574684461746158a4bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b55900000000" +
			aaguid + "0020" + id + "a5010203262001215820" + x + "225820" + y
		more   = "clientDataJSON may be extended with additional fields in the future, such as this: BkQeDjdcTBrXBiAwJTLE5Q"
		client = `{"type":"webauthn.create","challenge":"AMMPt4UxxGTStncdq417YDwBFi8vpIa-pw8oOuVW4TA","origin":"https://example.org","crossOrigin":false,"extraData":"` + more + `"}`
	)
	raw := func(text string) []byte {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	a := latchkeytest.NewAuthenticator("https://example.org")
	a.AAGUID, a.Unverified = "8446ccb9-ab1d-b374-750b-2367ff6f3a1f", true
	a.Misbehave(latchkeytest.PasskeyMisbehaviour{
		ClientData: func(members map[string]any) { members["extraData"] = more },
		AuthenticatorData: func(d *latchkeytest.AuthenticatorData) {
			d.CredentialID, d.PublicKey[-2], d.PublicKey[-3] = raw(id), raw(x), raw(y)
		},
	})
	answer, err := a.Create([]byte(`{"rp":{"name":"Example"},"user":{"id":"YWRh","name":"ada"},"challenge":"AMMPt4UxxGTStncdq417YDwBFi8vpIa-pw8oOuVW4TA"}`))
	c := made(t, answer, err)
	if got := decode(t, c.Response.ClientDataJSON); string(got) != client {
		t.Errorf("client data %s, want %s", got, client)
	}
	if got := hex.EncodeToString(decode(t, c.Response.AttestationObject)); got != object {
		t.Errorf("attestation object %s, want %s", got, object)
	}
	if want := base64.RawURLEncoding.EncodeToString(raw(id)); c.ID != want || c.RawID != want {
		t.Errorf("id %q, rawId %q", c.ID, c.RawID)
	}
}

// TestAuthenticatorSigns: what is sent is signed with the key that was sent.
func TestAuthenticatorSigns(t *testing.T) {
	for _, algorithm := range []string{"ES256", "ES384", "ES512", "EdDSA", "RS256"} {
		t.Run(algorithm, func(t *testing.T) {
			a := latchkeytest.NewAuthenticator(shop)
			a.Algorithm, a.Transports = algorithm, []string{"usb"}
			options := creation(`,"extensions":{"credProps":true}`)
			options = bytes.Replace(options, []byte(`[{`), []byte(`[{"type":"public-key","alg":-35},{"type":"public-key","alg":-36},{"type":"public-key","alg":-257},{`), 1)
			answer, err := a.Create([]byte(`{"action":"register","options":` + string(options) + `}`))
			registered := made(t, answer, err)
			answer, err = a.Get([]byte(`{"publicKey":` + string(request("")) + `}`))
			used := made(t, answer, err)
			key, err := x509.ParsePKIXPublicKey(decode(t, registered.Response.PublicKey))
			if err != nil {
				t.Fatal(err)
			}
			client := sha256.Sum256(decode(t, used.Response.ClientDataJSON))
			message := append(decode(t, used.Response.AuthenticatorData), client[:]...)
			if !verifies(t, key, message, decode(t, used.Response.Signature)) {
				t.Error("the signature is wrong")
			}
			if used.ID != registered.ID || used.Response.UserHandle == nil || *used.Response.UserHandle != "YWRh" {
				t.Errorf("got %+v", used)
			}
			if registered.AuthenticatorAttachment != "cross-platform" || fmt.Sprint(registered.ClientExtensionResults) != "map[credProps:map[rk:true]]" {
				t.Errorf("got %+v", registered)
			}
		})
	}
}

// TestAuthenticatorSignsAtFullLength: one of 128 signatures would be shorter,
// and one kind of site refuses those.
func TestAuthenticatorSignsAtFullLength(t *testing.T) {
	a := latchkeytest.NewAuthenticator(shop)
	a.Algorithm = "ES256"
	answer, err := a.Create(creation(""))
	made(t, answer, err)
	for range 1000 {
		answer, err := a.Get([]byte(`{"publicKey":` + string(request("")) + `}`))
		var halves struct{ R, S *big.Int }
		if _, err := asn1.Unmarshal(decode(t, made(t, answer, err).Response.Signature), &halves); err != nil {
			t.Fatal(err)
		}
		if len(halves.R.Bytes()) != 32 || len(halves.S.Bytes()) != 32 {
			t.Fatalf("r has %d bytes and s %d", len(halves.R.Bytes()), len(halves.S.Bytes()))
		}
	}
}

func verifies(t *testing.T, key any, message, signature []byte) bool {
	t.Helper()
	digest := sha256.Sum256(message)
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		hashed := digest[:]
		if longer := map[int]crypto.Hash{384: crypto.SHA384, 521: crypto.SHA512}[key.Params().BitSize]; longer != 0 {
			h := longer.New()
			h.Write(message)
			hashed = h.Sum(nil)
		}
		return ecdsa.VerifyASN1(key, hashed, signature)
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) == nil
	}
	t.Fatalf("a key of type %T", key)
	return false
}

// TestAuthenticatorRefuses what browsers refuse, by the names of theirs.
func TestAuthenticatorRefuses(t *testing.T) {
	a := latchkeytest.NewAuthenticator(shop)
	answer, err := a.Create(creation(""))
	known := made(t, answer, err).ID
	weak := latchkeytest.NewAuthenticator(shop)
	weak.Unverified = true
	foreign := latchkeytest.NewAuthenticator("https://shop-example.org")
	rsaOnly := latchkeytest.NewAuthenticator(shop)
	rsaOnly.Algorithm = "RS256"
	for name, c := range map[string]struct {
		do      func([]byte) ([]byte, error)
		options []byte
		want    error
	}{
		"a second passkey":                {a.Create, creation(`,"excludeCredentials":[{"type":"public-key","id":"` + known + `"}]`), latchkeytest.ErrInvalidState},
		"an algorithm nobody asks for":    {rsaOnly.Create, creation(""), latchkeytest.ErrNotSupported},
		"to verify a user":                {weak.Create, creation(`,"authenticatorSelection":{"userVerification":"required"}`), latchkeytest.ErrNotAllowed},
		"a page of another site":          {foreign.Create, creation(""), latchkeytest.ErrSecurity},
		"a sign-in there":                 {foreign.Get, request(""), latchkeytest.ErrSecurity},
		"a sign-in without a passkey":     {weak.Get, request(""), latchkeytest.ErrNotAllowed},
		"a sign-in with others":           {a.Get, request(`,"allowCredentials":[{"type":"public-key","id":"AAAA"}]`), latchkeytest.ErrNotAllowed},
		"an RP ID that is a suffix alone": {a.Get, []byte(`{"rpId":"org","challenge":"AAAA"}`), latchkeytest.ErrSecurity},
		"no challenge":                    {a.Get, []byte(`{"rpId":"example.org"}`), latchkeytest.ErrType},
		"a handle too long":               {a.Create, bytes.Replace(creation(""), []byte("YWRh"), bytes.Repeat([]byte("YWRh"), 22), 1), latchkeytest.ErrType},
	} {
		t.Run(name, func(t *testing.T) {
			if answer, err := c.do(c.options); !errors.Is(err, c.want) {
				t.Errorf("got %s, %v, want %v", answer, err, c.want)
			}
		})
	}
	for _, options := range []string{"", "[]", `{"challenge":"a+b/"}`, `{"challenge":"YWRhYQ=="}`, `{"challenge":7}`} {
		if answer, err := a.Get([]byte(options)); err == nil {
			t.Errorf("options %q became %s", options, answer)
		}
	}
}

// TestAuthenticatorChooses: the newest, one by name, one that is asked for, and
// those that cannot be found only if their id is known.
func TestAuthenticatorChooses(t *testing.T) {
	a := latchkeytest.NewAuthenticator(shop)
	create := func(handle, name, more string) string {
		options := bytes.Replace(creation(more), []byte("YWRh"), []byte(handle), 1)
		answer, err := a.Create(bytes.Replace(options, []byte("ada@example.com"), []byte(name), 1))
		return made(t, answer, err).ID
	}
	get := func(more string) credential {
		answer, err := a.Get(request(more))
		return made(t, answer, err)
	}
	first := create("YWRh", "ada", "")
	ada := create("YWRh", "ada", "") // takes its place
	grace := create("Z3JhY2U", "grace", "")
	hidden := create("Z3JhY2U", "grace", `,"authenticatorSelection":{"residentKey":"discouraged"}`)
	if list := a.Passkeys(); len(list) != 3 || base64.RawURLEncoding.EncodeToString(list[0].ID) != ada || first == ada {
		t.Errorf("%d passkeys", len(list))
	}
	if got := get(""); got.ID != grace {
		t.Error("not the newest")
	}
	a.Account = "ada"
	if got := get(""); got.ID != ada {
		t.Error("not the one that was named")
	}
	a.Account = ""
	if got := get(`,"allowCredentials":[{"type":"public-key","id":"` + ada + `"}]`); got.ID != ada {
		t.Error("not the one that was asked for")
	}
	if got := get(`,"allowCredentials":[{"type":"public-key","id":"` + hidden + `"}]`); got.ID != hidden || got.Response.UserHandle != nil {
		t.Error("the hidden one said whose it is")
	}
	a.Forget(a.Passkeys()[1])
	if got := get(""); got.ID != ada {
		t.Error("a forgotten one was used")
	}
}

// TestAuthenticatorCounts: what the n-th signature says, with a clone that
// counts on its own.
func TestAuthenticatorCounts(t *testing.T) {
	counter := func(a *latchkeytest.Authenticator) byte {
		answer, err := a.Get(request(""))
		data := decode(t, made(t, answer, err).Response.AuthenticatorData)
		if !bytes.Equal(data[33:36], []byte{0, 0, 0}) {
			t.Errorf("counter %x", data[33:])
		}
		return data[36]
	}
	synced, bound := latchkeytest.NewAuthenticator(shop), latchkeytest.NewAuthenticator(shop)
	bound.DeviceBound = true
	for _, a := range []*latchkeytest.Authenticator{synced, bound} {
		if _, err := a.Create(creation("")); err != nil {
			t.Fatal(err)
		}
	}
	clone := bound.Clone()
	if a, b := counter(synced), counter(synced); a != 0 || b != 0 {
		t.Errorf("synced: %d, %d", a, b)
	}
	if a, b := counter(bound), counter(bound); a != 2 || b != 3 {
		t.Errorf("bound: %d, %d", a, b)
	}
	if got := counter(clone); got != 2 {
		t.Errorf("the clone: %d", got)
	}
	bound.Passkeys()[0].Counter = 9
	if got := counter(bound); got != 10 {
		t.Errorf("set to 9, then %d", got)
	}
}

// TestAttestationRoot: the certificates that are sent lead to it.
func TestAttestationRoot(t *testing.T) {
	a := latchkeytest.NewAuthenticator(shop)
	a.Attestation = "basic"
	root, err := a.AttestationRoot()
	if err != nil {
		t.Fatal(err)
	}
	a.Misbehave(latchkeytest.PasskeyMisbehaviour{Attestation: func(object map[string]any) {
		chain := object["attStmt"].(map[string]any)["x5c"].([]any)
		certificate, err := x509.ParseCertificate(chain[0].([]byte))
		if err != nil {
			t.Error(err)
		} else if err = certificate.CheckSignatureFrom(root); err != nil {
			t.Error(err)
		}
	}})
	if _, err := a.Create(creation(`,"attestation":"direct"`)); err != nil {
		t.Error(err)
	}
}
