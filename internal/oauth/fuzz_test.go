package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const fuzzIssuer = "https://op.example"

// offline is a client whose provider always gives the same answer.
func offline(t testing.TB, mediaType, body string) *Client {
	return newClient(t, Config{
		OIDC: true, Issuer: fuzzIssuer, ClientID: clientID, ClientSecret: fixed(secret),
		Authorization: Endpoint{URL: fuzzIssuer + "/authorize"},
		Token:         Endpoint{URL: fuzzIssuer + "/token"},
		JWKS:          fuzzIssuer + "/jwks",
		HTTP: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: 200,
				Header:     http.Header{"Content-Type": {mediaType}},
				Body:       io.NopCloser(strings.NewReader(body)),
			}, nil
		})},
	})
}

// FuzzIDToken signs whatever claims there are, and also feeds the input as a
// token of its own: the one must keep the promises, the other never pass.
func FuzzIDToken(f *testing.F) {
	now := time.Now().Unix()
	honest := encode(map[string]any{"iss": fuzzIssuer, "aud": clientID, "sub": "s", "iat": now, "exp": now + 1e6})
	f.Add(honest)
	f.Add([]byte(`{"iss":"https://op.example","aud":["client-1",{}],"azp":[]}`))
	f.Add([]byte(`{"exp":1e999,"iat":"x","nonce":null}`))
	f.Add([]byte(sign(otherKey(), jose.RS256, "k1", nil, honest)))
	f.Add([]byte(b64([]byte(`{"alg":"none"}`)) + "." + b64(honest) + "."))
	f.Add([]byte(b64([]byte(`{"alg":"RS256","kid":{},"jwk":{},"x5c":["!"]}`)) + "." + b64(honest) + ".AAAA"))
	c := offline(f, "application/json", string(encode(map[string]any{"keys": []any{jwk(rsaKey().Public(), "k1", "RS256")}})))
	f.Fuzz(func(t *testing.T, input []byte) {
		if _, err := c.VerifyIDToken(context.Background(), string(input), IDTokenCheck{}); err == nil {
			t.Fatal("accepted a token that nobody signed")
		}
		claims, err := c.VerifyIDToken(context.Background(), sign(rsaKey(), jose.RS256, "k1", nil, input), IDTokenCheck{AccessToken: "a"})
		if err != nil {
			var failure *StepError
			if claims != nil || !errors.As(err, &failure) {
				t.Fatalf("got %v, %v", claims, err)
			}
			return
		}
		aud, _ := audienceOf(claims)
		if claims["iss"] != fuzzIssuer || len(aud) == 0 || claims["sub"] == "" || claims["sub"] == nil || claims["nonce"] != nil {
			t.Fatalf("accepted %v", claims)
		}
	})
}

func FuzzDiscovery(f *testing.F) {
	f.Add([]byte(`{"issuer":"https://op.example","authorization_endpoint":"https://op.example/a?x=1","token_endpoint":"https://op.example/t"}`))
	f.Add([]byte(`{"issuer":"https://op.example/","jwks_uri":"http://127.0.0.1/"}`))
	f.Add([]byte(`{"issuer":["https://op.example"],"token_endpoint":{}}`))
	f.Add([]byte(`{"issuer":"https://op.example","end_session_endpoint":"javascript:1"}`))
	c := newClient(f, Config{OIDC: true, Issuer: fuzzIssuer, ClientID: clientID, ClientAuth: NoClientAuth})
	f.Fuzz(func(t *testing.T, input []byte) {
		m, err := c.parseMetadata(input)
		if err != nil {
			return
		}
		if strings.TrimSuffix(m.Issuer, "/") != fuzzIssuer {
			t.Fatalf("accepted the issuer %q", m.Issuer)
		}
		for _, endpoint := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.UserInfoEndpoint, m.JWKSURI, m.EndSessionEndpoint} {
			if u, err := url.Parse(endpoint); err != nil || endpoint != "" && (u.Scheme != "https" || u.User != nil || u.Host == "") {
				t.Fatalf("accepted the URL %q", endpoint)
			}
		}
	})
}

func FuzzKeys(f *testing.F) {
	f.Add(encode(map[string]any{"keys": []any{jwk(rsaKey().Public(), "k1", "RS256"), jwk(ecKey().Public(), "k2", "ES256"), jwk(edKey().Public(), "k3", "")}}))
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"oct","k":"AA"},5,null]}`))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":""},{"kty":"OKP","crv":"Ed25519","x":"AA"}]}`))
	text := sign(rsaKey(), jose.RS256, "", nil, []byte("{}"))
	token := &compactToken{must(jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.RS256})), text}
	f.Fuzz(func(t *testing.T, input []byte) {
		set, err := parseKeys(input)
		if err != nil {
			return
		}
		for _, k := range set.keys {
			if len(k.algs) == 0 || k.public == nil {
				t.Fatalf("kept a key that cannot be used: %+v", k)
			}
		}
		set.verify(token)
	})
}

func FuzzTokenResponse(f *testing.F) {
	f.Add([]byte(tokenAnswer(map[string]any{"id_token": "a.b.c", "scope": "x"})), 200)
	f.Add([]byte(`{"access_token":"a","token_type":"BEARER","expires_in":"1e3"}`), 200)
	f.Add([]byte(`{"error":"invalid_grant","error_description":"\u001b[31m"}`), 400)
	f.Add([]byte(`{"error":[],"access_token":null}`), 200)
	c := offline(f, "", "")
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		token, err := c.readToken(c.explicit, &answer{status: status, mediaType: "application/json", body: body})
		var stated *ResponseError
		var failure *StepError
		switch {
		case err != nil && (token != nil || !errors.As(err, &stated) && !errors.As(err, &failure)):
			t.Fatalf("got %v, %v", token, err)
		case err != nil && strings.ContainsAny(err.Error(), "\r\n\x1b"):
			t.Fatalf("unfit for a log: %q", err)
		case err == nil && (status != 200 || token.AccessToken == "" || token.Type != "bearer"):
			t.Fatalf("accepted %+v with status %d", token, status)
		}
	})
}

func FuzzCallback(f *testing.F) {
	f.Add("code=c&state=s&iss=https%3A%2F%2Fop.example")
	f.Add("error=access_denied&error_description=%0d%0a%1b&state=s")
	f.Add("code=a&code=b")
	f.Add("iss=&code=c;x&%zz")
	c := offline(f, "", "")
	f.Fuzz(func(t *testing.T, query string) {
		params, _ := url.ParseQuery(query)
		before := string(must(json.Marshal(params)))
		cb, err := ParseCallback(params)
		if err != nil {
			return
		}
		err = c.CheckResponse(context.Background(), cb)
		if err == nil && (cb.Code == "" || params.Get("error") != "" || params.Has("iss") && params.Get("iss") != fuzzIssuer) {
			t.Fatalf("accepted %q", query)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\r\n\x1b") {
			t.Fatalf("unfit for a log: %q", err)
		}
		if after := string(must(json.Marshal(params))); after != before {
			t.Fatalf("the parameters changed from %s to %s", before, after)
		}
	})
}
