package providers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/providers"
)

// pemOf is a key as Apple hands it out.
func pemOf(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func appleKey(t *testing.T) (providers.AppleKey, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return providers.AppleKey{TeamID: "TEAM000001", KeyID: "KEY0000001", ClientID: "com.example.web", PEM: pemOf(t, key)}, key
}

func TestAppleSecret(t *testing.T) {
	k, key := appleKey(t)
	secret, err := providers.NewAppleSecret(k)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) string {
		s, err := secret(context.Background(), now.Add(d))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	token, err := jose.ParseSignedCompact(at(0), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := token.Verify(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"iss": "TEAM000001", "sub": "com.example.web", "aud": "https://appleid.apple.com", "iat": float64(now.Unix()), "exp": float64(now.Unix() + 3600)} {
		if claims[name] != want {
			t.Errorf("%s is %v, want %v", name, claims[name], want)
		}
	}
	if kid := token.Signatures[0].Protected.KeyID; kid != "KEY0000001" {
		t.Errorf("kid %q", kid)
	}
	first := at(0)
	if at(54*time.Minute) != first {
		t.Error("made anew although the last one is good")
	}
	later := at(56 * time.Minute)
	if later == first {
		t.Error("handed out shortly before its end")
	}
	if at(-time.Hour) == later {
		t.Error("handed out before its time of issue")
	}
}

func TestAppleSecretAtOnce(t *testing.T) {
	k, _ := appleKey(t)
	secret, err := providers.NewAppleSecret(k)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	seen := make(chan string, 20)
	for range cap(seen) {
		wg.Go(func() {
			s, _ := secret(context.Background(), time.Unix(1e9, 0))
			seen <- s
		})
	}
	wg.Wait()
	close(seen)
	first := <-seen
	for s := range seen {
		if s != first || s == "" {
			t.Fatal("signed more than once")
		}
	}
}

func TestAppleKeysThatMakeNoSense(t *testing.T) {
	good, _ := appleKey(t)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		change func(*providers.AppleKey)
		reason string
	}{
		"no team":       {func(k *providers.AppleKey) { k.TeamID = "" }, "TeamID"},
		"no key id":     {func(k *providers.AppleKey) { k.KeyID = "" }, "KeyID"},
		"no client id":  {func(k *providers.AppleKey) { k.ClientID = "" }, "ClientID"},
		"no key":        {func(k *providers.AppleKey) { k.PEM = "" }, "PEM"},
		"not PKCS#8":    {func(k *providers.AppleKey) { k.PEM = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----" }, "PEM"},
		"another curve": {func(k *providers.AppleKey) { k.PEM = pemOf(t, p384) }, "P-256"},
		"RSA":           {func(k *providers.AppleKey) { k.PEM = pemOf(t, rsaKey) }, "P-256"},
	} {
		t.Run(name, func(t *testing.T) {
			k := good
			row.change(&k)
			secret, err := providers.NewAppleSecret(k)
			if err == nil || secret != nil || !strings.Contains(err.Error(), row.reason) {
				t.Errorf("error %v, want one about %s", err, row.reason)
			}
		})
	}
}

func TestAppleSignIn(t *testing.T) {
	k, _ := appleKey(t)
	secret, err := providers.NewAppleSecret(k)
	if err != nil {
		t.Fatal(err)
	}
	current, err := secret(context.Background(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, "apple")
	iss := pretend(t, "https://appleid.apple.com", r, func(c *latchkeytest.IssuerConfig) {
		c.ClientAuth, c.ClientID, c.ClientSecret = latchkey.ClientSecretPost, "com.example.web", current
	})
	s := newSite(t, iss.URL, providers.Apple(latchkey.OAuth{ClientID: "com.example.web", NewClientSecret: secret}))
	s.goTo(iss, "apple")
	s.wants(t, r.Identity)
	q := iss.Requests(latchkeytest.PathAuthorize)[0].Query
	if q.Get("response_mode") != "form_post" || q.Get("scope") != "name email" || q.Get("nonce") == "" || q.Get("state") == "" {
		t.Errorf("authorization request %v", q)
	}
	if iss.Count(latchkeytest.PathUserInfo) != 0 {
		t.Error("asked for userinfo, which Apple does not have")
	}
}

func TestAppleNames(t *testing.T) {
	for name, row := range map[string]struct{ user, want string }{
		"first and last name":   {`{"name":{"firstName":"Tim","lastName":"Apfel"}}`, "Tim Apfel"},
		"first name alone":      {`{"name":{"firstName":"Tim"}}`, "Tim"},
		"later sign-in":         {"", "a@example.com"},
		"no JSON":               {"{", "a@example.com"},
		"another shape":         {`{"name":"Tim"}`, "a@example.com"},
		"an e-mail of somebody": {`{"email":"victim@example.com"}`, "a@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := providers.Apple(latchkey.OAuth{}).Identify(latchkey.Grant{
				Profile: latchkey.Claims{"sub": "s", "email": "a@example.com", "email_verified": true},
				Params:  url.Values{"user": {row.user}},
			})
			if err != nil || got.Name != row.want || got.Email != "a@example.com" || got.Subject != "s" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestAppleVerdicts(t *testing.T) {
	for value, want := range map[any]latchkey.EmailTrust{true: latchkey.EmailProven, "true": latchkey.EmailProven, false: latchkey.EmailUnproven, "false": latchkey.EmailUnproven, nil: latchkey.EmailUnproven, "yes": latchkey.EmailUnproven} {
		got, err := providers.Apple(latchkey.OAuth{}).Identify(latchkey.Grant{Profile: latchkey.Claims{"sub": "s", "email_verified": value}})
		if err != nil || got.EmailTrust != want {
			t.Errorf("%v: %v, %v", value, got.EmailTrust, err)
		}
	}
}

func FuzzAppleUser(f *testing.F) {
	for _, user := range []string{"", "{}", "null", `{"name":{"firstName":"Tim","lastName":"Apfel"}}`, `{"name":null}`, `{"name":{"firstName":7}}`, "{\"name\":{\"firstName\":\"\xff\"}}"} {
		f.Add(user)
	}
	identify := providers.Apple(latchkey.OAuth{}).Identify
	f.Fuzz(func(t *testing.T, user string) {
		got, err := identify(latchkey.Grant{Profile: latchkey.Claims{"sub": "s", "email": "a@example.com"}, Params: url.Values{"user": {user}}})
		if err != nil || got.Subject != "s" || got.Email != "a@example.com" || got.Name == "" || got.Name != strings.TrimSpace(got.Name) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
