package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkeyhq/latchkey/internal/testclock"
)

// verify runs an ID token through c and says whether it passed.
func verify(t *testing.T, c *Client, token string) error {
	t.Helper()
	_, err := c.VerifyIDToken(t.Context(), token, IDTokenCheck{})
	return err
}

func TestR039MissingKid(t *testing.T) {
	f := newFake(t)
	payload := encode(f.claims(nil))
	anonymous := sign(rsaKey(), jose.RS256, "", nil, payload)
	named := sign(rsaKey(), jose.RS256, "k1", nil, payload)
	right, other := rsaKey().Public(), otherKey().Public()
	for _, row := range []struct {
		name  string
		token string
		keys  []any
		ok    bool
	}{
		{"token without, one key", anonymous, []any{jwk(right, "k1", "RS256")}, true},
		{"token without, the second of two keys", anonymous, []any{jwk(other, "k0", "RS256"), jwk(right, "k1", "RS256")}, true},
		{"token without, wrong keys only", anonymous, []any{jwk(other, "k0", "RS256"), jwk(other, "k1", "RS256")}, false},
		{"token without, no keys", anonymous, []any{}, false},
		{"key without, token with", named, []any{jwk(right, "", "RS256")}, false},
		{"neither", anonymous, []any{jwk(right, "", "")}, true},
		{"two keys of one name", named, []any{jwk(other, "k1", "RS256"), jwk(right, "k1", "RS256")}, true},
		{"two types of one name", named, []any{jwk(ecKey().Public(), "k1", ""), jwk(right, "k1", "")}, true},
		{"right key under another name", named, []any{jwk(right, "k2", "RS256")}, false},
	} {
		t.Run("R-039 "+row.name, func(t *testing.T) {
			f.setKeys(row.keys...)
			if err := verify(t, f.client(t), row.token); (err == nil) != row.ok {
				t.Errorf("got %v, want accepted = %v", err, row.ok)
			}
		})
	}
}

func TestR040Rotation(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	old := f.idToken(nil)
	if err := verify(t, c, old); err != nil {
		t.Fatal(err)
	}
	t.Run("R-040 a new key is found at once", func(t *testing.T) {
		f.setKeys(jwk(otherKey().Public(), "k2", "RS256"))
		if err := verify(t, c, sign(otherKey(), jose.RS256, "k2", nil, encode(f.claims(nil)))); err != nil {
			t.Fatal(err)
		}
		if n := f.hits(keysPath); n != 2 {
			t.Errorf("%d key requests, want 2", n)
		}
	})
	t.Run("R-040 also under the old name", func(t *testing.T) {
		f.setKeys(jwk(rsaKey().Public(), "k2", "RS256"))
		if err := verify(t, c, sign(rsaKey(), jose.RS256, "k2", nil, encode(f.claims(nil)))); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a key that is gone is gone", func(t *testing.T) {
		if err := verify(t, c, old); err == nil {
			t.Error("accepted")
		}
	})
}

func TestR041UnknownKidsDoNotHammer(t *testing.T) {
	f := newFake(t)
	at := testclock.New(time.Now())
	c := f.client(t, func(c *Config) { c.Time = at.Now })
	unknown := sign(otherKey(), jose.RS256, "unknown", nil, encode(f.claims(nil)))
	all := func(n int) {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				_, err := c.VerifyIDToken(context.Background(), unknown, IDTokenCheck{})
				if err == nil {
					t.Error("accepted")
				}
			})
		}
		wg.Wait()
	}
	requests := func(want int) {
		t.Helper()
		if n := f.hits(keysPath); n != want {
			t.Errorf("%d key requests, want %d", n, want)
		}
	}
	if err := verify(t, c, f.idToken(nil)); err != nil {
		t.Fatal(err)
	}
	requests(1)
	all(50)
	requests(2)
	at.Advance(29 * time.Second)
	all(5)
	requests(2)
	at.Advance(2 * time.Second)
	all(50)
	requests(3)
	if err := verify(t, c, f.idToken(nil)); err != nil {
		t.Errorf("known keys still count: %v", err)
	}
	requests(3)
}

func TestR041ColdStartWithAnUnknownKid(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	unknown := sign(otherKey(), jose.RS256, "unknown", nil, encode(f.claims(nil)))
	for range 3 {
		wantStep(t, verify(t, c, unknown), StepIDToken, "no key")
	}
	if n := f.hits(keysPath); n != 1 {
		t.Errorf("%d key requests, want 1", n)
	}
}

func TestR041FailedRefetchCounts(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	if err := verify(t, c, f.idToken(nil)); err != nil {
		t.Fatal(err)
	}
	f.answer(keysPath, send(500, "", ""))
	unknown := sign(otherKey(), jose.RS256, "unknown", nil, encode(f.claims(nil)))
	for range 3 {
		if verify(t, c, unknown) == nil {
			t.Error("accepted")
		}
	}
	if err := verify(t, c, f.idToken(nil)); err != nil {
		t.Errorf("the old keys are in use meanwhile: %v", err)
	}
	if n := f.hits(keysPath); n != 2 {
		t.Errorf("%d key requests, want 2", n)
	}
}

func TestR043ForeignEntries(t *testing.T) {
	f := newFake(t)
	type object = map[string]any
	p224 := must(must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader)).PublicKey.Bytes())[1:]
	honest := must(decodeObject(encode(jwk(rsaKey().Public(), "k1", "RS256"))))
	with := func(changes object) object {
		entry := object{}
		for name, value := range honest {
			entry[name] = value
		}
		for name, value := range changes {
			entry[name] = value
		}
		return entry
	}
	for _, row := range []struct {
		name  string
		entry any // beside the honest key, before it
	}{
		{"a number", 5},
		{"null", nil},
		{"a list", []any{}},
		{"no members", object{}},
		{"unknown kty", object{"kty": "FUTURE", "kid": "k1"}},
		{"post-quantum kty", object{"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"}},
		{"kty of another type", object{"kty": 5}},
		{"unknown crv", object{"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"}},
		{"unsupported crv", object{"kty": "EC", "crv": "P-224", "x": b64(p224[:28]), "y": b64(p224[28:])}},
		{"point off the curve", object{"kty": "EC", "crv": "P-256", "x": b64(make([]byte, 32)), "y": b64(make([]byte, 32))}},
		{"Ed25519 of the wrong size", object{"kty": "OKP", "crv": "Ed25519", "x": "AA"}},
		{"X25519", object{"kty": "OKP", "crv": "X25519", "x": b64(make([]byte, 32))}},
		{"symmetric", object{"kty": "oct", "k": b64([]byte(secret)), "kid": "k1"}},
		{"RSA without modulus", object{"kty": "RSA", "e": "AQAB"}},
		{"RSA with an empty modulus", object{"kty": "RSA", "n": "", "e": "AQAB"}},
		{"RSA too weak", jwk(weakKey().Public(), "k1", "RS256")},
		{"RSA absurdly large", object{"kty": "RSA", "n": b64([]byte(strings.Repeat("\xff", 1100))), "e": "AQAB", "kid": "k1"}},
		{"for encryption", with(object{"use": "enc"})},
		{"use of another type", with(object{"use": 5})},
		{"key_ops without verify", with(object{"key_ops": []string{"encrypt"}})},
		{"alg of another family", with(object{"alg": "ES256"})},
		{"unknown alg", with(object{"alg": "XS256"})},
		{"kid of another type", with(object{"kid": 5})},
	} {
		t.Run("R-043 "+row.name, func(t *testing.T) {
			if row.entry != nil {
				set := must(parseKeys(encode(object{"keys": []any{row.entry}})))
				if len(set.keys) != 0 {
					t.Errorf("used: %+v", set.keys)
				}
			}
			f.setKeys(row.entry, honest)
			if err := verify(t, f.client(t), f.idToken(nil)); err != nil {
				t.Error(err)
			}
		})
	}
	for _, row := range []struct {
		name  string
		entry any
	}{
		{"extra members", with(object{"x5c": []string{"!"}, "x5t": "!", "x5u": ":", "exp": 1, "ext": true})},
		{"key_ops with verify", with(object{"key_ops": []string{"verify"}})},
	} {
		t.Run("R-043 usable in spite of "+row.name, func(t *testing.T) {
			f.setKeys(row.entry)
			if err := verify(t, f.client(t), f.idToken(nil)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestR383PublishedPrivateKeysAreNeverUsed(t *testing.T) {
	f := newFake(t)
	for name, key := range map[string]any{"RSA": rsaKey(), "EC": ecKey(), "Ed25519": edKey()} {
		t.Run("R-383 "+name, func(t *testing.T) {
			entry := must(decodeObject(encode(jose.JSONWebKey{Key: key, KeyID: "k1"})))
			if set := must(parseKeys(encode(map[string]any{"keys": []any{entry}}))); len(set.keys) != 0 {
				t.Error("used")
			}
			for name := range entry {
				if len(name) == 1 && name != "d" || name == "kty" || name == "crv" || name == "kid" {
					continue // what makes the public half
				}
				public := must(decodeObject(encode(jwk(rsaKey().Public(), "k1", ""))))
				public[name] = nil
				if set := must(parseKeys(encode(map[string]any{"keys": []any{public}}))); len(set.keys) != 0 {
					t.Errorf("used with a member %s, be it null", name)
				}
			}
		})
	}
	f.setKeys(jose.JSONWebKey{Key: rsaKey(), KeyID: "k1"})
	wantStep(t, verify(t, f.client(t), f.idToken(nil)), StepIDToken, "no key")
}

func TestKeysPerSetAreLimited(t *testing.T) {
	many := make([]any, maxKeys+20)
	for i := range many {
		many[i] = jwk(ecKey().Public(), "k", "ES256")
	}
	set := must(parseKeys(encode(map[string]any{"keys": many})))
	if len(set.keys) != maxKeys {
		t.Errorf("%d keys, want %d", len(set.keys), maxKeys)
	}
}

func TestR018NoUsableKeys(t *testing.T) {
	f := newFake(t)
	honest := string(encode(map[string]any{"keys": []any{jwk(rsaKey().Public(), "k1", "RS256")}}))
	for name, h := range map[string]http.HandlerFunc{
		"keys with status 500": send(500, "application/json", honest),
		"keys with status 201": send(201, "application/json", honest),
		"error":                send(500, "", ""),
		"not found":            send(404, "text/html", "<html>"),
		"HTML":                 send(200, "text/html", "<html>"),
		"empty":                send(200, "application/json", ""),
		"array":                send(200, "application/json", "[]"),
		"no keys":              send(200, "application/json", "{}"),
		"keys an object":       send(200, "application/json", `{"keys":{}}`),
	} {
		t.Run("R-018 "+name, func(t *testing.T) {
			f.answer(keysPath, h)
			wantStep(t, verify(t, f.client(t), f.idToken(nil)), StepKeys, "")
		})
	}
}

func TestKeysOfAPlainProviderWithIssuer(t *testing.T) {
	f := newFake(t)
	c := newClient(t, f.plain(), func(c *Config) { c.Issuer = f.URL })
	if err := verify(t, c, f.idToken(nil)); err != nil {
		t.Fatal(err)
	}
	if n := f.hits(discoveryPath); n != 1 {
		t.Errorf("%d discovery requests, want 1", n)
	}
	wantStep(t, verify(t, newClient(t, f.plain()), f.idToken(nil)), StepKeys, "no keys")
}

func TestR041HonestSignInsDoNotReopenTheDoor(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	unknown := sign(otherKey(), jose.RS256, "unknown", nil, encode(f.claims(nil)))
	for range 10 {
		if err := verify(t, c, f.idToken(nil)); err != nil {
			t.Fatal(err)
		}
		if verify(t, c, unknown) == nil {
			t.Error("accepted")
		}
	}
	if n := f.hits(keysPath); n != 2 {
		t.Errorf("%d key requests, want 2", n)
	}
}

func TestR041NothingRememberedIsStillOneRequest(t *testing.T) {
	f := newFake(t)
	c := f.client(t, func(c *Config) { c.Cache = &Cache{} })
	if verify(t, c, sign(otherKey(), jose.RS256, "unknown", nil, encode(f.claims(nil)))) == nil {
		t.Error("accepted")
	}
	if n := f.hits(keysPath); n != 1 {
		t.Errorf("%d key requests, want 1", n)
	}
}

func TestR021KeysKeepToTheirAlgorithm(t *testing.T) {
	f := newFake(t)
	f.setKeys(jwk(rsaKey().Public(), "k1", "PS256"))
	c := f.client(t, func(c *Config) { c.IDTokenAlgs = []string{"RS256", "PS256"} })
	if err := verify(t, c, sign(rsaKey(), jose.PS256, "k1", nil, encode(f.claims(nil)))); err != nil {
		t.Error(err)
	}
	wantStep(t, verify(t, c, f.idToken(nil)), StepIDToken, "no key")
}
