package latchkeytest_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// assertion makes a client assertion that is in order, with changes.
func assertion(t *testing.T, alg jose.SignatureAlgorithm, key any, iss string, change func(map[string]any)) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	claims := map[string]any{"iss": "client", "sub": "client", "aud": iss, "exp": time.Now().Add(time.Minute).Unix(), "jti": rand.Text()}
	if change != nil {
		change(claims)
	}
	payload, _ := json.Marshal(claims)
	token, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := token.CompactSerialize()
	return text
}

func asserted(text string) url.Values {
	return url.Values{"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {text}}
}

func TestClientAuthentication(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	start := func(method latchkey.ClientAuth) *party {
		return newParty(t, latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) {
			c.ClientAuth, c.ClientKey = method, crypto.PublicKey(&key.PublicKey)
		}))
	}
	secret := start("").iss.Provider().ClientSecret
	post := url.Values{"client_id": {"client"}, "client_secret": {secret}}
	rows := []struct {
		name   string
		method latchkey.ClientAuth
		form   func(p *party) url.Values
		header func(p *party) http.Header
		want   bool
	}{
		{"basic", latchkey.ClientSecretBasic, nil, (*party).basic, true},
		{"any: basic", "", nil, (*party).basic, true},
		{"basic that was not form-encoded", latchkey.ClientSecretBasic, nil, func(*party) http.Header {
			r := &http.Request{Header: http.Header{}}
			r.SetBasicAuth("client", secret)
			return r.Header
		}, false},
		{"post", latchkey.ClientSecretPost, func(*party) url.Values { return post }, nil, true},
		{"any: post", "", func(*party) url.Values { return post }, nil, true},
		{"post although basic was agreed", latchkey.ClientSecretBasic, func(*party) url.Values { return post }, nil, false},
		{"wrong secret", latchkey.ClientSecretPost, func(*party) url.Values {
			return url.Values{"client_id": {"client"}, "client_secret": {"x"}}
		}, nil, false},
		{"secret JWT", latchkey.ClientSecretJWT, func(p *party) url.Values {
			return asserted(assertion(t, jose.HS256, []byte(secret), p.iss.URL, nil))
		}, nil, true},
		{"private key JWT", latchkey.PrivateKeyJWT, func(p *party) url.Values {
			return asserted(assertion(t, jose.ES256, key, p.iss.URL+latchkeytest.PathToken, nil))
		}, nil, true},
		{"private key JWT, audience in a list", latchkey.PrivateKeyJWT, func(p *party) url.Values {
			return asserted(assertion(t, jose.ES256, key, "", func(c map[string]any) { c["aud"] = []string{p.iss.URL} }))
		}, nil, true},
		{"private key JWT for somebody else", latchkey.PrivateKeyJWT, func(*party) url.Values {
			return asserted(assertion(t, jose.ES256, key, "https://other.example", nil))
		}, nil, false},
		{"expired", latchkey.PrivateKeyJWT, func(p *party) url.Values {
			return asserted(assertion(t, jose.ES256, key, p.iss.URL, func(c map[string]any) { c["exp"] = 1 }))
		}, nil, false},
		{"another client's", latchkey.PrivateKeyJWT, func(p *party) url.Values {
			return asserted(assertion(t, jose.ES256, key, p.iss.URL, func(c map[string]any) { c["sub"] = "x" }))
		}, nil, false},
		{"without jti", latchkey.PrivateKeyJWT, func(p *party) url.Values {
			return asserted(assertion(t, jose.ES256, key, p.iss.URL, func(c map[string]any) { delete(c, "jti") }))
		}, nil, false},
		{"secret JWT although a key was agreed", latchkey.PrivateKeyJWT, func(p *party) url.Values {
			return asserted(assertion(t, jose.HS256, []byte(secret), p.iss.URL, nil))
		}, nil, false},
		{"garbage for an assertion", latchkey.PrivateKeyJWT, func(*party) url.Values { return asserted("a.b.c") }, nil, false},
		{"none", latchkey.ClientAuthNone, func(*party) url.Values { return url.Values{"client_id": {"client"}} }, nil, true},
		{"none although a secret was agreed", "", func(*party) url.Values { return url.Values{"client_id": {"client"}} }, nil, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			p := start(row.method)
			form := url.Values{"grant_type": {"authorization_code"}, "code": {p.authorize().Get("code")}, "redirect_uri": {callback}, "code_verifier": {verifier}}
			if row.form != nil {
				for name, values := range row.form(p) {
					form[name] = values
				}
			}
			var header http.Header
			if row.header != nil {
				header = row.header(p)
			}
			resp, body := p.do(http.MethodPost, p.iss.URL+latchkeytest.PathToken, form, header)
			if got := resp.StatusCode == http.StatusOK; got != row.want {
				t.Errorf("accepted: %v, want %v (%s)", got, row.want, body)
			}
			if !row.want && (resp.StatusCode != http.StatusUnauthorized || p.object(body)["error"] != "invalid_client") {
				t.Errorf("refused with %d %s", resp.StatusCode, body)
			}
		})
	}
}

func TestAssertionsWorkOnce(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := newParty(t, latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) {
		c.ClientAuth, c.ClientKey = latchkey.PrivateKeyJWT, &key.PublicKey
	}))
	form := asserted(assertion(t, jose.ES256, key, p.iss.URL, nil))
	for i, want := range []string{"unsupported_grant_type", "invalid_client"} {
		if _, body := p.do(http.MethodPost, p.iss.URL+latchkeytest.PathToken, form, nil); p.object(body)["error"] != want {
			t.Errorf("use %d: %s", i+1, body)
		}
	}
}

func TestPublicClientNeedsPKCE(t *testing.T) {
	p := newParty(t, latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.ClientAuth = latchkey.ClientAuthNone }))
	if got := p.authorize("code_challenge", "-", "code_challenge_method", "-").Get("error"); got != "invalid_request" {
		t.Errorf("error %q", got)
	}
	if p.iss.Provider().ClientSecret != "" {
		t.Error("a public client got a secret")
	}
}
