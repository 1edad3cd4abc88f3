package oauth

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

func BenchmarkVerifyIDToken(b *testing.B) {
	f := newFake(b)
	c := f.client(b)
	token := f.idToken(map[string]any{"name": "Ada Lovelace", "email": "ada@op.example", "email_verified": true, "nonce": "n"})
	b.Run("client", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.VerifyIDToken(b.Context(), token, IDTokenCheck{Nonce: "n", AccessToken: "a"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	// What the least possible code would cost: the signature and one decoding.
	b.Run("by hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			end := strings.LastIndexByte(token, '.')
			sum := sha256.Sum256([]byte(token[:end]))
			if err := rsa.VerifyPKCS1v15(&rsaKey().PublicKey, crypto.SHA256, sum[:], must(base64.RawURLEncoding.DecodeString(token[end+1:]))); err != nil {
				b.Fatal(err)
			}
			payload := must(base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1]))
			var claims map[string]any
			if err := json.Unmarshal(payload, &claims); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAuthorizationURL(b *testing.B) {
	c := newFake(b).client(b)
	r := AuthRequest{RedirectURI: callback, State: "s", Nonce: "n", Verifier: NewVerifier(), Params: url.Values{"prompt": {"login"}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.AuthorizationURL(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
