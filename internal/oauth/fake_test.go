package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	clientID = "client-1"
	secret   = "canary-secret with/odd+chars:and%length"
	callback = "https://app.example/auth/callback/op"
)

var (
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	otherKey = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	weakKey  = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 1024)) })
	ecKey    = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	edKey    = sync.OnceValue(func() ed25519.PrivateKey {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return must(private, err)
	})
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// fake is a provider that can be made to misbehave.
type fake struct {
	*httptest.Server

	mu       sync.Mutex
	document map[string]any // discovery; a nil value removes the member
	keys     []any          // of the key set
	answers  map[string]http.HandlerFunc
	seen     map[string][]*http.Request // by path; Form is parsed
}

func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{
		document: map[string]any{},
		keys:     []any{jwk(rsaKey().Public(), "k1", "RS256")},
		answers:  map[string]http.HandlerFunc{},
		seen:     map[string][]*http.Request{},
	}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	f.mu.Lock()
	f.seen[r.URL.Path] = append(f.seen[r.URL.Path], r)
	answer := f.answers[r.URL.Path]
	document := map[string]any{
		"issuer":                                f.URL,
		"authorization_endpoint":                f.URL + "/authorize",
		"token_endpoint":                        f.URL + "/token",
		"userinfo_endpoint":                     f.URL + "/userinfo",
		"jwks_uri":                              f.URL + "/jwks",
		"code_challenge_methods_supported":      []string{"S256"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
	}
	maps.Copy(document, f.document)
	keys := slices.Clone(f.keys)
	f.mu.Unlock()

	maps.DeleteFunc(document, func(_ string, value any) bool { return value == nil })
	switch {
	case answer != nil:
		answer(w, r)
	case strings.HasSuffix(r.URL.Path, discoveryPath):
		sendJSON(w, 200, document)
	case r.URL.Path == "/jwks":
		sendJSON(w, 200, map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

// answer replaces the answer at a path.
func (f *fake) answer(path string, h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[path] = h
}

// describe replaces the changes to the discovery document.
func (f *fake) describe(document map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.document = document
}

// behave takes all replaced answers back.
func (f *fake) behave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.answers)
}

func (f *fake) setKeys(keys ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = keys
}

// hits counts the requests to a path.
func (f *fake) hits(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen[path])
}

func (f *fake) last(t testing.TB, path string) *http.Request {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.seen[path]
	if len(all) == 0 {
		t.Fatalf("no request to %s", path)
	}
	return all[len(all)-1]
}

const (
	discoveryPath = "/.well-known/openid-configuration"
	keysPath      = "/jwks"
)

// config is an OpenID Connect client of f.
func (f *fake) config() Config {
	return Config{
		OIDC:         true,
		Issuer:       f.URL,
		ClientID:     clientID,
		ClientSecret: fixed(secret),
	}
}

// plain is an OAuth client of f without issuer and discovery.
func (f *fake) plain() Config {
	return Config{
		ClientID:      clientID,
		ClientSecret:  fixed(secret),
		Authorization: Endpoint{URL: f.URL + "/authorize"},
		Token:         Endpoint{URL: f.URL + "/token"},
		UserInfo:      Endpoint{URL: f.URL + "/userinfo"},
	}
}

func (f *fake) client(t testing.TB, change ...func(*Config)) *Client {
	t.Helper()
	return newClient(t, f.config(), change...)
}

func newClient(t testing.TB, config Config, change ...func(*Config)) *Client {
	t.Helper()
	config.CallTimeout = time.Minute // a busy machine takes its time
	for _, f := range change {
		f(&config)
	}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fixed(secret string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return secret, nil }
}

// claims of an honest ID token, changed. A nil value removes the claim.
func (f *fake) claims(changes map[string]any) map[string]any {
	now := time.Now().Unix()
	claims := map[string]any{"iss": f.URL, "aud": clientID, "sub": "person-1", "iat": now, "exp": now + 300}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// idToken is an honest one but for the changes.
func (f *fake) idToken(changes map[string]any) string {
	return sign(rsaKey(), jose.RS256, "k1", nil, encode(f.claims(changes)))
}

// sign makes a compact JWS. An empty kid is left out.
func sign(key any, alg jose.SignatureAlgorithm, kid string, header map[string]any, payload []byte) string {
	options := &jose.SignerOptions{}
	if kid != "" {
		options.WithHeader("kid", kid)
	}
	for name, value := range header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, options))
	return must(must(signer.Sign(payload)).CompactSerialize())
}

func jwk(public any, kid, alg string) jose.JSONWebKey {
	return jose.JSONWebKey{Key: public, KeyID: kid, Algorithm: alg, Use: "sig"}
}

func encode(value any) []byte { return must(json.Marshal(value)) }

func sendJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

// send answers with fixed content.
func send(status int, mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if mediaType != "" {
			w.Header().Set("Content-Type", mediaType)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// query parses the query of a URL.
func query(t testing.TB, endpoint string) url.Values {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// wantStep fails unless err is a StepError of that step that says what.
func wantStep(t testing.TB, err error, step Step, what string) {
	t.Helper()
	var failure *StepError
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a StepError", err)
	}
	if failure.Step != step || !strings.Contains(err.Error(), what) {
		t.Fatalf("got %q at step %q, want %q at step %q", err, failure.Step, what, step)
	}
	wantClean(t, err)
}

// wantClean fails if an error holds what must stay secret, in any verb.
func wantClean(t testing.TB, err error) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%q", "%s"} {
		text := fmt.Sprintf(verb, err)
		for _, secret := range []string{"canary", "?", "Bearer", "eyJ"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s of the error contains %q: %s", verb, secret, text)
			}
		}
	}
}
