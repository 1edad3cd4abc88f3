package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestNewAcceptsWhatWorks(t *testing.T) {
	for name, config := range map[string]Config{
		"issuer alone":              {OIDC: true, Issuer: "https://op.example", ClientID: "c", ClientSecret: fixed("s")},
		"issuer with a path":        {OIDC: true, Issuer: "https://op.example/realm/", ClientID: "c", ClientAuth: NoClientAuth},
		"plain OAuth, no issuer":    {ClientID: "c", ClientSecret: fixed("s"), Authorization: Endpoint{URL: "https://a.example/a"}, Token: Endpoint{URL: "https://a.example/t"}},
		"http on localhost":         {OIDC: true, Issuer: "http://localhost:8080", ClientID: "c", ClientSecret: fixed("s")},
		"http on 127.0.0.1":         {OIDC: true, Issuer: "http://127.0.0.1:8080", ClientID: "c", ClientSecret: fixed("s")},
		"http on ::1":               {OIDC: true, Issuer: "http://[::1]:8080", ClientID: "c", ClientSecret: fixed("s")},
		"http elsewhere, by option": {OIDC: true, Issuer: "http://op.internal", AllowInsecure: true, ClientID: "c", ClientSecret: fixed("s")},
		"HS256 with a secret":       {OIDC: true, Issuer: "https://op.example", ClientID: "c", ClientSecret: fixed("s"), IDTokenAlgs: []string{"HS256"}},
		"nothing remembered":        {OIDC: true, Issuer: "https://op.example", ClientID: "c", ClientSecret: fixed("s"), Cache: &Cache{}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(config); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	sound := func() Config {
		return Config{OIDC: true, Issuer: "https://op.example", ClientID: "c", ClientSecret: fixed("s")}
	}
	for _, row := range []struct {
		name   string
		change func(*Config)
		want   string // the field, at the start of a line
	}{
		{"an issuer without https", func(c *Config) { c.Issuer = "op.example/realm" }, `Issuer: is "op.example/realm", which is no absolute https URL; write "https://op.example/realm"`},
		{"no issuer", func(c *Config) { c.Issuer = "" }, "Issuer"},
		{"plain OAuth with neither issuer nor endpoints", func(c *Config) { *c = Config{ClientID: "c", ClientAuth: NoClientAuth} }, "Issuer"},
		{"R-046 issuer over http", func(c *Config) { c.Issuer = "http://op.example" }, "Issuer"},
		{"R-046 loopback in name only", func(c *Config) { c.Issuer = "http://localhost.evil.example" }, "Issuer"},
		{"R-046 loopback as user name", func(c *Config) { c.Issuer = "http://127.0.0.1@op.example" }, "Issuer"},
		{"R-046 issuer with userinfo", func(c *Config) { c.Issuer = "https://u:canary@op.example" }, "Issuer"},
		{"R-046 issuer with fragment", func(c *Config) { c.Issuer = "https://op.example#f" }, "Issuer"},
		{"R-046 issuer with empty fragment", func(c *Config) { c.Issuer = "https://op.example#" }, "Issuer"},
		{"issuer with query", func(c *Config) { c.Issuer = "https://op.example?tenant=canary" }, "Issuer"},
		{"R-046 relative endpoint", func(c *Config) { c.Token.URL = "/token" }, "Token.URL"},
		{"R-046 scheme-relative endpoint", func(c *Config) { c.Token.URL = "//op.example/token" }, "Token.URL"},
		{"R-046 ftp endpoint", func(c *Config) { c.UserInfo.URL = "ftp://op.example/u" }, "UserInfo.URL"},
		{"R-046 javascript endpoint", func(c *Config) { c.Authorization.URL = "javascript:alert(1)" }, "Authorization.URL"},
		{"R-046 endpoint without host", func(c *Config) { c.Authorization.URL = "https:///authorize" }, "Authorization.URL"},
		{"R-046 opaque endpoint", func(c *Config) { c.Authorization.URL = "https:op.example" }, "Authorization.URL"},
		{"R-046 endpoint that does not parse", func(c *Config) { c.Authorization.URL = "https://op.example/%zz" }, "Authorization.URL"},
		{"R-046 keys over http", func(c *Config) { c.JWKS = "http://op.example/jwks" }, "JWKS"},
		{"no client id", func(c *Config) { c.ClientID = "" }, "ClientID"},
		{"no secret for basic", func(c *Config) { c.ClientSecret = nil }, "ClientSecret"},
		{"no key for private_key_jwt", func(c *Config) { c.ClientAuth = PrivateKeyJWT }, "SigningKey"},
		{"empty key for private_key_jwt", func(c *Config) { c.ClientAuth, c.SigningKey = PrivateKeyJWT, &SigningKey{} }, "SigningKey.Key"},
		{"unknown client authentication", func(c *Config) { c.ClientAuth = "tls" }, "ClientAuth"},
		{"R-019 none as algorithm", func(c *Config) { c.IDTokenAlgs = []string{"none"} }, "IDTokenAlgs"},
		{"R-019 nOnE as algorithm", func(c *Config) { c.IDTokenAlgs = []string{"nOnE"} }, "IDTokenAlgs"},
		{"HS256 without a secret", func(c *Config) {
			c.ClientSecret, c.ClientAuth, c.IDTokenAlgs = nil, NoClientAuth, []string{"HS256"}
		}, "IDTokenAlgs"},
		{"R-029 leeway above a minute", func(c *Config) { c.Leeway = 2 * time.Minute }, "Leeway"},
		{"negative timeout", func(c *Config) { c.CallTimeout = -1 }, "CallTimeout"},
		{"negative body limit", func(c *Config) { c.MaxBody = -1 }, "MaxBody"},
		{"cache upside down", func(c *Config) { c.Cache = &Cache{MinAge: 2, MaxAge: 1} }, "Cache"},
		{"max_age that is no number", func(c *Config) { c.Authorization.Params = url.Values{"max_age": {"soon"}} }, "Authorization.Params"},
		{"R-053 RS256 with an EC key", func(c *Config) { c.ClientAuth, c.SigningKey = PrivateKeyJWT, &SigningKey{Key: ecKey(), Alg: "RS256"} }, "SigningKey.Alg"},
		{"R-053 ES256 with an RSA key", func(c *Config) { c.ClientAuth, c.SigningKey = PrivateKeyJWT, &SigningKey{Key: rsaKey(), Alg: "ES256"} }, "SigningKey.Alg"},
		{"R-053 ES384 with a P-256 key", func(c *Config) { c.ClientAuth, c.SigningKey = PrivateKeyJWT, &SigningKey{Key: ecKey(), Alg: "ES384"} }, "SigningKey.Alg"},
		{"R-053 HS256 with an RSA key", func(c *Config) { c.ClientAuth, c.SigningKey = PrivateKeyJWT, &SigningKey{Key: rsaKey(), Alg: "HS256"} }, "SigningKey.Alg"},
		{"R-053 weak RSA key", func(c *Config) { c.ClientAuth, c.SigningKey = PrivateKeyJWT, &SigningKey{Key: weakKey()} }, "SigningKey.Key"},
		{"R-053 PSS with a key elsewhere", func(c *Config) {
			c.ClientAuth, c.SigningKey = PrivateKeyJWT, &SigningKey{Key: elsewhere{rsaKey()}, Alg: "PS256"}
		}, "SigningKey.Alg"},
		{"P-224", func(c *Config) {
			c.ClientAuth = PrivateKeyJWT
			c.SigningKey = &SigningKey{Key: must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader))}
		}, "SigningKey.Key"},
	} {
		t.Run(row.name, func(t *testing.T) {
			config := sound()
			row.change(&config)
			_, err := New(config)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("got %q, want it to begin with %q", err, row.want)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error repeats the value: %q", err)
			}
		})
	}
}

// elsewhere is a key that is not in memory, as in a key service.
type elsewhere struct{ key *rsa.PrivateKey }

func (e elsewhere) Public() crypto.PublicKey { return e.key.Public() }

func (e elsewhere) Sign(r io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return e.key.Sign(r, digest, opts)
}

func TestR244AllFaultsAtOnce(t *testing.T) {
	_, err := New(Config{OIDC: true, Token: Endpoint{URL: "/t"}, JWKS: "x", IDTokenAlgs: []string{"none"}, Leeway: time.Hour})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, field := range []string{"Issuer", "Token.URL", "JWKS", "ClientID", "IDTokenAlgs", "Leeway"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("%s is not named in:\n%v", field, err)
		}
	}
}

func TestR244ConfigIsFrozen(t *testing.T) {
	f := newFake(t)
	config := f.config()
	config.Scopes = []string{"openid", "email"}
	config.Authorization.Params = url.Values{"prompt": {"consent"}}
	config.Cache = &Cache{MaxAge: time.Hour}
	c := newClient(t, config)
	config.Scopes[0] = "evil"
	config.Authorization.Params["prompt"][0] = "evil"
	config.Authorization.Params.Set("redirect_uri", "https://evil.example")
	config.Cache.MaxAge = 0
	for range 2 {
		endpoint, err := c.AuthorizationURL(t.Context(), AuthRequest{RedirectURI: callback})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(endpoint, "evil") {
			t.Errorf("a later change took effect: %s", endpoint)
		}
	}
	if n := f.hits(discoveryPath); n != 1 {
		t.Errorf("%d discovery requests, want 1", n)
	}
}
