package webauthn_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// The flags of authenticator data (Web Authentication Level 3, section 6.1).
const (
	present  = 1
	verified = 4
	eligible = 8
	backedUp = 16
	attested = 64
)

// device is an authenticator in software, together with its browser.
type device struct {
	key     *ecdsa.PrivateKey
	id      []byte
	handle  []byte // what it was told to call the user
	counter uint32
	flags   byte
	aaguid  []byte
	origin  string
	rpID    string
	kind    string // of the client data; empty: as it should be
	spoil   func(client map[string]any, data []byte) []byte
}

func newDevice(t *testing.T, origin string) *device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	d := &device{key: key, id: make([]byte, 32), flags: present | verified | eligible | backedUp, origin: origin, rpID: "127.0.0.1"}
	rand.Read(d.id)
	d.aaguid, _ = hex.DecodeString("d548826e79b4db40a3d811116f7e8349")
	return d
}

// options are what navigator.credentials is called with.
type options struct {
	Action  string
	Options struct {
		Challenge        string
		RPID             string `json:"rpId"`
		UserVerification string
		AllowCredentials []struct{ ID string }
		Exclude          []struct{ ID string } `json:"excludeCredentials"`
		User             struct{ ID, Name string }
		RP               struct{ ID string }
		Selection        struct{ UserVerification string } `json:"authenticatorSelection"`
	}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (d *device) client(kind, challenge string) map[string]any {
	if d.kind != "" {
		kind = d.kind
	}
	return map[string]any{"type": kind, "challenge": challenge, "origin": d.origin, "crossOrigin": false}
}

func (d *device) data(extra ...byte) []byte {
	site := sha256.Sum256([]byte(d.rpID))
	data := binary.BigEndian.AppendUint32(append(site[:], d.flags), d.counter)
	return append(data, extra...)
}

// create answers registration options.
func (d *device) create(t *testing.T, o options) string {
	t.Helper()
	d.handle, _ = base64.RawURLEncoding.DecodeString(o.Options.User.ID)
	raw, err := d.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	cose := must(webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: raw[1:33], -3: raw[33:]}))
	d.flags |= attested
	data := d.data(slices.Concat(d.aaguid, binary.BigEndian.AppendUint16(nil, uint16(len(d.id))), d.id, cose)...)
	d.flags &^= attested
	client := d.client("webauthn.create", o.Options.Challenge)
	if d.spoil != nil {
		data = d.spoil(client, data)
	}
	object := must(webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data}))
	return d.answer(map[string]any{
		"clientDataJSON": b64(must(json.Marshal(client))), "attestationObject": b64(object), "transports": []string{"internal", "hybrid"},
	})
}

// get answers authentication options.
func (d *device) get(t *testing.T, o options) string {
	t.Helper()
	data, client := d.data(), d.client("webauthn.get", o.Options.Challenge)
	if d.spoil != nil {
		data = d.spoil(client, data)
	}
	said := must(json.Marshal(client))
	hash := sha256.Sum256(said)
	digest := sha256.Sum256(append(slices.Clone(data), hash[:]...))
	signature, err := d.key.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	response := map[string]any{"clientDataJSON": b64(said), "authenticatorData": b64(data), "signature": b64(signature)}
	if d.handle != nil {
		response["userHandle"] = b64(d.handle)
	}
	return d.answer(response)
}

func (d *device) answer(response map[string]any) string {
	return string(must(json.Marshal(map[string]any{
		"id": b64(d.id), "rawId": b64(d.id), "type": "public-key", "clientExtensionResults": map[string]any{}, "response": response,
	})))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
