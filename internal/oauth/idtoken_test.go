package oauth

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func TestIDTokenClaims(t *testing.T) {
	f := newFake(t)
	now := time.Now().Unix()
	hash := sha256.Sum256([]byte("access"))
	type claims = map[string]any
	for _, row := range []struct {
		name   string
		claims claims
		nonce  string
		change func(*Config)
		want   string // of the error; empty: accepted
	}{
		{"honest", nil, "", nil, ""},

		{"R-025 iss missing", claims{"iss": nil}, "", nil, "iss"},
		{"R-025 iss of another", claims{"iss": "https://op.example"}, "", nil, "iss"},
		{"R-025 iss with a slash", claims{"iss": f.URL + "/"}, "", nil, "iss"},
		{"R-025 iss in upper case", claims{"iss": strings.ToUpper(f.URL)}, "", nil, "iss"},
		{"R-025 iss a list", claims{"iss": []string{f.URL}}, "", nil, "iss"},
		{"iss by a match that sees the claims", claims{"iss": "https://tenant", "tid": "tenant"}, "", func(c *Config) {
			c.MatchIssuer = func(issuer string, claims map[string]any) bool {
				return claims == nil || issuer == "https://"+claims["tid"].(string)
			}
		}, ""},
		{"R-025 iss that the match refuses", claims{"tid": "tenant"}, "", func(c *Config) {
			c.MatchIssuer = func(_ string, claims map[string]any) bool { return claims == nil }
		}, "iss"},

		{"R-027 aud missing", claims{"aud": nil}, "", nil, "aud"},
		{"R-027 aud empty", claims{"aud": ""}, "", nil, "aud"},
		{"R-027 aud an empty list", claims{"aud": []string{}}, "", nil, "aud"},
		{"R-027 aud of another", claims{"aud": "other"}, "", nil, "aud"},
		{"R-027 aud in another case", claims{"aud": strings.ToUpper(clientID)}, "", nil, "aud"},
		{"R-027 aud a number", claims{"aud": 1}, "", nil, "aud"},
		{"R-027 aud an object", claims{"aud": claims{clientID: true}}, "", nil, "aud"},
		{"R-027 aud with a number beside us", claims{"aud": []any{clientID, 1}, "azp": clientID}, "", nil, "aud"},
		{"R-027 aud a nested list", claims{"aud": []any{[]string{clientID}}}, "", nil, "aud"},
		{"R-027 aud one in a list", claims{"aud": []string{clientID}}, "", nil, ""},
		{"R-028 others without azp", claims{"aud": []string{clientID, "other"}}, "", nil, "azp"},
		{"R-028 others with our azp", claims{"aud": []string{"other", clientID}, "azp": clientID}, "", nil, ""},
		{"R-028 others with a foreign azp", claims{"aud": []string{clientID, "other"}, "azp": "other"}, "", nil, "azp"},
		{"R-028 foreign azp with a single aud", claims{"azp": "other"}, "", nil, "azp"},
		{"R-028 azp of another type", claims{"azp": 5}, "", nil, "azp"},
		{"R-028 azp empty", claims{"azp": ""}, "", nil, "azp"},
		{"R-028 our azp with a single aud", claims{"azp": clientID}, "", nil, ""},
		{"R-028 others that are listed", claims{"aud": []string{clientID, "api"}, "azp": clientID}, "", func(c *Config) { c.Audiences = []string{"api"} }, ""},
		{"R-028 others that are not listed", claims{"aud": []string{clientID, "api"}, "azp": clientID}, "", func(c *Config) { c.Audiences = []string{} }, "aud"},
		{"R-028 listed others still need azp", claims{"aud": []string{clientID, "api"}}, "", func(c *Config) { c.Audiences = []string{"api"} }, "azp"},

		{"R-029 exp missing", claims{"exp": nil}, "", nil, "exp"},
		{"R-029 exp as text", claims{"exp": "9999999999"}, "", nil, "exp"},
		{"R-029 exp negative", claims{"exp": -1}, "", nil, "exp"},
		{"R-029 exp beyond all numbers", claims{"exp": json.Number("1e999")}, "", nil, "exp"},
		{"R-029 exp two minutes ago", claims{"exp": now - 120}, "", nil, "expired"},
		{"R-323 the end of a token has both clocks", claims{"exp": now - 120}, "", nil, "and the clock here says"},
		{"R-323 a token of the future has both clocks", claims{"iat": now + 6000}, "", nil, "and the clock here says"},
		{"R-323 a token for later has both clocks", claims{"nbf": now + 600}, "", nil, "and the clock here says"},
		{"exp ten seconds ago, which clocks may differ by", claims{"exp": now - 10}, "", nil, ""},
		{"R-029 exp ten seconds ago with less leeway", claims{"exp": now - 10}, "", func(c *Config) { c.Leeway = time.Second }, "expired"},
		{"R-029 exp with a fraction", claims{"exp": float64(now) + 300.5}, "", nil, ""},
		{"R-029 iat missing", claims{"iat": nil}, "", nil, "iat"},
		{"R-029 iat as text", claims{"iat": "0"}, "", nil, "iat"},
		{"R-029 iat next year", claims{"iat": now + 366*86400, "exp": now + 367*86400}, "", nil, "iat"},
		{"iat a week ago", claims{"iat": now - 7*86400}, "", nil, ""},
		{"nbf in ten minutes", claims{"nbf": now + 600}, "", nil, "not valid yet"},
		{"nbf as text", claims{"nbf": "0"}, "", nil, "nbf is not a time"},
		{"nbf passed", claims{"nbf": now - 5}, "", nil, ""},

		{"R-032 nonce equal", claims{"nonce": "n"}, "n", nil, ""},
		{"R-032 nonce of another", claims{"nonce": "m"}, "n", nil, "nonce"},
		{"R-032 nonce missing", nil, "n", nil, "nonce"},
		{"R-032 nonce in another case", claims{"nonce": "N"}, "n", nil, "nonce"},
		{"R-032 nonce of another type", claims{"nonce": []string{"n"}}, "n", nil, "nonce"},
		{"R-032 nonce that was not sent", claims{"nonce": "surprise"}, "", nil, "nonce"},
		{"R-032 empty nonce that was not sent", claims{"nonce": ""}, "", nil, "nonce"},

		{"R-033 sub missing", claims{"sub": nil}, "", nil, "sub"},
		{"R-033 sub empty", claims{"sub": ""}, "", nil, "sub"},
		{"R-033 sub a number", claims{"sub": 5}, "", nil, "sub"},
		{"R-033 sub too long to be stored whole", claims{"sub": strings.Repeat("s", 256)}, "", nil, "sub"},
		{"R-033 sub with half a character", claims{"sub": json.RawMessage(`"a\ud800"`)}, "", nil, "sub"},
		{"R-383 sub outside of ASCII", claims{"sub": "ada-ä"}, "", nil, "ASCII"},
		{"R-383 sub with a zero", claims{"sub": "ada\x00"}, "", nil, "ASCII"},
		{"R-383 sub with a line break", claims{"sub": "ada\n"}, "", nil, "ASCII"},
		{"R-383 sub with DEL", claims{"sub": "ada\x7f"}, "", nil, "ASCII"},
		{"R-383 sub with letters from right to left", claims{"sub": "\u202eada"}, "", nil, "ASCII"},
		{"R-368 sub over 255 characters, and the error says so", claims{"sub": strings.Repeat("s", 256)}, "", nil, "255"},

		{"R-035 at_hash right", claims{"at_hash": b64(hash[:16])}, "", nil, ""},
		{"R-035 at_hash wrong", claims{"at_hash": b64(hash[16:])}, "", nil, "at_hash"},
		{"R-035 at_hash whole", claims{"at_hash": b64(hash[:])}, "", nil, "at_hash"},
		{"R-035 at_hash empty", claims{"at_hash": ""}, "", nil, "at_hash"},
		{"R-035 at_hash of another type", claims{"at_hash": 1}, "", nil, "at_hash"},

		{"R-036 Sub is not sub", claims{"sub": nil, "Sub": "person-1"}, "", nil, "sub"},
		{"R-036 AUD is not aud", claims{"aud": nil, "AUD": clientID}, "", nil, "aud"},
		{"R-036 ISS is not iss", claims{"iss": nil, "ISS": f.URL}, "", nil, "iss"},
		{"R-036 Exp is not exp", claims{"exp": nil, "Exp": now + 300}, "", nil, "exp"},
		{"R-036 Nonce is not nonce", claims{"Nonce": "n"}, "n", nil, "nonce"},

		{"max_age was kept", claims{"auth_time": now - 50}, "", askMaxAge, ""},
		{"max_age was not kept", claims{"auth_time": now - 130}, "", askMaxAge, "auth_time"},
		{"max_age without an answer", nil, "", askMaxAge, "auth_time"},
	} {
		t.Run(row.name, func(t *testing.T) {
			config := f.config()
			if row.change != nil {
				row.change(&config)
			}
			claims, err := newClient(t, config).VerifyIDToken(t.Context(), f.idToken(row.claims), IDTokenCheck{Nonce: row.nonce, AccessToken: "access"})
			if row.want != "" {
				if claims != nil {
					t.Error("claims beside the error")
				}
				wantStep(t, err, StepIDToken, row.want)
			} else if err != nil {
				t.Fatal(err)
			} else if claims["sub"] != "person-1" {
				t.Errorf("unexpected claims %v", claims)
			}
		})
	}
}

// TestDemandsOnIDTokens shows what a token has to say because the request demanded it
// (T-083, T-084).
func TestDemandsOnIDTokens(t *testing.T) {
	f := newFake(t)
	now := time.Now()
	none, minute := int64(0), int64(60)
	type claims = map[string]any
	for _, row := range []struct {
		name   string
		claims claims
		want   IDTokenCheck
		met    bool
	}{
		{"T-083 recent", claims{"auth_time": now.Unix() - 100}, IDTokenCheck{Demands: Demands{MaxAge: &minute}}, true},
		{"T-083 too long ago", claims{"auth_time": now.Unix() - 130}, IDTokenCheck{Demands: Demands{MaxAge: &minute}}, false},
		{"T-083 not said", nil, IDTokenCheck{Demands: Demands{MaxAge: &minute}}, false},
		{"T-083 in the future", claims{"auth_time": now.Unix() + 900}, IDTokenCheck{Demands: Demands{MaxAge: &minute}}, false},
		{"T-083 since the flow began", claims{"auth_time": now.Unix() - 590}, IDTokenCheck{Demands: Demands{MaxAge: &none}, Begun: now.Add(-9 * time.Minute)}, true},
		{"T-083 before the flow began", claims{"auth_time": now.Unix() - 630}, IDTokenCheck{Demands: Demands{MaxAge: &none}, Begun: now.Add(-9 * time.Minute)}, false},
		{"T-083 a minute counts from now", claims{"auth_time": now.Unix() - 200}, IDTokenCheck{Demands: Demands{MaxAge: &minute}, Begun: now.Add(-9 * time.Minute)}, false},
		{"T-084 one of them", claims{"acr": "mfa"}, IDTokenCheck{Demands: Demands{ACR: []string{"phr", "mfa"}}}, true},
		{"T-084 another", claims{"acr": "pwd"}, IDTokenCheck{Demands: Demands{ACR: []string{"phr"}}}, false},
		{"T-084 not said", nil, IDTokenCheck{Demands: Demands{ACR: []string{"phr"}}}, false},
		{"T-084 a list", claims{"acr": []string{"phr"}}, IDTokenCheck{Demands: Demands{ACR: []string{"phr"}}}, false},
		{"T-084 nothing demanded", claims{"acr": "pwd"}, IDTokenCheck{}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := f.client(t).VerifyIDToken(t.Context(), f.idToken(row.claims), row.want)
			if (err == nil) != row.met || (got != nil) != row.met || err != nil && !errors.Is(err, ErrUnmet) {
				t.Errorf("%v", err)
			}
		})
	}
}

func askMaxAge(c *Config) { c.Authorization.Params = url.Values{"max_age": {"60"}} }

func TestIDTokenSignature(t *testing.T) {
	f := newFake(t)
	f.setKeys(jwk(rsaKey().Public(), "k1", ""), jwk(ecKey().Public(), "k2", ""), jwk(edKey().Public(), "k3", ""))
	honest := f.idToken(nil)
	payload := encode(f.claims(nil))
	parts := strings.Split(honest, ".")
	unsigned := func(alg string) string { return b64([]byte(`{"alg":"`+alg+`"}`)) + "." + b64(payload) + "." }
	embedded := jose.JSONWebKey{Key: otherKey().Public(), KeyID: "k1"}
	with := func(more string) string { return string(payload[:len(payload)-1]) + "," + more + "}" }
	signText := func(claims string) string { return sign(rsaKey(), jose.RS256, "k1", nil, []byte(claims)) }
	all := func(c *Config) { c.IDTokenAlgs = []string{"RS256", "PS256", "ES256", "EdDSA"} }
	for _, row := range []struct {
		name, token string
		change      func(*Config)
		want        string
	}{
		{"honest", honest, nil, ""},
		{"PS256 where configured", sign(rsaKey(), jose.PS256, "k1", nil, payload), all, ""},
		{"ES256 where configured", sign(ecKey(), jose.ES256, "k2", nil, payload), all, ""},
		{"EdDSA where configured", sign(edKey(), jose.EdDSA, "k3", nil, payload), all, ""},
		{"a usual type", sign(rsaKey(), jose.RS256, "k1", map[string]any{"typ": "JWT"}, payload), nil, ""},

		{"R-368 Ed25519 where configured", signEd25519("k3", payload), func(c *Config) { c.IDTokenAlgs = []string{"Ed25519"} }, ""},
		{"R-368 Ed25519 where EdDSA is configured", signEd25519("k3", payload), all, ""},
		{"R-368 EdDSA where Ed25519 is configured", sign(edKey(), jose.EdDSA, "k3", nil, payload), func(c *Config) { c.IDTokenAlgs = []string{"Ed25519"} }, ""},
		{"R-368 Ed25519 where neither is", signEd25519("k3", payload), nil, "algorithm"},
		{"R-368 Ed25519 with another key's name", signEd25519("k1", payload), all, "no key"},
		{"R-368 Ed25519 with a damaged signature", damaged(signEd25519("k3", payload)), all, "no key"},
		{"R-383 crit null", withHeader(`{"alg":"RS256","kid":"k1","crit":null}`, payload), nil, "extensions"},
		{"R-383 crit an empty list", withHeader(`{"alg":"RS256","kid":"k1","crit":[]}`, payload), nil, "extensions"},
		{"R-383 b64 null", withHeader(`{"alg":"RS256","kid":"k1","b64":null}`, payload), nil, "extensions"},
		{"R-383 typ null", withHeader(`{"alg":"RS256","kid":"k1","typ":null}`, payload), nil, "another type"},
		{"R-383 kid twice in the header", withHeader(`{"alg":"RS256","kid":"k0","kid":"k1"}`, payload), nil, "malformed"},
		{"R-383 a member nobody knows twice in the header", withHeader(`{"alg":"RS256","kid":"k1","x":1,"x":1}`, payload), nil, "malformed"},
		{"R-383 sub twice", signText(with(`"sub":"mallory"`)), nil, "repeated"},
		{"R-383 aud twice", signText(with(`"aud":"other"`)), nil, "repeated"},
		{"R-383 a claim twice, once with escapes", signText(with(`"s\u0075b":"mallory"`)), nil, "repeated"},
		{"R-383 an unknown claim twice", signText(with(`"x":1,"x":1`)), nil, "repeated"},
		{"R-383 a member of a claim twice", signText(with(`"address":[{"a":{"b":1,"b":2}}]`)), nil, "repeated"},
		{"a name twice, in two objects", signText(with(`"x":[{"sub":1},{"sub":"sub"}],"y":{"x":"x","y":["x","x"]}`)), nil, ""},
		{"R-018 another key", sign(otherKey(), jose.RS256, "k1", nil, payload), nil, "no key"},
		{"R-018 no signature", parts[0] + "." + parts[1] + ".", nil, "no key"},
		{"R-018 other claims", parts[0] + "." + b64(encode(f.claims(map[string]any{"sub": "admin"}))) + "." + parts[2], nil, "no key"},
		{"R-018 another header", b64([]byte(`{"alg":"RS256","kid":"k1","x":1}`)) + "." + parts[1] + "." + parts[2], nil, "no key"},
		{"R-018 stray bits in the signature", honest[:len(honest)-1] + next(honest[len(honest)-1]), nil, "base64url"},
		{"R-018 line break", parts[0] + "." + parts[1] + ".\n" + parts[2], nil, "base64url"},
		{"R-018 missing", "", nil, "missing"},
		{"R-019 none", unsigned("none"), nil, "algorithm"},
		{"R-019 None", unsigned("None"), nil, "algorithm"},
		{"R-019 NONE", unsigned("NONE"), nil, "algorithm"},
		{"R-019 nOnE with a signature", unsigned("nOnE") + parts[2], nil, "algorithm"},
		{"R-019 no alg", b64([]byte(`{}`)) + "." + b64(payload) + ".", nil, "algorithm"},
		{"R-021 ES256 where RS256 is expected", sign(ecKey(), jose.ES256, "k2", nil, payload), nil, "algorithm"},
		{"R-021 PS256 where RS256 is expected", sign(rsaKey(), jose.PS256, "k1", nil, payload), nil, "algorithm"},
		{"R-021 HS256 with the client secret", sign([]byte(secret), jose.HS256, "", nil, payload), nil, "algorithm"},
		{"R-021 HS256 with the public key", sign(encode(jwk(rsaKey().Public(), "k1", "")), jose.HS256, "k1", nil, payload), nil, "algorithm"},
		{"R-023 key in the header", sign(otherKey(), jose.RS256, "", map[string]any{"jwk": embedded}, payload), nil, "no key"},
		{"R-023 key in the header under a known name", sign(otherKey(), jose.RS256, "k1", map[string]any{"jwk": embedded}, payload), nil, "no key"},
		{"R-023 URL of keys", sign(otherKey(), jose.RS256, "k1", map[string]any{"jku": f.URL + "/evil"}, payload), nil, "no key"},
		{"R-023 URL of a certificate", sign(otherKey(), jose.RS256, "k1", map[string]any{"x5u": f.URL + "/evil"}, payload), nil, "no key"},
		{"R-023 kid that is a path", sign(otherKey(), jose.RS256, "../../evil", nil, payload), nil, "no key"},
		{"R-023 kid that is a URL", sign(otherKey(), jose.RS256, f.URL+"/evil", nil, payload), nil, "no key"},
		{"R-023 URL beside an honest signature", sign(rsaKey(), jose.RS256, "k1", map[string]any{"jku": f.URL + "/evil"}, payload), nil, ""},
		{"extension that must be understood", sign(rsaKey(), jose.RS256, "k1", map[string]any{"crit": []string{"x"}, "x": 1}, payload), nil, "extensions"},
		{"payload that is not encoded", sign(rsaKey(), jose.RS256, "k1", map[string]any{"b64": true}, payload), nil, "extensions"},
		{"an access token", sign(rsaKey(), jose.RS256, "k1", map[string]any{"typ": "at+jwt"}, payload), nil, "another type"},
		{"a logout token", sign(rsaKey(), jose.RS256, "k1", map[string]any{"typ": "Logout+JWT"}, payload), nil, "another type"},
		{"claims that are no object", sign(rsaKey(), jose.RS256, "k1", nil, []byte(`["x"]`)), nil, "object"},
		{"claims that are not UTF-8", sign(rsaKey(), jose.RS256, "k1", nil, []byte("{\"sub\":\"\xff\"}")), nil, "UTF-8"},
		{"R-038 two parts", parts[0] + "." + parts[1], nil, "three parts"},
		{"R-038 four parts", honest + ".x", nil, "three parts"},
		{"R-038 five parts", honest + ".x.y", nil, "three parts"},
		{"R-561 five parts are called encrypted", honest + ".x.y", nil, "which is not supported"},
		{"R-561 another issuer, and both are named", f.idToken(map[string]any{"iss": "https://op.example"}), nil, `iss is "https://op.example", and the configured issuer "` + f.URL + `"`},
		{"R-561 another issuer, made printable", f.idToken(map[string]any{"iss": "https://op.example/\x1b\n" + strings.Repeat("x", 500)}), nil, `iss is "https://op.example/\x1b\n` + strings.Repeat("x", 50)},
		{"R-038 a million dots", strings.Repeat(".", 1<<20), nil, "too large"},
		{"R-038 JSON form", `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, nil, "three parts"},
		{"R-038 honest but too large", f.idToken(map[string]any{"x": strings.Repeat("x", 16<<10)}), nil, "too large"},
	} {
		t.Run(row.name, func(t *testing.T) {
			config := f.config()
			if row.change != nil {
				row.change(&config)
			}
			_, err := newClient(t, config).VerifyIDToken(t.Context(), row.token, IDTokenCheck{})
			if row.want != "" {
				wantStep(t, err, StepIDToken, row.want)
			} else if err != nil {
				t.Fatal(err)
			}
		})
	}
	if n := f.hits("/evil"); n != 0 {
		t.Errorf("R-023: %d requests for keys that a token named", n)
	}
}

// next is the following letter of the base64url alphabet: it differs in the
// lowest bit, which 256 bytes leave unused.
func next(letter byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return alphabet[strings.IndexByte(alphabet, letter)+1:][:1]
}

// signEd25519 names the algorithm as RFC 9864 does.
func signEd25519(kid string, payload []byte) string {
	input := b64([]byte(`{"alg":"Ed25519","kid":"`+kid+`"}`)) + "." + b64(payload)
	return input + "." + b64(ed25519.Sign(edKey(), []byte(input)))
}

// damaged changes the first byte of a token's signature.
func damaged(token string) string {
	at := strings.LastIndexByte(token, '.') + 1
	return token[:at] + next(token[at]) + token[at+1:]
}

// withHeader signs with k1 whatever the header says.
func withHeader(header string, payload []byte) string {
	input := b64([]byte(header)) + "." + b64(payload)
	sum := sha256.Sum256([]byte(input))
	return input + "." + b64(must(rsa.SignPKCS1v15(nil, rsaKey(), crypto.SHA256, sum[:])))
}

func TestR368Ed25519InMetadataAndKeys(t *testing.T) {
	f := newFake(t)
	payload := encode(f.claims(nil))
	for _, advertised := range []string{"EdDSA", "Ed25519"} {
		for _, alg := range []string{"", "EdDSA", "Ed25519"} {
			f.describe(map[string]any{"id_token_signing_alg_values_supported": []string{advertised}})
			f.setKeys(jwk(edKey().Public(), "k3", alg))
			for _, token := range []string{signEd25519("k3", payload), sign(edKey(), jose.EdDSA, "k3", nil, payload)} {
				if err := verify(t, f.client(t), token); err != nil {
					t.Errorf("%q advertised, %q in the key, %.12s: %v", advertised, alg, token, err)
				}
			}
		}
	}
}

func TestR021AlgorithmsOfTheMetadata(t *testing.T) {
	f := newFake(t)
	f.setKeys(jwk(rsaKey().Public(), "k1", ""), jwk(ecKey().Public(), "k2", ""))
	payload := encode(f.claims(nil))
	rs := sign(rsaKey(), jose.RS256, "k1", nil, payload)
	es := sign(ecKey(), jose.ES256, "k2", nil, payload)
	hs := sign([]byte(secret), jose.HS256, "", nil, payload)
	for _, row := range []struct {
		name       string
		advertised any
		rs, es, hs bool
	}{
		{"not stated: RS256", nil, true, false, false},
		{"empty: RS256", []string{}, true, false, false},
		{"both", []string{"ES256", "RS256"}, true, true, false},
		{"only ES256", []string{"ES256"}, false, true, false},
		{"only HS256: RS256", []string{"HS256"}, true, false, false},
		{"none is never accepted", []string{"none", "ES256"}, false, true, false},
	} {
		t.Run("R-021 "+row.name, func(t *testing.T) {
			f.describe(map[string]any{"id_token_signing_alg_values_supported": row.advertised})
			c := f.client(t)
			for token, want := range map[string]bool{rs: row.rs, es: row.es, hs: row.hs} {
				if _, err := c.VerifyIDToken(t.Context(), token, IDTokenCheck{}); (err == nil) != want {
					t.Errorf("accepted %.20s: %v, want %v", token, err == nil, want)
				}
			}
		})
	}
}

func TestHMACByOption(t *testing.T) {
	f := newFake(t)
	c := f.client(t, func(c *Config) { c.IDTokenAlgs = []string{"HS256"} })
	payload := encode(f.claims(nil))
	if _, err := c.VerifyIDToken(t.Context(), sign([]byte(secret), jose.HS256, "", nil, payload), IDTokenCheck{}); err != nil {
		t.Fatal(err)
	}
	_, err := c.VerifyIDToken(t.Context(), sign([]byte(strings.Repeat("x", 32)), jose.HS256, "", nil, payload), IDTokenCheck{})
	wantStep(t, err, StepIDToken, "client secret")
	_, err = c.VerifyIDToken(t.Context(), f.idToken(nil), IDTokenCheck{})
	wantStep(t, err, StepIDToken, "algorithm")
	if n := f.hits(keysPath); n != 0 {
		t.Errorf("%d key requests, want none", n)
	}
}

func TestR035HashFollowsTheAlgorithm(t *testing.T) {
	f := newFake(t)
	f.setKeys(jwk(rsaKey().Public(), "k1", ""), jwk(edKey().Public(), "k3", ""))
	c := f.client(t, func(c *Config) { c.IDTokenAlgs = []string{"RS384", "RS512", "EdDSA"} })
	s384, s512 := sha512.Sum384([]byte("access")), sha512.Sum512([]byte("access"))
	for _, row := range []struct {
		alg  jose.SignatureAlgorithm
		key  any
		kid  string
		half []byte
	}{
		{jose.RS384, rsaKey(), "k1", s384[:24]},
		{jose.RS512, rsaKey(), "k1", s512[:32]},
		{jose.EdDSA, edKey(), "k3", s512[:32]},
	} {
		t.Run("R-035 "+string(row.alg), func(t *testing.T) {
			token := sign(row.key, row.alg, row.kid, nil, encode(f.claims(map[string]any{"at_hash": b64(row.half)})))
			if _, err := c.VerifyIDToken(t.Context(), token, IDTokenCheck{AccessToken: "access"}); err != nil {
				t.Error(err)
			}
			_, err := c.VerifyIDToken(t.Context(), token, IDTokenCheck{AccessToken: "other"})
			wantStep(t, err, StepIDToken, "at_hash")
		})
	}
}

func TestR057RefreshedIDToken(t *testing.T) {
	f := newFake(t)
	c := f.client(t)
	now := time.Now().Unix()
	type claims = map[string]any
	first := claims{"nonce": "n", "auth_time": now - 500, "aud": []string{clientID, "b"}, "azp": clientID}
	original, err := c.VerifyIDToken(t.Context(), f.idToken(first), IDTokenCheck{Nonce: "n"})
	if err != nil {
		t.Fatal(err)
	}
	// As it comes back from a store.
	var stored map[string]any
	if err := json.Unmarshal(encode(original), &stored); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		claims claims
		want   string
	}{
		{"the same", first, ""},
		{"aud in another order", claims{"aud": []string{"b", clientID}, "azp": clientID}, ""},
		{"nonce and auth_time left out", claims{"aud": []string{clientID, "b"}, "azp": clientID}, ""},
		{"another iss", claims{"iss": "https://op.example"}, "iss"},
		{"another sub", claims{"sub": "person-2", "aud": []string{clientID, "b"}, "azp": clientID}, "sub"},
		{"another aud", claims{"aud": []string{clientID, "c"}, "azp": clientID}, "aud"},
		{"less aud", claims{"aud": clientID, "azp": clientID}, "aud"},
		{"no azp", claims{"aud": clientID}, "azp"},
		{"another nonce", claims{"aud": []string{clientID, "b"}, "azp": clientID, "nonce": "m"}, "nonce"},
		{"another auth_time", claims{"aud": []string{clientID, "b"}, "azp": clientID, "auth_time": now}, "auth_time"},
		{"expired", claims{"aud": []string{clientID, "b"}, "azp": clientID, "exp": now - 100}, "expired"},
	} {
		t.Run("R-057 "+row.name, func(t *testing.T) {
			for _, before := range []map[string]any{original, stored} {
				_, err := c.VerifyIDToken(t.Context(), f.idToken(row.claims), IDTokenCheck{Original: before})
				if row.want != "" {
					wantStep(t, err, StepIDToken, row.want)
				} else if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
