package providers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// script is a provider's servers, under all of their names and over TLS, that
// say what a record says.
type script struct {
	*recorded
	clientID, clientSecret string
	nonce                  string // what the ID token answers

	mu    sync.Mutex
	heard []heard
}

// heard is a call as it came over the wire.
type heard struct {
	method string
	url    *url.URL
	header http.Header
	body   []byte
}

// identities is what all scripted servers prove themselves and sign with.
var identities = sync.OnceValue(func() (keys struct {
	tls *ecdsa.PrivateKey
	rsa *rsa.PrivateKey
},
) {
	keys.tls, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	keys.rsa, _ = rsa.GenerateKey(rand.Reader, 2048)
	return keys
})

// serve starts the servers and returns a transport that reaches them by their
// names, whose certificates it checks.
func (s *script) serve(t *testing.T) http.RoundTripper {
	t.Helper()
	root := certificate(t, nil, "scripted servers")
	server := httptest.NewUnstartedServer(s)
	server.TLS = &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return &tls.Certificate{Certificate: [][]byte{certificate(t, root, hello.ServerName).Raw}, PrivateKey: identities().tls}, nil
	}}
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(root)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// certificate is one for a host; without a parent, the root of the others.
func certificate(t *testing.T, parent *x509.Certificate, name string) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true,
	}
	if parent == nil {
		template.IsCA, template.DNSNames, parent = true, nil, template
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &identities().tls.PublicKey, identities().tls)
	if err != nil {
		t.Error(err)
		return template
	}
	c, _ := x509.ParseCertificate(raw)
	return c
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.Scheme, r.URL.Host = "https", r.Host
	body, _ := io.ReadAll(r.Body)
	answer := s.answer(r)
	if !answer.ours {
		s.mu.Lock()
		s.heard = append(s.heard, heard{r.Method, r.URL, r.Header, body})
		s.mu.Unlock()
	}
	w.Header().Set("Content-Type", or(answer.media, "application/json"))
	w.WriteHeader(max(answer.status, http.StatusOK))
	_, _ = w.Write(answer.body)
}

type scriptedAnswer struct {
	status int
	media  string
	body   []byte
	ours   bool // a part of every OpenID Provider, which nobody has to expect
}

func (s *script) answer(r *http.Request) scriptedAnswer {
	here := bare(r.URL)
	switch {
	case strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration"):
		body, _ := json.Marshal(s.document())
		return scriptedAnswer{body: body, ours: true}
	case here == s.document()["jwks_uri"]:
		body, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &identities().rsa.PublicKey, KeyID: "k", Use: "sig"}}})
		return scriptedAnswer{body: body, ours: true}
	case s.isAt("token", here):
		if s.Error.At == "token" {
			return scriptedAnswer{status: or0(s.Error.Status, 400), media: s.Error.Type, body: textOrJSON(s.Error.Text, s.Error.Answer)}
		}
		return scriptedAnswer{status: s.Token.Status, media: s.Token.Type, body: s.withIDToken(textOrJSON(s.Token.Text, s.Token.Answer))}
	}
	for _, c := range s.Requests {
		if u, _ := url.Parse(c.URL); bare(u) == here && u.Path == r.URL.Path && isWithin(u.Query(), r.URL.Query()) && or(c.Method, "GET") == r.Method {
			if s.Error.At != "" && s.Error.At == c.URL {
				return scriptedAnswer{status: s.Error.Status, media: s.Error.Type, body: textOrJSON(s.Error.Text, s.Error.Answer)}
			}
			if c.JWT {
				return scriptedAnswer{media: "application/jwt", body: s.signed(c.Answer)}
			}
			return scriptedAnswer{status: c.Status, media: c.Type, body: textOrJSON(c.Text, c.Answer)}
		}
	}
	return scriptedAnswer{status: http.StatusNotFound}
}

func (s *script) isAt(what, here string) bool {
	u, err := url.Parse(s.Token.URL)
	return what == "token" && err == nil && bare(u) == here
}

func or0(n, fallback int) int {
	if n == 0 {
		return fallback
	}
	return n
}

// bare is a URL without its query.
func bare(u *url.URL) string { return u.Scheme + "://" + u.Host + u.Path }

func isWithin(some, all url.Values) bool {
	for name := range some {
		if want := some.Get(name); want != all.Get(name) && !strings.HasPrefix(want, "{") {
			return false
		}
	}
	return true
}

func textOrJSON(text string, answer json.RawMessage) []byte {
	if text != "" {
		return []byte(text)
	}
	return answer
}

// document is the discovery document.
func (s *script) document() map[string]any {
	issuer, _ := s.IDToken["iss"].(string)
	issuer = or(s.Options.Issuer, issuer)
	d := map[string]any{
		"issuer": issuer, "authorization_endpoint": s.Authorize.URL, "token_endpoint": s.Token.URL,
		"jwks_uri": strings.TrimRight(issuer, "/") + "/jwks", "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{or(s.IDTokenAlg, "RS256")},
	}
	if len(s.Requests) > 0 {
		d["userinfo_endpoint"] = s.Requests[0].URL
	}
	maps.Copy(d, s.Discovery)
	return d
}

// withIDToken adds an ID token to a token answer.
func (s *script) withIDToken(answer []byte) []byte {
	var members map[string]any
	if s.IDToken == nil || json.Unmarshal(answer, &members) != nil {
		return answer
	}
	claims := maps.Clone(s.IDToken)
	for _, name := range []string{"at_hash", "c_hash", "nonce", "azp", "nbf", "auth_time"} {
		delete(claims, name)
	}
	now := time.Now().Unix()
	claims["aud"], claims["iat"], claims["exp"] = s.clientID, now, now+600
	if s.nonce != "" {
		claims["nonce"] = s.nonce
	}
	members["id_token"] = s.sign(claims)
	raw, _ := json.Marshal(members)
	return raw
}

// signed is an answer as a JWT (OpenID Connect Core 1.0, section 5.3.2).
func (s *script) signed(answer []byte) []byte {
	var claims map[string]any
	if json.Unmarshal(answer, &claims) != nil {
		return answer
	}
	claims["iss"], claims["aud"] = s.document()["issuer"], s.clientID
	return []byte(s.sign(claims))
}

func (s *script) sign(claims map[string]any) string {
	key := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: identities().rsa, KeyID: "k"}}
	if s.IDTokenAlg == "HS256" {
		secret := make([]byte, max(32, len(s.clientSecret)))
		copy(secret, s.clientSecret)
		key = jose.SigningKey{Algorithm: jose.HS256, Key: secret[:len(s.clientSecret)]}
	}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return err.Error()
	}
	payload, _ := json.Marshal(claims)
	token, err := signer.Sign(payload)
	if err != nil {
		return err.Error()
	}
	compact, _ := token.CompactSerialize()
	return compact
}
