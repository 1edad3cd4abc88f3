package sitetest

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestIDToken(t *testing.T) {
	past := newTestClock().Now().Add(-61 * time.Second).Unix()
	type rows []struct {
		name string
		bad  latchkeytest.Misbehaviour
	}
	for _, c := range (rows{
		{"R-018 a damaged signature", latchkeytest.Misbehaviour{Sign: latchkeytest.SignDamaged}},
		{"R-018 another key under the known name", latchkeytest.Misbehaviour{Sign: latchkeytest.SignOtherKey}},
		{"R-018 an unpublished key", latchkeytest.Misbehaviour{Sign: latchkeytest.SignUnknownKey}},
		{"R-018 no keys at all", latchkeytest.Misbehaviour{JWKS: func(s map[string]any) { s["keys"] = []any{} }}},
		{"R-018 no jwks_uri", latchkeytest.Misbehaviour{Discovery: func(d map[string]any) { delete(d, "jwks_uri") }}},
		{"R-018 no ID token", latchkeytest.Misbehaviour{Token: func(a map[string]any) { delete(a, "id_token") }}},
		{"R-018 the signature cut off", raw(func(token string) string { return token[:strings.LastIndexByte(token, '.')+1] })},
		{"R-019 alg none", unsigned("none")},
		{"R-019 alg None", unsigned("None")},
		{"R-019 alg nOnE", unsigned("nOnE")},
		{"R-019 an empty alg", unsigned("")},
		{"R-019 no alg", latchkeytest.Misbehaviour{Sign: latchkeytest.SignNone, Header: func(h map[string]any) { delete(h, "alg") }}},
		{"R-021 another published algorithm", latchkeytest.Misbehaviour{Sign: latchkeytest.SignOtherAlg}},
		{"R-021 HS256 with the client secret", latchkeytest.Misbehaviour{Sign: latchkeytest.SignSecret}},
		{"R-021 HS256 with the public key", latchkeytest.Misbehaviour{Sign: latchkeytest.SignPublicKey}},
		{"R-023 a kid that is a path", latchkeytest.Misbehaviour{Sign: latchkeytest.SignUnknownKey, Header: func(h map[string]any) { h["kid"] = "../../../dev/null" }}},
		{"R-025 another iss", set("iss", "https://evil.example")},
		{"R-025 no iss", set("iss", gone{})},
		{"R-025 an empty iss", set("iss", "")},
		{"R-025 iss with a slash", latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["iss"] = c["iss"].(string) + "/" }}},
		{"R-025 iss in upper case", latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["iss"] = strings.ToUpper(c["iss"].(string)) }}},
		{"R-025 a list as iss", latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["iss"] = []any{c["iss"]} }}},
		{"R-027 another aud", set("aud", "another")},
		{"R-027 no aud", set("aud", gone{})},
		{"R-027 an empty aud", set("aud", "")},
		{"R-027 an empty list as aud", set("aud", []any{})},
		{"R-027 a number as aud", set("aud", 1)},
		{"R-027 an object as aud", set("aud", map[string]any{"client": true})},
		{"R-027 aud in another case", set("aud", "CLIENT")},
		{"R-027 a list with a number", set("aud", []any{"client", 1})},
		{"R-027 null as aud", set("aud", nil)},
		{"R-028 a second aud without azp", set("aud", []any{"client", "another"})},
		{"R-028 a second aud with a foreign azp", latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["aud"], c["azp"] = []any{"client", "another"}, "another" }}},
		{"R-028 a foreign azp", set("azp", "another")},
		{"R-028 a number as azp", set("azp", 7)},
		{"R-029 no exp", set("exp", gone{})},
		{"R-029 a past exp", set("exp", past)},
		{"R-029 text as exp", set("exp", "9999999999")},
		{"R-029 null as exp", set("exp", nil)},
		{"R-029 no iat", set("iat", gone{})},
		{"R-029 text as iat", set("iat", "1")},
		{"R-032 another nonce", set("nonce", "another")},
		{"R-032 no nonce", set("nonce", gone{})},
		{"R-032 an empty nonce", set("nonce", "")},
		{"R-032 a list as nonce", latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["nonce"] = []any{c["nonce"]} }}},
		{"R-033 no sub", set("sub", gone{})},
		{"R-033 an empty sub", set("sub", "")},
		{"R-033 a number as sub", set("sub", 5)},
		{"R-033 null as sub", set("sub", nil)},
		{"R-035 another at_hash", set("at_hash", "AAAAAAAAAAAAAAAAAAAAAA")},
		{"R-035 an empty at_hash", set("at_hash", "")},
		{"R-035 a number as at_hash", set("at_hash", 3)},
		{"R-036 Sub", renamed("sub", "Sub")},
		{"R-036 Aud", renamed("aud", "Aud")},
		{"R-036 ISS", renamed("iss", "ISS")},
		{"R-036 Exp", renamed("exp", "Exp")},
		{"R-036 Nonce", renamed("nonce", "Nonce")},
		{"R-038 over 16 KiB", set("padding", strings.Repeat("x", 16<<10))},
		{"R-038 two parts", raw(func(token string) string { return token[:strings.LastIndexByte(token, '.')] })},
		{"R-038 four parts", raw(func(token string) string { return token + ".x" })},
		{"R-038 ten thousand dots", raw(func(string) string { return strings.Repeat(".", 10_000) })},
		{"R-038 an empty token", raw(func(string) string { return "" })},
	}) {
		t.Run(c.name, func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(fullChecks))
			s.issuer.Misbehave(c.bad)
			b := s.newBrowser()
			before := s.contents()
			refused(t, s.signIn(b), "Configuration")
			s.noCall(t, latchkeytest.PathUserInfo)
			s.noWrite(t, before)
			dead(t, b)
		})
	}
	for _, c := range (rows{
		{"R-027 aud as a list", set("aud", []any{"client"})},
		{"R-028 a second aud with our azp", latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["aud"], c["azp"] = []any{"client", "another"}, "client" }}},
		{"R-029 exp within the tolerance", set("exp", past+41)},
		{"R-035 no at_hash", set("at_hash", gone{})},
		{"R-036 names that only look alike beside the true ones", latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["Sub"], c["AUD"], c["Iss"] = "mallory", "another", "evil" }}},
	}) {
		t.Run(c.name+" is accepted", func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(fullChecks))
			s.issuer.Misbehave(c.bad)
			s.mustSignIn(s.newBrowser())
			if id := s.store.Contents().Accounts[0].ProviderAccountID; id != "ada" {
				t.Errorf("signed in as %q", id)
			}
		})
	}
	t.Run("R-023 keys in the header are not followed", func(t *testing.T) {
		var asked atomic.Int32
		evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
		defer evil.Close()
		for _, name := range []string{"jku", "x5u", "kid", "jwk", "x5c"} {
			s := newOAuthSite(t, withIssuer(fullChecks))
			s.issuer.Misbehave(latchkeytest.Misbehaviour{Sign: latchkeytest.SignOtherKey, Header: func(h map[string]any) {
				h[name] = evil.URL
				if name == "jwk" {
					h[name] = map[string]any{"kty": "RSA", "n": "AQAB", "e": "AQAB"}
				}
			}})
			refused(t, s.signIn(s.newBrowser()), "Configuration")
		}
		if asked.Load() != 0 {
			t.Error("a URL in a token's header was fetched")
		}
	})
}

func TestSigningKeys(t *testing.T) {
	decoy, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	decoyJWK := map[string]any{"kty": "RSA", "alg": "RS256", "use": "sig", "e": "AQAB", "n": base64.RawURLEncoding.EncodeToString(decoy.N.Bytes())}
	noKid := func(set map[string]any) {
		for _, k := range set["keys"].([]any) {
			delete(k.(map[string]any), "kid")
		}
	}
	headless := func(h map[string]any) { delete(h, "kid") }
	t.Run("R-039 no kid, one key that fits", func(t *testing.T) {
		s := newOAuthSite(t)
		s.issuer.Misbehave(latchkeytest.Misbehaviour{JWKS: noKid, Header: headless})
		s.mustSignIn(s.newBrowser())
	})
	t.Run("R-039 no kid, several keys, none of them signed", func(t *testing.T) {
		s := newOAuthSite(t)
		s.issuer.Misbehave(latchkeytest.Misbehaviour{Sign: latchkeytest.SignOtherKey, Header: headless, JWKS: func(set map[string]any) {
			noKid(set)
			set["keys"] = append([]any{decoyJWK}, set["keys"].([]any)...)
		}})
		refused(t, s.signIn(s.newBrowser()), "Configuration")
	})
	t.Run("R-040 rotation between two sign-ins", func(t *testing.T) {
		s := newOAuthSite(t)
		s.mustSignIn(s.newBrowser())
		s.clock.Advance(31 * time.Second)
		if err := s.issuer.RotateKeys(); err != nil {
			t.Fatal(err)
		}
		s.mustSignIn(s.newBrowser())
	})
	t.Run("R-040 rotation just before signing", func(t *testing.T) {
		s := newOAuthSite(t)
		s.mustSignIn(s.newBrowser())
		s.clock.Advance(31 * time.Second)
		s.issuer.Misbehave(latchkeytest.Misbehaviour{Before: func(path string) {
			if path == latchkeytest.PathToken {
				if err := s.issuer.RotateKeys(); err != nil {
					t.Error(err)
				}
			}
		}})
		s.mustSignIn(s.newBrowser())
	})
	t.Run("R-041 unknown kids cannot hammer", func(t *testing.T) {
		s := newOAuthSite(t)
		s.mustSignIn(s.newBrowser())
		s.clock.Advance(31 * time.Second)
		before := s.issuer.Count(latchkeytest.PathJWKS)
		s.issuer.Misbehave(latchkeytest.Misbehaviour{Sign: latchkeytest.SignUnknownKey})
		for range 10 {
			refused(t, s.signIn(s.newBrowser()), "Configuration")
		}
		if n := s.issuer.Count(latchkeytest.PathJWKS) - before; n != 1 {
			t.Errorf("%d requests for keys, want 1", n)
		}
	})
	t.Run("R-043 foreign entries", func(t *testing.T) {
		s := newOAuthSite(t)
		s.issuer.Misbehave(latchkeytest.Misbehaviour{JWKS: func(set map[string]any) {
			set["extra"] = 1
			set["keys"] = append([]any{
				map[string]any{"kty": "XYZ"},
				map[string]any{"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA"},
				map[string]any{"kty": "RSA", "n": "", "e": ""},
				map[string]any{},
				map[string]any{"kty": 5},
				map[string]any{"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"},
				map[string]any{"kty": "oct", "k": "AA"},
			}, set["keys"].([]any)...)
		}})
		s.mustSignIn(s.newBrowser())
	})
}
