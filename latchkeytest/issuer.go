package latchkeytest

import (
	"crypto"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// The paths that an [Issuer] answers.
const (
	PathDiscovery  = "/.well-known/openid-configuration"
	PathAuthorize  = "/authorize"
	PathToken      = "/token"
	PathUserInfo   = "/userinfo"
	PathJWKS       = "/jwks"
	PathEndSession = "/end_session"
	PathRevocation = "/revoke"
)

// IssuerConfig says what an [Issuer] is like. The zero value is an ordinary
// provider that lets the person of [Issuer.SignInAs] in without asking.
type IssuerConfig struct {
	hidden

	ID           string // of the provider that Provider returns; empty: issuer
	ClientID     string // empty: client
	ClientSecret string // empty: one that goes wrong unless it is encoded as RFC 6749 says

	// ClientAuth is the only method accepted at the token endpoint. Empty: any
	// that proves ClientSecret.
	ClientAuth latchkey.ClientAuth
	ClientKey  crypto.PublicKey // of the client; needed for private_key_jwt

	Algorithm    string        // of ID tokens: RS256, ES256 or EdDSA; empty: RS256
	RedirectURIs []string      // those allowed; empty: any
	Lifetime     time.Duration // of access and ID tokens; 0: an hour
	// Rotation is what becomes of refresh tokens that are used. Empty: RotateOnce.
	Rotation Rotation
	// SignedUserInfo answers the userinfo request with a signed token.
	SignedUserInfo bool
	// People are offered for choice on a page. Empty: there is no such page.
	People []Person

	Addr string           // to listen on; empty: a free port of 127.0.0.1
	Time func() time.Time // nil: time.Now
}

// Issuer is an OpenID Provider for tests and demonstrations, on a loopback
// port. It does what a good provider does (discovery, PKCE with S256, codes
// that work once, the iss parameter of RFC 9207, form_post, refresh tokens that
// rotate, logout) until [Issuer.Misbehave] says otherwise. It knows one client,
// keeps everything in memory, and is safe for concurrent use.
type Issuer struct {
	hidden

	URL string // the issuer identifier, without a slash at the end

	config  IssuerConfig
	server  *httptest.Server
	closing chan struct{}
	closed  sync.Once

	mu       sync.Mutex
	person   Person
	bad      Misbehaviour
	keys     keyRing
	codes    map[string]grant
	access   map[string]grant
	refresh  map[string]grant
	used     map[string]string // refresh tokens that were replaced, with the grant of each
	seen     map[string]bool   // jti of client assertions
	recorded []RecordedRequest
}

// NewIssuer starts an Issuer that ends with the test. Each change is applied to
// its configuration first.
func NewIssuer(t testing.TB, change ...func(*IssuerConfig)) *Issuer {
	t.Helper()
	var c IssuerConfig
	for _, f := range change {
		f(&c)
	}
	iss, err := StartIssuer(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(iss.Close)
	return iss
}

// StartIssuer starts an Issuer outside a test. Call Close in the end.
func StartIssuer(c IssuerConfig) (*Issuer, error) {
	c = c.withDefaults()
	keys, err := newKeyRing(c.Algorithm)
	if err != nil {
		return nil, err
	}
	if c.ClientAuth == latchkey.PrivateKeyJWT && c.ClientKey == nil {
		return nil, errors.New("latchkeytest: ClientKey is needed for private_key_jwt")
	}
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return nil, err
	}
	iss := &Issuer{
		config: c, person: defaultPerson(), keys: keys, closing: make(chan struct{}),
		codes: map[string]grant{}, access: map[string]grant{}, refresh: map[string]grant{}, used: map[string]string{}, seen: map[string]bool{},
	}
	iss.server = httptest.NewUnstartedServer(http.HandlerFunc(iss.serve))
	iss.server.Listener.Close()
	iss.server.Listener = listener
	iss.URL = "http://" + listener.Addr().String()
	iss.server.Start()
	return iss, nil
}

func (c IssuerConfig) withDefaults() IssuerConfig {
	setDefault(&c.ID, "issuer")
	setDefault(&c.ClientID, "client")
	setDefault(&c.ClientSecret, "a secret/with+odd:characters, 40 of them%")
	setDefault(&c.Algorithm, "RS256")
	setDefault(&c.Lifetime, time.Hour)
	setDefault(&c.Addr, "127.0.0.1:0")
	if c.Time == nil {
		c.Time = time.Now
	}
	c.RedirectURIs = slices.Clone(c.RedirectURIs)
	c.People = slices.Clone(c.People)
	return c
}

// setDefault fills a field that holds its zero value.
func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Close ends the Issuer and every call that still waits for it.
func (iss *Issuer) Close() {
	iss.closed.Do(func() {
		close(iss.closing)
		iss.server.CloseClientConnections()
		iss.server.Close()
	})
}

// Provider returns the Issuer as an application configures it. The caller may change the
// result, and has to set its SigningKey for private_key_jwt.
func (iss *Issuer) Provider() *latchkey.OAuth {
	p := &latchkey.OAuth{
		ID:           iss.config.ID,
		Name:         "Issuer",
		OIDC:         true,
		Issuer:       iss.URL,
		ClientID:     iss.config.ClientID,
		ClientSecret: iss.config.ClientSecret,
		ClientAuth:   iss.config.ClientAuth,
	}
	if p.ClientAuth == latchkey.ClientAuthNone {
		p.ClientSecret = ""
	}
	return p
}

// Person is a person who has an account at the [Issuer].
type Person struct {
	Subject string // empty: left out, which no real provider does
	Name    string
	Email   string
	// EmailVerified is a boolean, or what a careless provider sends instead.
	// nil: left out.
	EmailVerified any
	Picture       string
	Claims        map[string]any // further claims; they win over the others
}

// defaultPerson returns the person that the issuer signs in unless a test names one.
func defaultPerson() Person {
	return Person{Subject: "person-1", Name: "Ada Example", Email: "ada@example.com", EmailVerified: true}
}

// allClaims returns the claims of p as a new map, without those that are empty.
func (p Person) allClaims() map[string]any {
	c := map[string]any{}
	for name, value := range map[string]string{"sub": p.Subject, "name": p.Name, "email": p.Email, "picture": p.Picture} {
		if value != "" {
			c[name] = value
		}
	}
	if p.EmailVerified != nil {
		c["email_verified"] = p.EmailVerified
	}
	maps.Copy(c, p.Claims)
	return c
}

// SignInAs makes p the person of each later sign-in. With IssuerConfig.People it does nothing.
func (iss *Issuer) SignInAs(p Person) {
	iss.mu.Lock()
	defer iss.mu.Unlock()
	p.Claims = maps.Clone(p.Claims)
	iss.person = p
}

// Misbehave replaces everything that the Issuer does wrong. The zero
// Misbehaviour makes it good again.
func (iss *Issuer) Misbehave(m Misbehaviour) {
	iss.mu.Lock()
	defer iss.mu.Unlock()
	m.Answers = maps.Clone(m.Answers)
	iss.bad = m
}

// RotateKeys replaces the signing key. The old one is no longer published, and
// tokens signed from now on name the new one.
func (iss *Issuer) RotateKeys() error {
	fresh, err := generateKey(iss.config.Algorithm)
	if err != nil {
		return err
	}
	iss.mu.Lock()
	defer iss.mu.Unlock()
	iss.keys.usual = fresh
	return nil
}

// RecordedRequest is a request that an [Issuer] got.
type RecordedRequest struct {
	hidden

	Method string
	Path   string
	Query  url.Values
	Form   url.Values // of the body
	Header http.Header
}

// Requests returns the requests for path so far, oldest first. An empty path means all.
// An issuer with 10,000 requests of all paths forgets the older half before the next.
func (iss *Issuer) Requests(path string) []RecordedRequest {
	iss.mu.Lock()
	defer iss.mu.Unlock()
	var list []RecordedRequest
	for _, r := range iss.recorded {
		if path == "" || r.Path == path {
			list = append(list, r)
		}
	}
	return list
}

// Count returns the number of requests that Requests returns.
func (iss *Issuer) Count(path string) int { return len(iss.Requests(path)) }

func (iss *Issuer) misbehaviour() Misbehaviour {
	iss.mu.Lock()
	defer iss.mu.Unlock()
	return iss.bad
}
